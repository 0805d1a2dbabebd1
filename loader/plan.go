package loader

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// planned is one contribution to a layer. Its files have been queued for parsing.
type planned struct {
	uri      string
	hiera2   *hiera2Dir
	hiera5   *hiera5.Hierarchy
	part     HieraPart // the part of Hiera 5 that the hierarchy belongs to
	bindings *site.File
	name     string // name of the set, derived from its path; "" for an extension's bindings

	nodes   []node // nodes with classifier output
	encPart string // the part of the classifier output that is included
}

type plannedLayer struct {
	name          string
	contributions []planned
}

// planner resolves the URIs in layers to files and queues the files for parsing.
type planner struct {
	*site.Inputs
	extensions    registry
	hiera2        *hiera2Reader
	hiera5        *hiera5.Reader
	global        string              // hiera.yaml of Puppet's global layer
	defaultHiera5 bool                // the site uses the default layers for Hiera 5 data
	named         map[string]bool     // URIs that layers mention; false if they are only excluded
	namedComplete bool                // no URI had an error, so named is complete
	nodes         []node              // nodes with classifier output; nil if not read yet
	otherVersions []diag.Diagnostic   // warnings about ignored files of other versions of Hiera
	defaultLayers bool                // the site does not configure its layers
	layer         string              // name of the layer being planned
	sets          map[string][]string // results of namesOfSets, by directory
}

// plan resolves the URIs of all layers. It first collects p.named, so that each layer knows the URIs of the others.
func (p *planner) plan(layers []layerConfig) []plannedLayer {
	out := make([]plannedLayer, len(layers))
	wanted := make([][]uri, len(layers))
	for i, layer := range layers {
		wanted[i] = p.wanted(layer)
		for _, u := range wanted[i] {
			p.named[u.String()] = true
		}
	}
	for i, layer := range layers {
		out[i].name, p.layer = layer.name, layer.name
		for _, u := range wanted[i] {
			out[i].contributions = append(out[i].contributions, p.find(u)...)
		}
	}
	for _, d := range p.otherVersions {
		if p.hiera5.Dirs[d.Pos.File] == nil { // otherwise another layer reads the file as Hiera 5
			p.Diags.Add(d)
		}
	}
	return out
}

// wanted returns the URIs that a layer includes and does not exclude, without duplicates. The strictest duplicate is
// kept: a URI without '?optional' must exist, even if a wildcard also matches it.
func (p *planner) wanted(layer layerConfig) []uri {
	excluded := map[string]bool{}
	for _, u := range layer.exclude {
		for _, e := range p.expand(u) {
			excluded[e.String()] = true
			if _, named := p.named[e.String()]; !named {
				p.named[e.String()] = false
			}
		}
	}
	var out []uri
	at := map[string]int{}
	var included []string
	for _, u := range layer.include {
		for _, e := range p.expand(u) {
			included = append(included, e.String())
			i, again := at[e.String()]
			switch {
			case excluded[e.String()]:
			case !again:
				at[e.String()] = len(out)
				out = append(out, e)
			case e.strictness() > out[i].strictness():
				out[i] = e
			}
		}
	}
	p.warnOfExclusions(layer, included)
	return out
}

// warnOfExclusions warns about an exclusion that matches no included URI but resembles one.
func (p *planner) warnOfExclusions(layer layerConfig, included []string) {
	for _, u := range layer.exclude {
		if near := diag.Misspelt(u.String(), included); near != "" && !u.hasWildcard() {
			p.Diags.Add(diag.Diagnostic{Pos: u.at, Severity: diag.Warning, Code: "uri",
				Message: "the layer '" + layer.name + "' does not include '" + u.String() + "', so nothing is excluded",
				Fix:     diag.MeantAs(u.String(), near)})
		}
	}
}

// expand returns the URIs that match a URI with wildcards. They are optional: only a URI without wildcards must exist.
func (p *planner) expand(u uri) []uri {
	switch {
	case u.scheme == "enc":
		return partsOfEnc(u)
	case !u.hasWildcard() || !u.builtin():
		return []uri{u}
	}
	var paths []string
	switch u.scheme {
	case "module-hiera":
		_, dir, _ := strings.Cut(u.path, "/")
		for _, m := range p.Modules.All {
			paths = append(paths, strings.TrimSuffix(m.Name+"/"+dir, "/")) // even if the module has no Hiera 2 data
		}
	case "module-hiera5":
		for _, m := range p.Modules.All {
			paths = append(paths, m.Name) // even if the module has no hiera.yaml
		}
	case "module":
		for _, m := range p.Modules.All {
			for _, name := range p.namesOfSets(m.Dir) {
				paths = append(paths, m.Name+"::"+name)
			}
			p.rubySets(u, m, &paths)
		}
		paths = matching(u.path, paths)
	case "confdir":
		paths = matching(u.path, p.namesOfSets(p.Dir))
	}
	out := make([]uri, len(paths))
	for i, path := range paths {
		out[i] = uri{scheme: u.scheme, path: path, optional: true, found: true, at: u.at}
	}
	return out
}

func (p *planned) source() bindingsfile.Source {
	if p.bindings == nil {
		return nil
	}
	return p.bindings.Source()
}

// names returns the names that the bindings file may declare, or nil if any name is valid. In Puppet syntax, the name
// of the module may be omitted.
func (p *planned) names() []string {
	if p.name == "" {
		return nil
	}
	_, inModule, _ := strings.Cut(p.name, "::")
	if strings.HasPrefix(p.uri, "module:") && p.bindings.Puppet != nil {
		return []string{p.name, inModule}
	}
	return []string{p.name}
}

