// Package decision shows a snapshot as people think of it: of a key a table of conditions and values, of which the
// first whose condition holds counts. It compares the tables of two snapshots.
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
	Name  string // of a contribution that has one

	Value     value.Value // where Computed is "" and Abstract is not set
	Computed  string      // the source text of what facts decide
	Abstract  bool
	Declines  bool // in some requests it may leave the answer to the rows below
	Erased    bool // the key has another name from here on down: it is not found
	Sensitive bool
	Sealed    bool // the rest is encrypted, and told from itself in another snapshot

	terms relation.Condition // When, for comparisons
	dims  *dimensions

	id   string   // rows of one content have the same
	uses []string // keys that the content looks up, and internal ones of multibindings
	free bool     // it looks up keys that facts decide

	collects bool // it is a multibinding

	of      string // the key
	binding snapshot.Binding
	merge   *recipe.Recipe // of the kind Merged, where it is one
}

// Book is the tables of a snapshot.
type Book struct {
	f     *snapshot.Snapshot
	files []snapshot.Input
	all   *snapshot.AllBindings // nil: each key is looked for alone
	dims  *dimensions
	box   *seal.Box // opens what is sealed; nil: nobody can
}

// NewBook is the tables of f. Where all keys are asked for, whole is faster. What is sealed the box opens; without one
// it stays so.
func NewBook(f *snapshot.Snapshot, whole bool, box *seal.Box) (*Book, error) {
	dims, err := newDimensions(f)
	if err != nil {
		return nil, err
	}
	b := &Book{f: f, dims: dims, box: box}
	if b.files, err = f.Inputs(); err == nil && whole {
		b.all, err = f.AllBindings()
	}
	return b, err
}

func (b *Book) bindings(key string) ([]snapshot.Binding, error) {
	if b.all != nil {
		return b.all.Bindings(key)
	}
	bs, err := b.f.Bindings(key)
	slices.SortStableFunc(bs, snapshot.ByPrecedence)
	return bs, err
}

// Table is what is bound to a key.
type Table struct {
	Rows          []Row // in order of precedence: of those that hold for a request the first counts
	Contributions []Row // to the multibindings that rows are

	// Touched says that lookup_options of Hiera 5 have something to say of the key: what, is in Options, undef where
	// that depends on the request. Merged says that by them all rows may count that hold for a request.
	Touched bool
	Options value.Value
	Merged  bool
}

