// Package params checks the data of a site against the classes that receive it: Puppet looks up CLASS::PARAMETER for
// each parameter of a class that it declares. An error is never wrong: a request is constructed for which the lookup
// returns a value that the type of the parameter refuses.
package params

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/manifest"
	"bindc/internal/recipe"
	"bindc/loader"
	"bindc/snapshot"
)

// Options changes what Check reports. The zero value is the default.
type Options struct {
	Strict  bool     // also report values that cannot be decided
	Require bool     // required parameters without a value are errors
	Lint    bool     // required parameters without a value are lints
	Disk    fsx.Disk // reads manifests
}

// Checker checks the data of one site.
type Checker struct {
	site     *loader.Site
	content  *snapshot.Content
	opts     Options
	diags    *diag.List
	classes  *classes
	received map[string]*param   // parameters for which keys of the site exist, by key
	suspects map[string]*suspect // suspects by key
	declared map[string][]manifest.Declaration

	undecided map[string]bool // keys that lookup_options convert to a type that bindings do not have
	prover    *prover
	mu        sync.Mutex // in Refuses: guards declared
}

// suspect is a key with a value that its parameter may refuse.
type suspect struct {
	param  *param
	merged bool                 // lookup_options apply to the key
	places map[diag.Pos]binding // the bindings that may be refused
}

// binding is a value at one place.
type binding struct {
	number  uint32 // index of the key in the keys of the site
	at      diag.Pos
	layer   int
	value   uint32 // index in the values of the site
	verdict verdict
}

// Check adds the errors of site to diags. content is the compiled site, which has no errors. Check fails only if it
// cannot look keys up in the snapshot of content.
func Check(site *loader.Site, content *snapshot.Content, opts Options, diags *diag.List) (*Checker, error) {
	c := &Checker{site: site, content: content, opts: opts, diags: diags, received: map[string]*param{},
		suspects: map[string]*suspect{}, undecided: map[string]bool{}}
	if len(site.Modules) == 0 && !c.hasManifests() {
		return c, nil
	}
	defer c.close()
	c.classes = findClasses(site, opts.Disk)
	c.findSuspects()
	err := c.prove()
	c.reportUnknown()
	if err == nil && (opts.Require || opts.Lint) {
		err = c.reportMissing(map[bool]diag.Severity{true: diag.Error, false: diag.Lint}[opts.Require])
	}
	if err != nil {
		return c, fmt.Errorf("checking the parameters of classes: %w", err)
	}
	c.reportClasses()
	return c, nil
}

func (c *Checker) hasManifests() bool {
	info, _ := c.opts.Disk.Info(c.site.Manifests)
	return info != nil
}

// findSuspects judges all bindings of parameters.
func (c *Checker) findSuspects() {
	params := c.params()
	if !slices.ContainsFunc(params, func(p *param) bool { return p != nil && p.typ != nil }) {
		return
	}
	merged := c.mergedKeys()
	for b := range c.bindings {
		p := params[b.number]
		if p == nil || p.typ == nil {
			continue
		}
		key := c.site.Keys[b.number]
		b.verdict = p.judge(c.site.Values[b.value])
		if b.verdict == fits && !merged[key] {
			continue
		}
		s := c.suspects[key]
		if s == nil {
			s = &suspect{param: p, merged: merged[key], places: map[diag.Pos]binding{}}
			c.suspects[key] = s
		}
		s.places[b.at] = b
	}
}

// bindings yields the bindings of the site, without contributions.
func (c *Checker) bindings(yield func(binding) bool) {
	for i, layer := range c.site.Layers {
		for _, from := range layer.Contributions {
			for f := range from.Files {
				for n, e := range from.Files[f].Entries {
					if !yield(binding{number: e.Key, at: from.Files[f].Pos(n), layer: i, value: e.Value}) {
						return
					}
				}
			}
			for _, b := range from.Bindings {
				if b.More != nil && (b.More.In != nil || b.More.Abstract || b.More.Erases) {
					continue
				}
				if !yield(binding{number: b.Number, at: b.Pos, layer: i, value: b.Value}) {
					return
				}
			}
		}
	}
}

// params returns the parameters that receive the keys of the site, by number of the key.
func (c *Checker) params() []*param {
	out := make([]*param, len(c.site.Keys))
	for i, key := range c.site.Keys {
		if out[i] = c.param(key); out[i] != nil {
			c.received[key] = out[i]
		}
	}
	return out
}

// param returns the parameter that receives a key, or nil.
func (c *Checker) param(key string) *param {
	if class, name := c.split(key); class != nil {
		return class.params[name]
	}
	return nil
}

// declarations returns where manifests declare classes, by class.
func (c *Checker) declarations() map[string][]manifest.Declaration {
	if c.declared == nil {
		c.declared = c.classes.declarations()
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
