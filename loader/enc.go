package loader

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/recipe"
	"bindc/loader/internal/site"
)

// encParts lists the parts of the output of an external node classifier (ENC). The URI 'enc:/PART' includes one part,
// and 'enc:' includes all of them.
var encParts = []string{encClasses, "parameters", "variables", "environment"}

const encClasses = "classes"

func encPart(key string) string {
	switch {
	case strings.HasPrefix(key, datafile.ClassPrefix):
		return encClasses
	case strings.HasPrefix(key, recipe.VariableKeys):
		return "variables"
	case key == recipe.EnvironmentKey:
		return "environment"
	}
	return "parameters"
}

// checkEnc reports whether the path of u is empty, '*' or the name of a part of the classifier output. If not, it adds
// an error.
func (r uriReader) checkEnc(u uri) bool {
	if u.path == "" || u.path == "*" || slices.Contains(encParts, u.path) {
		return true
	}
	r.diags.Add(diag.Diagnostic{Pos: u.at, Code: "uri", Fix: diag.Correct(u.path, encParts),
		Message: "expected enc:/, or one of " + diag.Quoted(encParts) + " after it, found '" + u.String() + "'"})
	return false
}

// partsOfEnc expands a URI that includes all of the classifier output into one URI per part. It returns any other URI
// unchanged.
func partsOfEnc(u uri) []uri {
	if u.path != "" && u.path != "*" {
		return []uri{u}
	}
	out := make([]uri, len(encParts))
	for i, part := range encParts {
		out[i] = u
		out[i].path = part
	}
	return out
}

// node is the classifier output of one node.
type node struct {
	condition int
	file      *site.File
}

// findEnc resolves u to one part of the classifier output of all nodes. The directory is read only on the first call.
func (p *planner) findEnc(u uri) []planned {
	dir := filepath.Join(p.Dir, datafile.ClassifiedDir)
	there, ok := p.IsDir(dir)
	if !ok {
		return nil
	}
	if !there {
		p.missing(u, "there is no classifier output: expected the directory %s, which bindc enc writes", dir)
		return nil
	}
	if p.nodes == nil {
		p.nodes = p.classifiedNodes(dir)
	}
	return []planned{{uri: u.String(), nodes: p.nodes, encPart: u.path}}
}

// classifiedNodes queues the files with classifier output in dir. Each is named after its node.
func (p *planner) classifiedNodes(dir string) []node {
	category, _ := p.hiera2.Category("node") // every site has the category node
	var out []node
	for _, e := range p.List(dir) {
		name, is := strings.CutSuffix(e.Name(), datafile.ClassifiedExt)
		if !is || name == "" || name[0] == '.' {
			continue
		}
		path := filepath.Join(dir, e.Name())
		out = append(out, node{
			condition: p.hiera2.Condition(Condition{{Dimension: category, Value: Fold(name)}}),
			file:      p.Enqueue(&site.File{Path: path, Label: p.Label(path), Data: true, Kind: datafile.Classified}),
		})
	}
	return out
}

// classified returns the part p.encPart of the classifier output as data files, one for each node with entries in that
// part.
func (p *planned) classified(keys []string) []DataFile {
	var out []DataFile
	mine := make([]bool, len(keys))
	for i, key := range keys {
		mine[i] = encPart(key) == p.encPart
	}
	for _, n := range p.nodes {
		entries := slices.DeleteFunc(slices.Clone(n.file.Content.Entries),
			func(e datafile.Entry) bool { return !mine[e.Key] })
		if len(entries) > 0 {
			out = append(out, DataFile{Path: n.file.Path, Condition: n.condition, Entries: entries})
		}
	}
	return out
}

// included compiles the classes in the classifier output with c, and returns the resulting bindings.
func (p *planned) included(keys []string, c *setCompiler) []Binding {
	for _, f := range p.classified(keys) {
		when := []int{f.Condition}
		for i, e := range f.Entries {
			c.class(strings.TrimPrefix(keys[e.Key], datafile.ClassPrefix), false, f.Pos(i), when)
		}
	}
	return c.out
}
