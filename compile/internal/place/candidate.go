package place

import (
	"cmp"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/loader"
)

// Candidate is a binding under one of its conditions.
type Candidate struct {
	Binding   *loader.Binding  // nil for an entry of a data file
	File      *loader.DataFile // then the file
	Entry     int              // and the number of the entry in it
	Key       uint32           // index in index.Ordered.Names
	Layer     int
	Condition int
	Rank      int            // precedence; 0 is the highest
	Order     int            // in the input
	Value     uint32         // in Tables.Values
	Recipe    *recipe.Recipe // of a contribution
}

// Pos returns the position of the candidate in its file.
func (c *Candidate) Pos() diag.Pos {
	if c.Binding != nil {
		return c.Binding.Pos
	}
	return c.File.Pos(c.Entry)
}

// More returns the attributes that only the long form of a binding has, or nil.
func (c *Candidate) More() *bindingsfile.Compiled {
	if c.Binding == nil {
		return nil
	}
	return c.Binding.More
}

// Computed returns the recipe of a binding in the long form, or nil.
func (c *Candidate) Computed() *recipe.Recipe {
	if c.Binding == nil {
		return nil
	}
	return RecipeOf(c.Binding)
}

// RecipeOf returns the recipe of a binding in the long form, or nil.
func RecipeOf(b *loader.Binding) *recipe.Recipe {
	if b.More == nil {
		return nil
	}
	return b.More.Recipe
}

// Final reports whether c always has a value where it is effective, so that no lookup continues
// below it, see recipe.IsFinal.
func (c *Candidate) Final() bool {
	r := c.Computed()
	return r == nil || r.IsFinal()
}

// Erases reports whether c is a rename, seen under the old name: no lookup finds the bindings below it by that name.
func (c *Candidate) Erases() bool {
	r := c.Computed()
	return r != nil && r.Kind == recipe.Erased
}

// Collects returns the id of a multibinding, or "" for any other binding.
func (c *Candidate) Collects() string {
	if more := c.More(); more != nil && more.Multibind != nil {
		return more.Multibind.ID
	}
	return ""
}

// Includes reports whether a contribution to the classes of a node includes a class; the others exclude one.
func (c *Candidate) Includes() bool { return c.Recipe.Value.Text() == recipe.Include }

// Beats reports whether a lookup prefers c to other where both are effective. Contributions of the same rank have the
// same condition, and the first one counts.
func (c *Candidate) Beats(other *Candidate) bool { return c.Rank < other.Rank }

// ByRank orders candidates by precedence, highest first, and candidates of one rank by their order in the input.
func ByRank(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Order, b.Order))
}

// Hides reports whether c would replace a multibinding unintentionally.
func (c *Candidate) Hides() bool {
	more := c.More()
	return c.Final() && c.Collects() == "" && (more == nil || !more.Override && !more.Abstract)
}
