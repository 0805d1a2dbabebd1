package loader

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/set"
)

// planned is one contribution of a layer, before its files are read.
type planned struct {
	uri    string
	hiera  *hieraDir
	hiera5 *hiera5Dir
	part   HieraPart // of hiera5
	set    *input    // structured bindings
	name   string    // of the set, as its path says; "" for an extension's

	nodes   []node // what a classifier says of them
	encPart string // what of that
}

// plannedLayer is the contributions of one layer.
type plannedLayer struct {
	name          string
	contributions []planned
}

// planner finds what the URIs of layers name and has it read.
type planner struct {
	*inputs
	extensions registry
	hiera      *hieraReader
	hiera5     *hiera5Reader
	global     string            // the hiera.yaml of the global layer
	all5       bool              // what is of Hiera 5 is read as such
	named      map[string]bool   // the URIs in all layers; true: included in one
	sure       bool              // there are no others
	nodes      []node            // what a classifier says; nil: not asked for yet
	passed     []diag.Diagnostic // configurations of another Hiera
}

// plan finds the contributions of every layer.
func (p *planner) plan(layers []layerConfig) []plannedLayer {
	out := make([]plannedLayer, len(layers))
	for i, layer := range layers {
		out[i].name = layer.name
		done := map[string]bool{} // what is excluded, and what there is already: the same contribution counts once
		for _, u := range layer.exclude {
			for _, e := range p.expand(u) {
				done[e.String()] = true
				if _, known := p.named[e.String()]; !known {
					p.named[e.String()] = false
				}
			}
		}
		for _, u := range layer.include {
			for _, e := range p.expand(u) {
				if done[e.String()] {
					continue
				}
				done[e.String()] = true
				p.named[e.String()] = true
				out[i].contributions = append(out[i].contributions, p.find(e)...)
			}
		}
	}
	for _, d := range p.passed {
		if p.hiera5.dirs[d.Pos.File] == nil { // else another layer has it as what it is
			p.diags.Add(d)
		}
	}
	return out
}

// expand replaces wildcards by what is there. What a wildcard finds is optional: only a URI that is spelt out must
// exist.
func (p *planner) expand(u uri) []uri {
	switch {
	case u.scheme == "enc":
		return partsOfEnc(u)
	case !u.wild() || !u.builtin():
		return []uri{u}
	}
	var paths []string
	switch u.scheme {
	case "module-hiera":
		_, dir, _ := strings.Cut(u.path, "/")
		for _, m := range p.modules.all {
			paths = append(paths, strings.TrimSuffix(m.name+"/"+dir, "/")) // most will not have one
		}
	case "module-hiera5":
		for _, m := range p.modules.all {
			paths = append(paths, m.name) // likewise
		}
	case "module":
		for _, m := range p.modules.all {
			for _, name := range p.namesOfSets(m.dir) {
				paths = append(paths, m.name+"::"+name)
			}
			p.rubySets(u, m, &paths)
		}
		paths = matching(u.path, paths)
	case "confdir":
		paths = matching(u.path, p.namesOfSets(p.dir))
	}
	out := make([]uri, len(paths))
	for i, path := range paths {
		out[i] = uri{scheme: u.scheme, path: path, optional: true, found: true, at: u.at}
	}
	return out
}

// source is what the structured bindings are read from, nil if that cannot be.
func (p *planned) source() set.Source {
	if p.set == nil {
		return nil
	}
	return p.set.source()
}

// names are what the set may be called. In the syntax of Puppet, the name of the module it is in need not be written.
func (p *planned) names() []string {
	if p.name == "" {
		return nil
	}
	_, inModule, _ := strings.Cut(p.name, "::")
	if strings.HasPrefix(p.uri, "module:") && p.set.set != nil {
		return []string{p.name, inModule}
	}
	return []string{p.name}
}

// namesOfSets are the sets of the site or module in dir, in whichever syntax.
func (p *planner) namesOfSets(dir string) []string {
	dir = p.setsDir(dir)
	names := append(p.setsBelow(dir, ".yaml"), p.setsBelow(dir, ".pp")...)
	slices.Sort(names)
	return slices.Compact(names)
}

