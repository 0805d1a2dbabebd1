// Package params checks the data of a site against the classes that receive it. For each parameter of a declared class,
// Puppet looks up the key CLASS::PARAMETER. The package reports an error only after it has found a request for which
// this lookup returns a value that the parameter's type refuses.
package params

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/lint"
	"bindc/internal/lookup"
	"bindc/internal/manifest"
	"bindc/internal/recipe"
	"bindc/loader"
	"bindc/snapshot"
)

// Options configures Check.
type Options struct {
	Strict  bool            // also report values that cannot be decided
	Require bool            // a required parameter without a value is an error
	Lint    bool            // a required parameter without a value is a lint
	Later   bool            // do not report errors about values before Report is called
	Entries []string        // classes that an ENC declares; * stands for any text
	Disk    fsx.Disk        // for reading manifests
	Context context.Context // if not nil, Check returns an error once it is done

	// If Variable is not nil, it returns the values that a variable, such as facts.role, has on the nodes of a fleet.
	Variable func(name string) []string
}

// Checker checks the data of one site and keeps what it learns for later questions.
type Checker struct {
	site     *loader.Site
	content  *snapshot.Content
	opts     Options
	diags    *diag.List
	classes  *classes
	keys     []receiver          // by number of the key
	isBound  []bool              // by number of the key; false for keys that only the cache still has
	received map[string]*param   // by key: the parameter that receives the value
	suspects map[string]*suspect // by key
	declared map[string][]manifest.Declaration
	reached  map[string]certainty // use the method findReached

	unresolved   []manifest.Declaration // declarations whose class could not be determined
	isUndeclared bool                   // some class with data, or without a required value, seems to be undeclared

	merged   map[string]bool // keys with lookup_options
	later    map[finding][]diag.Diagnostic
	misspelt map[string]bool // keys that reportMisspelt has reported
	looked   *lint.Lookups   // use the method lookups

	prover    *prover
	explainer lookup.Explainer
	mu        sync.Mutex // guards declared and reached during concurrent calls of Refuses
}

// suspect is a key with at least one binding whose value its parameter may refuse.
type suspect struct {
	param  *param
	merged bool                 // the key has lookup_options
	places map[diag.Pos]binding // the bindings whose value may be refused
}

// receiver says which class and parameter receive the value of a key.
type receiver struct {
	class *class // nil if there is no class with the name before the last '::'
	param *param // nil if the class has no such parameter
}

// binding is a binding of a key to a value.
type binding struct {
	number  uint32 // index in loader.Site.Keys
	layer   int
	value   uint32 // index in loader.Site.Values
	always  bool   // the binding has no condition
	verdict verdict
	at      func() diag.Pos
}

// Check checks the data of a site and adds errors to diags. content is the compiled site; it must have no errors. The
// error is not nil if the lookups in a snapshot of content fail.
func Check(site *loader.Site, content *snapshot.Content, opts Options, diags *diag.List) (*Checker, error) {
	c := &Checker{site: site, content: content, opts: opts, diags: diags, received: map[string]*param{},
		suspects: map[string]*suspect{}, misspelt: map[string]bool{}, later: map[finding][]diag.Diagnostic{}}
	if len(site.Modules) == 0 && !c.hasManifests() {
		return c, nil
	}
	defer c.close()
	c.classes = findClasses(site, opts.Disk)
	c.findReceivers()
	c.findSuspects()
	if len(opts.Entries) > 0 {
		c.declarations() // this reports entry classes that do not exist
	}
	err := c.prove()
	c.reportMisspelt()
	c.reportUnknown()
	if err == nil && (opts.Require || opts.Lint) {
		err = c.reportMissing(map[bool]diag.Severity{true: diag.Error, false: diag.Lint}[opts.Require])
	}
	if err != nil {
		return c, fmt.Errorf("checking the parameters of classes: %w", err)
	}
	c.reportUnresolved()
	c.reportClasses()
	return c, nil
}

func (c *Checker) hasManifests() bool {
	info, _ := c.opts.Disk.Info(c.site.Manifests)
	return info != nil
}

