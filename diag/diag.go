// Package diag defines source positions and diagnostics, which say what is wrong, where, and how to fix it. The stages
// of a build add diagnostics to a List and continue. Only cmd/ prints them, with Render.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Pos is a position in a source file. Line and Col count from 1, and Col counts characters. If Line is 0, the position
// is the whole file.
type Pos struct {
	File string
	Line int
	Col  int
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// ParsePos parses the output of Pos.String. If text does not end with a line and a column, all of it becomes the file.
func ParsePos(text string) Pos {
	rest, col, hasCol := cutNumber(text)
	file, line, hasLine := cutNumber(rest)
	if !hasCol || !hasLine {
		return Pos{File: text}
	}
	return Pos{file, line, col}
}

// cutNumber splits text at the last colon and parses the number after it. Earlier colons belong to the file name.
func cutNumber(text string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil
}

// Compare orders positions by file, line and column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// Severity says how serious a diagnostic is. Only an Error stops a build.
type Severity uint8

const (
	Error Severity = iota
	Warning
	Lint // valid but suspicious; shown only on request
	Info // information that requires no action
)

func (s Severity) String() string { return [...]string{"error", "warning", "lint", "note"}[s] }

// Note is another position that a diagnostic refers to.
type Note struct {
	Pos     Pos
	Message string
	Secret  bool // do not show the source line
}

// Diagnostic is a problem at a position in a source file.
type Diagnostic struct {
	Pos      Pos
	Severity Severity
	Code     Code
	Message  string
	Notes    []Note
	Hint     string // by default, Add sets it to the hint of Fix
	Fix      Fix
	Secret   bool // do not show the source line
	InValue  bool // the error is in a value, so the binding's key and condition are still known
	OfValue  bool // the value of the key at Pos is wrong

	// Discreet replaces Message if the text at Pos may be sensitive. A Hint that is shown with it must not quote the
	// source.
	Discreet string

	End   Pos    // set by Locate: the end of the text at Pos, exclusive
	Edits []Edit // set by Locate: what Fix changes
	Value Edit   // position of the value, without Text; set by Locate if OfValue is set and the value is a scalar

	more int // number of dropped diagnostics; only set in the last kept diagnostic of a kind
}

// List collects diagnostics. The zero value is ready to use. It is safe for concurrent use.
type List struct {
	All bool // keep all diagnostics instead of the first MaxShown of each kind

	// AllHint is the hint about diagnostics that are not kept. If it is "", the hint is "--all shows them".
	AllHint string

	mu       sync.Mutex
	kept     map[kind]*shown
	errs     int
	gaps     int // number of errors without InValue
	compared int

	hidden map[string][][2]int // ranges of sensitive lines, by file
}

// Add adds a diagnostic. If the diagnostic has a Fix but no Hint, it gets the hint of the Fix, unless the message
// already ends with this hint.
func (l *List) Add(d Diagnostic) {
	if hint := d.Fix.Hint(); d.Hint == "" && !strings.HasSuffix(d.Message, hint) {
		d.Hint = hint
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Severity == Error {
		l.errs++
		if !d.InValue {
			l.gaps++
		}
	}
	l.shownOf(d).add(d, 1, l.All)
}

// AddAll adds the diagnostics of other, and the lines that it hides.
func (l *List) AddAll(other *List) {
	other.mu.Lock()
	defer other.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs, l.gaps = l.errs+other.errs, l.gaps+other.gaps
	for _, from := range other.kept {
		to := l.shownOf(from.list[0])
		for _, d := range from.list {
			to.add(d, from.times[finding{d.Pos, d.Message}], l.All)
		}
		to.total += from.more()
	}
	for file, list := range other.hidden {
		for _, r := range list {
			l.hide(file, r)
		}
	}
}

// Empty reports whether the list has no diagnostics.
func (l *List) Empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept) == 0
}

// shownOf returns the diagnostics of the same severity and code as d. The caller holds the lock.
func (l *List) shownOf(d Diagnostic) *shown {
	k := kind{d.Severity, d.Code}
	if l.kept == nil {
		l.kept = map[kind]*shown{}
	}
	if l.kept[k] == nil {
		l.kept[k] = &shown{}
	}
	return l.kept[k]
}

// Errorf adds an error.
func (l *List) Errorf(pos Pos, code Code, format string, args ...any) {
	l.Add(Diagnostic{Pos: pos, Severity: Error, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning.
func (l *List) Warnf(pos Pos, code Code, format string, args ...any) {
	l.Add(Diagnostic{Pos: pos, Severity: Warning, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Failed reports whether an error was added.
func (l *List) Failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs > 0
}

// Incomplete reports whether an error was added that is not in a value. Bindings may then be missing, so that it is
// unknown which bindings win.
func (l *List) Incomplete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaps > 0
}

// Hide marks lines of a file as sensitive. They are not shown, and messages do not quote them. Both first and last are
// included.
func (l *List) Hide(file string, first, last int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide(file, [2]int{first, last})
}

func (l *List) hide(file string, lines [2]int) {
	if l.hidden == nil {
		l.hidden = map[string][][2]int{}
	}
	l.hidden[file] = append(l.hidden[file], lines)
}

// Sorted returns the diagnostics sorted by position, severity and text, without duplicates. Unless All is set, it
// returns the first MaxShown of each kind, followed by the number of the others.
func (l *List) Sorted() []Diagnostic {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Diagnostic
	for _, s := range l.kept {
		out = append(out, s.list...)
		if more := s.more(); more > 0 {
			out = append(out, s.others(more, cmp.Or(l.AllHint, "--all shows them")))
		}
	}
	hidden := inOrder(l.hidden)
	for i := range out {
		if out[i].Secret = out[i].Secret || hidden.has(out[i].Pos); out[i].Secret && out[i].more == 0 {
			out[i] = out[i].discreet()
		}
		out[i].Notes = slices.Clone(out[i].Notes)
		for j := range out[i].Notes {
			out[i].Notes[j].Secret = out[i].Notes[j].Secret || hidden.has(out[i].Notes[j].Pos)
		}
	}
	slices.SortStableFunc(out, compare)
	return slices.CompactFunc(out, func(a, b Diagnostic) bool { // diagnostics may have differed only in hidden text
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}
