// Package diag has source positions and diagnostics: what is wrong, where, and how to fix it. The stages of a build
// collect diagnostics in a List and continue; only cmd/ prints them, through Render.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Pos is a place in a source file. Line and Col count from 1, Col in characters. A zero Line means the whole file.
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
	Info // a note; nothing has to be done
)

func (s Severity) String() string { return [...]string{"error", "warning", "lint", "note"}[s] }

// Note is another place that a diagnostic refers to.
type Note struct {
	Pos     Pos
	Message string
	Secret  bool // the source line is not shown
}

// Diagnostic is one finding.
type Diagnostic struct {
	Pos      Pos
	Severity Severity
	Code     Code
	Message  string
	Notes    []Note
	Hint     string
	Secret   bool // the source line is not shown
	InValue  bool // of an error: the key and the condition of the binding are known all the same

	// Discreet replaces Message if the text at Pos may be sensitive. A Hint shown with it must not quote the source.
	Discreet string

	more int // in the last line of a kind: the number of diagnostics that were dropped
}

// List collects diagnostics. The zero value is ready to use, also by several goroutines.
type List struct {
	All bool // keep all diagnostics, not only the first MaxShown of each kind

	mu   sync.Mutex
	kept map[kind]*shown
	errs int
	gaps int // the number of errors that are not in a value
	hint int // the number of names compared for hints so far, see mayCompare

	hidden map[string][][2]int // by file: the first and last lines of sensitive parts
}

// Add adds a diagnostic.
func (l *List) Add(d Diagnostic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Severity == Error {
		l.errs++
		if !d.InValue {
			l.gaps++
		}
	}
	l.of(d).add(d, 1, l.All)
}

// AddAll adds the diagnostics of another list.
func (l *List) AddAll(other *List) {
	other.mu.Lock()
	defer other.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs, l.gaps = l.errs+other.errs, l.gaps+other.gaps
	for _, from := range other.kept {
		to := l.of(from.list[0])
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

// Empty reports whether nothing was added.
func (l *List) Empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept) == 0
}

func (l *List) of(d Diagnostic) *shown {
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

// Incomplete reports whether bindings may be missing from what was read: an error was added that is not in a value.
// Which binding wins is unknown then.
func (l *List) Incomplete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaps > 0
}

// Hide hides the lines from first to last of a file, and what messages quote of them, because they contain something
// sensitive.
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

// Sorted returns the diagnostics by place, then severity, then text. Equal ones are reported once. Unless All is set,
// it has only the first MaxShown of each kind, followed by the number of the others.
func (l *List) Sorted() []Diagnostic {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Diagnostic
	for _, s := range l.kept {
		out = append(out, s.list...)
		if more := s.more(); more > 0 {
			out = append(out, s.others(more))
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
	return slices.CompactFunc(out, func(a, b Diagnostic) bool { // hidden text may have been the difference
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}
