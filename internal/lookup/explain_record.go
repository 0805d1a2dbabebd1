package lookup

import (
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/value"
)

// recorder is what a lookup notes while it is explained.
type recorder struct {
	at      *Explanation // of the lookup that is running; nil: not recorded
	left    int          // how many more lookups to record
	omitted int          // how many lookups were not recorded
	counted map[*Explanation][]contributed
	derived map[*Explanation]bool // the key may be computed from something sensitive
}

// contributed is a contribution that a multibinding took, and what came of it.
type contributed struct {
	part    recipe.Part
	outcome Outcome
}

// maxExplained limits the lookups in one explanation: each lists all bindings of its key.
const maxExplained = 1000

// recorded is answer, noted.
func (l *lookup) recorded(key string) (value.Value, bool, error) {
	rec := l.record
	around := rec.at
	defer func() { rec.at = around }()
	if rec.left == 0 {
		rec.omitted++
		rec.at = nil
		return l.answer(key)
	}
	rec.left--
	rec.at = &Explanation{Key: strings.Clone(key)}
	rec.derived[rec.at] = l.sensitive
	around.Lookups = append(around.Lookups, rec.at)
	v, found, err := l.answer(key)
	rec.at.Outcome = l.outcome(v, found, err)
	return v, found, err
}

// counts notes what came of a contribution.
func (l *lookup) counts(p recipe.Part, v value.Value, there bool, err error) {
	if rec := l.record; rec != nil && rec.at != nil {
		rec.counted[rec.at] = append(rec.counted[rec.at], contributed{p, l.outcome(v, there, err)})
	}
}
