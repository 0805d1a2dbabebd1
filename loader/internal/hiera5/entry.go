package hiera5

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

// entry reads an entry of a hierarchy. An invalid entry is kept, so that the following entries keep their numbers.
func (c config) entry(n, defaults *yaml.Node, before []Entry) Entry {
	if n.Kind != yaml.Mapping {
		c.Doc.Errorf(n, "hierarchy", "expected an entry, a hash with 'name' and 'path', found %s", n.Describe())
		return Entry{}
	}
	unknown := c.Doc.UnknownKeys(n, "hierarchy", "key of an entry", entryKeys)
	for _, d := range unknown {
		c.Doc.Diags.Add(d)
	}
	name, ok := c.name(n, before)
	if !ok {
		return Entry{}
	}
	e := Entry{Name: name, at: c.Doc.Pos(n)}
	source := c.source(n, defaults, e.at)
	places := presentKeys(n, placeKeys)
	switch {
	case len(places) > 1:
		c.Doc.Errorf(n, "hierarchy", "expected one of %s, found %s", diag.Quoted(placeKeys), diag.Quoted(places))
	case !source.ok:
	case len(places) == 0 && len(unknown) > 0: // a misspelt key may be meant as the path
	case len(places) == 0 || strings.HasPrefix(places[0], "uri"):
		c.refuse(n, "expected one of %s: Puppet refuses every lookup that reaches an entry of this function without a "+
			"path", diag.Quoted(pathKeys))
	default:
		source.level = e.Name
		if _, paths, _ := n.Lookup(places[0]); hasRelative(paths) {
			c.checkDatadir(e.at, source)
		}
		e.Locations = c.locations(n, places[0], source)
	}
	return e
}

// name returns the name of an entry. It returns false after an error, such as a name that an entry in before has.
func (c config) name(n *yaml.Node, before []Entry) (string, bool) {
	name, _ := c.text(n, "name")
	if name == "" {
		c.Doc.Errorf(n, "hierarchy", "expected the name of the entry for 'name'")
		return "", false
	}
	for _, b := range before {
		if b.Name == name {
			c.Doc.Diags.Add(diag.Diagnostic{Pos: c.Doc.Pos(n), Code: "hierarchy",
				Message: "two entries are named '" + name + "', which Puppet refuses",
				Notes:   []diag.Note{{Pos: b.at, Message: "the first"}}})
			return "", false
		}
	}
	return name, true
}

// text returns the string at key, or false if there is none. It reports a value that is not a string.
func (c config) text(n *yaml.Node, key string) (string, bool) {
	_, v, ok := n.Lookup(key)
	if !ok {
		return "", false
	}
	text, ok := v.Text()
	if !ok {
		c.Doc.Errorf(v, "hierarchy", "expected a string for '%s', found %s", key, v.Describe())
	}
	return text, ok
}

func presentKeys(n *yaml.Node, keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		_, _, ok := n.Lookup(key)
		return !ok
	})
}

// source returns the format and the datadir of an entry. It warns about an entry that only Puppet can read.
func (c config) source(n, defaults *yaml.Node, at diag.Pos) dataSource {
	s := dataSource{datadir: "data", ok: true}
	if dir, ok := c.text(n, "datadir"); ok {
		s.datadir = dir
	} else if dir, ok := c.text(defaults, "datadir"); ok {
		_, at, _ := defaults.Lookup("datadir")
		s.datadir, s.inDefaults = dir, c.Doc.Pos(at)
	}
	function, ok := c.function(n, defaults)
	if !ok {
		return dataSource{}
	}
	if function == "" && c.defaultsNode != nil { // each entry adds this diagnostic, but it is shown only once
		c.Doc.Diags.Add(diag.Diagnostic{Pos: c.Doc.Pos(c.defaultsNode), Code: "hierarchy",
			Message: "expected one of " + diag.Quoted(backendKeys) +
				" in 'defaults' or in each entry: Puppet has no other default",
			Hint: "add 'data_hash: yaml_data' to 'defaults'"})
		return dataSource{}
	}
	function = cmp.Or(function, "yaml_data")
	_, options, has := n.Lookup("options")
	if !has {
		_, options, has = defaults.Lookup("options")
	}
	if has && options.Kind != yaml.Mapping {
		c.Doc.Errorf(options, "hierarchy", "expected a hash for 'options', found %s", options.Describe())
		return dataSource{}
	}
	switch function {
	case "yaml_data":
		s.kind = datafile.Hiera5YAML
	case "json_data":
		s.kind = datafile.Hiera5JSON
	case "eyaml_lookup_key":
		s.kind = datafile.Hiera5EYAML
		c.checkEyamlOptions(options)
		return s
	case snapshotFunctions["data_hash"], snapshotFunctions["lookup_key"]:
		return dataSource{}
	default:
		c.leaveToPuppet(at, "'"+function+"'", diag.Correct(function, slices.Sorted(maps.Keys(functions))))
		return dataSource{}
	}
	if has && len(options.Kids) != 0 {
		c.Doc.Errorf(options, "hierarchy", "'%s' takes no options: Puppet refuses every lookup that reaches this entry; "+
			"remove them", function)
	}
	return s
}

// eyamlOptions lists options of hiera-eyaml. Its plugins may have others.
var eyamlOptions = []string{"pkcs7_private_key", "pkcs7_public_key", "pkcs7_private_key_env_var",
	"pkcs7_public_key_env_var", "gpg_gnupghome", "gpg_recipients", "gpg_recipients_file", "gpg_always_trust"}

