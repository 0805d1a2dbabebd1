package loader

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/yaml"
)

// uri names contributions: scheme:/path, perhaps ?optional (language.md, section 3).
type uri struct {
	scheme, path string // path without slashes at its ends
	optional     bool
	found        bool // by a wildcard
	at           diag.Pos
}

func (u uri) String() string { return u.scheme + ":/" + u.path }

// wild tells whether the path has a wildcard.
func (u uri) wild() bool { return strings.Contains(u.path, "*") }

// source is one contribution of a layer, before its files are read.
type source struct {
	uri   string
	hiera *hieraDir
	set   *file  // structured bindings
	name  string // of the set, as its path says; "" for an extension's
}

// layerSources is the contributions of one layer.
type layerSources struct {
	name    string
	sources []source
}

var layerKeys = []string{"name", "include", "exclude"}

func (l *load) readLayers(doc *yaml.Document, n *yaml.Node) []layerConfig {
	if n.Kind != yaml.Sequence {
		l.diags.Errorf(doc.Pos(n), "layer", "expected a list of layers as 'layers', found %s", n.Describe())
		return nil
	}
	var out []layerConfig
	named := map[string]diag.Pos{}
	for i := range n.Kids {
		kid := &n.Kids[i]
		if kid.Kind != yaml.Mapping {
			l.diags.Errorf(doc.Pos(kid), "layer", "expected a layer as a hash of 'name', 'include' and 'exclude', found %s", kid.Describe())
			continue
		}
		l.onlyKeys(doc, kid, "layer", "attribute of a layer", layerKeys)
		layer := layerConfig{include: l.readURIs(doc, kid, "include"), exclude: l.readURIs(doc, kid, "exclude")}
		if _, v, ok := kid.Lookup("name"); ok {
			layer.name = l.layerName(doc, v, named)
		}
		out = append(out, layer)
	}
	return out
}

func (l *load) layerName(doc *yaml.Document, n *yaml.Node, named map[string]diag.Pos) string {
	name, ok := n.Text()
	if !ok {
		l.diags.Errorf(doc.Pos(n), "layer", "expected a string as the name of a layer, found %s", n.Describe())
		return ""
	}
	if first, taken := named[name]; taken {
		l.diags.Add(diag.Diagnostic{Pos: doc.Pos(n), Code: "layer", Message: "two layers are named '" + name + "'",
			Notes: []diag.Note{{Pos: first, Message: "the first"}}})
	}
	named[name] = doc.Pos(n)
	return name
}

// readURIs reads the URI or list of URIs at key.
func (l *load) readURIs(doc *yaml.Document, layer *yaml.Node, key string) []uri {
	_, n, ok := layer.Lookup(key)
	if !ok {
		return nil
	}
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	var out []uri
	for i := range nodes {
		text, ok := nodes[i].Text()
		if !ok {
			l.diags.Errorf(doc.Pos(&nodes[i]), "uri", "expected a URI or a list of URIs as '%s', found %s", key, nodes[i].Describe())
			continue
		}
		if u, ok := l.parseURI(text, doc.Pos(&nodes[i])); ok {
			out = append(out, u)
		}
	}
	return out
}

// parseURI takes a URI apart. `\*` means `*`: the documents print it so.
func (l *load) parseURI(text string, at diag.Pos) (uri, bool) {
	rest, query, hasQuery := strings.Cut(strings.ReplaceAll(text, `\*`, "*"), "?")
	scheme, path, ok := strings.Cut(rest, ":")
	switch {
	case !ok || scheme == "":
		l.diags.Errorf(at, "uri", "expected a URI with a scheme, as confdir-hiera:/ or module:/ntp::default, found '%s'", text)
	case !slices.Contains(schemes, scheme) && l.ext.handlers[scheme] == nil:
		l.unknownScheme(scheme, at)
	case scheme == "enc":
		l.diags.Errorf(at, "uri", "the scheme 'enc' is reserved for external node classifiers and not specified yet: remove '%s'", text)
	case !strings.HasPrefix(path, "/"):
		l.diags.Errorf(at, "uri", "expected a path that begins with '/' behind '%s:', found '%s'", scheme, text)
	case query != "" && query != "optional":
		l.diags.Errorf(at, "uri", "expected '?optional' or nothing behind the path, found '?%s'", query)
	default:
		u := uri{scheme: scheme, path: strings.Trim(path, "/"), optional: hasQuery, at: at}
		if slices.Contains(schemes, scheme) {
			u.path = normal(u.path)
		}
		return u, l.checkPath(u)
	}
	return uri{}, false
}

// normal is the path of a URI as URIs are compared: without empty parts and '.'.
func normal(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" || p == "." }), "/")
}

var schemes = []string{"confdir-hiera", "module-hiera", "confdir", "module", "enc"}

