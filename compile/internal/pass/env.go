// Package pass defines the state that the passes of the compiler share: the site, the diagnostics and the remaining
// effort.
package pass

import (
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// Env is the state that all passes share. Passes do not change the site.
type Env struct {
	Site      *loader.Site
	Strict    bool // unknown variables are errors
	Diags     *diag.List
	Relations *relation.Relations // relations between the dimensions of the site
	Effort    *Effort
	Stopped   func() bool // reports whether the caller no longer needs the result

	IsParameter func(key string) bool // reports whether a class has a parameter with this key; may be nil
}

// relationsOf finds the relations between dimensions. Each comparison spends steps of left.
func relationsOf(dims []loader.Dimension, left *Effort) *relation.Relations {
	out := make([]relation.Dimension, len(dims))
	for i, d := range dims {
		out[i] = relation.Dimension{Category: d.Category, Guard: d.Guard, Value: d.Value}
		if d.Exact {
			out[i].Value = nil // relations compare folded values, which exact dimensions do not have
		}
	}
	return relation.New(out, func(steps int) { left.Spend(steps) })
}

// Report adds a diagnostic unless the effort is used up. In that case the checks are incomplete, and d may be wrong.
func (e *Env) Report(d diag.Diagnostic) {
	if !e.Effort.Over() {
		e.Diags.Add(d)
	}
}

// InLayer describes a layer for messages: " in layer 'site'". It returns "" if the site has only one layer, without a
// name.
func (e *Env) InLayer(n int) string {
	switch name := e.Site.Layers[n].Name; {
	case name != "":
		return " in layer '" + name + "'"
	case len(e.Site.Layers) > 1:
		return " in layer " + strconv.Itoa(n+1)
	}
	return ""
}

// Describe describes a condition for messages: " where environment is 'production'".
func (e *Env) Describe(terms loader.Condition) string {
	var parts []string
	for _, t := range terms {
		if e.Relations.IsNamed(t.Dimension) {
			parts = append(parts, e.Site.Dimensions[t.Dimension].Name+" is '"+t.Value+"'")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " where " + strings.Join(parts, " and ")
}

func (e *Env) IsHiera(layer int) bool { return IsHieraLayer(e.Site.Layers[layer]) }

// IsHieraLayer reports whether l belongs to a Hiera 5 hierarchy.
func IsHieraLayer(l loader.Layer) bool { return l.Hiera != loader.NoHiera }

// NewEnv returns the state for compiling site. effort limits the steps of the checks.
func NewEnv(site *loader.Site, strict bool, effort int, diags *diag.List) *Env {
	left := newEffort(effort)
	return &Env{Site: site, Strict: strict, Diags: diags, Relations: relationsOf(site.Dimensions, left), Effort: left,
		Stopped: func() bool { return false }}
}
