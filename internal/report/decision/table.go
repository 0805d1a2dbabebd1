// Package decision presents the bindings of a key as a decision table. Each row has a condition and a value, and the
// first row whose condition holds gives the answer. The package also compares the tables of two snapshots.
package decision

import (
	"fmt"
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Row is a row of a decision table: a binding of a key, or a contribution to a multibinding.
type Row struct {
	Layer string
	When  []lookup.Term
	At    string // position, as path:line:col
	Name  string // name of the contribution, or ""

	Value     value.Value // set if Computed is "" and Abstract is false
	Computed  string      // source text of a value that depends on facts, or ""
	Abstract  bool
	Declines  bool // the row may have no value for some requests, which then use lower rows
	Erased    bool // the key is renamed; from here down, it is not found
	Sensitive bool
	Sealed    bool // encrypted; even equal values then differ between snapshots

	terms relation.Condition // When, in a form for comparisons
	dims  *dimensions

	contentID string   // equal for rows with the same content
	uses      []string // keys that the value looks up, including internal keys of multibindings
	dynamic   bool     // the value looks up keys whose names depend on facts
	varies    bool     // the value depends on variables

	isMultibind bool // the value is collected from contributions

	key     string
	binding snapshot.Binding
	merge   *recipe.Recipe // recipe of kind Merged, or nil
}

// Terms returns the condition of r in terms of the snapshot's dimensions.
func (r *Row) Terms() []snapshot.Term { return r.binding.Terms }

// Origin returns the position of r. Its Line is 0 if the position is unknown.
func (r *Row) Origin() snapshot.Origin { return r.binding.Origin }

// Tables reads the decision tables of a snapshot.
type Tables struct {
	snap        *snapshot.Snapshot
	files       []snapshot.Input
	allBindings *snapshot.AllBindings // nil if each key is read separately
	dims        *dimensions
	box         *seal.Box // decrypts sealed recipes; nil to leave them sealed
	filter      snapshot.Filter
}

// NewTables returns the tables of f. Set whole to read the tables of many keys: it takes time once, but makes each
// table faster. box decrypts sealed recipes; if it is nil, they stay sealed.
func NewTables(f *snapshot.Snapshot, whole bool, box *seal.Box) (*Tables, error) {
	dims, err := newDimensions(f)
	if err != nil {
		return nil, err
	}
	b := &Tables{snap: f, dims: dims, box: box}
	if b.files, err = f.Inputs(); err == nil && whole {
		b.allBindings, err = f.AllBindings()
	}
	return b, err
}

// Where returns tables with only those rows that f selects.
func (b *Tables) Where(f snapshot.Filter) *Tables {
	out := *b
	out.filter = f
	out.filter.Uncounted = true
	return &out
}

// Bindings returns the bindings of all keys. It returns nil unless NewTables was called with whole.
func (b *Tables) Bindings() *snapshot.AllBindings { return b.allBindings }

func (b *Tables) bindings(key string) (bs []snapshot.Binding, err error) {
	if b.allBindings != nil {
		bs, _, err = b.allBindings.BindingsWhere(key, b.filter)
		return bs, err
	}
	bs, _, err = b.snap.BindingsWhere(key, b.filter)
	slices.SortStableFunc(bs, snapshot.ByPrecedence)
	return bs, err
}

// Table is the decision table of a key.
type Table struct {
	Rows          []Row // highest precedence first
	Contributions []Row // contributions to the multibindings among Rows

	// HasOptions reports whether the key has lookup_options from Hiera 5. Options are these options, or undef if they
	// depend on the request. Merged reports whether they merge all rows that hold for a request.
	HasOptions bool
	Options    value.Value
	Merged     bool
}

// Values returns the decision table of key. If lookups merge values of key, each of these values has a row.
func (b *Tables) Values(key string) (*Table, error) {
	rows, err := b.Table(key)
	if err != nil {
		return nil, err
	}
	out := &Table{Rows: rows}
	values, err := b.Table(recipe.MergeKey(key))
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		out.Contributions, err = b.Contributions(rows)
		return out, err
	}
	out.HasOptions, out.Merged, out.Rows = true, true, values
	for _, r := range rows {
		switch {
		case r.merge == nil:
			out.Rows = append(out.Rows, r)
		case !r.merge.Value.IsUndef():
			out.Options, out.Merged = r.merge.Value, !takesFirst(r.merge.Value)
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b Row) int { return snapshot.ByPrecedence(a.binding, b.binding) })
	return out, nil
}