func (l *load) unknownScheme(scheme string, at diag.Pos) {
	known := extensionNames(schemes[:4], l.ext.handlers)
	d := diag.Diagnostic{Pos: at, Code: "uri", Message: "unknown scheme '" + scheme + "'; expected " + diag.Quoted(known)}
	d.Hint = diag.DidYouMean(scheme, known)
	l.diags.Add(d)
}

// checkPath refuses a path that leads out, and wildcards where the scheme has none.
func (l *load) checkPath(u uri) bool {
	first, rest, _ := strings.Cut(u.path, "/")
	switch {
	case slices.Contains(strings.Split(u.path, "/"), ".."):
		l.diags.Errorf(u.at, "uri", "expected a path inside the site or module, found '..' in '%s'", u)
	case u.scheme == "confdir-hiera" && u.wild():
		l.diags.Errorf(u.at, "uri", "the scheme 'confdir-hiera' has no wildcards: name the directory")
	case u.scheme == "module-hiera" && (strings.Contains(rest, "*") || strings.Contains(first, "*") && first != "*"):
		l.diags.Errorf(u.at, "uri", "expected '*' as the whole module name or not at all in '%s'", u)
	case slices.Contains(schemes, u.scheme) && u.scheme != "confdir-hiera" && u.path == "":
		l.diags.Errorf(u.at, "uri", "expected a path behind '%s:/'", u.scheme)
	case (u.scheme == "module" || u.scheme == "confdir") && strings.Contains(u.path, "/"):
		l.diags.Errorf(u.at, "uri", "expected the name of bindings, as %s:/%s, found '%s'", u.scheme, strings.ReplaceAll(u.path, "/", "::"), u)
	case !wildcardsFit(u):
		l.diags.Errorf(u.at, "uri", "expected '*' as a whole segment of the name (and '**' with the scheme 'confdir' only), found '%s'", u)
	case u.scheme == "module" && !strings.Contains(u.path, "::"):
		l.diags.Errorf(u.at, "uri", "expected bindings named MODULE::NAME, as module:/%s::default, found '%s'", u.path, u)
	default:
		return true
	}
	return false
}

// wildcardsFit checks the wildcards of the name of bindings.
func wildcardsFit(u uri) bool {
	if u.scheme != "module" && u.scheme != "confdir" {
		return true
	}
	for i, segment := range strings.Split(u.path, "::") {
		wild := segment == "*" && (i == 0 || u.scheme == "confdir") || segment == "**" && u.scheme == "confdir"
		if strings.Contains(segment, "*") && !wild {
			return false
		}
	}
	return true
}

func (l *load) defaultLayers() []layerConfig {
	at := diag.Pos{File: l.dir}
	optional := func(scheme, path string) uri { return uri{scheme: scheme, path: path, optional: true, at: at} }
	return []layerConfig{
		{name: "site", include: []uri{optional("confdir-hiera", ""), optional("confdir", "default")}},
		{name: "modules", include: []uri{optional("module-hiera", "*"), optional("module", "*::default")}},
	}
}

// plan finds the files of every layer's contributions and queues them.
func (l *load) plan(cfg *config) []layerSources {
	out := make([]layerSources, len(cfg.layers))
	for i, layer := range cfg.layers {
		out[i].name = layer.name
		excluded := map[string]bool{}
		for _, u := range layer.exclude {
			for _, e := range l.expand(u) {
				excluded[e.String()] = true
			}
		}
		for _, u := range layer.include {
			for _, e := range l.expand(u) {
				if excluded[e.String()] {
					continue
				}
				excluded[e.String()] = true // the same contribution counts once
				if s, ok := l.source(e); ok {
					out[i].sources = append(out[i].sources, s)
				}
			}
		}
	}
	return out
}

// expand replaces wildcards by what is there. What a wildcard finds is optional: only a URI that is spelt out must exist.
func (l *load) expand(u uri) []uri {
	if !u.wild() || !slices.Contains(schemes, u.scheme) {
		return []uri{u}
	}
	var paths []string
	switch u.scheme {
	case "module-hiera":
		_, dir, _ := strings.Cut(u.path, "/")
		for _, m := range l.modules {
			if there, _ := l.isFile(filepath.Join(m.dir, dir, "hiera.yaml")); there {
				paths = append(paths, strings.TrimSuffix(m.name+"/"+dir, "/"))
			}
		}
	case "module":
		for _, m := range l.modules {
			for _, name := range l.setsIn(filepath.Join(m.dir, "bindings")) {
				paths = append(paths, m.name+"::"+name)
			}
			l.rubySets(u, m, &paths)
		}
		paths = matching(u.path, paths)
	case "confdir":
		paths = matching(u.path, l.setsIn(filepath.Join(l.dir, "bindings")))
	}
	out := make([]uri, len(paths))
	for i, p := range paths {
		out[i] = uri{scheme: u.scheme, path: p, optional: true, found: true, at: u.at}
	}
	return out
}