// findReceivers sets c.keys and c.received.
func (c *Checker) findReceivers() {
	c.keys = make([]receiver, len(c.site.Keys))
	c.isBound = make([]bool, len(c.keys))
	for b := range c.bindings {
		c.isBound[b.number] = true
	}
	for i, key := range c.site.Keys {
		if !c.isBound[i] {
			continue
		}
		class, name := c.split(key)
		if class == nil {
			continue
		}
		c.keys[i] = receiver{class, class.params[name]}
		if p := c.keys[i].param; p != nil {
			c.received[key] = p
		}
	}
}

// findSuspects judges the values of all class parameters and sets c.suspects.
func (c *Checker) findSuspects() {
	demands, isTyped := make([]*demand, len(c.keys)), false
	for i, r := range c.keys {
		if r.param != nil && r.param.typ != nil {
			demands[i], isTyped = r.param.demand, true
		}
	}
	if !isTyped {
		return
	}
	c.merged = c.mergedKeys()
	isMerged := make([]bool, len(c.keys))
	for i, key := range c.site.Keys {
		isMerged[i] = c.merged[key]
	}
	fitting := make([]uint32, len(c.site.Values)) // by number of the value: the last demand that it was found to fit
	for b := range c.bindings {
		d := demands[b.number]
		if d == nil || d.number == fitting[b.value] && !isMerged[b.number] {
			continue
		}
		b.verdict = d.judge(c.site.Values[b.value])
		if b.verdict == unknown && !isMerged[b.number] && c.refusesEncrypted(d, b) {
			b.verdict = refused
		}
		if b.verdict == fits && !isMerged[b.number] {
			fitting[b.value] = d.number
			continue
		}
		key := c.site.Keys[b.number]
		s := c.suspects[key]
		if s == nil {
			s = &suspect{param: c.keys[b.number].param, merged: isMerged[b.number], places: map[diag.Pos]binding{}}
			c.suspects[key] = s
		}
		s.places[b.at()] = b
	}
}

// bindings calls yield for each binding in the site except contributions. The function at of a binding is only valid
// during that call.
func (c *Checker) bindings(yield func(binding) bool) {
	for i, layer := range c.site.Layers {
		for _, from := range layer.Contributions {
			for f := range from.Files {
				n := 0
				at := func() diag.Pos { return from.Files[f].Pos(n) }
				for n = range from.Files[f].Entries {
					e := &from.Files[f].Entries[n]
					if !yield(binding{number: e.Key, at: at, layer: i, value: e.Value,
						always: from.Files[f].Condition == 0}) {
						return
					}
				}
			}
			for _, b := range from.Bindings {
				if b.More != nil && (b.More.In != nil || b.More.Abstract || b.More.Erases) {
					continue
				}
				at := func() diag.Pos { return b.Pos }
				if !yield(binding{number: b.Number, at: at, layer: i, value: b.Value,
					always: slices.Contains(b.When, 0)}) {
					return
				}
			}
		}
	}
}

// declarations returns all declarations in manifests and data, by class name.
func (c *Checker) declarations() map[string][]manifest.Declaration {
	if c.declared != nil {
		return c.declared
	}
	c.declared = map[string][]manifest.Declaration{}
	var computed []manifest.Declaration
	for _, d := range c.classes.declarations() {
		if d.Names != nil {
			computed = append(computed, d)
			continue
		}
		c.declared[d.Class] = append(c.declared[d.Class], d)
	}
	byKey := c.resolveAll(computed)
	c.declareEntries()
	for _, d := range c.listed(byKey) {
		c.declared[d.Class] = append(c.declared[d.Class], d)
	}
	return c.declared
}

func (c *Checker) mergedKeys() map[string]bool {
	out := map[string]bool{}
	prefix := recipe.MergeKey("")
	for i := range c.content.Keys {
		if key, ok := strings.CutPrefix(c.content.Keys[i].Name, prefix); ok {
			out[key] = true
		}
	}
	return out
}
