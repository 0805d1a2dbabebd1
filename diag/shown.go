package diag

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// MaxShown limits how many diagnostics of one kind a List keeps, because a broken file can cause a million.
const MaxShown = 100

// kind identifies diagnostics that are counted together.
type kind struct {
	severity Severity
	code     Code
}

// shown keeps the first diagnostics of one kind, by position, and counts all of them. It is a heap with the last
// diagnostic on top. The result does not depend on the order in which diagnostics are added.
type shown struct {
	list  []Diagnostic
	times map[finding]int // how often each diagnostic in list was added
	total int
}

// finding is the part of a diagnostic that identifies it among those of one kind.
type finding struct {
	pos     Pos
	message string
}

func (s *shown) add(d Diagnostic, times int, all bool) {
	s.total += times
	f := finding{d.Pos, d.Message}
	switch {
	case s.times[f] > 0:
		s.times[f] += times
		return
	case all, len(s.list) < MaxShown:
	case compare(d, s.list[0]) > 0:
		return
	default:
		heap.Pop(s)
	}
	if s.times == nil {
		s.times = map[finding]int{}
	}
	s.times[f] = times
	heap.Push(s, d)
}

// more returns the number of diagnostics that were dropped.
func (s *shown) more() int {
	out := s.total
	for _, n := range s.times {
		out -= n
	}
	return out
}

// others returns a diagnostic that reports the number of dropped diagnostics. It sorts after all kept diagnostics.
func (s *shown) others(more int, hint string) Diagnostic {
	d := slices.MaxFunc(s.list, compare)
	return Diagnostic{Pos: d.Pos, Severity: d.Severity, Code: d.Code, Secret: true, more: more,
		Message: strconv.Itoa(more) + " more of this kind are not shown", Hint: hint}
}

func compare(a, b Diagnostic) int {
	return cmp.Or(a.Pos.Compare(b.Pos), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.more, b.more),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Code, b.Code))
}

func (s *shown) Len() int           { return len(s.list) }
func (s *shown) Less(i, j int) bool { return compare(s.list[i], s.list[j]) > 0 }
func (s *shown) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
func (s *shown) Push(d any)         { s.list = append(s.list, d.(Diagnostic)) }

func (s *shown) Pop() any {
	last := len(s.list) - 1
	d := s.list[last]
	s.list[last] = Diagnostic{}
	s.list = s.list[:last]
	delete(s.times, finding{d.Pos, d.Message})
	return d
}

// ranges maps files to ranges of lines, which are sorted and do not overlap.
type ranges map[string][][2]int

func inOrder(of map[string][][2]int) ranges {
	out := ranges{}
	for file, list := range of {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
		var joined [][2]int
		for _, r := range list {
			if n := len(joined); n > 0 && r[0] <= joined[n-1][1] {
				joined[n-1][1] = max(joined[n-1][1], r[1])
			} else {
				joined = append(joined, r)
			}
		}
		out[file] = joined
	}
	return out
}

func (r ranges) has(p Pos) bool {
	list := r[p.File]
	i := sort.Search(len(list), func(i int) bool { return list[i][1] >= p.Line })
	return i < len(list) && list[i][0] <= p.Line
}

// Summary returns the number of diagnostics in list by severity, and the number of files read. If color is set, it has
// colors for a terminal.
func Summary(list []Diagnostic, files int, color bool) string {
	t := textRenderer{color: color}
	count := map[Severity]int{}
	for _, d := range list {
		count[d.Severity] += max(d.more, 1)
	}
	var parts []string
	for _, s := range []Severity{Error, Warning, Lint, Info} {
		if n := count[s]; n > 0 {
			parts = append(parts, t.paint(styleOf(s), Count(n, s.String())))
		}
	}
	out := strings.Join(parts, ", ")
	if files > 0 {
		out += " in " + Count(files, "file")
	}
	return out
}

// Count returns "1 thing" or "N things".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
