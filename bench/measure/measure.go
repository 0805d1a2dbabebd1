// Package measure times cases side by side. Cases take turns in short rounds,
// so that whatever else the machine does strikes all of them alike, and what
// is reported is the median of the rounds.
package measure

import (
	"slices"
	"time"
)

// Case is something to be timed.
type Case struct {
	Name string
	Run  func(n int) // performs n operations
}

// Result is what a case took, in nanoseconds per operation.
type Result struct {
	Name   string
	Median float64
	Low    float64 // the first quartile of the rounds
	High   float64 // the third
}

// Plan says how long to measure.
type Plan struct {
	Rounds int           // turns of each case
	Turn   time.Duration // what one turn takes, roughly
}

// Run measures the cases, turn by turn, and returns a result for each.
func Run(plan Plan, cases []Case) []Result {
	sizes := make([]int, len(cases))
	for i, c := range cases {
		sizes[i] = operations(c, plan.Turn)
	}
	rounds := make([][]float64, len(cases))
	for range plan.Rounds {
		for i, c := range cases {
			rounds[i] = append(rounds[i], perOperation(c, sizes[i]))
		}
	}
	results := make([]Result, len(cases))
	for i, c := range cases {
		results[i] = summary(c.Name, rounds[i])
	}
	return results
}

// operations is how many fit in a turn. Finding it warms the case up.
func operations(c Case, turn time.Duration) int {
	for n := 1; ; n *= 2 {
		if took := perOperation(c, n) * float64(n); took >= float64(turn)/4 {
			return max(1, int(float64(n)*float64(turn)/took))
		}
	}
}

func perOperation(c Case, n int) float64 {
	start := time.Now()
	c.Run(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

func summary(name string, rounds []float64) Result {
	slices.Sort(rounds)
	at := func(share float64) float64 { return rounds[int(share*float64(len(rounds)-1)+0.5)] }
	return Result{Name: name, Median: at(0.5), Low: at(0.25), High: at(0.75)}
}
