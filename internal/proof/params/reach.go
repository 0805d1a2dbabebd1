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

// certainty is a degree of certainty that nodes get a class because of a declaration.
type certainty uint8

const (
	undeclared certainty = iota // nothing declares the class, or all declarations set the parameter in question
	unreached                   // no declaration in the site leads to the class
	perhaps                     // only a conditional declaration, such as in the body of an if
	some                        // some nodes get the class, such as those that a node definition matches
	certain                     // all nodes get the class
)

// standing returns the declaration that most certainly makes Puppet look up p. If there is none, the certainty is
// undeclared, and a value of p has no effect. All checks use this rule.
func (c *Checker) standing(p *param) (at *manifest.Declaration, sure certainty) {
	list, reached := c.declarations()[p.class.Name], c.findReached()
	for i := range list {
		if is := c.certaintyOf(&list[i], reached); is > sure && p.isLookedUp(&list[i]) {
			at, sure = &list[i], is
		}
	}
	return at, sure
}

// findReached finds the classes that nodes may get, directly or through other classes, and how certain that is.
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

// entryNote returns a note about the place outside of classes that leads to the declaration at, if there is one.
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

// certaintyOf returns how certain it is that nodes get a class because of d.
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

// listed returns the classes in lists of the data, as declarations. byKey has, by key, the declarations of the classes
// that the values of the key name.
func (c *Checker) listed(byKey map[string][]manifest.Declaration) (out []manifest.Declaration) {
	type list struct {
		value     uint32
		isClasses bool // the key says that the names are classes
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

// classesIn returns the classes in the lists of a compiled value. If isClasses is not set, a list must contain a class
// name with '::', because it could also be a list of packages.
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
