package params

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/manifest"
)

// resolveAll finds the classes that declarations with computed names declare, and adds them to c.declared. byKey has,
// for each key that supplies class names, the declarations of these classes.
func (c *Checker) resolveAll(list []manifest.Declaration) (byKey map[string][]manifest.Declaration) {
	byKey = map[string][]manifest.Declaration{}
	named := map[string]bool{} // classes that some manifest names literally
	for class := range c.declared {
		named[class] = true
	}
	for _, d := range list {
		keys, ok := c.resolve(&d, named)
		if !ok {
			c.unresolved = append(c.unresolved, d)
		}
		for _, key := range keys {
			byKey[key] = append(byKey[key], d)
		}
	}
	return byKey
}

// resolve adds to c.declared the classes that d, a declaration with a computed name, can declare. keys are the keys
// that supply further names. ok is false if it finds no class and no key.
func (c *Checker) resolve(d *manifest.Declaration, isNamed map[string]bool) (keys []string, ok bool) {
	named := *d
	named.Names, named.InNode = nil, true // only some nodes get the class
	add := func(class string, isConditional bool) {
		if c.classes.find(class) != nil {
			named.Class, named.Conditional = class, d.Conditional || isConditional
			c.declared[class] = append(c.declared[class], named)
			ok = true
		}
	}
	for _, pattern := range d.Names.Patterns {
		if !strings.Contains(pattern, "*") {
			add(pattern, true)
			continue
		}
		for _, class := range c.classes.matching(pattern) {
			// At the top level, nodes choose the class. A class that is also named elsewhere may be only a part of the
			// chosen one.
			add(class, d.Within != "" || isNamed[class])
		}
	}
	for _, variable := range d.Names.Values {
		if c.opts.Variable == nil || variable == "" {
			continue
		}
		for _, value := range c.opts.Variable(variable) {
			add(strings.TrimPrefix(value, "::"), false)
		}
	}
	for _, key := range d.Names.Keys {
		if i := slices.Index(c.site.Keys, key); i >= 0 && c.isBound[i] {
			keys, ok = append(keys, key), true
		}
	}
	return keys, ok
}

// declareEntries adds the classes named by Options.Entries to c.declared.
func (c *Checker) declareEntries() {
	for _, pattern := range c.opts.Entries {
		names := c.classes.matching(strings.TrimPrefix(pattern, "::"))
		for _, name := range names {
			if class := c.classes.find(name); class != nil {
				c.declared[name] = append(c.declared[name],
					manifest.Declaration{Class: name, At: class.At, InNode: true, IsEntry: true})
			}
		}
		if len(names) == 0 {
			c.diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: "computed_class",
				Message: "no class has the name '" + pattern + "' of --entry-class",
				Hint:    "name a class on the module path; '*' means any text, as in 'role::*'"})
		}
	}
}

// matching returns the names of existing classes that match a pattern, sorted. In a pattern, * stands for any text. The
// names come from file names, so the files may not actually define the classes.
func (c *classes) matching(pattern string) (out []string) {
	parts := strings.Split(pattern, "*")
	add := func(name string) {
		if matches(parts, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for name := range c.own {
		add(name)
	}
	module, _, isWhole := strings.Cut(parts[0], "::")
	for _, m := range c.site.Modules {
		if isWhole && m.Name != module || !strings.HasPrefix(m.Name, module) {
			continue
		}
		for _, words := range c.namesIn(c.modules[m.Name]) {
			if len(words) == 1 && words[0] == "init" {
				add(m.Name)
			} else {
				add(m.Name + "::" + strings.Join(words, "::"))
			}
		}
	}
	slices.Sort(out)
	return out
}

// matches reports whether name consists of parts with arbitrary text between them.
func matches(parts []string, name string) bool {
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok || len(parts) == 1 {
		return ok && name == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		var found bool
		if _, name, found = strings.Cut(name, part); !found {
			return false
		}
	}
	return name != "" && strings.HasSuffix(name, parts[last])
}

// reportUnresolved reports declarations whose class cannot be determined. It does so only if they matter: some class
// seems to be undeclared.
func (c *Checker) reportUnresolved() {
	if !c.isUndeclared {
		return
	}
	reached := c.findReached()
	for i := range c.unresolved {
		d := &c.unresolved[i]
		if c.certaintyOf(d, reached) <= unreached {
			continue
		}
		c.diags.Add(diag.Diagnostic{Pos: d.At, Severity: diag.Info, Code: "computed_class",
			Message: "the classes that '" + d.Names.Source + "' declares are unknown" + c.cause(d.Names) +
				"; wrong or missing values of their parameters may only be warnings",
			Hint: "name the classes, as in: --entry-class 'role::*'"})
	}
}

// cause explains why the class names are unknown, as the end of a sentence.
func (c *Checker) cause(names *manifest.ClassNames) string {
	switch {
	case len(names.Keys) > 0:
		return ", because no data has the key '" + names.Keys[0] + "'"
	case len(names.Values) > 0 && names.Values[0] != "" && c.opts.Variable != nil:
		return ", because no node has the name of a class in " + inPuppet(names.Values[0])
	case len(names.Values) > 0 && names.Values[0] != "":
		return ", because they depend on " + inPuppet(names.Values[0])
	case len(names.Patterns) > 0:
		return ", because no class has the name '" + names.Patterns[0] + "'"
	}
	return ""
}

// inPuppet formats a dotted variable in Puppet syntax: $facts['role'] for facts.role.
func inPuppet(variable string) string {
	words := strings.Split(variable, ".")
	for i := 1; i < len(words); i++ {
		words[i] = "['" + words[i] + "']"
	}
	return "$" + strings.Join(words, "")
}