// rubySets warns of bindings in Ruby that a wildcard names and that cannot be run.
func (l *load) rubySets(u uri, m module, paths *[]string) {
	for _, name := range matching(u.path, l.rubyIn(filepath.Join(m.dir, "lib/puppet/bindings"))) {
		if strings.HasPrefix(name, m.name+"::") && !slices.Contains(*paths, name) {
			path := rubyFile(m.dir, name)
			l.diags.Warnf(diag.Pos{File: path}, "ruby", "bindings written in Ruby cannot be run and are passed over; write them as structured bindings")
		}
	}
}

// setsIn lists the names of the bindings files below dir: a/b.yaml is a::b.
func (l *load) setsIn(dir string) []string { return l.filesBelow(nil, dir, "", ".yaml") }

func (l *load) rubyIn(dir string) []string { return l.filesBelow(nil, dir, "", ".rb") }

// filesBelow adds the names of the files below dir, which begin with prefix. Links to directories are not followed.
func (l *load) filesBelow(out []string, dir, prefix, ext string) []string {
	entries, err := l.disk.List(dir)
	if err != nil {
		l.cannotRead(dir, err)
	}
	for _, e := range entries {
		name, isSet := strings.CutSuffix(e.Name(), ext)
		if e.IsDir() {
			out = l.filesBelow(out, filepath.Join(dir, e.Name()), prefix+e.Name()+"::", ext)
		} else if isSet {
			out = append(out, prefix+name)
		}
	}
	if prefix == "" {
		slices.Sort(out)
	}
	return out
}

// matching is the names a pattern fits: `*` is one segment, `**` one or more.
func matching(pattern string, names []string) []string {
	p := strings.Split(pattern, "::")
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !segmentsMatch(p, strings.Split(n, "::")) })
}

func segmentsMatch(pattern, name []string) bool {
	if len(pattern) == 0 || len(name) == 0 {
		return len(pattern) == len(name)
	}
	if pattern[0] == "**" {
		return segmentsMatch(pattern[1:], name[1:]) || segmentsMatch(pattern, name[1:])
	}
	return (pattern[0] == "*" || pattern[0] == name[0]) && segmentsMatch(pattern[1:], name[1:])
}

// source finds what a URI without wildcards names.
func (l *load) source(u uri) (source, bool) {
	if u.scheme == "confdir-hiera" || u.scheme == "module-hiera" {
		return l.hieraSource(u)
	}
	if l.ext.handlers[u.scheme] != nil && !slices.Contains(schemes, u.scheme) {
		return source{uri: u.String(), set: l.wantHandled(u)}, true
	}
	return l.setSource(u)
}

// missing reports that what u names does not exist, unless that is allowed.
func (l *load) missing(u uri, format string, args ...any) (source, bool) {
	if !u.optional {
		l.diags.Errorf(u.at, "missing", format+"; add '?optional' if it may be missing", args...)
	}
	return source{}, false
}

// moduleOf is the module a URI names.
func (l *load) moduleOf(u uri, name string) (module, bool) {
	m, ok := l.module(name)
	if !ok && !u.optional {
		d := diag.Diagnostic{Pos: u.at, Code: "missing", Message: "there is no module '" + name + "' on the module path"}
		d.Hint = diag.DidYouMean(name, l.moduleNames())
		l.diags.Add(d)
	}
	return m, ok
}

// setSource finds a file of structured bindings.
func (l *load) setSource(u uri) (source, bool) {
	dir, rel := l.dir, u.path
	if u.scheme == "module" {
		name, rest, _ := strings.Cut(u.path, "::")
		m, ok := l.moduleOf(u, name)
		if !ok {
			return source{}, false
		}
		dir, rel = m.dir, rest
	}
	path := filepath.Join(dir, "bindings", filepath.FromSlash(strings.ReplaceAll(rel, "::", "/"))+".yaml")
	ruby := rubyFile(dir, u.path)
	there, ok := l.isFile(path)
	rubyThere, rubyOK := l.isFile(ruby)
	switch {
	case !ok || !rubyOK:
		return source{}, false
	case there && rubyThere:
		l.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Code: "ruby", Message: "the bindings " + u.path + " exist twice, in YAML and in Ruby",
			Notes: []diag.Note{{Pos: diag.Pos{File: ruby}, Message: "in Ruby"}}, Hint: "remove the Ruby file: it cannot be run"})
		return source{}, false
	case rubyThere:
		l.diags.Errorf(u.at, "ruby", "the bindings %s are written in Ruby (%s), which cannot be run; write them as structured bindings", u.path, ruby)
		return source{}, false
	case !there:
		return l.missing(u, "there are no bindings %s: expected the file %s", u.path, path)
	}
	return source{uri: u.String(), set: l.want(path), name: u.path}, true
}

func rubyFile(dir, name string) string {
	return filepath.Join(dir, "lib/puppet/bindings", filepath.FromSlash(strings.ReplaceAll(name, "::", "/"))+".rb")
}
