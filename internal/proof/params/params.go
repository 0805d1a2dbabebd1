// Package params checks the data of a site against the classes that receive the data: Puppet looks up CLASS::PARAMETER
// for each parameter of a declared class. Before it reports an error, it constructs a request whose lookup returns a
// value that the parameter's type refuses.
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
	"bindc/internal/manifest"
	"bindc/internal/recipe"
	"bindc/loader"
	"bindc/snapshot"
)

// Options changes what Check reports. The zero value is the default.
type Options struct {
	Strict  bool            // also report values that cannot be decided
	Require bool            // required parameters without a value are errors
	Lint    bool            // required parameters without a value are lints
	Later   bool            // keep the errors about values until Report
	Entries []string        // classes that nodes get although no manifest names them; * means any text
	Disk    fsx.Disk        // reads manifests
	Context context.Context // Check fails when it is done; may be nil

	// Variable returns the values that a variable, such as facts.role, has on the nodes of a fleet. It may be nil.
	Variable func(name string) []string
}

// Checker checks the data of one site.
type Checker struct {
	site     *loader.Site
	content  *snapshot.Content
	opts     Options
	diags    *diag.List
	classes  *classes
	keys     []receiver          // by key number
	isBound  []bool              // by key number; false for keys of earlier file contents, which a cache adds
	received map[string]*param   // by key, the parameter that receives its value
	suspects map[string]*suspect // by key
	declared map[string][]manifest.Declaration
	reached  map[string]certainty // set by findReached

	unresolved   []manifest.Declaration // declarations of unknown classes
	isUndeclared bool                   // a class with data or without a value was not found to be declared

	merged   map[string]bool // keys to which lookup_options apply
	later    map[finding][]diag.Diagnostic
	misspelt map[string]bool // keys that reportMisspelt has dealt with
	looked   *lint.Lookups   // set by lookups

	prover *prover
	mu     sync.Mutex // guards declared and reached while Refuses runs
}

// suspect is a key with values that its parameter may refuse, and the bindings to such values.
type suspect struct {
	param  *param
	merged bool                 // lookup_options apply to the key
	places map[diag.Pos]binding // the bindings that may be refused
}

// receiver is the class and the parameter that receive a key's value.
type receiver struct {
	class *class // nil if the key does not begin with the name of a class
	param *param // nil if the class has no such parameter
}

// binding binds a key to a value at one place.
type binding struct {
	number  uint32 // index in the site's keys
	layer   int
	value   uint32 // index in the site's values
	always  bool   // the binding has no condition
	verdict verdict
	at      func() diag.Pos
}

// Check adds errors in the data of a site to diags. content is the compiled site, which has no errors so far. Check
// fails only if it cannot look up keys in a snapshot of content.
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
		c.declarations() // reports entries that do not exist
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

// findReceivers finds the classes and parameters that receive the values of the site's keys.
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

// findSuspects judges all bindings of parameters.
func (c *Checker) findSuspects() {
	isTyped := make([]bool, len(c.keys))
	for i, r := range c.keys {
		isTyped[i] = r.param != nil && r.param.typ != nil
	}
	if !slices.Contains(isTyped, true) {
		return
	}
	c.merged = c.mergedKeys()
	for b := range c.bindings {
		if !isTyped[b.number] {
			continue
		}
		key, p := c.site.Keys[b.number], c.keys[b.number].param
		b.verdict = p.judge(c.site.Values[b.value])
		if b.verdict == unknown && !c.merged[key] && c.refusesEncrypted(p, b) {
			b.verdict = refused
		}
		if b.verdict == fits && !c.merged[key] {
			continue
		}
		s := c.suspects[key]
		if s == nil {
			s = &suspect{param: p, merged: c.merged[key], places: map[diag.Pos]binding{}}
			c.suspects[key] = s
		}
		s.places[b.at()] = b
	}
}

// bindings yields the bindings of the site, without contributions. The method at of a binding works until bindings
// yields the next.
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

// declarations returns the places where manifests and data declare each class.
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

// mergedKeys returns the keys to which lookup_options apply.
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