// checkEyamlOptions warns about options that are probably misspelt. options may be nil.
func (c config) checkEyamlOptions(options *yaml.Node) {
	if options == nil {
		return
	}
	for key := range options.Pairs() {
		name, _ := key.Text()
		i := slices.IndexFunc(eyamlOptions, func(option string) bool { return isTypoOf(option, name) })
		if i >= 0 && !slices.Contains(eyamlOptions, name) {
			c.Doc.Diags.Add(diag.Diagnostic{Pos: c.Doc.Pos(key), Severity: diag.Warning, Code: "hierarchy",
				Message: "hiera-eyaml has no option '" + name + "', and ignores it",
				Fix:     diag.MeantAs(name, eyamlOptions[i])})
		}
	}
}

// isTypoOf is like diag.IsNear, but ignores the digit in pkcs7.
func isTypoOf(option, name string) bool {
	return diag.IsNear(strings.Replace(option, "pkcs7", "pkcs", 1), strings.Replace(name, "pkcs7", "pkcs", 1))
}

// function returns the name of the data function of an entry, or "" if neither the entry nor defaults names one. It
// returns false after an error.
func (c config) function(n, defaults *yaml.Node) (name string, ok bool) {
	for _, from := range []*yaml.Node{n, defaults} {
		keys := presentKeys(from, backendKeys)
		if len(keys) > 1 {
			c.Doc.Errorf(n, "hierarchy", "expected one of %s, found %s", diag.Quoted(backendKeys), diag.Quoted(keys))
			return "", false
		}
		if len(keys) == 0 {
			continue
		}
		name, _ := c.text(from, keys[0])
		if want := functions[name]; want != "" && keys[0] != want {
			c.refuse(n, "expected '%s: %s', found '%s: %s': Puppet refuses every lookup that reaches this entry", want, name,
				keys[0], name)
			return "", false
		}
		return name, true
	}
	return "", true
}

// functions lists the data functions of Puppet that bindc supports, with the key that names each.
var functions = map[string]string{"yaml_data": "data_hash", "json_data": "data_hash", "eyaml_lookup_key": "lookup_key"}

// refuse reports that Puppet refuses every lookup that reaches the entry n. In a module, this is a warning, because
// lookups of other keys work.
func (c config) refuse(n *yaml.Node, format string, args ...any) {
	if c.Module == "" {
		c.Doc.Errorf(n, "hierarchy", format, args...)
		return
	}
	c.Doc.Diags.Add(diag.Diagnostic{Pos: c.Doc.Pos(n), Severity: diag.Warning, Code: "hierarchy",
		Message: fmt.Sprintf(format, args...)})
}

// leaveToPuppet warns about an entry that only Puppet can read. what names the unsupported feature.
func (c config) leaveToPuppet(at diag.Pos, what string, fix diag.Fix) {
	c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_foreign",
		Message: what + " is not compiled: only Puppet can read this entry",
		Fix:     fix,
		Hint:    cmp.Or(fix.Hint(), "'bindq hiera-config' prints a hiera.yaml that leaves this entry to Puppet")})
}

func (c config) locations(n *yaml.Node, key string, source dataSource) []Location {
	_, v, _ := n.Lookup(key)
	texts := []string{}
	nodes := []*yaml.Node{}
	if text, _ := v.Text(); !strings.HasSuffix(key, "s") { // a value that is not a string gives ""
		texts, nodes = append(texts, text), append(nodes, v)
	} else {
		texts = site.StringsOf(v)
		for i := range v.Kids {
			nodes = append(nodes, &v.Kids[i])
		}
	}
	if len(texts) == 0 || slices.Contains(texts, "") || key == "mapped_paths" && len(texts) != 3 {
		c.Doc.Errorf(v, "hierarchy", "expected %s for '%s', found %s", expectedPlace(key), key, v.Describe())
		return nil
	}
	if key == "mapped_paths" {
		return c.mapped(c.Doc.Pos(v), source, texts)
	}
	var out []Location
	for i, text := range texts {
		at := c.Doc.Pos(nodes[i])
		if !strings.HasPrefix(key, "glob") {
			out = append(out, c.path(at, source, text))
			continue
		}
		globs, ok := Unbraced(text)
		if !ok {
			c.Doc.Errorf(nodes[i], "hierarchy", "the braces of this glob expand to too many globs; write several entries")
			return nil
		}
		for _, glob := range globs {
			out = joined(out, c.glob(at, source, glob))
		}
	}
	return out
}

// joined appends the location of a glob to out. It merges consecutive globs without interpolations into one location,
// so that the number of their files is known at build time.
func joined(out []Location, l Location) []Location {
	constant := func(l Location) bool {
		return !slices.ContainsFunc(l.conditions, func(c int) bool { return c != 0 })
	}
	last := len(out) - 1
	if last < 0 || !constant(l) || !constant(out[last]) {
		return append(out, l)
	}
	for _, f := range l.files[0] {
		out[last].add(0, f)
	}
	out[last].written = append(out[last].written, l.written...)
	return out
}

func expectedPlace(key string) string {
	switch {
	case key == "mapped_paths":
		return "[variable, name, path], three strings,"
	case strings.HasSuffix(key, "s"):
		return "a list of strings"
	}
	return "a string"
}
