package lookup

import (
	"strings"

	"bindc/internal/value"
)

// find looks up key. If l.record is set, it also records the lookup.
func (l *lookup) find(key string) (value.Value, bool, error) {
	if l.record != nil {
		return l.recorded(key)
	}
	return l.answer(key)
}

// recorded looks up key and adds an Explanation of the lookup to the enclosing one.
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

func (l *lookup) answer(key string) (value.Value, bool, error) {
	rules := l.r.rules
	v, found, err := l.bound(key, rules.isLast(key))
	if found || err != nil {
		return v, found, err
	}
	return rules.beyond(l, key)
}
