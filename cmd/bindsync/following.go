package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"bindc/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/ship"
)

// followed decodes the configuration of 'bindsync follow'. It collects problems with their positions, so that one error
// lists them all.
type followed struct {
	path     string
	source   []byte
	problems []error
}

// inputs returns a string that changes if the configuration or the certificates that it names change. It leaves out the
// files of signers and of queries, which are read each time they are needed.
func (c *followed) inputs(caFile string) string {
	certificates, err := os.ReadFile(caFile)
	return fmt.Sprintf("%s\n%x %t", c.source, sha256.Sum256(certificates), err == nil)
}

func (c *followed) problem(n *yaml.Node, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("%s:%d:%d: "+format, append([]any{c.path, n.Line, n.Col}, args...)...))
}

func (c *followed) parse() (*yaml.Node, error) {
	src, err := os.ReadFile(c.path)
	if err != nil {
		return nil, err
	}
	c.source = src
	var diags diag.List
	doc, ok := yaml.Parse(c.path, src, yaml.Options{}, &diags)
	for _, d := range diags.Sorted() {
		c.problems = append(c.problems, fmt.Errorf("%s: %s", d.Pos, d.Message))
	}
	if len(c.problems) == 0 && (!ok || doc.Root == nil) {
		c.problems = append(c.problems, fmt.Errorf("%s: it is empty: expected 'names', each with a 'source'", c.path))
	}
	if err := c.joinedProblems(); err != nil {
		return nil, err
	}
	return doc.Root, nil
}

func (c *followed) joinedProblems() error {
	if len(c.problems) == 0 {
		return nil
	}
	return unusable(c.problems)
}

// unusable is the error for a configuration, with all of its problems. The program prints each on its own line.
type unusable []error

func (u unusable) Error() string { return strings.Join(u.lines(), "; ") }

func (u unusable) lines() []string {
	lines := []string{"the configuration cannot be used"}
	for _, err := range u {
		if line := diag.Visible(err.Error()); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// readFollowing reads the configuration in the file from.config and opens its store, unless from.dir names another
// store. The error lists all problems of the configuration.
func readFollowing(from storeFlag, stdin io.Reader) (*following, error) {
	c := followed{path: from.config}
	root, err := c.parse()
	if err != nil {
		return nil, err
	}
	var p policy
	c.readPolicy(root, &p)
	f := &following{keep: p.keep, wake: make(chan struct{}, 1)}
	c.read(root, &p, stdin, f)
	if err := c.joinedProblems(); err != nil {
		return nil, err
	}
	dir := cmp.Or(from.dir, p.store, os.Getenv("BINDSYNC_STORE"), defaultStore)
	if f.store, err = ship.OpenStore(dir); err != nil {
		return nil, err
	}
	for _, p := range f.follow.Pulls {
		p.Store = f.store
	}
	return f, nil
}

// These keys are allowed in a configuration, and below each of its names.
var (
	followKeys = []string{"store", "names", "interval", "timeout", "stall_timeout", "downloads", "max_size",
		"textfile", "ca_file", "plain_http", "allowed_signers", "revoked", "keep", "younger"}
	nameKeys = []string{"source", "signed_as", "check_keys", "max_change", "require_policy"}
)

// read reads the keys that readPolicy leaves: the sources, and how they are polled.
func (c *followed) read(root *yaml.Node, p *policy, stdin io.Reader, f *following) {
	f.textfile = c.text(root, "textfile")
	f.follow = ship.Follow{Interval: c.duration(root, "interval", defaultInterval), MaxDelay: maxDelay,
		Timeout: c.duration(root, "timeout", pollTimeout), Wake: f.wake}
	from := sources{caFile: c.text(root, "ca_file"),
		plainHTTP: c.flag(root, "plain_http"), plainOption: "plain_http: true",
		stall: c.duration(root, "stall_timeout", ship.StallTimeout)}
	f.inputs = c.inputs(from.caFile)
	size := c.number(root, "max_size", defaultMaxSize)
	turns := make(chan struct{}, c.number(root, "downloads", downloads))
	_, names, ok := root.Lookup("names")
	if !ok || names.Kind != yaml.Mapping {
		return
	}
	for key, n := range names.Pairs() {
		name, _ := key.Text()
		g, ok := p.names[name]
		if !ok {
			continue
		}
		checks, err := g.checks()
		if err != nil {
			c.problem(settingOf(err, n, root), "%v", err)
		}
		source, err := from.open(c.text(n, "source"), stdin)
		if err != nil {
			err = fmt.Errorf("source: %w", err)
			c.problem(settingOf(err, n, root), "%v", err)
		}
		f.follow.Pulls = append(f.follow.Pulls, &ship.Pull{Name: name, Source: source, Checks: checks,
			SignedAs: g.signedAs, MaxBytes: int64(size), By: "follow", Now: time.Now, Turns: turns})
	}
}

// settingOf returns the key with which the text of err begins: a key of name or, if there is none, of the whole
// configuration. If there is none either, it returns name.
func settingOf(err error, name, root *yaml.Node) *yaml.Node {
	for _, n := range []*yaml.Node{name, root} {
		for key := range n.Pairs() {
			text, _ := key.Text()
			if rest, begins := strings.CutPrefix(err.Error(), text); begins && strings.IndexAny(rest, ": ") == 0 {
				return key
			}
		}
	}
	return name
}

// keys reports whether n is a hash. It adds a problem if n is not a hash, and for each key that is not in allowed.
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
	text, ok := v.Text()
	if ok && text == "" {
		c.problem(v, "%s: expected text, found an empty string; remove the key to leave it unset", key)
	}
	if ok {
		return text
	}
	hint := ""
	if unit := units[key]; unit != "" && v.Value.Kind() == value.Int {
		hint = fmt.Sprintf("; write %d%s", v.Value.Int(), unit)
	}
	c.problem(v, "%s: expected text, found %s%s", key, v.Describe(), hint)
	return ""
}

// texts returns the value of key, which must be a list of strings that are not empty.
func (c *followed) texts(n *yaml.Node, key string) (out []string) {
	_, list, ok := n.Lookup(key)
	if !ok {
		return nil
	}
	for i := range list.Kids {
		if text, _ := list.Kids[i].Text(); list.Kind == yaml.Sequence && text != "" {
			out = append(out, text)
		}
	}
	if len(out) == 0 || len(out) != len(list.Kids) {
		c.problem(list, "%s: expected a list of strings, found %s", key, list.Describe())
	}
	return out
}

// units maps keys to the unit that is probably missing if the value is a bare number.
var units = map[string]string{"max_change": "%", "interval": "s", "timeout": "s", "stall_timeout": "s", "younger": "h"}

func (c *followed) duration(n *yaml.Node, key string, otherwise time.Duration) time.Duration {
	text := c.text(n, key)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		_, v, _ := n.Lookup(key)
		c.problem(v, "%s: expected a time such as 30s or 5m, found '%s'", key, text)
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
