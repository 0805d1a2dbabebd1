package decision

import (
	"fmt"
	"math/rand/v2"
	"testing"

	bindings "bindc/runtime"
)

var dimensionNames = []string{"a", "b", "c"}

// randomTable has up to six rows, whose conditions name up to three dimensions of two values each. One without terms is
// not the last necessarily: what is below it is hidden.
func randomTable(r *rand.Rand) []Row {
	rows := make([]Row, r.IntN(7))
	for i := range rows {
		rows[i].id = fmt.Sprint(r.IntN(3))
		for _, name := range dimensionNames {
			if r.IntN(2) == 0 {
				rows[i].When = append(rows[i].When, bindings.Term{Name: name, Value: fmt.Sprint(r.IntN(2))})
			}
		}
	}
	return rows
}

func holds(when []bindings.Term, request map[string]string) bool {
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

// everyRequest has each dimension without a value that any condition names, and with each that one may.
func everyRequest(yield func(map[string]string)) {
	request := map[string]string{}
	var choose func(left []string)
	choose = func(left []string) {
		if len(left) == 0 {
			yield(request)
			return
		}
		for _, v := range []string{"other", "0", "1"} {
			request[left[0]] = v
			choose(left[1:])
		}
	}
	choose(dimensionNames)
}

// changeFor is the first change that a request meets.
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

// What is said to change for a request is what changes for it, for each request that there is; and each change that is
// listed is one for some request.
func TestChangesAreThoseOfEveryRequest(t *testing.T) {
	equal := func(a, b *Row) bool { return a == nil && b == nil || a != nil && b != nil && a.id == b.id }
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		old, now := randomTable(r), randomTable(r)
		changes := compare(old, now, equal)
		met := map[*Change]bool{}
		everyRequest(func(request map[string]string) {
			a, b := winner(old, request), winner(now, request)
			c := changeFor(changes, request)
			switch {
			case c == nil && !equal(a, b):
				t.Fatalf("seed %d: for %v %v becomes %v, which is not listed", seed, request, a, b)
			case c != nil && (c.Old != a || c.New != b || equal(a, b)):
				t.Fatalf("seed %d: for %v the list has %+v, but %v becomes %v", seed, request, *c, a, b)
			}
			met[c] = true
		})
		for i := range changes {
			if !met[&changes[i]] {
				t.Fatalf("seed %d: no request meets %+v", seed, changes[i])
			}
		}
	}
}

// One node's row that is added among 20 000 others, all of which the default changes for but these, takes no time that
// grows with the square.
func TestTablesOfAFleet(t *testing.T) {
	var old []Row
	for i := range 20000 {
		old = append(old, Row{When: []bindings.Term{{Name: "node", Value: fmt.Sprint(i)}}, id: "same"})
	}
	now := append(append([]Row{}, old...), Row{When: []bindings.Term{{Name: "node", Value: "new"}}, id: "mine"},
		Row{id: "now"})
	old = append(old, Row{id: "then"})
	changes := compare(old, now, func(a, b *Row) bool { return a.id == b.id })
	if len(changes) != 2 || changes[0].New.id != "mine" || changes[0].Old.id != "then" || len(changes[0].Except) != 0 ||
		changes[1].New.id != "now" || len(changes[1].Except) != 20000 {
		t.Errorf("expected the new node and the default, found %d changes", len(changes))
	}
}