// namesOfSets returns the names of the sets in dir, the directory of a site or module. It includes sets in YAML and in
// Puppet syntax.
func (p *planner) namesOfSets(dir string) []string {
	if names, listed := p.sets[dir]; listed {
		return names
	}
	names := p.findSets(dir)
	if p.sets == nil {
		p.sets = map[string][]string{}
	}
	p.sets[dir] = names
	return names
}

func (p *planner) findSets(dir string) []string {
	dir = p.SetsDir(dir)
	names := append(p.SetsBelow(dir, ".yaml"), p.SetsBelow(dir, ".pp")...)
	slices.Sort(names)
	return slices.Compact(names)
}

// rubySets warns about bindings written in Ruby that match the wildcard in u, because they are not supported.
func (p *planner) rubySets(u uri, m site.Module, paths *[]string) {
	for _, name := range matching(u.path, p.SetsBelow(filepath.Join(m.Dir, "lib/puppet/bindings"), ".rb")) {
		if strings.HasPrefix(name, m.Name+"::") && !slices.Contains(*paths, name) {
			path := rubyFile(m.Dir, name)
			p.Diags.Warnf(diag.Pos{File: path}, "ruby",
				"bindings written in Ruby are not supported and are ignored; write them as structured bindings")
		}
	}
}

// find resolves a URI without wildcards.
func (p *planner) find(u uri) []planned {
	switch {
	case u.scheme == "hiera" || u.scheme == "module-hiera5":
		return p.findHiera5(u)
	case u.scheme == "enc":
		return p.findEnc(u)
	case !u.builtin():
		return []planned{{uri: u.String(), bindings: p.wantHandled(u)}}
	}
	find := p.findSet
	if u.scheme == "confdir-hiera" || u.scheme == "module-hiera" {
		find = p.findHiera2
	}
	if c, ok := find(u); ok {
		return []planned{c}
	}
	return nil
}

// missing reports that the target of u does not exist, unless u is optional.
func (p *planner) missing(u uri, format string, args ...any) (planned, bool) {
	if !u.optional {
		p.Diags.Errorf(u.at, "missing", format+"; add '?optional' if it may be missing", args...)
	}
	return planned{}, false
}

// moduleOf returns the module called name. If it does not exist, moduleOf reports an error unless u is optional.
func (p *planner) moduleOf(u uri, name string) (site.Module, bool) {
	m, ok := p.Modules.Named(name)
	if !ok && !u.optional {
		p.Diags.Add(diag.Diagnostic{Pos: u.at, Code: "missing",
			Message: "there is no module '" + name + "' on the module path",
			Fix:     p.Diags.Correct(name, p.Modules.Known())})
	}
	return m, ok
}

func (p *planner) findSet(u uri) (planned, bool) {
	dir, rel := p.Dir, u.path
	if u.scheme == "module" {
		name, rest, _ := strings.Cut(u.path, "::")
		m, ok := p.moduleOf(u, name)
		if !ok {
			return planned{}, false
		}
		dir, rel = m.Dir, rest
	}
	stem := filepath.Join(p.SetsDir(dir), filepath.FromSlash(strings.ReplaceAll(rel, "::", "/")))
	path, puppet, ruby := stem+".yaml", stem+".pp", rubyFile(dir, u.path)
	there, ok := p.IsFile(path)
	puppetThere, puppetOK := p.IsFile(puppet)
	rubyThere, rubyOK := p.IsFile(ruby)
	if puppetThere && !there {
		path, there = puppet, true
	}
	switch {
	case !ok || !puppetOK || !rubyOK:
		return planned{}, false
	case puppetThere && path != puppet:
		p.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Code: "twice",
			Message: "the bindings " + u.path + " exist twice, in YAML and in Puppet syntax",
			Notes:   []diag.Note{{Pos: diag.Pos{File: puppet}, Message: "in Puppet syntax"}},
			Hint:    "remove one of the two"})
		return planned{}, false
	case there && rubyThere:
		p.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Code: "ruby",
			Message: "the bindings " + u.path + " exist twice, in this file and in Ruby",
			Notes:   []diag.Note{{Pos: diag.Pos{File: ruby}, Message: "in Ruby"}},
			Hint:    "remove the Ruby file: it is not supported"})
		return planned{}, false
	case rubyThere:
		p.Diags.Errorf(u.at, "ruby",
			"the bindings %s are written in Ruby (%s), which is not supported; write them as structured bindings",
			u.path, ruby)
		return planned{}, false
	case !there:
		others := slices.Concat(p.SetsBelow(p.SetsDir(dir), ".yaml"), p.SetsBelow(p.SetsDir(dir), ".pp"))
		if fix := diag.Correct(rel, others); !fix.IsNone() && !u.optional {
			p.Diags.Add(diag.Diagnostic{Pos: u.at, Code: "missing", Fix: fix,
				Message: "there are no bindings " + u.path + ": expected the file " + path + ", or " +
					filepath.Base(puppet) + " beside it"})
			return planned{}, false
		}
		return p.missing(u, "there are no bindings %s: expected the file %s, or %s beside it", u.path, path,
			filepath.Base(puppet))
	}
	return planned{uri: u.String(), bindings: p.Want(path), name: u.path}, true
}

func rubyFile(dir, name string) string {
	return filepath.Join(dir, "lib/puppet/bindings", filepath.FromSlash(strings.ReplaceAll(name, "::", "/"))+".rb")
}
