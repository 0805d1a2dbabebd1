package decision

import (
	"cmp"
	"slices"
	"strings"
)

// JoinedLast moves unlikely samples to the end. In these, one variable has a text that another sample splits between
// several variables. With the levels os/%{name}-%{major}.yaml and os/%{name}.yaml, for example, name=windows-2016 is
// less likely than name=windows with major=2016.
func JoinedLast(samples []Sample) {
	all := slices.Clone(samples)
	isJoined := func(s Sample) bool {
		return slices.ContainsFunc(all, func(other Sample) bool { return s.joins(other) })
	}
	slices.SortStableFunc(samples, func(a, b Sample) int {
		rank := map[bool]int{true: 1}
		return cmp.Compare(rank[isJoined(a)], rank[isJoined(b)])
	})
}

// joins reports whether a variable in s has a text that contains both its text in other and the text of another
// variable in other.
func (s Sample) joins(other Sample) bool {
	for name, text := range s.values {
		part := other.values[name]
		if part == "" || part == text || !strings.Contains(text, part) {
			continue
		}
		for another, rest := range other.values {
			if _, set := s.values[another]; !set && rest != "" && strings.Contains(text, rest) {
				return true
			}
		}
	}
	return false
}
