package measure

import (
	"testing"
	"time"
)

func TestCasesTakeTurns(t *testing.T) {
	var turns []string
	wait := func(name string, each time.Duration) Case {
		return Case{name, func(n int) {
			turns = append(turns, name)
			time.Sleep(time.Duration(n) * each)
		}}
	}
	plan := Plan{Rounds: 5, Turn: 20 * time.Millisecond}
	results := Run(plan, []Case{wait("slow", 800*time.Microsecond), wait("fast", 100*time.Microsecond)})

	measured := turns[len(turns)-2*plan.Rounds:]
	for i, name := range measured {
		if want := []string{"slow", "fast"}[i%2]; name != want {
			t.Fatalf("turns were %v", measured)
		}
	}
	if slow, fast := results[0].Median, results[1].Median; slow <= fast { // the ratio depends on the machine
		t.Errorf("slow takes %.0f ns, fast %.0f", slow, fast)
	}
}

func TestResultHasMedianAndQuartiles(t *testing.T) {
	got := summary("x", []float64{5, 1, 4, 2, 3})
	if want := (Result{"x", 3, 2, 4}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
