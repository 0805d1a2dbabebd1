package expr

import (
	"regexp"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// CompileRegexp compiles a regular expression of the Puppet language, which has Ruby's syntax. If Go's engine lacks a
// feature that src uses, the error names the feature.
func CompileRegexp(src string) (*regexp.Regexp, error) {
	re, err := onigmo.Compile(src)
	if err != nil {
		return nil, err
	}
	return re.Regexp, nil
}

// stepsPerMatch is the number of steps of Go's engine that count as one step of an evaluation.
const stepsPerMatch = 64

// Regexp compiles src for matching text, and counts the steps of the match.
func (ev *Evaluator) Regexp(src, text string) (*onigmo.Regexp, error) {
	re, err := onigmo.Compile(src)
	if err != nil {
		return nil, err
	}
	if err := re.CanMatch(text); err != nil {
		return nil, err
	}
	if len(text) > 0 && re.Cost > DefaultSteps*stepsPerMatch/len(text) {
		return nil, errSteps
	}
	return re, ev.Spend(len(text) * re.Cost / stepsPerMatch)
}

// matchText matches s against src and sets the match variables. If s does not match, they keep their values.
func (ev *Evaluator) matchText(src, s string) (bool, error) {
	re, err := ev.Regexp(src, s)
	if err != nil {
		return false, err
	}
	places := re.FindStringSubmatchIndex(s)
	if places == nil {
		return false, nil
	}
	ev.locals.groups = Groups(s, places)
	return true, nil
}

// Groups returns the strings of the groups at places, as returned by FindStringSubmatchIndex. A group that did not
// match is undef.
func Groups(s string, places []int) []value.Value {
	out := make([]value.Value, len(places)/2)
	for i := range out {
		if from, to := places[2*i], places[2*i+1]; from >= 0 {
			out[i] = value.FromString(s[from:to])
		}
	}
	return out
}
