// Package decision shows a snapshot as people think of it: of a key a table of conditions and values, of which the
// first whose condition holds counts. It compares the tables of two snapshots.
package decision

import (
	"fmt"
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/seal"
	"bindc/internal/syntax"
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

	of      string // the key
	binding snapshot.Binding
	merge   *recipe.Recipe // of the kind Merged, where it is one
}

// Book is the tables of a snapshot.
type Book struct {
	f     *snapshot.Snapshot
	files []snapshot.Input
	all   *snapshot.Book // nil: each key is looked for alone
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
		b.all, err = f.Book()
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

// compute makes r the row of a recipe, which is the same one wherever its expressions are written.
func (r *Row) compute(x *recipe.Recipe) {
	r.Sensitive, r.Declines = x.Sensitive, x.Declines()
	switch {
	case x.Kind == recipe.Erased:
		r.Erased, r.id = true, "erased"
	case x.Kind == recipe.Abstract:
		r.Abstract, r.id = true, "abstract"
	case x.Kind == recipe.Constant && x.Transformer == nil && !x.Optional:
		r.constant(x.Value)
	default:
		r.Computed, r.id = sourceText(x), "r"+string(recipe.Append(nil, x.Placeless()))
		r.use(x)
	}
	if x.Kind == recipe.Merged {
		r.merge = x
	}
	if r.Sensitive {
		r.id = "s" + r.id
	}
}

// use notes what x looks up.
func (r *Row) use(x *recipe.Recipe) {
	if x.Kind == recipe.Merged {
		r.uses = append(r.uses, recipe.MergeKey(r.of))
	}
	if x.Kind == recipe.Merged && x.Value.IsUndef() {
		r.uses = append(r.uses, recipe.LookupOptionsKey)
		if module := lookupkey.Module(r.of); module != "" {
			r.uses = append(r.uses, recipe.LookupOptionsKey+" "+module)
		}
	}
	for _, t := range x.Targets {
		r.uses = append(r.uses, t.Key)
	}
	if x.Kind == recipe.Multibind || x.Kind == recipe.Below {
		r.uses = append(r.uses, x.Name)
	}
	if x.Declines() && r.of != "" {
		r.uses = append(r.uses, r.of)
	}
	r.free = x.Kind == recipe.Custom
	for _, n := range x.Expressions() {
		for key, written := range syntax.Lookups(n) {
			if written {
				r.uses = append(r.uses, key)
			}
			r.free = r.free || !written
		}
		expr.HieraKeys(n, func(key string) { r.uses = append(r.uses, key) })
	}
}

// sourceText is a recipe as an expression: what is none in the data is written as a call of what it is named there.
func sourceText(r *recipe.Recipe) string {
	var n *expr.Node
	switch r.Kind {
	case recipe.Constant:
		n = constant(r.Value)
	case recipe.Expression:
		n = r.Expr
	case recipe.LookupOf:
		n = call("lookup", targets(r)...)
	case recipe.FirstFound:
		n = call("first_found", targets(r)...)
	case recipe.HashLookup:
		n = &expr.Node{Op: expr.Access, Kids: []*expr.Node{call("lookup", targets(r)...), constant(r.Value)}}
	case recipe.Custom:
		n = call(r.Name, constant(r.Value))
	case recipe.Merged:
		return mergedText(r.Value)
	case recipe.AliasOf:
		n = call("alias", targets(r)...)
	case recipe.Below:
		n = call("below", constant(value.FromString(r.Name)))
	case recipe.AliasedPart:
		n = call("alias_of_contributions", constant(value.FromString(r.Name)))
	case recipe.RenamedPart:
		n = call("renamed_contributions", constant(value.FromString(r.Name)))
	case recipe.Multibind:
		n = call("multibind", constant(value.FromString(strings.TrimPrefix(r.Name, recipe.ContributionKey("")))))
		n.Lambda = r.Options.Combinator
	default:
		n = call("contributions")
	}
	if r.Optional {
		n = call("optional", n)
	}
	if r.Transformer != nil {
		n = call("with", n)
		n.Lambda = r.Transformer
	}
	return syntax.Print(n)
}

// mergedText says how a value is merged, by the lookup_options of its key: a hash of one entry, or undef where they
// depend on the request.
func mergedText(options value.Value) string {
	if options.Kind() == value.Hash {
		for _, entry := range options.Pairs() {
			text := "merged"
			if merge, there := entry.Get(value.FromString("merge")); there {
				text += " by " + optionText(merge)
			}
			if convert, there := entry.Get(value.FromString("convert_to")); there {
				text += ", converted to " + optionText(convert)
			}
			return text
		}
	}
	return "merged as lookup_options say"
}

// optionText is an option: a name as it is, anything else as an expression.
func optionText(v value.Value) string {
	if v.Kind() == value.Hash && v.Len() == 1 {
		if name, there := v.Get(value.FromString("strategy")); there {
			v = name
		}
	}
	if v.Kind() == value.String {
		return v.Text()
	}
	return syntax.Print(constant(v))
}

func constant(v value.Value) *expr.Node { return &expr.Node{Op: expr.Const, Value: v} }

func call(name string, args ...*expr.Node) *expr.Node {
	return &expr.Node{Op: expr.Call, Name: name, Kids: args}
}

func targets(r *recipe.Recipe) []*expr.Node {
	out := make([]*expr.Node, len(r.Targets))
	for i, t := range r.Targets {
		out[i] = constant(value.FromString(t.Key))
	}
	return out
}
