package snapshot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
	"bindc/internal/value"
)

// oracle finds values in a Content by examining every scope.
type oracle struct {
	*Content
	values []string // of the request, per dimension; "" if it has no value
	scopes []Scope  // the scopes of the request, in order of precedence
}

func newOracle(c *Content, values []string) oracle {
	o := oracle{Content: c, values: values}
	for _, l := range c.Levels {
		for _, s := range l.Scopes {
			if o.in(l, s) {
				o.scopes = append(o.scopes, s)
			}
		}
	}
	return o
}

func (o oracle) in(l Level, s Scope) bool {
	for i, d := range l.Dimensions {
		if o.values[d] == "" || o.values[d] != s.Values[i] {
			return false
		}
	}
	return true
}

// all returns the values of a key in the scopes of the request.
func (o oracle) all(key uint32) []uint32 {
	var out []uint32
	for _, s := range o.scopes {
		for _, e := range s.Entries {
			if e.Key == key {
				out = append(out, e.Value)
			}
		}
	}
	return out
}

// first returns the value of highest precedence, or -1.
func (o oracle) first(key uint32) int {
	if all := o.all(key); len(all) > 0 {
		return int(all[0])
	}
	return o.Keys[key].Default
}

// storedAt returns the value that a reference of a snapshot refers to, in the form in which a Content stores it.
func storedAt(t testing.TB, s *Snapshot, ref Ref) Stored {
	t.Helper()
	if n, ok := ref.Recipe(); ok {
		text, err := s.Recipe(n)
		if err != nil {
			t.Fatal(err)
		}
		return Stored{Computed: true, Bytes: text}
	}
	v, err := s.Value(ref)
	if err != nil {
		t.Fatal(err)
	}
	return Stored{Bytes: string(value.Append(nil, v))}
}

// agree compares the snapshot's answers to a request with the oracle's, for the given keys.
func agree(t *testing.T, s *Snapshot, at *Scopes, o oracle, keys []uint32) {
	t.Helper()
	request(t, s, at, o.values)
	depths, err := s.Depths()
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		name, want := o.Keys[k].Name, o.first(k)
		ref, ok, err := s.Find(name, at)
		if err != nil || ok != (want >= 0) {
			t.Fatalf("%q for %q: found %t, %v; want %t", name, o.values, ok, err, want >= 0)
		}
		if ok && storedAt(t, s, ref) != o.Values[want] {
			t.Fatalf("%q for %q: found %q, want %q", name, o.values, storedAt(t, s, ref).Bytes, o.Values[want].Bytes)
		}
		inView, found := viewed(t, s, at, name)
		if visible := ok && !strings.HasPrefix(name, "\x00"); found != visible || found && inView != o.Values[want] {
			t.Fatalf("%q for %q: the view found %t, %q; want %t", name, o.values, found, inView.Bytes, visible)
		}
		if i >= 10 {
			continue // decompressing cold candidates takes too long
		}
		var got []string
		for c, err := range s.Candidates(name, numbers(s, o.values), at) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, o.describe(t, s, name, c))
		}
		if want := o.candidates(k); !slices.Equal(got, want) {
			t.Fatalf("candidates of %q for %q:\n got %q\nwant %q", name, o.values, got, want)
		}
		if n, _ := s.keyNumber(name); len(got) > depths[n] {
			t.Fatalf("%q has %d candidates for %q, at most %d were expected", name, len(got), o.values, depths[n])
		}
	}
}

// describe formats a candidate in the form that oracle.candidates uses.
func (o oracle) describe(t *testing.T, s *Snapshot, key string, c Candidate) string {
	t.Helper()
	b, err := s.Binding(key, c)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Hidden {
		c.Stored = storedAt(t, s, c.Ref)
	}
	entry := 0
	if c.Level >= 0 {
		entry = s.Level(c.Level).Entry
		if s.Level(c.Level).Layer != b.Layer {
			t.Fatalf("%q: level %d is of layer %d, the binding of %d", key, c.Level, s.Level(c.Level).Layer, b.Layer)
		}
	}
	return fmt.Sprint(c.Level, entry, c.Hidden, b.Hidden, b.Layer, b.Terms, b.Origin, c.Stored)
}

