package report

import "bindc/internal/lookup"

// Doubts describes names and values of a request that are probably misspelt. With them, the result may not be what it
// is meant to be.
func Doubts(r *lookup.Request) (out []string) {
	for name, near := range r.Misnamed() {
		out = append(out, name+" is not set, but "+near+" is")
	}
	for t, near := range r.Misspelt() {
		if near != "" {
			out = append(out, t.Name+" is '"+t.Value+"', which no condition uses; did you mean '"+near+"'?")
		}
	}
	return out
}
