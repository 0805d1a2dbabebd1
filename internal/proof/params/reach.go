package params

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/manifest"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// certainty says how certain it is that nodes get a class because of a declaration.
type certainty uint8

const (
	undeclared certainty = iota // no declaration, or all declarations set the parameter in question
	unreached                   // declared, but only in code that nothing in the site reaches
	perhaps                     // only declared under a condition, as in the body of an if
	some                        // some nodes get the class, such as those that match a node definition
	certain                     // all nodes get the class
)

// standing returns the declaration that makes it most certain that Puppet looks up p. If there is none, it returns
// undeclared; then a value for p has no effect. All checks use this rule.
func (c *Checker) standing(p *param) (at *manifest.Declaration, sure certainty) {
	list, reached := c.declarations()[p.class.Name], c.findReached()
	for i := range list {
		if is := c.certaintyOf(&list[i], reached); is > sure && p.isLookedUp(&list[i]) {
			at, sure = &list[i], is
		}
	}
	return at, sure
}

// findReached returns, for each class, how certain it is that nodes get it, directly or through other classes.
func (c *Checker) findReached() map[string]certainty {
	if c.reached != nil {
		return c.reached
	}
	reached := map[string]certainty{}
	for isChanged := true; isChanged; {
		isChanged = false
		for name, list := range c.declarations() {
			best := reached[name]
			for i := range list {
				best = max(best, c.certaintyOf(&list[i], reached))
			}
			isChanged = isChanged || best > reached[name]
			reached[name] = best
		}
	}
	c.reached = reached
	return reached
}

// entryNote returns a note with the position outside all classes from which the declaration at is reached. It returns
// nil if that is the declaration itself.
func (c *Checker) entryNote(at *manifest.Declaration, sure certainty) []diag.Note {
	if sure < some {
		return nil
	}
	entry, seen := at, map[string]bool{}
	for entry.Within != "" && !seen[entry.Within] {
		seen[entry.Within] = true
		list := c.declarations()[entry.Within]
		best := slices.IndexFunc(list, func(d manifest.Declaration) bool {
			return c.certaintyOf(&d, c.findReached()) >= sure
		})
		if best < 0 {
			return nil
		}
		entry = &list[best]
	}
	switch {
	case entry == at:
		return nil
	case entry.IsEntry:
		return []diag.Note{{Pos: entry.At, Message: "--entry-class names the class " + entry.Class}}
	}
	return []diag.Note{{Pos: entry.At, Message: "nodes get the class " + entry.Class + " here"}}
}

// certaintyOf returns how certain it is that nodes get the class because of d. reached has the certainties of the
// classes around d.
func (c *Checker) certaintyOf(d *manifest.Declaration, reached map[string]certainty) certainty {
	around := max(reached[d.Within], unreached)
	if d.Within == "" && (c.classes.ofSite[d.At.File] || filepath.Ext(d.At.File) != ".pp" || d.IsEntry) {
		around = certain
	}
	switch {
	case d.Conditional:
		return min(around, perhaps)
	case d.InNode:
		return min(around, some)
	}
	return around
}

// listed returns declarations for the classes that lists in the data name. byKey is the result of resolveAll.
func (c *Checker) listed(byKey map[string][]manifest.Declaration) (out []manifest.Declaration) {
	type list struct {
		value     uint32
		isClasses bool // the value certainly consists of class names
	}
	names := map[list][]string{}
	for b := range c.bindings {
		key := c.site.Keys[b.number]
		of := list{b.value, byKey[key] != nil || strings.HasSuffix(key, "classes")}
		found, known := names[of]
		if !known {
			found = c.classesIn(c.site.Values[b.value], of.isClasses)
			names[of] = found
		}
		for _, name := range found {
			out = append(out, manifest.Declaration{Class: name, At: b.at(), Conditional: !b.always})
			for _, d := range byKey[key] {
				d.Class, d.Names, d.At, d.InNode = name, nil, b.at(), d.InNode || !b.always
				out = append(out, d)
			}
		}
	}
	return out
}

// classesIn returns the names of existing classes in the lists of a compiled value. Unless isClasses is set, a list
// only counts if one name has '::', because it could also list packages.
func (c *Checker) classesIn(compiled string, isClasses bool) []string {
	if compiled[0] != recipe.CompiledConstant || !isClasses && !strings.Contains(compiled, "::") {
		return nil
	}
	v, _, err := value.View(compiled[1:])
	if err != nil {
		return nil
	}
	return c.classesOf(v, isClasses)
}

func (c *Checker) classesOf(v value.Value, isClasses bool) (out []string) {
	switch v.Kind() {
	case value.String:
		name := strings.TrimPrefix(v.Text(), "::")
		if (isClasses || strings.Contains(name, "::")) && c.classes.find(name) != nil {
			return []string{name}
		}
	case value.Array:
		for e := range v.Elems() {
			isClasses = isClasses || len(c.classesOf(e, false)) > 0
		}
		for e := range v.Elems() {
			out = append(out, c.classesOf(e, isClasses)...)
		}
	case value.Hash:
		for _, e := range v.Pairs() {
			out = append(out, c.classesOf(e, isClasses)...)
		}
	}
	return out
}
