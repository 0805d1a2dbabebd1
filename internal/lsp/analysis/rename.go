package analysis

import (
	"regexp"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/report/decision"
)

// computedCall matches a lookup whose key has interpolations.
var computedCall = regexp.MustCompile(`(?:lookup|hiera\w*|alias)\(\s*\\?['"]?([^'")\\]*[%$]\{[^'"]*)`)

// ComputedLookup returns the text of a lookup in the values of the site that computes a name which may be key. It
// returns "" if there is none.
func (s *Site) ComputedLookup(key string) string {
	snap := s.Snapshot()
	if snap == nil {
		return ""
	}
	for bound := range snap.Keys() {
		t := s.Table(bound)
		if t == nil {
			continue
		}
		for _, r := range slices.Concat(t.Rows, t.Contributions) {
			if m := computedCall.FindStringSubmatch(r.Computed); m != nil && mayBe(m[1], key) || dynamic(r.Computed) {
				return bound
			}
		}
	}
	return ""
}

// dynamic reports whether the source of a value passes something other than a text to lookup.
func dynamic(source string) bool {
	for rest := source; ; {
		i := strings.Index(rest, "lookup(")
		if i < 0 {
			return false
		}
		rest = strings.TrimLeft(rest[i+len("lookup("):], " \\")
		if rest != "" && strings.IndexByte(`'"`, rest[0]) < 0 && !strings.HasPrefix(rest, "{") {
			return true
		}
	}
}

// mayBe reports whether a text with interpolations may result in key.
func mayBe(text, key string) bool {
	parts := regexp.MustCompile(`[%$]\{[^}]*\}?`).Split(text, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	re, err := regexp.Compile("^" + strings.Join(parts, ".*") + "$")
	return err != nil || re.MatchString(key)
}

// DiffersIn returns a key whose decision table after a rename of from differs in more than the name. It returns "" if
// there is none.
func (s *Site) DiffersIn(after *Site, from, to string) string {
	renamed := func(key string) string {
		if key == from {
			return to
		}
		return key
	}
	before := s.Snapshot().Keys()
	known := map[string]bool{}
	for key := range before {
		known[renamed(key)] = true
		if !recipe.IsInternal(key) && !sameTable(s.Table(key), after.Table(renamed(key)), from, to) {
			return key
		}
	}
	for key := range after.Snapshot().Keys() {
		if !known[key] {
			return key
		}
	}
	return ""
}

// sameTable reports whether two decision tables have the same rows, apart from the name.
func sameTable(a, b *decision.Table, from, to string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Merged == b.Merged && slices.EqualFunc(a.Rows, b.Rows, func(a, b decision.Row) bool {
		return sameRow(&a, &b, from, to)
	}) && slices.EqualFunc(a.Contributions, b.Contributions, func(a, b decision.Row) bool {
		return sameRow(&a, &b, from, to)
	})
}

func sameRow(a, b *decision.Row, from, to string) bool {
	text := func(r *decision.Row) string {
		source := strings.ReplaceAll(r.Computed, from, to)
		return source + "\x00" + r.Layer + "\x00" + r.Name
	}
	return text(a) == text(b) && slices.Equal(a.When, b.When) && a.Abstract == b.Abstract && a.Erased == b.Erased &&
		a.Sensitive == b.Sensitive && a.SameValue(b)
}
