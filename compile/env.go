package compile

import (
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// env holds what all passes share. No pass changes the site.
type env struct {
	site      *loader.Site
	strict    bool // the use of an unknown variable is an error
	diags     *diag.List
	relations *relation.Relations // of the site's dimensions
	effort    *effort
}

// relationsOf returns the relations among the dimensions of a site. Comparing them takes steps from left.
func relationsOf(dims []loader.Dimension, left *effort) *relation.Relations {
	out := make([]relation.Dimension, len(dims))
	for i, d := range dims {
		out[i] = relation.Dimension{Category: d.Category, Guard: d.Guard, Value: d.Value}
		if d.Exact {
			out[i].Value = nil // relations are only known among folded values
		}
	}
	return relation.New(out, func(steps int) { left.spend(steps) })
}

// report adds the result of a check, unless the effort is used up: the check was incomplete then.
func (e *env) report(d diag.Diagnostic) {
	if !e.effort.over() {
		e.diags.Add(d)
	}
}

// inLayer names a layer for a message. The result is empty if the site has only one layer, without a name.
func (e *env) inLayer(n int) string {
	switch name := e.site.Layers[n].Name; {
	case name != "":
		return " in layer '" + name + "'"
	case len(e.site.Layers) > 1:
		return " in layer " + strconv.Itoa(n+1)
	}
	return ""
}

// describe puts a condition into words for a message: " where environment is 'production'".
func (e *env) describe(terms loader.Condition) string {
	var parts []string
	for _, t := range terms {
		if e.relations.IsNamed(t.Dimension) {
			parts = append(parts, e.site.Dimensions[t.Dimension].Name+" is '"+t.Value+"'")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " where " + strings.Join(parts, " and ")
}

// isHiera reports whether a layer is part of a hierarchy of Hiera 5.
func (e *env) isHiera(layer int) bool { return isHieraLayer(e.site.Layers[layer]) }

func isHieraLayer(l loader.Layer) bool { return l.Hiera != loader.NoHiera }

// newEnv returns what the passes over a site share. The comparisons end after effort steps.
func newEnv(site *loader.Site, strict bool, effort int, diags *diag.List) *env {
	left := newEffort(effort)
	return &env{site: site, strict: strict, diags: diags, relations: relationsOf(site.Dimensions, left), effort: left}
}
