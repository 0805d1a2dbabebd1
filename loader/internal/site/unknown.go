package site

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/value"
)

// maxAlsoUsed limits how many further uses of an unknown category an error lists.
const maxAlsoUsed = 3

// Categories describes where the categories of a site are defined, for messages about unknown ones.
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

// ReportUnknown reports each unknown category once, at its first use. names are the categories of the site. It reports
// nothing if an error in the configuration explains the missing category.
func (c *UnknownCategories) ReportUnknown(source Categories, names []string, diags *diag.List) {
	if source.Broken {
		return
	}
	for _, u := range c.byName {
		diags.Add(u.diagnostic(source, names, diags))
	}
}

func (u *unknownCategory) diagnostic(source Categories, names []string, diags *diag.List) diag.Diagnostic {
	name := u.name.Text() // "" unless it is a string
	fix := diags.Correct(name, names)
	fix.Notes = !fix.IsNone()
	hint := fix.Hint()
	out := diag.Diagnostic{Pos: u.uses[0], Code: "category", Hint: hint, Fix: fix,
		Message: "the site has no category " + strings.TrimPrefix(value.Describe(u.name), "the string ") +
			"; it has " + diag.QuotedFor(hint, names)}
	for _, at := range u.uses[1:] {
		out.Notes = append(out.Notes, diag.Note{Pos: at, Message: "also used here"})
	}
	if u.more > 0 {
		out.Notes[len(out.Notes)-1].Message += ", and in " + diag.Count(u.more, "other place")
	}
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
