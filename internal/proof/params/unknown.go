package params

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/lint"
	"bindc/internal/recipe"
)

// misnamed is a key that looks like a class parameter, but the existing class has no such parameter.
type misnamed struct {
	class  *class
	param  string
	at     diag.Pos // position of the first binding of the key
	places map[diag.Pos]bool
}

// reportUnknown reports keys that begin with the name of an existing class but that nothing looks up.
func (c *Checker) reportUnknown() {
	isMisnamed := func(r receiver) bool { return r.class != nil && r.param == nil }
	if !slices.ContainsFunc(c.keys, isMisnamed) {
		return
	}
	found := map[string]*misnamed{}
	for b := range c.bindings {
		if !isMisnamed(c.keys[b.number]) {
			continue
		}
		key := c.site.Keys[b.number]
		if c.misspelt[key] {
			continue
		}
		m, at := found[key], b.at()
		if m == nil {
			_, name := c.split(key)
			m = &misnamed{class: c.keys[b.number].class, param: name, at: at, places: map[diag.Pos]bool{}}
			found[key] = m
		}
		if m.places[at] = true; at.Compare(m.at) < 0 {
			m.at = at
		}
	}
	if len(found) == 0 {
		return
	}
	classes := map[*class]bool{}
	for _, m := range found {
		classes[m.class] = true
	}
	boundIn := c.boundIn(classes)
	looked := c.lookups()
	ofSite := lint.LookupsOf(c.content)
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if !looked.Includes(key) && !ofSite.Includes(key) {
			c.reportMisnamed(key, found[key], boundIn)
		}
	}
}

func (c *Checker) reportMisnamed(key string, m *misnamed, boundIn map[string]map[string]bool) {
	message := "'" + key + "': the class " + m.class.Name + " has no parameter $" + m.param +
		", and nothing else looks this key up"
	if n := len(m.places); n > 1 {
		message += "; it is bound in " + strconv.Itoa(n) + " places"
	}
	c.diags.Add(diag.Diagnostic{Pos: m.at, Severity: diag.Warning, Code: "unknown_parameter", Message: message,
		Notes: []diag.Note{{Pos: m.class.At, Message: "the class is defined here"}},
		Fix:   c.diags.Correct(key, m.meant(boundIn))})
}

// boundIn maps each key of the given classes to the files that bind it.
func (c *Checker) boundIn(classes map[*class]bool) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for b := range c.bindings {
		if classes[c.keys[b.number].class] {
			key := c.site.Keys[b.number]
			if out[key] == nil {
				out[key] = map[string]bool{}
			}
			out[key][b.at().File] = true
		}
	}
	return out
}

// meant returns the keys that m may be a misspelling of. If a file binds both m and another key of the class, m was not
// meant for that key.
func (m *misnamed) meant(boundIn map[string]map[string]bool) []string {
	return slices.DeleteFunc(m.class.keys(), func(key string) bool {
		for at := range m.places {
			if boundIn[key][at.File] {
				return true
			}
		}
		return false
	})
}

// keys returns the keys that Puppet looks up for c's parameters, sorted.
func (c *class) keys() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		out = append(out, c.params[name].key())
	}
	return out
}

// split returns the class with the name before the last '::' in key, and the text after it. The class is nil if it does
// not exist.
func (c *Checker) split(key string) (*class, string) {
	i := strings.LastIndex(key, "::")
	if i <= 0 || recipe.IsInternal(key) || recipe.IsReserved(key) {
		return nil, ""
	}
	return c.classes.find(key[:i]), key[i+2:]
}

// lookups returns the keys that code in the site looks up: manifests, templates and functions.
func (c *Checker) lookups() *lint.Lookups {
	if c.looked != nil {
		return c.looked
	}
	out := &lint.Lookups{Disk: c.opts.Disk}
	dirs := []string{c.site.Manifests}
	for _, m := range c.site.Modules {
		dirs = append(dirs, m.Dir)
	}
	for _, dir := range dirs {
		info, err := c.opts.Disk.Info(dir)
		if info != nil && info.IsDir() {
			_, err = out.Search(dir)
		}
		c.classes.failed(err)
	}
	c.looked = out
	return out
}
