package expr

import (
	"regexp"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// CompileRegexp compiles a regular expression of the Puppet language, which has Ruby's syntax. If
// Go's engine lacks a feature, the error names it.
func CompileRegexp(src string) (*regexp.Regexp, error) {
	re, err := onigmo.Compile(src)
	if err != nil {
		return nil, err
	}
	return re.Regexp, nil
}

// stepsPerMatch is the number of steps of Go's engine that count as one step of the evaluation.
const stepsPerMatch = 64

// Regexp compiles src and counts the steps of matching it against length bytes of text.
func (ev *Evaluator) Regexp(src string, length int) (*regexp.Regexp, error) {
	re, err := onigmo.Compile(src)
	if err != nil {
		return nil, err
	}
	if length > 0 && re.Cost > DefaultSteps*stepsPerMatch/length {
		return nil, errSteps
	}
	return re.Regexp, ev.Spend(length * re.Cost / stepsPerMatch)
}

// matchText matches s and stores the groups for $0, $1 and so on. If the match fails, the groups of
// an earlier match are kept.
func (ev *Evaluator) matchText(src, s string) (bool, error) {
	re, err := ev.Regexp(src, len(s))
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

// Groups returns the texts at places, and undef for groups that did not match.
func Groups(s string, places []int) []value.Value {
	out := make([]value.Value, len(places)/2)
	for i := range out {
		if from, to := places[2*i], places[2*i+1]; from >= 0 {
			out[i] = value.FromString(s[from:to])
		}
	}
	return out
}
