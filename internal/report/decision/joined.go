package decision

import (
	"cmp"
	"slices"
	"strings"
)

// JoinedLast moves unlikely samples to the end: those in which one variable has the text that another sample builds
// from several variables. For a level os/%{name}-%{major}.yaml below os/%{name}.yaml, this is name=windows-2016 instead
// of name=windows and major=2016. Such requests are possible, but no node is likely to have them.
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

// joins reports whether a variable's text in s contains the texts of this variable and of another variable in other.
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
