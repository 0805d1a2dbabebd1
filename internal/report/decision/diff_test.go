package decision

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/relation"
	"bindc/internal/syntax"
	"bindc/internal/testmode"
)

// dimensionTexts has lists of dimensions. Each dimension has a name and a string with facts. A name with $ is a guard
// of the first dimension.
type dimensionTexts []struct{ name, template string }

var sites = []dimensionTexts{
	{{"a", "${x}"}, {"b", "${y}"}, {"c", "${z}"}},
	{{"a", "${x}"}, {"b", "${x}"}, {"c", "${y}"}},                        // two categories over one fact
	{{"a", "${x}"}, {"b", "${x}-${y}"}, {"c", "${y}"}},                   // one category over two facts
	{{"a", "${x}-${y}"}, {"$y", "${y}"}, {"c", "p-${x}"}},                // a guard, and text before a fact
	{{"a", "${x}${y}"}, {"b", "${y}${x}"}, {"c", "${z}"}},                // the same text can come from several facts
	{{"a", "${upcase($x)}"}, {"b", "${upcase($x)}-${y}"}, {"c", "${y}"}}, // a computed value counts as an unknown
}

// facts holds the values that each fact may have: all parts that values of conditions consist of, and another one.
var facts = []string{"", "p", "q", "pp", "pq", "qp", "qq", "other"}

func (s dimensionTexts) dimensions(t *testing.T) *dimensions {
	t.Helper()
	out := &dimensions{}
	var dims []relation.Dimension
	for i, d := range s {
		n, errs := syntax.ParseString(d.template)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		dim := relation.Dimension{Category: i, Value: n}
		if d.name[0] == '$' {
			dim.Guard, dim.Category = true, 0
		}
		dims, out.names = append(dims, dim), append(out.names, d.name)
	}
	out.Relations = relation.New(dims, func(int) {})
	return out
}

// valueOf returns the value of a dimension for a request, or "" if it has none.
func (s dimensionTexts) valueOf(name string, request map[string]string) string {
	value := ""
	for _, d := range s {
		if d.name != name {
			continue
		}
		value = d.template
		for fact, text := range request {
			value = strings.NewReplacer("${"+fact+"}", text, "${upcase($"+fact+")}", text).Replace(value)
		}
	}
	if name[0] == '$' && s.valueOf(s[0].name, request) == "" {
		return ""
	}
	return value
}

// randomTable returns a table of up to six rows. Their conditions use up to three dimensions, each with a few values. A
// row without terms may be anywhere, and hides the rows below it. Some conditions never hold.
func (s dimensionTexts) randomTable(r *rand.Rand, dims *dimensions) []Row {
	rows := make([]Row, r.IntN(7))
	for i := range rows {
		rows[i].contentID = fmt.Sprint(r.IntN(3))
		for n, d := range s {
			of := func() string { return []string{"p", "q"}[r.IntN(2)] }
			value := s.valueOf(d.name, map[string]string{"x": of(), "y": of(), "z": of()})
			if r.IntN(2) == 0 {
				rows[i].terms = append(rows[i].terms, relation.Term{Dimension: n, Value: value})
			}
		}
		rows[i].When = dims.terms(rows[i].terms)
	}
	return rows
}

// requests returns the values of the dimensions for every possible request.
func (s dimensionTexts) requests() []map[string]string {
	var out []map[string]string
	for _, x := range facts {
		for _, y := range facts {
			for _, z := range []string{"p", "q", "other"} {
				request := map[string]string{}
				for _, d := range s {
					request[d.name] = s.valueOf(d.name, map[string]string{"x": x, "y": y, "z": z})
				}
				out = append(out, request)
			}
		}
	}
	return out
}

func holds(when []lookup.Term, request map[string]string) bool {
	for _, t := range when {
		if request[t.Name] != t.Value {
			return false
		}
	}
	return true
}

func winner(rows []Row, request map[string]string) *Row {
	for i := range rows {
		if holds(rows[i].When, request) {
			return &rows[i]
		}
	}
	return nil
}

// changeFor returns the first change that a request meets.
func changeFor(changes []Change, request map[string]string) *Change {
	for i := range changes {
		excepted := false
		for _, e := range changes[i].Except {
			excepted = excepted || holds(e, request)
		}
		if holds(changes[i].When, request) && !excepted {
			return &changes[i]
		}
	}
	return nil
}

// uselessException returns an exception of c that applies to no request, or that other exceptions cover.
func uselessException(c Change, requests []map[string]string) []lookup.Term {
	useful := make([]bool, len(c.Except))
	for _, request := range requests {
		if !holds(c.When, request) {
			continue
		}
		var met []int
		for i, e := range c.Except {
			if holds(e, request) {
				met = append(met, i)
			}
		}
		if len(met) == 1 {
			useful[met[0]] = true
		}
	}
	if i := slices.Index(useful, false); i >= 0 {
		return c.Except[i]
	}
	return nil
}

// For every possible request, the first change that it meets describes how its answer changes. Each listed change
// applies to some request.
func TestChangesMatchAllRequests(t *testing.T) {
	testmode.SkipUnderRace(t)
	equal := func(a, b *Row) bool {
		return a == nil && b == nil || a != nil && b != nil && a.contentID == b.contentID
	}
	for n, s := range sites {
		dims, requests := s.dimensions(t), s.requests()
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 1))
			old, now := s.randomTable(r, dims), s.randomTable(r, dims)
			changes := dims.compare(old, now, equal)
			met := map[*Change]bool{}
			for _, request := range requests {
				a, b := winner(old, request), winner(now, request)
				c := changeFor(changes, request)
				switch {
				case c == nil && !equal(a, b):
					t.Fatalf("site %d, seed %d: for %v %v becomes %v, which is not listed", n, seed, request, a, b)
				case c != nil && (c.Old != a || c.New != b || equal(a, b)):
					t.Fatalf("site %d, seed %d: for %v the list has %+v, but %v becomes %v", n, seed, request, *c, a, b)
				}
				met[c] = true
			}
			for i := range changes {
				if !met[&changes[i]] {
					t.Fatalf("site %d, seed %d: no request meets %+v", n, seed, changes[i])
				}
				if e := uselessException(changes[i], requests); e != nil {
					t.Fatalf("site %d, seed %d: %v excepts nobody else from %+v", n, seed, e, changes[i])
				}
			}
		}
	}
}

// A row for one node is added to 20 000 rows, and the default value changes. The time must not be quadratic, not even
// with another category over the same fact.
func TestDiffOfLargeFleetIsNotQuadratic(t *testing.T) {
	testmode.SkipUnderRace(t)
	dims := sites[1].dimensions(t)
	row := func(value, id string) Row {
		return Row{terms: relation.Condition{{Dimension: 0, Value: value}}, contentID: id}
	}
	var old []Row
	for i := range 20000 {
		old = append(old, row(fmt.Sprint(i), "same"))
	}
	now := append(append([]Row{}, old...), row("new", "mine"), Row{contentID: "now"})
	old = append(old, Row{contentID: "then"})
	changes := dims.compare(old, now, func(a, b *Row) bool { return a.contentID == b.contentID })
	if len(changes) != 2 || changes[0].New.contentID != "mine" || changes[0].Old.contentID != "then" ||
		len(changes[0].Except) != 0 || changes[1].New.contentID != "now" || len(changes[1].Except) != 20000 {
		t.Errorf("expected the new node and the default, found %d changes", len(changes))
	}
}
