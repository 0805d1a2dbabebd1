package place

import (
	"cmp"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/loader"
)

// Candidate is a binding with one of its conditions.
type Candidate struct {
	Binding   *loader.Binding  // nil for an entry of a data file
	File      *loader.DataFile // the data file of the entry
	Entry     int              // index in File.Entries
	Key       uint32           // index in index.Ordered.Names
	Layer     int
	Condition int
	Rank      int            // precedence; 0 is the highest
	Order     int            // position in the input
	Value     uint32         // index in Tables.Values
	Recipe    *recipe.Recipe // only for contributions
}

func (c *Candidate) Pos() diag.Pos {
	if c.Binding != nil {
		return c.Binding.Pos
	}
	return c.File.Pos(c.Entry)
}

// More returns the attributes of a binding in the long form. For any other binding it returns nil.
func (c *Candidate) More() *bindingsfile.Compiled {
	if c.Binding == nil {
		return nil
	}
	return c.Binding.More
}

// Computed returns the recipe of the binding of c (see RecipeOf), or nil for an entry of a data file.
func (c *Candidate) Computed() *recipe.Recipe {
	if c.Binding == nil {
		return nil
	}
	return RecipeOf(c.Binding)
}

// RecipeOf returns the recipe of b. It returns nil if b is in the short form or has no valid value.
func RecipeOf(b *loader.Binding) *recipe.Recipe {
	if b.More == nil {
		return nil
	}
	return b.More.Recipe
}

// Final reports whether a lookup that reaches c always ends at c (see recipe.IsFinal).
func (c *Candidate) Final() bool {
	r := c.Computed()
	return r == nil || r.IsFinal()
}

// Erases reports whether c erases the old name of a rename. Lookups of the old name find nothing below c.
func (c *Candidate) Erases() bool {
	r := c.Computed()
	return r != nil && r.Kind == recipe.Erased
}

// Collects returns the id of the multibinding that c declares, or "" if c declares none.
func (c *Candidate) Collects() string {
	if more := c.More(); more != nil && more.Multibind != nil {
		return more.Multibind.ID
	}
	return ""
}

// Includes reports whether c, a contribution to recipe.ClassesKey, includes its class. Otherwise, c excludes the
// class.
func (c *Candidate) Includes() bool { return c.Recipe.Value.Text() == recipe.Include }

// Beats reports whether c has higher precedence than other. Candidates of equal rank do not beat each other.
func (c *Candidate) Beats(other *Candidate) bool { return c.Rank < other.Rank }

// ByRank compares candidates by precedence, highest first, and then by order in the input.
func ByRank(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Order, b.Order))
}

// Hides reports whether c would hide a lower multibinding unintentionally: lookups always end at c, and it is neither
// a multibinding nor abstract nor marked 'override'.
func (c *Candidate) Hides() bool {
	more := c.More()
	return c.Final() && c.Collects() == "" && (more == nil || !more.Override && !more.Abstract)
}
