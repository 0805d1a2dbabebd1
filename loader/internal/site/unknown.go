package site

import (
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/value"
)

// maxAlsoUsed is the number of further uses of an unknown category that an error names.
const maxAlsoUsed = 3

// Categories describes where the categories of a site come from, for messages about unknown ones.
type Categories struct {
	At     diag.Pos // the list of categories, or the configuration if it has none
	Listed bool     // there is a list
	Broken bool     // an error in the configuration is reported, and a category may be missing because of it
}

// unknownCategory is a name that is not a category, with the places that use it.
type unknownCategory struct {
	name value.Value
	uses []diag.Pos // the first ones by place, and at most 1+maxAlsoUsed
	more int        // the number of other places
}

// Unknown notes that name, which is used at a place, is not a category of the site.
func (d *Dimensions) Unknown(name value.Value, at diag.Pos) {
	key := value.Describe(name)
	u := d.unknown[key]
	if u == nil {
		if d.unknown == nil {
			d.unknown = map[string]*unknownCategory{}
		}
		u = &unknownCategory{name: name}
		d.unknown[key] = u
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

// ReportUnknown reports each unknown category once, at its first use. It reports none if the configuration has an error
// that explains them.
func (d *Dimensions) ReportUnknown(c Categories, diags *diag.List) {
	if c.Broken {
		return
	}
	for _, u := range d.unknown {
		diags.Add(d.unknownError(u, c, diags))
	}
}

func (d *Dimensions) unknownError(u *unknownCategory, c Categories, diags *diag.List) diag.Diagnostic {
	names := d.CategoryNames()
	hint := diags.DidYouMean(u.name.Text(), names)
	out := diag.Diagnostic{Pos: u.uses[0], Code: "category", Hint: hint,
		Message: "the site has no category " + strings.TrimPrefix(value.Describe(u.name), "the string ") +
			"; it has " + diag.QuotedFor(hint, names)}
	for _, at := range u.uses[1:] {
		out.Notes = append(out.Notes, diag.Note{Pos: at, Message: "also used here"})
	}
	if u.more > 0 {
		out.Notes[len(out.Notes)-1].Message += ", and in " + strconv.Itoa(u.more) + " other places"
	}
	if hint != "" || u.name.Kind() != value.String {
		return out
	}
	add := "[" + u.name.Text() + ", '${" + strings.ReplaceAll(u.name.Text(), "-", "_") + "}']"
	if strings.HasSuffix(c.At.File, ".pp") {
		add = u.name.Text() + " => $" + strings.ReplaceAll(u.name.Text(), "-", "_")
	}
	switch {
	case c.Listed:
		out.Notes = append(out.Notes, diag.Note{Pos: c.At, Message: "the categories are listed here"})
		out.Hint = "add " + add + " to that list, or correct the name"
	default:
		out.Hint = "list " + add + " under 'categories' in binder_config.yaml, or correct the name"
	}
	return out
}
