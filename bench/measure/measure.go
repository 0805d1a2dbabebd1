// Package measure compares the times of several operations. It measures them alternately in short
// rounds, so that other load on the machine affects all of them alike, and uses the median of the
// rounds.
package measure

import (
	"slices"
	"time"
)

type Case struct {
	Name string
	Run  func(n int) // performs n operations
}

// Result describes the time of a case, in nanoseconds per operation.
type Result struct {
	Name   string
	Median float64
	Low    float64 // first quartile of the rounds
	High   float64 // third quartile of the rounds
}

type Plan struct {
	Rounds int           // number of measurements of each case
	Turn   time.Duration // approximate length of a measurement
}

// Run measures the cases alternately and returns one result per case, in the same order.
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

// operations returns the number of operations that take about as long as turn. It also warms up the
// case.
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
