package analysis

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"bindc/internal/report/decision"
)

// computedCall matches a lookup whose key has interpolations.
var computedCall = regexp.MustCompile(`(?:lookup|hiera\w*|alias)\(\s*\\?['"]?([^'")\\]*[%$]\{[^'"]*)`)

// ComputedLookup returns the text of a lookup in the values of the site that computes a name which may be key. It
// returns "" if there is none.
func (s *Site) ComputedLookup(key string) string {
	all, err := s.allTables()
	if err != nil {
		return ""
	}
	for bound := range s.Snapshot().Keys() {
		t, err := all.Values(bound)
		if err != nil {
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

// allTables returns the decision tables, prepared for reading those of all keys.
func (s *Site) allTables() (*decision.Tables, error) {
	if s.Snapshot() == nil {
		return nil, errors.New("the site has errors")
	}
	return decision.NewTables(s.compiled.file, true, nil)
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
func (s *Site) DiffersIn(after *Site, from, to string) (string, error) {
	olds, err := s.allTables()
	if err != nil {
		return "", err
	}
	news, err := after.allTables()
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for key := range s.Snapshot().Keys() {
		now := key
		if key == from {
			now = to
		}
		known[now] = true
		a, err := olds.Values(key)
		if err != nil {
			return "", err
		}
		if b, err := news.Values(now); err != nil || !sameTable(a, b, from, to) {
			return key, err
		}
	}
	for key := range after.Snapshot().Keys() {
		if !known[key] {
			return key, nil
		}
	}
	return "", nil
}

// sameTable reports whether two decision tables have the same rows, apart from the name.
func sameTable(a, b *decision.Table, from, to string) bool {
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