// candidates computes what Candidates must return for a key, by examining all scopes and all cold bindings.
func (o oracle) candidates(key uint32) (out []string) {
	k, cold := o.Keys[key], o.Keys[key].Cold
	hides := slices.ContainsFunc(cold[min(len(cold), bit(k.Default >= 0)):],
		func(c Cold) bool { return !c.Contribution })
	add := func(level int) {
		for ; len(cold) > 0 && cold[0].Above <= level; cold = cold[1:] {
			c, isDefault := cold[0], k.Default >= 0 && len(cold) == len(k.Cold)
			if c.Contribution || !hides && isDefault || !o.holds(c.Terms) {
				continue
			}
			out = append(out, fmt.Sprint(-1, 0, !isDefault, !isDefault, c.Layer, c.Terms, c.Origin, o.Values[c.Value]))
		}
	}
	for i, l := range o.Levels {
		for _, s := range l.Scopes {
			at := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.Key == key })
			if at < 0 || !o.in(l, s) {
				continue
			}
			add(i)
			var terms []Term
			for j, d := range l.Dimensions {
				terms = append(terms, Term{d, s.Values[j]})
			}
			out = append(out, fmt.Sprint(i, l.Entry, false, false, l.Layer, terms, s.origin(at),
				o.Values[s.Entries[at].Value]))
		}
	}
	add(len(o.Levels))
	if k.Default >= 0 && !hides {
		b := append(k.Cold, Cold{})[0]
		out = append(out, fmt.Sprint(-1, 0, false, false, b.Layer, b.Terms, b.Origin, o.Values[k.Default]))
	}
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (o oracle) holds(terms []Term) bool {
	return !slices.ContainsFunc(terms, func(t Term) bool { return o.values[t.Dimension] != t.Value })
}

// request resolves values, one per dimension, into at.
func request(t testing.TB, s *Snapshot, at *Scopes, values []string) {
	t.Helper()
	if err := s.Resolve(numbers(s, values), at); err != nil {
		t.Fatal(err)
	}
}

// numbers returns the value numbers of values, one per dimension. Empty and missing values get None.
func numbers(s *Snapshot, values []string) []uint32 {
	out := make([]uint32, len(s.Dimensions()))
	for i := range out {
		out[i] = None
		if i < len(values) && values[i] != "" {
			out[i] = s.ValueNumber(i, values[i])
		}
	}
	return out
}

// site generates random Contents.
type site struct {
	*rand.Rand
	Content
}

