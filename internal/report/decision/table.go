// Package decision presents a snapshot as decision tables. The table of a key lists conditions and values; the first
// row whose condition holds gives the answer. The package also compares the tables of two snapshots.
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

// Row is a binding of a key, or a contribution to a multibinding.
type Row struct {
	Layer string
	When  []lookup.Term
	At    string // path:line:col
	Name  string // name of a contribution, if it has one

	Value     value.Value // if Computed is "" and Abstract is false
	Computed  string      // source of the value, if it depends on facts
	Abstract  bool
	Declines  bool // in some requests, it may leave the answer to the rows below
	Erased    bool // the key is renamed from this row down, so it is not found
	Sensitive bool
	Sealed    bool // the content is encrypted, so it differs between snapshots even if the plaintext is the same

	terms relation.Condition // the condition, for comparisons
	dims  *dimensions

	contentID string   // equal for rows with the same content
	uses      []string // keys that the content looks up, including internal keys of multibindings
	dynamic   bool     // the content looks up keys that depend on facts
	varies    bool     // the content depends on variables

	isMultibind bool // the row is a multibinding

	key     string
	binding snapshot.Binding
	merge   *recipe.Recipe // a recipe of kind Merged, or nil
}

// Terms returns the condition of r. Its dimensions are those of the snapshot.
func (r *Row) Terms() []snapshot.Term { return r.binding.Terms }

// Origin returns the place of r. It has no line if the place is unknown.
func (r *Row) Origin() snapshot.Origin { return r.binding.Origin }

// Tables gives access to the tables of a snapshot.
type Tables struct {
	snap        *snapshot.Snapshot
	files       []snapshot.Input
	allBindings *snapshot.AllBindings // nil if the bindings of each key are looked up separately
	dims        *dimensions
	box         *seal.Box // decrypts sealed recipes; nil if they stay sealed
	filter      snapshot.Filter
}

// NewTables returns the tables of f. With whole, it prepares for reading the tables of all keys, which is faster. If
// box is not nil, it decrypts sealed recipes.
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

// Where returns tables with the rows that f selects.
func (b *Tables) Where(f snapshot.Filter) *Tables {
	out := *b
	out.filter = f
	return &out
}

// Bindings returns the bindings of all keys, or nil if b is not whole.
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

// Table lists the bindings of a key.
type Table struct {
	Rows          []Row // by decreasing precedence: the first row that holds for a request wins
	Contributions []Row // contributions to the multibindings among the rows

	// HasOptions reports whether Hiera 5 lookup_options apply to the key. Options are those options, or undef if they
	// depend on the request. Merged reports whether the options merge all rows that hold for a request.
	HasOptions bool
	Options    value.Value
	Merged     bool
}

// Values returns the table of key. If lookups merge the values of key, the rows are these values.
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

// takesFirst reports whether the lookup_options of a key select a single value, possibly converted.
func takesFirst(options value.Value) bool {
	level, err := merge.Compile(options, "")
	if err != nil || len(level.Entries) != 1 {
		return false
	}
	strategy, err := level.Entries[0].Strategy()
	return err == nil && strategy.First()
}

// Table returns the bindings of key, in order of precedence.
func (b *Tables) Table(key string) ([]Row, error) {
	bs, err := b.bindings(key)
	if err != nil {
		return nil, err
	}
	return b.rows(key, bs)
}

// RowsIn returns the rows of Values(key) that are in the input with the given number. The tables must be whole.
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

// rows returns the given bindings of key as rows.
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

// Contributions returns the contributions to the multibindings among rows, in order of precedence.
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

// rowsOf returns the rows of any key, including internal ones. For the key of a multibinding, the rows are the
// contributions. Contributions in a scope keep their order.
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

// row returns a row with the position and the condition of x.
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

// dimensionName returns the name of a dimension in conditions. A guard that is just a variable is written $name.
func dimensionName(d snapshot.Dimension) string {
	inner, opens := strings.CutPrefix(d.Name, "\"${")
	name := strings.TrimSuffix(inner, "}\"")
	if d.Guard && opens && !strings.ContainsAny(name, "${}[('\" ") {
		return "$" + name
	}
	return d.Name
}

// setContent sets the value or recipe of a row.
func (b *Tables) setContent(row *Row, key string, x *snapshot.Binding) error {
	n, computed := x.Ref.Recipe()
	switch {
	case x.Contribution: // the value is part of the recipe that collects contributions
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

// decodeChecked decodes a value that the snapshot has checked.
func decodeChecked(encoded string) value.Value {
	v, _, _ := value.View(encoded)
	return v
}

// recipe returns recipe n, which is bound to key. If it stays sealed, r is nil and sealed has the encrypted bytes.
func (b *Tables) recipe(key string, n int) (r *recipe.Recipe, sealed string, err error) {
	encoded, err := b.snap.Recipe(n)
	if err != nil {
		return nil, "", err
	}
	return b.decoded(key, encoded, "recipes")
}

// decoded decodes a recipe. It has the same results as method recipe.
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

// unsealed decrypts and decodes a sealed recipe. An invalid recipe inside is not reported as damage of the snapshot,
// because Verify cannot look into sealed recipes.
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

// setDecoded sets the content of r to the results of decoded.
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

// SameValue reports whether two rows have the same constant, or are both not constants.
func (r *Row) SameValue(other *Row) bool {
	if r.Computed != "" || other.Computed != "" {
		return r.Computed != "" && other.Computed != ""
	}
	return r.contentID == other.contentID
}
