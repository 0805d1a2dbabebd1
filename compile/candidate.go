package compile

import (
	"cmp"

	"bindc/internal/binding"
	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// candidate is a binding under one of its conditions.
type candidate struct {
	binding   *loader.Binding  // nil for an entry of a data file
	file      *loader.DataFile // then the file
	entry     int              // and the number of the entry in it
	key       uint32           // in keyOrder.names
	layer     int
	condition int
	rank      int            // precedence; 0 is the highest
	order     int            // in the input
	value     uint32         // in tables.values
	recipe    *recipe.Recipe // of a contribution
}

// pos returns the position of the candidate in its file.
func (c *candidate) pos() diag.Pos {
	if c.binding != nil {
		return c.binding.Pos
	}
	return c.file.Pos(c.entry)
}

// more returns the attributes that only the long form of a binding has, or nil.
func (c *candidate) more() *binding.Binding {
	if c.binding == nil {
		return nil
	}
	return c.binding.More
}

// computed returns the recipe of a binding in the long form, or nil.
func (c *candidate) computed() *recipe.Recipe {
	if c.binding == nil {
		return nil
	}
	return recipeOf(c.binding)
}

func recipeOf(b *loader.Binding) *recipe.Recipe {
	if b.More == nil {
		return nil
	}
	return b.More.Recipe
}

// final reports whether c answers wherever it is effective, so that no lookup continues below it, see recipe.IsFinal.
func (c *candidate) final() bool {
	r := c.computed()
	return r == nil || r.IsFinal()
}

// erases reports whether c is a rename, seen under the old name: no lookup finds the bindings below it by that name.
func (c *candidate) erases() bool {
	r := c.computed()
	return r != nil && r.Kind == recipe.Erased
}

// collects returns the id of a multibinding, or "" for any other binding.
func (c *candidate) collects() string {
	if more := c.more(); more != nil && more.Multibind != nil {
		return more.Multibind.ID
	}
	return ""
}

// includes reports whether a contribution to the classes of a node includes a class; the others exclude one.
func (c *candidate) includes() bool { return c.recipe.Value.Text() == recipe.Include }

// beats reports whether a lookup prefers c to other where both are effective. Contributions of the same rank have the
// same condition, and the first one counts.
func (c *candidate) beats(other *candidate) bool { return c.rank < other.rank }

// byRank orders candidates by precedence, highest first, and candidates of one rank as they are in the input.
func byRank(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.order, b.order))
}

// hides reports whether c would replace a multibinding unintentionally.
func (c *candidate) hides() bool {
	more := c.more()
	return c.final() && c.collects() == "" && (more == nil || !more.Override && !more.Abstract)
}