// keys adds n keys of all lengths, some of them internal.
func (r *site) keys(n int) {
	for i := range n {
		name := fmt.Sprintf("%d%s", i, strings.Repeat("k", r.IntN(75)))
		if r.IntN(10) == 0 {
			name = "\x00" + name
		}
		r.Keys = append(r.Keys, Key{Name: name, Default: -1})
	}
	if n > 0 && r.IntN(2) == 0 {
		r.Keys[0].Name = ""
	}
	slices.SortFunc(r.Keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	for i := range r.Keys {
		if r.IntN(3) > 0 && !r.internal(uint32(i)) {
			r.Keys[i].Default = int(r.value())
		}
	}
}

func (r *site) internal(key uint32) bool { return strings.HasPrefix(r.Keys[key].Name, "\x00") }

// bound returns a value for a scope to bind a key to.
func (r *site) bound(key uint32) uint32 {
	if !r.internal(key) {
		return r.value()
	}
	r.Values = append(r.Values, Stored{Computed: true, Bytes: fmt.Sprint("contributions", len(r.Values))})
	return uint32(len(r.Values) - 1)
}

// value adds a value of a random kind, or reuses an existing one.
func (r *site) value() uint32 {
	if len(r.Values) > 0 && r.IntN(4) == 0 {
		if n := r.IntN(len(r.Values)); !strings.HasPrefix(r.Values[n].Bytes, "contributions") {
			return uint32(n)
		}
	}
	n := len(r.Values)
	text := fmt.Sprintf("%d%s", n, strings.Repeat("v", r.IntN(60)))
	r.Values = append(r.Values, stored([]value.Value{
		{}, value.FromBool(true), value.TheDefault(), value.FromInt(int64(n)), value.FromInt(-1 << 40),
		value.FromString(text),
		value.FromString(text), value.FromString(text), value.Strings(text, text),
		value.FromString(strings.Repeat(text, 1+blockFrom/len(text))),
	}[r.IntN(10)])...)
	if r.IntN(10) == 0 {
		r.Values[n] = Stored{Computed: true, Bytes: text}
	}
	return uint32(n)
}

// valueOf returns a random value of a dimension; later dimensions have longer values.
func (r *site) valueOf(dimension, values int) string {
	return fmt.Sprintf("value%d%s", r.IntN(values), strings.Repeat("x", dimension*9))
}

// level adds a level that has at most the given number of scopes, each with at most the given number of entries.
func (r *site) level(scopes, values, entries int, dimensions ...int) {
	l := Level{Layer: r.IntN(len(r.Layers)), Entry: r.IntN(300), Dimensions: dimensions}
	seen := map[string]bool{}
	for range scopes {
		s := Scope{}
		for _, d := range dimensions {
			s.Values = append(s.Values, r.valueOf(d, values))
		}
		if at := strings.Join(s.Values, "\n"); !seen[at] {
			seen[at] = true
			s.Entries = r.entries(entries)
			s.Origins = r.origins(len(s.Entries))
			l.Scopes = append(l.Scopes, s)
		}
	}
	r.Levels = append(r.Levels, l)
}

// scopes adds a level with exactly n scopes and at most one dimension.
func (r *site) scopes(n, entries int, dimensions ...int) {
	l := Level{Layer: r.IntN(len(r.Layers)), Dimensions: dimensions}
	for i := range n {
		s := Scope{Entries: r.entries(entries)}
		s.Origins = r.origins(len(s.Entries))
		for _, d := range dimensions {
			s.Values = append(s.Values, fmt.Sprintf("value%d%s", i, strings.Repeat("x", d*9)))
		}
		l.Scopes = append(l.Scopes, s)
	}
	r.Levels = append(r.Levels, l)
}

func (r *site) entries(most int) (out []Entry) {
	if len(r.Keys) == 0 || most == 0 {
		return nil
	}
	keys := make([]uint32, r.IntN(most+1))
	for i := range keys {
		keys[i] = uint32(r.IntN(len(r.Keys)))
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		out = append(out, Entry{k, r.bound(k)})
	}
	return out
}

// origins returns n origins, mostly in one file, sometimes all on one line.
func (r *site) origins(n int) []Origin {
	out, in, line := make([]Origin, n), r.origin(), r.IntN(3) == 0
	for i := range out {
		at := r.origin()
		if r.IntN(20) > 0 {
			at.Input = in.Input
		}
		if line {
			at.Line = in.Line
		}
		out[i] = at
	}
	return out
}

func (r *site) origin() Origin {
	for len(r.Inputs) < 300 {
		r.Inputs = append(r.Inputs, Input{Path: fmt.Sprintf("data/%03d.yaml", len(r.Inputs)),
			Size: int64(r.IntN(10_000)), Hash: r.Uint64()})
	}
	return Origin{uint32(r.IntN(len(r.Inputs))), 1 + uint32(r.IntN(300)), 1 + uint32(r.IntN(3))}
}

// cold adds the origins of unconditional bindings, and random bindings outside all scopes.
func (r *site) cold() {
	for i := range r.Keys {
		k := &r.Keys[i]
		if k.Default >= 0 {
			above := r.IntN(len(r.Levels) + 1)
			k.Cold = append(k.Cold, Cold{Above: above, Layer: r.IntN(len(r.Layers)), Origin: r.origin(),
				Value: uint32(k.Default)})
		}
		for range r.IntN(3) {
			c := Cold{Layer: r.IntN(len(r.Layers)), Origin: r.origin(), Contribution: r.internal(uint32(i))}
			c.Above = len(r.Levels)
			if n := len(k.Cold); n > 0 {
				c.Above = k.Cold[n-1].Above + r.IntN(len(r.Levels)-k.Cold[n-1].Above+1)
			}
			if !c.Contribution {
				c.Value = r.value()
			}
			for d := range r.Dimensions {
				if r.IntN(3) == 0 {
					c.Terms = append(c.Terms, Term{d, r.valueOf(d, 5)})
				}
			}
			k.Cold = append(k.Cold, c)
		}
	}
}

// bindings compares all bindings of up to 20 keys. Comparing more would be slow, because the blocks are decoded again
// for each key.
func (r *site) bindings(t *testing.T, s *Snapshot) {
	t.Helper()
	book, err := s.AllBindings()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Perm(len(r.Keys))[:min(20, len(r.Keys))] {
		want := r.bindingsOf(uint32(k))
		bs, err := s.Bindings(r.Keys[k].Name)
		if err != nil {
			t.Fatal(err)
		}
		r.checkAllBindings(t, book, r.Keys[k].Name, bs)
		r.checkFilters(t, s, book, r.Keys[k].Name, bs)
		got := make([]string, len(bs))
		for i, b := range bs {
			if b.Ref != noRef {
				b.Stored = storedAt(t, s, b.Ref)
			}
			got[i] = fmt.Sprint(b.Layer, b.Terms, b.Origin, b.Hidden, b.Contribution, b.Stored)
		}
		slices.Sort(got[:len(got)-len(r.Keys[k].Cold)]) // the scopes of a level have no defined order
		slices.Sort(want[:len(want)-len(r.Keys[k].Cold)])
		if !slices.Equal(got, want) {
			t.Fatalf("bindings of %q:\n got %q\nwant %q", r.Keys[k].Name, got, want)
		}
	}
}

// survey compares Survey with the bindings of the site. Survey does not yield contributions, which are parts of the
// values of internal keys.
func (r *site) survey(t *testing.T, s *Snapshot) {
	t.Helper()
	var got, want []string
	say := func(key string, hidden bool, v Stored) string {
		return fmt.Sprintf("%q %t %t %q", key, hidden, v.Computed, v.Bytes)
	}
	err := s.Survey(func(b Bound) error {
		if !b.Hidden {
			b.Stored = storedAt(t, s, b.Ref)
		}
		got = append(got, say(s.KeyName(b.Key), b.Hidden, b.Stored))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Keys {
		if k.Default >= 0 {
			want = append(want, say(k.Name, false, r.Values[k.Default]))
		}
		unconditional := k.Default < 0
		for _, c := range k.Cold {
			switch {
			case c.Contribution:
			case !unconditional && len(c.Terms) == 0:
				unconditional = true // c is the default, which is in want already
			default:
				want = append(want, say(k.Name, true, r.Values[c.Value]))
			}
		}
	}
	for _, l := range r.Levels {
		for _, scope := range l.Scopes {
			for _, e := range scope.Entries {
				want = append(want, say(r.Keys[e.Key].Name, false, r.Values[e.Value]))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("a survey finds\n%q\nwant\n%q", got, want)
	}
}

// checkAllBindings compares AllBindings with the expected bindings of a key and checks that they are in order of
// precedence.
func (r *site) checkAllBindings(t *testing.T, book *AllBindings, key string, want []Binding) {
	t.Helper()
	got, err := book.Bindings(key)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(got, ByPrecedence) {
		t.Fatalf("bindings of %q from AllBindings are not in order: %v", key, got)
	}
	texts := func(bs []Binding) (out []string) {
		for _, b := range bs {
			out = append(out, fmt.Sprintf("%+v", b))
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(texts(got), texts(want)) {
		t.Fatalf("bindings of %q from AllBindings:\n got %q\nwant %q", key, texts(got), texts(want))
	}
}

// checkFilters compares the bindings that random filters select with the same part of all bindings, given in all.
func (r *site) checkFilters(t *testing.T, s *Snapshot, book *AllBindings, key string, all []Binding) {
	t.Helper()
	wanted := make([]uint32, len(r.Dimensions))
	for d := range wanted {
		wanted[d] = s.ValueNumber(d, r.valueOf(d, 5))
	}
	holds := func(b *Binding) bool {
		return !slices.ContainsFunc(b.Terms, func(t Term) bool {
			return s.ValueNumber(t.Dimension, t.Value) != wanted[t.Dimension]
		})
	}
	f := Filter{Possible: func(d int, number uint32) bool { return number == wanted[d] }, Others: r.IntN(3)}
	left, others, input := Left{}, map[[2]int]int{}, map[uint32]int{}
	for i := range all {
		b := &all[i]
		input[b.Origin.Input]++
		if holds(b) {
			continue
		}
		group := [2]int{b.Level(), b.Layer}
		if others[group]++; others[group] <= f.Others {
			continue
		}
		if b.Level() < 0 {
			left.Outside++
		} else {
			left.InScopes++
		}
	}
	uncounted := f
	uncounted.Uncounted = true
	counted, _, err := s.BindingsWhere(key, f)
	same, n, failed := s.BindingsWhere(key, uncounted)
	wantLeft := left
	if f.Others == 0 {
		wantLeft.InScopes = 0
	}
	if err != nil || failed != nil || len(same) != len(counted) || n != wantLeft {
		t.Fatalf("BindingsWhere(%q) finds %d bindings and leaves out %v if uncounted, expected %d: %v", key, len(same), n,
			len(counted), errors.Join(err, failed))
	}
	for name, where := range map[string]func(string, Filter) ([]Binding, Left, error){
		"Snapshot": s.BindingsWhere, "AllBindings": book.BindingsWhere} {
		got, n, err := where(key, f)
		if err != nil || n != left || len(got) != len(all)-left.InScopes-left.Outside {
			t.Fatalf("%s.BindingsWhere(%q) has %d of %d bindings and leaves out %v, expected %v: %v", name, key, len(got),
				len(all), n, left, err)
		}
		isIn := func(list []Binding, b *Binding) bool {
			return slices.ContainsFunc(list, func(x Binding) bool { return reflect.DeepEqual(x, *b) })
		}
		for i := range got {
			if !isIn(all, &got[i]) {
				t.Fatalf("%s.BindingsWhere(%q) has another binding: %+v", name, key, got[i])
			}
		}
		for i := range all {
			if holds(&all[i]) && !isIn(got, &all[i]) {
				t.Fatalf("%s.BindingsWhere(%q) lacks %+v", name, key, all[i])
			}
		}
	}
	for number, n := range input {
		if got, err := book.BindingsIn(key, number); err != nil || len(got) != n {
			t.Fatalf("BindingsIn(%q, %d) has %d bindings, expected %d: %v", key, number, len(got), n, err)
		}
	}
}

func (r *site) bindingsOf(key uint32) (out []string) {
	for _, l := range r.Levels {
		for _, s := range l.Scopes {
			for i, e := range s.Entries {
				if e.Key != key {
					continue
				}
				var terms []Term
				for j, d := range l.Dimensions {
					terms = append(terms, Term{d, s.Values[j]})
				}
				out = append(out, fmt.Sprint(l.Layer, terms, s.Origins[i], false, false, r.Values[e.Value]))
			}
		}
	}
	k := r.Keys[key]
	for i, c := range k.Cold {
		v := Stored{}
		if !c.Contribution {
			v = r.Values[c.Value]
		}
		hidden := !c.Contribution && (i > 0 || k.Default < 0)
		out = append(out, fmt.Sprint(c.Layer, c.Terms, c.Origin, hidden, c.Contribution, v))
	}
	return out
}

// requests compares n random requests, for up to 200 keys each.
func (r *site) requests(t *testing.T, s *Snapshot, n, values int) {
	t.Helper()
	var at Scopes // reused, to check that Resolve clears the previous request
	for range n {
		of := make([]string, len(r.Dimensions))
		for d := range of {
			if r.IntN(5) > 0 {
				of[d] = r.valueOf(d, values+1)
			}
		}
		o := newOracle(&r.Content, of)
		keys := make([]uint32, min(200, len(r.Keys)))
		for i, k := range r.Perm(len(r.Keys))[:len(keys)] {
			keys[i] = uint32(k)
		}
		agree(t, s, &at, o, keys)
	}
}

func newSite(seed uint64, dimensions, keys int) *site {
	r := &site{Rand: rand.New(rand.NewPCG(seed, 0)), Content: Content{Layers: []string{"upper", "lower"}}}
	for range dimensions {
		r.Dimensions = append(r.Dimensions, Dimension{Category: -1})
	}
	r.keys(keys)
	return r
}

func sound(t *testing.T, s *Snapshot) {
	t.Helper()
	if err := s.Verify(anyRecipe); err != nil {
		t.Fatal(err)
	}
}

func TestRandomSitesAgreeWithOracle(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	sites := 400
	if !testmode.Thorough() {
		sites = 6
	}
	for seed := range uint64(sites) {
		t.Run(fmt.Sprint("site ", seed), func(t *testing.T) {
			t.Parallel()
			randomSiteAgreesWithOracle(t, seed)
		})
	}
}

func randomSiteAgreesWithOracle(t *testing.T, seed uint64) {
	r := newSite(seed, 4, int(seed%7)*int(seed%7)*10)
	values := 1 + r.IntN(30)
	levels := r.IntN(12)
	if seed%10 == 0 {
		levels = 55 + r.IntN(90)
	}
	for range levels {
		dimensions := r.Perm(4)[:min(r.IntN(5), 3)]
		slices.Sort(dimensions)
		r.level(r.IntN(40), values, r.IntN(30), dimensions...)
	}
	r.cold()
	s, err := OpenBytes(fileOf(t, &r.Content))
	if err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	r.requests(t, s, 12, values)
	r.bindings(t, s)
	r.survey(t, s)
	again := rewritten(t, s)
	sound(t, again)
	r.requests(t, again, 12, values)
	r.bindings(t, again)
	if rewritten(t, again).data != again.data {
		t.Error("writing its content gave different bytes")
	}
}

// rewritten reads the content of s, removes duplicate values, and returns the snapshot written from it.
func rewritten(t *testing.T, s *Snapshot) *Snapshot {
	t.Helper()
	content, err := s.Content()
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenBytes(fileOf(t, content))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestSitesOfEveryShapeAgreeWithOracle(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	const values = 40
	requests := 60
	if !testmode.Thorough() {
		requests = 3
	}
	for i, c := range []struct {
		name           string
		keys           int
		levels         func(r *site)
		columns, words int
		narrow         int // number of narrow levels
		direct         int // number of levels with a direct directory
	}{
		{"no levels", 50, func(r *site) {}, 0, 1, 0, 0},
		{"a level without scopes", 50, func(r *site) { r.level(0, values, 5, 0) }, 0, 1, 1, 1},
		{"the unconditional level of a layer", 50, func(r *site) { r.level(1, values, 25) }, 1, 1, 1, 1},
		{"exactly 64 columns", 100, func(r *site) {
			for range 4 {
				r.scopes(16, 20, 0)
			}
		}, 64, 1, 4, 4},
		{"narrow and wide levels", 100, func(r *site) {
			r.scopes(3, 20, 0)
			r.scopes(values, 30, 1)
			r.scopes(5, 20, 2)
			r.scopes(values, 30, 3)
			r.scopes(1, 20)
		}, 1 + 3 + 40 + 5 + 1, 1, 4, 5},
		{"only wide levels", 100, func(r *site) { r.scopes(65, 20, 0) }, 1, 1, 0, 1},
		{"many levels", 50, func(r *site) {
			for i := range 64 {
				r.scopes(2, 20, i%4)
			}
		}, 64, 1, 0, 64},
		{"more levels than columns", 50, func(r *site) {
			for i := range 65 {
				r.scopes(1, 20, i%4)
			}
		}, 65, 2, 0, 65},
		{"only the level with the most scopes is wide", 100, func(r *site) {
			r.scopes(60, 20, 0)
			r.scopes(10, 20, 1)
			r.scopes(11, 20, 2)
		}, 1 + 10 + 11, 1, 2, 3},
		{"two dimensions", 100, func(r *site) {
			r.level(60, 8, 20, 0, 2)
			r.scopes(4, 20, 1)
			r.level(500, values, 20, 1, 3)
		}, 0, 1, 2, 0},
		{"a directory with holes", 100, func(r *site) {
			r.scopes(values, 20, 0)
			r.scopes(10, 20, 0)
			r.scopes(9, 20, 0)
		}, 40 + 10 + 9, 1, 3, 2},
		{"a request with many keys", 6000, func(r *site) {
			r.scopes(66, 3000, 0)
			r.scopes(66, 3000, 1)
		}, 2, 1, 0, 2},
		{"key numbers of 32 bits", maxShortKeys + 5000, func(r *site) {
			r.scopes(66, 500, 0)
			r.scopes(3, 500, 1)
		}, 4, 1, 1, 2},
		{"the most keys with numbers of 16 bits", maxShortKeys, func(r *site) { r.scopes(66, 500, 0) }, 1, 1, 0, 1},
	} {
		if !testmode.Chosen(t, i, 4) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r := newSite(1, 4, c.keys)
			c.levels(r)
			s := open(t, &r.Content)
			sound(t, s)
			narrow, direct := 0, 0
			for _, l := range s.levels {
				if l.narrow {
					narrow++
				}
				if l.direct {
					direct++
				}
			}
			if c.columns > 0 && s.columns != c.columns || s.words != c.words || narrow != c.narrow ||
				direct != c.direct {
				t.Errorf("%d columns in %d words, %d levels narrow and %d direct; want %d, %d, %d, %d",
					s.columns, s.words, narrow, direct, c.columns, c.words, c.narrow, c.direct)
			}
			r.requests(t, s, requests, values)
		})
	}
}

// The fast and the slow path of Find both find keys of every length. They do not find strings that differ from a key in
// one place.
func TestFindFindsKeysOfAnyLength(t *testing.T) {
	lengths := []int{255, 256, 300, 4095, 70_000}
	for n := range 81 {
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	c := &Content{Layers: []string{"l"}}
	for _, n := range lengths {
		c.Keys = append(c.Keys, Key{Name: strings.Repeat("k", n), Default: len(c.Values)})
		c.Values = append(c.Values, stored(value.FromInt(int64(n)))...)
	}
	s := open(t, c)
	sound(t, s)
	at := scopes(s)
	for i, n := range lengths {
		name := c.Keys[i].Name
		if v, ok := find(t, s, name, at); !ok || v.Int() != int64(n) {
			t.Errorf("the key of %d bytes: found %d, %t", n, v.Int(), ok)
		}
		if number, ok := s.keyNumber(name); !ok || s.mustName(t, number) != name {
			t.Errorf("the key of %d bytes has number %d, %t", n, number, ok)
		}
		for at := range min(n, 100) {
			absent(t, s, name[:at]+"l"+name[at+1:])
		}
		absent(t, s, name+"l")
		absent(t, s, "\x00"+name)
		absent(t, s, name+"\x00")
	}
	for n := range 400 {
		if name := strings.Repeat("k", n); !slices.Contains(lengths, n) {
			absent(t, s, name)
		}
	}
}

func (s *Snapshot) mustName(t *testing.T, n uint32) string {
	t.Helper()
	name, ok := s.keyName(n)
	if !ok {
		t.Fatalf("key %d has no name", n)
	}
	return name
}

func absent(t *testing.T, s *Snapshot, key string) {
	t.Helper()
	_, known := s.keyNumber(key)
	if ref, ok, err := s.Find(key, &Scopes{}); ok || err != nil || known || ref != 0 {
		t.Errorf("%.100q is found, %v", key, err)
	}
}

// A string can have the hash slot and the fingerprint of a key. The comparison with the key's record then rejects it,
// wherever the two strings differ.
func TestTextWithFingerprintAndSlotOfKeyIsNotFound(t *testing.T) {
	c := &Content{Layers: []string{"l"}, Keys: []Key{{Name: strings.Repeat("k", 30), Default: 0}},
		Values: stored(value.FromInt(1))}
	s := open(t, c)
	same := 0
	for i := range 5000 {
		name := fmt.Sprintf("%030d", i)
		if uint8(hashText(name, s.seed)) == s.prints[0] {
			same++
		}
		absent(t, s, name)
	}
	if same == 0 {
		t.Error("no text had the print of the key")
	}
}
