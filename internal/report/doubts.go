package report

import "bindc/internal/lookup"

// Doubts describes names and values of a request that are probably mistakes.
func Doubts(r *lookup.Request) (out []string) {
	for name, near := range r.Misnamed() {
		out = append(out, name+" is not set, but "+near+" is")
	}
	return append(out, WrongValues(r)...)
}

// WrongValues describes values of a request that no condition uses and that are probably mistakes.
func WrongValues(r *lookup.Request) (out []string) {
	for t, near := range r.Misspelt() {
		text := t.Name + " is '" + t.Value + "', which "
		if near == "" {
			out = append(out, text+"contains a list or a hash, but conditions compare text")
			continue
		}
		out = append(out, text+"no condition uses; did you mean '"+near+"'?")
	}
	return out
}
