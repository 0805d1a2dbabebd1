package hiera5

import (
	"path"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

var (
	config4Keys = []string{"version", "datadir", "hierarchy"}
	entry4Keys  = []string{"name", "backend", "datadir", "path", "paths"}
)

// version4 converts a version 4 configuration, in which the backend of an entry determines the extension of its paths.
func (c config) version4() {
	c.Doc.OnlyKeys(c.Doc.Root, "hiera", "key of a version 4 configuration", config4Keys)
	datadir := "data"
	if dir, ok := c.text(c.Doc.Root, "datadir"); ok {
		datadir = dir
	}
	list, given := c.list("hierarchy")
	if !given {
		s := dataSource{kind: datafile.Hiera5YAML, datadir: datadir}
		c.Entries = []Entry{{Name: "common", Locations: []Location{c.path(c.Doc.Pos(c.Doc.Root), s,
			"common.yaml")}}}
		return
	}
	for i := range list {
		c.Entries = append(c.Entries, c.entry4(&list[i], datadir, c.Entries))
	}
}

func (c config) entry4(n *yaml.Node, datadir string, before []Entry) Entry {
	e := Entry{at: c.Doc.Pos(n)}
	if n.Kind != yaml.Mapping {
		c.Doc.Errorf(n, "hierarchy", "expected an entry, a hash with 'name' and 'backend', found %s", n.Describe())
		return Entry{}
	}
	if _, _, given := n.Lookup("backend"); !given {
		c.Doc.Diags.Add(diag.Diagnostic{Pos: e.at, Code: "hierarchy",
			Message: "expected 'backend' in an entry of a version 4 hiera.yaml: Puppet has no default",
			Hint:    "add 'backend: yaml', or write 'version: 5' if these are Hiera 5 entries"})
		return Entry{}
	}
	c.Doc.OnlyKeys(n, "hierarchy", "key of an entry", entry4Keys)
	name, ok := c.name(n, before)
	if !ok {
		return Entry{}
	}
	e.Name = name
	if dir, ok := c.text(n, "datadir"); ok {
		datadir = dir
	}
	backend, _ := c.text(n, "backend")
	kind, ok := hiera3Kinds[backend]
	if !ok || backend == "eyaml" {
		c.leaveToPuppet(e.at, "'"+backend+"'", diag.Fix{})
		return Entry{}
	}
	paths := []string{e.Name}
	if path, ok := c.text(n, "path"); ok {
		paths = []string{path}
	}
	if _, list, ok := n.Lookup("paths"); ok {
		if paths = site.StringsOf(list); paths == nil {
			c.Doc.Errorf(list, "hierarchy", "expected a list of strings for 'paths', found %s", list.Describe())
		}
	}
	s := dataSource{kind: kind, datadir: datadir, level: e.Name}
	c.checkDatadir(e.at, s)
	for _, path := range paths {
		e.Locations = append(e.Locations, c.path(e.at, s, withExtension(path, backend)))
	}
	return e
}

func withExtension(path, ext string) string { return strings.TrimSuffix(path, "."+ext) + "." + ext }

var hiera3Kinds = map[string]datafile.Format{"yaml": datafile.Hiera5YAML, "json": datafile.Hiera5JSON,
	"eyaml": datafile.Hiera5EYAML}

// version3 converts a Hiera 3 configuration, in which all backends share one hierarchy. The result has one entry per
// backend and level.
func (c config) version3() {
	backends, hierarchy := []string{"yaml"}, []string{"nodes/%{::trusted.certname}", "common"}
	if list := c.list3("backends"); list != nil {
		backends = list
	}
	if list := c.list3("hierarchy"); list != nil {
		hierarchy = list
	}
	for _, b := range backends {
		e := Entry{Name: b, at: c.Doc.Pos(c.Doc.Root)}
		kind, ok := hiera3Kinds[b]
		if !ok {
			c.leaveToPuppet(e.at, "'"+b+"'", diag.Fix{})
		}
		datadir, ext := path.Join(c.codedir, "environments", ownEnvironment[0], "hieradata"), b
		if n, there := lookup3(c.Doc.Root, b); there {
			datadir, ext = c.text3(n, "datadir", datadir), c.text3(n, "extension", ext)
		}
		s := dataSource{kind: kind, datadir: datadir, level: b}
		if ok {
			c.checkDatadir(e.at, s)
		}
		for _, path := range hierarchy {
			if ok {
				e.Locations = append(e.Locations, c.path(e.at, s, withExtension(path, ext)))
			}
		}
		c.Entries = append(c.Entries, e)
	}
	c.warnOfMerges()
}

// strategies3 maps Hiera 3 merge behaviors to the equivalent merge strategies.
var strategies3 = map[string]string{"deep": "{strategy: unconstrained_deep, preserve_unmergeables: true}",
	"deeper": "unconstrained_deep"}

// warnOfMerges reports how Hiera 3 merges hashes, if this is not the default. A snapshot does not contain the setting.
func (c config) warnOfMerges() {
	n, ok := lookup3(c.Doc.Root, "merge_behavior")
	if !ok {
		return
	}
	text, _ := n.Text()
	behavior, options := strings.TrimPrefix(text, ":"), ""
	if behavior == "native" {
		return
	}
	d := diag.Diagnostic{Pos: c.Doc.Pos(n), Severity: diag.Warning, Code: "hiera_version",
		Message: "merge_behavior is '" + behavior + "', and the snapshot does not contain this setting: " +
			"every lookup chooses its own merge",
		Hint: "expected native, deep or deeper"}
	if n, ok := lookup3(c.Doc.Root, "deep_merge_options"); ok {
		options = mergeOptions3(n)
	}
	if strategy := strategies3[behavior]; strategy != "" {
		d.Hint = "in the section [bindc] of ansible.cfg, write 'merge_behavior = " + behavior + "'" + options +
			"; elsewhere, use the merge strategy " + strategy
	}
	c.Diags.Add(d)
}

// mergeOptions3 returns the setting in ansible.cfg that is equivalent to deep_merge_options, or "". Like Hiera 3, it
// ignores names without a colon.
func mergeOptions3(n *yaml.Node) string {
	var b value.Builder
	for k, v := range n.Pairs() {
		if text, _ := k.Text(); strings.HasPrefix(text, ":") {
			b.Set(value.FromString(text[1:]), v.Literal())
		}
	}
	if options := b.Hash(); options.Len() > 0 {
		return " and 'deep_merge_options = " + string(value.AppendJSON(nil, options)) + "'"
	}
	return ""
}

// lookup3 returns the value of a key that may be written with a leading colon.
func lookup3(n *yaml.Node, key string) (v *yaml.Node, ok bool) {
	if _, v, ok = n.Lookup(":" + key); !ok {
		_, v, ok = n.Lookup(key)
	}
	return v, ok
}

// text3 returns the string at a key, or def if the key is missing. It reports a value that is not a string.
func (c config) text3(n *yaml.Node, key, def string) string {
	v, ok := lookup3(n, key)
	if !ok {
		return def
	}
	text, ok := v.Text()
	if !ok {
		c.Doc.Errorf(v, "hierarchy", "expected a string for ':%s', found %s", key, v.Describe())
	}
	return text
}

// list3 returns the string or list of strings at a top-level key, or nil if there is none, because Hiera 3 then uses a
// default. It reports any other value.
func (c config) list3(key string) []string {
	n, ok := lookup3(c.Doc.Root, key)
	if !ok || n.Kind == yaml.Scalar && n.Value.IsUndef() {
		return nil
	}
	if text, ok := n.Text(); ok {
		return []string{text}
	}
	list := site.StringsOf(n)
	if list == nil {
		c.Doc.Errorf(n, "hierarchy", "expected a string or a list of strings for ':%s', found %s", key, n.Describe())
	}
	return list
}