// takesFirst reports whether lookups with these options use only the first value instead of merging.
func takesFirst(options value.Value) bool {
	level, err := merge.Compile(options, "")
	if err != nil || len(level.Entries) != 1 {
		return false
	}
	strategy, err := level.Entries[0].Strategy()
	return err == nil && strategy.First()
}

// Table returns the bindings of key, highest precedence first.
func (b *Tables) Table(key string) ([]Row, error) {
	bs, err := b.bindings(key)
	if err != nil {
		return nil, err
	}
	return b.rows(key, bs)
}

// RowsIn returns the rows of Values(key) that come from one input file. The tables must be whole.
func (b *Tables) RowsIn(key string, input uint32) (out []Row, err error) {
	for _, name := range []string{recipe.MergeKey(key), key} {
		bs, err := b.allBindings.BindingsIn(name, input)
		if err != nil {
			return nil, err
		}
		rows, err := b.rows(name, bs)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(rows, func(r Row) bool { return r.merge != nil })...)
	}
	slices.SortStableFunc(out, func(a, b Row) int { return snapshot.ByPrecedence(a.binding, b.binding) })
	return out, nil
}

// rows converts the bindings of key to rows.
func (b *Tables) rows(key string, bs []snapshot.Binding) ([]Row, error) {
	out := make([]Row, len(bs))
	for i := range bs {
		out[i] = b.row(&bs[i])
		out[i].key = key
		if err := b.setContent(&out[i], key, &bs[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Contributions returns the contributions to the multibindings among rows, highest precedence first.
func (b *Tables) Contributions(rows []Row) ([]Row, error) {
	var out []Row
	seen := map[string]bool{}
	for i := range rows {
		for _, name := range rows[i].uses {
			if !strings.HasPrefix(name, "\x00") || seen[name] || strings.HasPrefix(name, recipe.LookupOptionsKey) {
				continue
			}
			seen[name] = true
			more, err := b.rowsOf(name)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

// rowsOf is like Table, but also accepts internal keys. The rows of a multibinding's internal key are its
// contributions.
func (b *Tables) rowsOf(name string) ([]Row, error) {
	if !recipe.IsContributionKey(name) {
		return b.Table(name)
	}
	bs, err := b.bindings(name)
	if err != nil {
		return nil, err
	}
	parts := map[string][]recipe.Part{}
	scope := func(x *snapshot.Binding) string { return fmt.Sprintf("%d %#v", x.Layer, x.Terms) }
	for i := range bs {
		if n, computed := bs[i].Ref.Recipe(); computed {
			r, sealed, err := b.recipe(name, n)
			if err != nil {
				return nil, err
			}
			if r == nil {
				r = &recipe.Recipe{Parts: []recipe.Part{{Name: sealed}}}
			}
			parts[scope(&bs[i])] = r.Parts
		}
	}
	var out []Row
	for i := range bs {
		at := scope(&bs[i])
		if !bs[i].Contribution || len(parts[at]) == 0 {
			continue
		}
		row := b.row(&bs[i])
		if parts[at][0].Recipe == nil {
			row.setSealed(parts[at][0].Name)
			out = append(out, row)
			continue
		}
		row.Name = strings.Clone(parts[at][0].Name)
		row.setRecipe(parts[at][0].Recipe)
		out, parts[at] = append(out, row), parts[at][1:]
	}
	return out, nil
}

// row returns a row with the position and condition of x, but without a value.
func (b *Tables) row(x *snapshot.Binding) Row {
	r := Row{Layer: b.snap.Layers()[x.Layer], At: "an unknown place", binding: *x}
	if o := x.Origin; o.Line > 0 && int64(o.Input) < int64(len(b.files)) {
		r.At = fmt.Sprintf("%s:%d:%d", b.files[o.Input].Path, o.Line, o.Col)
	}
	for _, t := range x.Terms {
		r.When = append(r.When, lookup.Term{Name: dimensionName(b.snap.Dimensions()[t.Dimension]), Value: t.Value})
	}
	r.terms, r.dims = b.dims.condition(b.snap, x.Terms), b.dims
	return r
}

// dimensionName returns the name that reports use for a dimension. For a guard that is just a variable, it is $name.
func dimensionName(d snapshot.Dimension) string {
	inner, opens := strings.CutPrefix(d.Name, "\"${")
	name := strings.TrimSuffix(inner, "}\"")
	if d.Guard && opens && !strings.ContainsAny(name, "${}[('\" ") {
		return "$" + name
	}
	return d.Name
}

func (b *Tables) setContent(row *Row, key string, x *snapshot.Binding) error {
	n, computed := x.Ref.Recipe()
	switch {
	case x.Contribution: // set by the caller from the recipe that collects the contributions
		return nil
	case x.Stored.Computed:
		r, sealed, err := b.decoded(key, x.Stored.Bytes, "origins")
		return row.setDecoded(r, sealed, err)
	case x.Hidden:
		row.setConstant(decodeChecked(x.Stored.Bytes))
		return nil
	case computed:
		r, sealed, err := b.recipe(key, n)
		return row.setDecoded(r, sealed, err)
	}
	v, err := b.snap.Value(x.Ref)
	if err == nil && !value.Sound(v) {
		err = &snapshot.DamageError{Section: "keys", Expected: "a value, all of whose elements are values"}
	}
	row.setConstant(v)
	return err
}

// decodeChecked decodes a value that has already been validated.
func decodeChecked(encoded string) value.Value {
	v, _, _ := value.View(encoded)
	return v
}

// recipe returns recipe number n, which is bound to key. If it stays encrypted, r is nil and sealed has its bytes.
func (b *Tables) recipe(key string, n int) (r *recipe.Recipe, sealed string, err error) {
	encoded, err := b.snap.Recipe(n)
	if err != nil {
		return nil, "", err
	}
	return b.decoded(key, encoded, "recipes")
}

// decoded decodes a recipe from the given section of the snapshot. Its results are those of the method recipe.
func (b *Tables) decoded(key, encoded, section string) (r *recipe.Recipe, sealed string, err error) {
	if recipe.IsSealed(encoded) {
		return b.unsealed(key, encoded)
	}
	r, err = recipe.Decode(encoded)
	switch {
	case err != nil:
		err = &snapshot.DamageError{Section: section, Expected: "a recipe: " + err.Error()}
	case (r.Kind == recipe.Contributions) != recipe.IsContributionKey(key):
		expected := "a recipe that '" + displayName(key) + "' can be bound to"
		err = &snapshot.DamageError{Section: section, Expected: expected}
	}
	return r, "", err
}

// unsealed decrypts and decodes a sealed recipe. It does not report an invalid recipe as damage of the snapshot,
// because Verify cannot check sealed recipes either.
func (b *Tables) unsealed(key, encoded string) (*recipe.Recipe, string, error) {
	if b.box == nil {
		return nil, encoded, nil
	}
	text, err := recipe.Unseal(encoded, key, b.box)
	var r *recipe.Recipe
	if err == nil {
		r, err = recipe.Decode(text)
	}
	if err != nil {
		return nil, "", fmt.Errorf("'%s' cannot be decrypted: %w", displayName(key), err)
	}
	return r, "", nil
}

// setDecoded sets the content of r. Its parameters are the results of decoded.
func (r *Row) setDecoded(x *recipe.Recipe, sealed string, err error) error {
	switch {
	case err != nil:
		return err
	case x == nil:
		r.setSealed(sealed)
	default:
		r.setRecipe(x)
	}
	return nil
}

func (r *Row) setConstant(v value.Value) {
	r.Value, r.contentID = v, string(value.Append([]byte{'c'}, v))
}

func (r *Row) setSealed(encoded string) {
	r.Sensitive, r.Sealed, r.contentID = true, true, "e"+encoded
}

// SameValue reports whether two rows have the same constant value. It also returns true if both are computed.
func (r *Row) SameValue(other *Row) bool {
	if r.Computed != "" || other.Computed != "" {
		return r.Computed != "" && other.Computed != ""
	}
	return r.contentID == other.contentID
}
