package site

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// maxAlsoUsed limits how many further uses of an unknown category an error lists.
const maxAlsoUsed = 3

// Categories describes where the categories of a site are defined, for messages about unknown categories.
type Categories struct {
	At     diag.Pos // position of the list of categories, or of the configuration without one
	Listed bool     // the configuration has a list of categories
	Broken bool     // an error in the configuration may have dropped categories
}

// unknownCategory is an unknown name, with the positions that use it as a category.
type unknownCategory struct {
	name value.Value
	uses []diag.Pos // the first 1+maxAlsoUsed positions, sorted
	more int        // number of further positions
}

// UnknownCategories collects names that are used as categories but are not defined.
type UnknownCategories struct {
	byName map[string]*unknownCategory // unknown categories by name; values that are not strings, by description
}

// Unknown records that the value name is used as a category but is not defined.
func (c *UnknownCategories) Unknown(name value.Value, at diag.Pos) {
	key := value.Describe(name)
	u := c.byName[key]
	if u == nil {
		if c.byName == nil {
			c.byName = map[string]*unknownCategory{}
		}
		u = &unknownCategory{name: name}
		c.byName[key] = u
	}
	i, twice := slices.BinarySearchFunc(u.uses, at, diag.Pos.Compare)
	if twice {
		return
	}
	if u.uses = slices.Insert(u.uses, i, at); len(u.uses) > 1+maxAlsoUsed {
		u.uses = u.uses[:1+maxAlsoUsed]
		u.more++
	}
}

// ReportUnknown reports each unknown category once: at its first use or, if the definition is misspelt, at the
// definition. names lists the categories of the site, and all has their definitions. ReportUnknown reports nothing if
// an error in the configuration explains the missing category.
func (c *UnknownCategories) ReportUnknown(source Categories, all []Dimension, names []string, diags *diag.List) {
	if source.Broken {
		return
	}
	for _, u := range c.byName {
		name := u.name.Text() // "" unless it is a string
		fix := diags.Correct(name, names)
		i := slices.IndexFunc(all, func(d Dimension) bool { return d.Name == fix.New && isMisspelt(&d, name) })
		if i >= 0 {
			diags.Add(u.misspelt(&all[i]))
			continue
		}
		diags.Add(u.diagnostic(source, names, fix))
	}
}

// isMisspelt reports whether meant is probably the intended name of the category d. It is if the expression of d is the
// variable called meant, or if meant is osfamily, which is a category even if no categories are listed.
func isMisspelt(d *Dimension, meant string) bool {
	variable := VariableOf(d.Value)
	return !d.Guard && d.Pos.Line > 0 && variable != d.Name && (variable == meant || meant == "osfamily")
}

// VariableOf returns the variable or the fact whose value is the text n: role for ${role} and ${facts['role']}. It
// returns "" for other expressions.
func VariableOf(n *expr.Node) string {
	if n == nil || n.Op != expr.Concat || len(n.Kids) != 1 {
		return ""
	}
	path := syntax.FactPath(n.Kids[0])
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// misspelt returns an error that the name of category is misspelt: its uses have the name of u.
func (u *unknownCategory) misspelt(category *Dimension) diag.Diagnostic {
	out := diag.Diagnostic{Pos: category.Pos, Code: "category", Fix: diag.MeantAs(category.Name, u.name.Text()),
		Message: "the category '" + category.Name + "' is used as '" + u.name.Text() + "'"}
	u.list(&out, u.uses, "used here")
	return out
}

// list adds the positions in uses to the notes of d, and the number of uses that are not listed.
func (u *unknownCategory) list(d *diag.Diagnostic, uses []diag.Pos, message string) {
	for _, at := range uses {
		d.Notes = append(d.Notes, diag.Note{Pos: at, Message: message})
	}
	if u.more > 0 {
		d.Notes[len(d.Notes)-1].Message += ", and in " + diag.Count(u.more, "other place")
	}
}

func (u *unknownCategory) diagnostic(source Categories, names []string, fix diag.Fix) diag.Diagnostic {
	name := u.name.Text() // "" unless it is a string
	fix.Notes = !fix.IsNone()
	hint := fix.Hint()
	out := diag.Diagnostic{Pos: u.uses[0], Code: "category", Hint: hint, Fix: fix,
		Message: "the site has no category " + strings.TrimPrefix(value.Describe(u.name), "the string ") +
			"; it has " + diag.QuotedFor(hint, names)}
	u.list(&out, u.uses[1:], "also used here")
	if hint != "" || name == "" {
		return out
	}
	variable := "$" + strings.ReplaceAll(name, "-", "_")
	add := "[" + name + ", '${" + variable[1:] + "}']"
	if strings.HasSuffix(source.At.File, ".pp") {
		add = name + " => " + variable
	}
	if source.Listed {
		out.Notes = append(out.Notes, diag.Note{Pos: source.At, Message: "the categories are listed here"})
		out.Hint = "add " + add + " to that list, or correct the name"
		return out
	}
	out.Hint = "list " + add + " under 'categories' in binder_config.yaml, or correct the name"
	return out
}