// rubySets warns of bindings in Ruby that a wildcard names and that cannot be run.
func (p *planner) rubySets(u uri, m module, paths *[]string) {
	for _, name := range matching(u.path, p.setsBelow(filepath.Join(m.dir, "lib/puppet/bindings"), ".rb")) {
		if strings.HasPrefix(name, m.name+"::") && !slices.Contains(*paths, name) {
			path := rubyFile(m.dir, name)
			p.diags.Warnf(diag.Pos{File: path}, "ruby",
				"bindings written in Ruby cannot be run and are passed over; write them as structured bindings")
		}
	}
}

// find finds what a URI without wildcards names.
func (p *planner) find(u uri) []planned {
	switch {
	case u.scheme == "hiera" || u.scheme == "module-hiera5":
		return p.findHiera5(u)
	case u.scheme == "enc":
		return p.findEnc(u)
	case !u.builtin():
		return []planned{{uri: u.String(), set: p.wantHandled(u)}}
	}
	find := p.findSet
	if u.scheme == "confdir-hiera" || u.scheme == "module-hiera" {
		find = p.findHiera
	}
	if c, ok := find(u); ok {
		return []planned{c}
	}
	return nil
}

// findHiera5 finds a hierarchy of Hiera 5: that of the site with the global one above it, or that of a module.
func (p *planner) findHiera5(u uri) []planned {
	var out []planned
	dir, module, part := filepath.Join(p.dir, filepath.FromSlash(u.path)), "", HieraEnvironment
	if u.scheme == "module-hiera5" {
		m, ok := p.moduleOf(u, u.path)
		if !ok {
			return nil
		}
		dir, module, part = m.dir, m.name, HieraModule
	} else if p.global != "" {
		if h := p.hiera5.read(p.global, ""); h != nil {
			out = append(out, planned{uri: u.String(), hiera5: h, part: HieraGlobal})
		}
	}
	path := p.hiera5.hiera5File(dir)
	if path == "" {
		p.missing(u, "there is no hierarchy of Hiera 5: expected the file %s", filepath.Join(dir, "hiera.yaml"))
		return out
	}
	if h := p.hiera5.read(path, module); h != nil {
		out = append(out, planned{uri: u.String(), hiera5: h, part: part})
	}
	return out
}

// isOfHiera5 tells whether the site has a hierarchy of Hiera 5, or a global one is given. One without a hierarchy is of
// Hiera 5 if its modules are, and none is of Hiera-2.
func (p *planner) isOfHiera5() bool {
	if p.global != "" || p.hiera5.hiera5File(p.dir) != "" {
		return true
	}
	if own, _ := p.hieraFile(p.dir); own != "" {
		return false
	}
	some := false
	for _, m := range p.modules.all {
		of5 := p.hiera5.hiera5File(m.dir) != ""
		if own, _ := p.hieraFile(m.dir); own != "" && !of5 {
			return false
		}
		some = some || of5
	}
	return some
}

// hiera5Layers are the layers of such a site, where it does not say: its own bindings, the hierarchies of Hiera 5, and
// what modules have of others.
func (p *planner) hiera5Layers() []layerConfig {
	p.all5 = true
	at := diag.Pos{File: p.dir}
	optional := func(scheme, path string) uri { return uri{scheme: scheme, path: path, optional: true, at: at} }
	own := []uri{optional("confdir", "default")}
	if there, _ := p.isFile(filepath.Join(p.dir, hieraFiles[0])); there {
		own = append(own, optional("confdir-hiera", ""))
	}
	return []layerConfig{
		{name: "site", include: own},
		{name: "hiera", include: []uri{optional("hiera", ""), optional("module-hiera5", "*")}},
		{name: "modules", include: []uri{optional("module-hiera", "*"), optional("module", "*::default")}},
	}
}

// missing reports that what u names does not exist, unless that is allowed.
func (p *planner) missing(u uri, format string, args ...any) (planned, bool) {
	if !u.optional {
		p.diags.Errorf(u.at, "missing", format+"; add '?optional' if it may be missing", args...)
	}
	return planned{}, false
}

// moduleOf is the module a URI names.
func (p *planner) moduleOf(u uri, name string) (module, bool) {
	m, ok := p.modules.named(name)
	if !ok && !u.optional {
		p.diags.Add(diag.Diagnostic{Pos: u.at, Code: "missing",
			Message: "there is no module '" + name + "' on the module path",
			Hint:    p.diags.DidYouMean(name, p.modules.known())})
	}
	return m, ok
}

