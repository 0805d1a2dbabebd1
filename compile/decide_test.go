package compile

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/testmode"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// The random sites are small enough for trying each pair of bindings and each request. Compile must report exactly the
// existing conflicts, and lookups must follow the definition of precedence.
func TestCompositionAgreesWithItsDefinition(t *testing.T) {
	testmode.SkipUnderRace(t)
	refused := 0
	for seed := range uint64(3000) {
		w := newWorld(rand.New(rand.NewPCG(seed, 1)))
		var diags diag.List
		content := Compile(w.site, Options{}, &diags)
		want, got := w.conflicts(), map[diag.Pos]bool{}
		for _, d := range diags.Sorted() {
			got[d.Pos] = true
			if !slices.Contains(want[d.Pos], d.Notes[0].Pos) { // Compile reports one of the pairs
				t.Fatalf("seed %d: conflict of %s with %s, want one of %v", seed, d.Pos, d.Notes[0].Pos, want)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: conflicts at %v, want %v", seed, got, want)
		}
		if len(want) > 0 {
			refused++
			continue
		}
		w.eachRequest(func(request []string) {
			for _, key := range keys {
				if got, want := answer(content, request, key), w.answer(request, key); got != want {
					t.Fatalf("seed %d: %s for %q is %s, want %s", seed, key, request, got, want)
				}
			}
		})
	}
	t.Logf("%d sites have conflicts", refused)
}

var keys = []string{"a", "b", "c"}

// world is a site of data files and the list of its bindings.
type world struct {
	site *loader.Site
	all  []placed
}

type placed struct {
	layer     int
	condition loader.Condition
	key       string
	pos       diag.Pos
	value     string
}

// dimensions has two categories, a guard in the first category, and a guard in the category common.
var dimensions = []loader.Dimension{{Name: "node", Category: 0, Value: fact("node")},
	{Name: "os", Category: 1, Value: fact("os")}, {Name: "dc", Category: 0, Guard: true, Value: fact("dc")},
	{Name: "role", Category: -1, Guard: true, Value: fact("role")}}

func fact(name string) *expr.Node { return &expr.Node{Op: expr.Var, Name: name} }

func newWorld(r *rand.Rand) *world {
	w := &world{site: &loader.Site{Dimensions: dimensions, Conditions: []loader.Condition{nil}, Keys: keys}}
	for range 6 {
		var c loader.Condition
		for d := range dimensions {
			if r.IntN(5) < 2 {
				c = append(c, loader.Term{Dimension: d, Value: string("xy"[r.IntN(2)])})
			}
		}
		if !slices.ContainsFunc(w.site.Conditions, func(o loader.Condition) bool { return slices.Equal(o, c) }) {
			w.site.Conditions = append(w.site.Conditions, c)
		}
	}
	for layer := range 2 {
		var c loader.Contribution
		for range r.IntN(4) {
			c.Files = append(c.Files, w.file(r, layer))
		}
		w.site.Layers = append(w.site.Layers, loader.Layer{Contributions: []loader.Contribution{c}})
	}
	return w
}

func (w *world) file(r *rand.Rand, layer int) loader.DataFile {
	f := loader.DataFile{Path: fmt.Sprint("file", len(w.all)), Condition: r.IntN(len(w.site.Conditions))}
	for i, key := range keys {
		if r.IntN(2) == 0 {
			continue
		}
		n := len(w.all)
		w.site.Values = append(w.site.Values, string(recipe.AppendConstant(nil, value.FromInt(int64(n)))))
		f.Entries = append(f.Entries, datafile.Entry{Key: uint32(i), Value: uint32(n), Line: uint32(n + 1), Col: 1})
		w.all = append(w.all, placed{layer, w.site.Conditions[f.Condition], key, f.Pos(len(f.Entries) - 1),
			fmt.Sprint(n)})
	}
	return f
}

// categories returns the categories in the condition, including those of guards.
func (p *placed) categories() []int {
	var out []int
	for _, t := range p.condition {
		if c := dimensions[t.Dimension].Category; c >= 0 {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// compare returns a negative number if p has the higher precedence.
func (p *placed) compare(q *placed) int {
	if p.layer != q.layer {
		return p.layer - q.layer
	}
	a, b := p.categories(), q.categories()
	common := min(len(a), len(b))
	return cmp.Or(slices.Compare(a[:common], b[:common]), len(b)-len(a))
}

func holds(c loader.Condition, request []string) bool {
	return !slices.ContainsFunc(c, func(t loader.Term) bool { return request[t.Dimension] != t.Value })
}

// conflicts returns the pairs of bindings that conflict, by the position of the first. They have equal precedence, and
// some request finds both and nothing above them.
func (w *world) conflicts() map[diag.Pos][]diag.Pos {
	out := map[diag.Pos][]diag.Pos{}
	for i := range w.all {
		for j := i + 1; j < len(w.all); j++ {
			p, q := &w.all[i], &w.all[j]
			if p.key == q.key && p.compare(q) == 0 && compatible(p.condition, q.condition) &&
				!w.hidden(p, relation.Union(p.condition, q.condition)) {
				first, second := p.pos, q.pos
				if second.Compare(first) < 0 {
					first, second = second, first
				}
				out[first] = append(out[first], second)
			}
		}
	}
	return out
}

func compatible(a, b loader.Condition) bool {
	for _, t := range a {
		if slices.ContainsFunc(b, func(u loader.Term) bool {
			return u.Dimension == t.Dimension &&
				u.Value != t.Value
		}) {
			return false
		}
	}
	return true
}

func (w *world) hidden(p *placed, both loader.Condition) bool {
	return slices.ContainsFunc(w.all, func(o placed) bool {
		return o.key == p.key && o.compare(p) < 0 && sameTerms(both, o.condition)
	})
}

// eachRequest calls do with every request, in which each dimension has the value x, the value y or no value.
func (w *world) eachRequest(do func(request []string)) {
	values := []string{"", "x", "y"}
	for n := range 3 * 3 * 3 * 3 {
		do([]string{values[n%3], values[n/3%3], values[n/9%3], values[n/27%3]})
	}
}

func (w *world) answer(request []string, key string) string {
	best := -1
	for i := range w.all {
		if p := &w.all[i]; p.key == key && holds(p.condition, request) && (best < 0 || p.compare(&w.all[best]) < 0) {
			best = i
		}
	}
	if best < 0 {
		return "nothing"
	}
	return w.all[best].value
}

// answer looks up key in c in the way lookups read a snapshot.
func answer(c *snapshot.Content, request []string, key string) string {
	k := slices.IndexFunc(c.Keys, func(k snapshot.Key) bool { return k.Name == key })
	if k < 0 {
		return "nothing"
	}
	number := c.Keys[k].Default
	for _, l := range slices.Backward(c.Levels) {
		for _, s := range l.Scopes {
			for i, d := range l.Dimensions {
				if request[d] != s.Values[i] {
					s.Entries = nil
				}
			}
			for _, e := range s.Entries {
				if int(e.Key) == k {
					number = int(e.Value)
				}
			}
		}
	}
	if number < 0 {
		return "nothing"
	}
	v, _, err := value.View(c.Values[number].Bytes)
	if err != nil {
		return err.Error()
	}
	return string(value.AppendText(nil, v))
}

// sameTerms reports whether a contains all terms of b.
func sameTerms(a, b loader.Condition) bool {
	return !slices.ContainsFunc(b, func(t loader.Term) bool { return !slices.Contains(a, t) })
}