// Values is the table of key. Where its values are merged the rows are these.
func (b *Book) Values(key string) (*Table, error) {
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
	out.Touched, out.Merged, out.Rows = true, true, values
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

// takesFirst tells whether lookup_options of one key have one value count, as it is or converted.
func takesFirst(options value.Value) bool {
	level, err := merge.Compile(options, "")
	if err != nil || len(level.Entries) != 1 {
		return false
	}
	strategy, err := level.Entries[0].Strategy()
	return err == nil && strategy.First()
}

// Table is the bindings of key, in order of precedence.
func (b *Book) Table(key string) ([]Row, error) {
	bs, err := b.bindings(key)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(bs))
	for i := range bs {
		out[i] = b.row(&bs[i])
		out[i].of = key
		if err := b.fill(&out[i], key, &bs[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Contributions are what is contributed to the multibindings that rows are, in order of precedence.
func (b *Book) Contributions(rows []Row) ([]Row, error) {
	var out []Row
	seen := map[string]bool{}
	for i := range rows {
		for _, name := range rows[i].uses {
			if !strings.HasPrefix(name, "\x00") || seen[name] || strings.HasPrefix(name, recipe.LookupOptionsKey) {
				continue
			}
			seen[name] = true
			more, err := b.filed(name)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

// filed returns the rows of any key, internal ones too. Of the key of a multibinding these are the contributions; the
// parts of a scope stand in their order.
func (b *Book) filed(name string) ([]Row, error) {
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
			row.seal(parts[at][0].Name)
			out = append(out, row)
			continue
		}
		row.Name = strings.Clone(parts[at][0].Name)
		row.compute(parts[at][0].Recipe)
		out, parts[at] = append(out, row), parts[at][1:]
	}
	return out, nil
}

// row is where x is bound, and for whom.
func (b *Book) row(x *snapshot.Binding) Row {
	r := Row{Layer: b.f.Layers()[x.Layer], At: "an unknown place", binding: *x}
	if o := x.Origin; o.Line > 0 && int64(o.Input) < int64(len(b.files)) {
		r.At = fmt.Sprintf("%s:%d:%d", b.files[o.Input].Path, o.Line, o.Col)
	}
	for _, t := range x.Terms {
		r.When = append(r.When, lookup.Term{Name: shown(b.f.Dimensions()[t.Dimension]), Value: t.Value})
	}
	r.terms, r.dims = b.dims.condition(b.f, x.Terms), b.dims
	return r
}

// shown is the name of a dimension in conditions: of a guard that is nothing but a variable, $name.
func shown(d snapshot.Dimension) string {
	inner, opens := strings.CutPrefix(d.Name, "\"${")
	name := strings.TrimSuffix(inner, "}\"")
	if d.Guard && opens && !strings.ContainsAny(name, "${}[('\" ") {
		return "$" + name
	}
	return d.Name
}

// fill adds what x binds key to.
func (b *Book) fill(row *Row, key string, x *snapshot.Binding) error {
	n, computed := x.Ref.Recipe()
	switch {
	case x.Contribution: // its value is part of the recipe that collects the contributions
		return nil
	case x.Stored.Computed:
		r, sealed, err := b.decoded(key, x.Stored.Bytes, "origins")
		return row.follow(r, sealed, err)
	case x.Hidden:
		row.constant(viewed(x.Stored.Bytes))
		return nil
	case computed:
		r, sealed, err := b.recipe(key, n)
		return row.follow(r, sealed, err)
	}
	v, err := b.f.Value(x.Ref)
	if err == nil && !value.Sound(v) {
		err = &snapshot.DamageError{Section: "keys", Expected: "a value, all of whose elements are values"}
	}
	row.constant(v)
	return err
}

// viewed is an encoded value that the snapshot has checked.
func viewed(encoded string) value.Value {
	v, _, _ := value.View(encoded)
	return v
}

// recipe returns a recipe that key is bound to. Where it stays sealed that is nil, and sealed has its bytes.
func (b *Book) recipe(key string, n int) (r *recipe.Recipe, sealed string, err error) {
	encoded, err := b.f.Recipe(n)
	if err != nil {
		return nil, "", err
	}
	return b.decoded(key, encoded, "recipes")
}

// decoded returns what recipe does, of the bytes of a recipe.
func (b *Book) decoded(key, encoded, section string) (r *recipe.Recipe, sealed string, err error) {
	if recipe.IsSealed(encoded) {
		return b.unsealed(key, encoded)
	}
	r, err = recipe.Decode(encoded)
	switch {
	case err != nil:
		err = &snapshot.DamageError{Section: section, Expected: "a recipe: " + err.Error()}
	case (r.Kind == recipe.Contributions) != recipe.IsContributionKey(key):
		err = &snapshot.DamageError{Section: section, Expected: "a recipe that '" + named(key) + "' can be bound to"}
	}
	return r, "", err
}

// unsealed decrypts and decodes a sealed recipe. An invalid recipe inside is not reported as damage, because Verify
// cannot see it.
func (b *Book) unsealed(key, encoded string) (*recipe.Recipe, string, error) {
	if b.box == nil {
		return nil, encoded, nil
	}
	text, err := recipe.Unseal(encoded, key, b.box)
	var r *recipe.Recipe
	if err == nil {
		r, err = recipe.Decode(text)
	}
	if err != nil {
		return nil, "", fmt.Errorf("'%s' cannot be decrypted: %w", named(key), err)
	}
	return r, "", nil
}

// follow makes r the row of what decoded returns.
func (r *Row) follow(x *recipe.Recipe, sealed string, err error) error {
	switch {
	case err != nil:
		return err
	case x == nil:
		r.seal(sealed)
	default:
		r.compute(x)
	}
	return nil
}

func (r *Row) constant(v value.Value) {
	r.Value, r.id = v, string(value.Append([]byte{'c'}, v))
}

func (r *Row) seal(encoded string) {
	r.Sensitive, r.Sealed, r.id = true, true, "e"+encoded
}