// findHiera finds a Hiera-2 directory.
func (p *planner) findHiera(u uri) (planned, bool) {
	dir := filepath.Join(p.dir, filepath.FromSlash(u.path))
	if u.scheme == "module-hiera" {
		name, rest, _ := strings.Cut(u.path, "/")
		m, ok := p.moduleOf(u, name)
		if !ok {
			return planned{}, false
		}
		dir = filepath.Join(m.dir, filepath.FromSlash(rest))
	}
	path, ok := p.hieraFile(dir)
	switch {
	case !ok:
		return planned{}, false
	case path == "":
		return p.missing(u, "there is no Hiera-2 directory %s: expected the file %s", u,
			filepath.Join(dir, "hiera.yaml"))
	}
	h := p.hiera.dir(path)
	if h != nil && h.other != "" {
		p.otherVersion(u, h)
		return planned{}, false
	}
	return planned{uri: u.String(), hiera: h}, h != nil
}

// otherVersion passes the configuration of another Hiera over where one may be in use beside this: at the top of the
// site, or in a module that a wildcard found. Elsewhere it is an error.
func (p *planner) otherVersion(u uri, h *hieraDir) {
	d := diag.Diagnostic{Pos: h.doc.Pos(h.doc.Root), Severity: diag.Info, Code: "hiera_version",
		Message: "passed over: this file " + h.other}
	switch {
	case p.all5: // where only a wildcard finds one
	case u.path == "" && seemsHiera5(h.doc):
		d.Severity, d.Message, d.Hint = diag.Warning, "passed over: this file has no version", "begin it with 'version: 5'"
		p.passed = append(p.passed, d)
	case u.path == "":
		d.Severity = diag.Warning
		d.Hint = "to compile its data write it as version 5, or 2; if another Hiera reads it, say so: " +
			"exclude 'confdir-hiera:/' from the layer that includes it"
		p.passed = append(p.passed, d)
	case u.found:
		p.passed = append(p.passed, d)
	default:
		h.doc.isVersion("version", 2)
	}
}

// findSet finds a file of structured bindings.
func (p *planner) findSet(u uri) (planned, bool) {
	dir, rel := p.dir, u.path
	if u.scheme == "module" {
		name, rest, _ := strings.Cut(u.path, "::")
		m, ok := p.moduleOf(u, name)
		if !ok {
			return planned{}, false
		}
		dir, rel = m.dir, rest
	}
	stem := filepath.Join(p.setsDir(dir), filepath.FromSlash(strings.ReplaceAll(rel, "::", "/")))
	path, puppet, ruby := stem+".yaml", stem+".pp", rubyFile(dir, u.path)
	there, ok := p.isFile(path)
	puppetThere, puppetOK := p.isFile(puppet)
	rubyThere, rubyOK := p.isFile(ruby)
	if puppetThere && !there {
		path, there = puppet, true
	}
	switch {
	case !ok || !puppetOK || !rubyOK:
		return planned{}, false
	case puppetThere && path != puppet:
		p.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Code: "twice",
			Message: "the bindings " + u.path + " exist twice, in YAML and in the syntax of Puppet",
			Notes:   []diag.Note{{Pos: diag.Pos{File: puppet}, Message: "in the syntax of Puppet"}},
			Hint:    "remove one of the two"})
		return planned{}, false
	case there && rubyThere:
		p.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Code: "ruby",
			Message: "the bindings " + u.path + " exist twice, in this file and in Ruby",
			Notes:   []diag.Note{{Pos: diag.Pos{File: ruby}, Message: "in Ruby"}},
			Hint:    "remove the Ruby file: it cannot be run"})
		return planned{}, false
	case rubyThere:
		p.diags.Errorf(u.at, "ruby",
			"the bindings %s are written in Ruby (%s), which cannot be run; write them as structured bindings",
			u.path, ruby)
		return planned{}, false
	case !there:
		return p.missing(u, "there are no bindings %s: expected the file %s, or %s beside it", u.path, path,
			filepath.Base(puppet))
	}
	return planned{uri: u.String(), set: p.want(path), name: u.path}, true
}

func rubyFile(dir, name string) string {
	return filepath.Join(dir, "lib/puppet/bindings", filepath.FromSlash(strings.ReplaceAll(name, "::", "/"))+".rb")
}
