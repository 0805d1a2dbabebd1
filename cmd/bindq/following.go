package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/ship"
)

// followed is a configuration that is being read. What is wrong with it is collected, with its place.
type followed struct {
	path     string
	problems []error
}

func (c *followed) problem(n *yaml.Node, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("%s:%d:%d: "+format, append([]any{c.path, n.Line, n.Col}, args...)...))
}

// readFollowing reads a configuration; all that is wrong with it is in the error. dir goes before what it says of the
// store.
func readFollowing(path string, dir storeFlag, stdin io.Reader) (*following, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := followed{path: path}
	var diags diag.List
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diags)
	for _, d := range diags.Sorted() {
		c.problems = append(c.problems, fmt.Errorf("%s: %s", d.Pos, d.Message))
	}
	f := &following{}
	if ok && doc != nil && len(c.problems) == 0 {
		c.read(doc.Root, &dir, stdin, f)
	}
	if len(c.problems) > 0 {
		return nil, fmt.Errorf("the configuration cannot be used\n%w", errors.Join(c.problems...))
	}
	if f.store, err = dir.open(); err != nil {
		return nil, err
	}
	for _, p := range f.follow.Pulls {
		p.Store = f.store
	}
	return f, nil
}

// What a configuration may say, of all names and of one.
var (
	followKeys = []string{"store", "names", "interval", "timeout", "max_size", "textfile", "ca_file", "plain_http",
		"allowed_signers", "revoked"}
	nameKeys = []string{"source", "signed_as", "check_keys", "max_change"}
)

func (c *followed) read(root *yaml.Node, dir *storeFlag, stdin io.Reader, f *following) {
	if !c.keys(root, "names and their sources", followKeys) {
		return
	}
	if store := c.text(root, "store"); dir.dir == "" {
		dir.dir = store
	}
	f.textfile = c.text(root, "textfile")
	f.follow = ship.Follow{Interval: c.duration(root, "interval", defaultInterval), MaxDelay: maxDelay,
		Timeout: c.duration(root, "timeout", lookTimeout)}
	from := sources{caFile: c.text(root, "ca_file"), plainHTTP: c.flag(root, "plain_http")}
	trust := trust{c.text(root, "allowed_signers"), c.text(root, "revoked")}
	size := c.number(root, "max_size", defaultMaxSize)
	_, names, ok := root.Lookup("names")
	if !ok || names.Kind != yaml.Mapping || len(names.Kids) == 0 {
		c.problem(root, "expected 'names', each with a 'source'")
		return
	}
	for key, n := range names.Pairs() {
		name, _ := key.Text()
		if err := ship.CheckName(name); err != nil {
			c.problem(key, "%v", err)
		}
		if !c.keys(n, "the source of '"+name+"'", nameKeys) {
			continue
		}
		g := gates{trust: trust, signedAs: c.text(n, "signed_as"), checkKeys: c.text(n, "check_keys"),
			maxChange: c.text(n, "max_change")}
		checks, err := g.checks()
		if err != nil {
			c.problem(n, "%v", err)
		}
		source, err := from.open(c.text(n, "source"), stdin)
		if err != nil {
			c.problem(n, "source: %v", err)
		}
		f.follow.Pulls = append(f.follow.Pulls, &ship.Pull{Name: name, Source: source, Checks: checks,
			SignedAs: g.signedAs, MaxBytes: int64(size), By: "follow", Now: time.Now})
	}
}

// keys tells whether n is a hash; keys that are none of those allowed are problems.
func (c *followed) keys(n *yaml.Node, what string, allowed []string) bool {
	if n.Kind != yaml.Mapping {
		c.problem(n, "expected %s, a hash, found %s", what, n.Describe())
		return false
	}
	for key := range n.Pairs() {
		if text, _ := key.Text(); !slices.Contains(allowed, text) {
			c.problem(key, "unknown key '%s'; expected %s", text, strings.Join(allowed, ", "))
		}
	}
	return true
}

func (c *followed) text(n *yaml.Node, key string) string {
	_, v, ok := n.Lookup(key)
	if !ok {
		return ""
	}
	if text, ok := v.Text(); ok {
		return text
	}
	c.problem(v, "%s: expected text, found %s", key, v.Describe())
	return ""
}

func (c *followed) duration(n *yaml.Node, key string, otherwise time.Duration) time.Duration {
	text := c.text(n, key)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		_, v, _ := n.Lookup(key)
		c.problem(v, "%s: expected a time as 30s or 5m, found '%s'", key, text)
	}
	return d
}

func (c *followed) flag(n *yaml.Node, key string) bool {
	_, v, ok := n.Lookup(key)
	if !ok {
		return false
	}
	if v.Value.Kind() != value.Bool {
		c.problem(v, "%s: expected true or false, found %s", key, v.Describe())
	}
	return v.Value.Bool()
}

func (c *followed) number(n *yaml.Node, key string, otherwise int) int {
	_, v, ok := n.Lookup(key)
	if !ok {
		return otherwise
	}
	if v.Value.Kind() != value.Int || v.Value.Int() <= 0 {
		c.problem(v, "%s: expected a number above 0, found %s", key, v.Describe())
		return otherwise
	}
	return int(v.Value.Int())
}
