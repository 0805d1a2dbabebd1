package diag

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// A List keeps at most MaxShown diagnostics of a kind. Which ones it keeps does not depend on the order in which
// they are added, or on whether lists are merged.
func TestKeepsFirstOfManyDiagnostics(t *testing.T) {
	const many = 20 * MaxShown
	var all []Diagnostic
	for i := range many {
		at := Pos{fmt.Sprint("f", i%7), i + 1, 1}
		d := Diagnostic{Pos: at, Severity: Warning, Code: "twice", Message: "a key is given twice"}
		all = append(all, d)
		if i%3 == 0 {
			all = append(all, d) // reported twice
		}
	}
	all = append(all, Diagnostic{Pos: Pos{"f0", 5, 1}, Code: "alone", Message: "an error of which there is one"})
	var want []Diagnostic
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var l List
		for part := range slices.Chunk(all, 1+int(seed)*3000) {
			var own List
			for _, d := range part {
				own.Add(d)
			}
			l.AddAll(&own)
		}
		if !l.Failed() || !l.Incomplete() {
			t.Error("the error is forgotten")
		}
		kept := 0
		for _, s := range l.kept {
			kept += len(s.list)
		}
		if kept != MaxShown+1 {
			t.Errorf("%d are kept in memory, expected %d", kept, MaxShown+1)
		}
		got := l.Sorted()
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Error("another order of findings gives another report")
		}
	}
	if len(want) != MaxShown+2 {
		t.Fatalf("%d are shown, expected %d, the error, and how many there are more", len(want), MaxShown)
	}
	if !slices.IsSortedFunc(want, func(a, b Diagnostic) int { return a.Pos.Compare(b.Pos) }) {
		t.Error("what is shown is not sorted by place")
	}
	at := slices.IndexFunc(want, func(d Diagnostic) bool { return d.more > 0 })
	left := 0
	if _, err := fmt.Sscanf(want[at].Message, "%d more of this kind are not shown", &left); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, d := range all {
		same := func(s Diagnostic) bool { return s.Pos == d.Pos && s.Code == d.Code }
		if d.Code == "twice" && slices.ContainsFunc(want[:at], same) {
			shown++
		}
	}
	if left != len(all)-1-shown {
		t.Errorf("%d more are counted, expected %d", left, len(all)-1-shown)
	}
}

func TestHidesLinesInSensitiveRanges(t *testing.T) {
	var l List
	for _, lines := range [][2]int{{10, 12}, {3, 4}, {11, 20}, {30, 30}, {1, 3}} {
		l.Hide("f", lines[0], lines[1])
	}
	for line := range 40 {
		l.Add(Diagnostic{Pos: Pos{"f", line, 1}, Code: "c", Message: "m"})
	}
	for _, d := range l.Sorted() {
		n := d.Pos.Line
		if want := 1 <= n && n <= 4 || 10 <= n && n <= 20 || n == 30; d.Secret != want {
			t.Errorf("line %d: hidden is %v, expected %v", n, d.Secret, want)
		}
	}
}

// A List stops making hints after maxCompared comparisons.
func TestHintsStopAfterTooManyComparisons(t *testing.T) {
	var l List
	known := make([]string, 1000)
	for i := range known {
		known[i] = fmt.Sprint("module", i)
	}
	hints := 0
	for range 10_000 {
		if l.Correct("modul77", known) != (Fix{}) {
			hints++
		}
	}
	if hints == 0 || hints > maxCompared/len(known)+1 {
		t.Errorf("%d hints, which compare %d names", hints, hints*len(known))
	}
}
