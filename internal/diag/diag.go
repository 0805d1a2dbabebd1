// Package diag holds source positions and diagnostics: what is wrong, where, and what to do about it.
// Stages collect diagnostics in a List and go on; only cmd/ prints them, through Render.
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

// Severity tells whether a diagnostic stops a build.
type Severity uint8

const (
	Error Severity = iota
	Warning
	Lint // advice, shown only on request
	Info // a note without consequence
)

func (s Severity) String() string { return [...]string{"error", "warning", "lint", "note"}[s] }

// Note is a further place a diagnostic concerns.
type Note struct {
	Pos     Pos
	Message string
	Secret  bool // the source line is not shown
}

// Diagnostic is one finding. Code is stable and listed in the catalogue of codes.
type Diagnostic struct {
	Pos      Pos
	Severity Severity
	Code     string
	Message  string
	Notes    []Note
	Hint     string
	Secret   bool // the source line is not shown
	InValue  bool // of an error: which key is bound, and when, is known all the same
}

// List collects diagnostics. The zero value is ready; it may be used by several goroutines.
type List struct {
	mu   sync.Mutex
	list []Diagnostic
	errs int
	gaps int // of the errors, those that are not in a value

	hidden map[string][][2]int // by file, the first and the last line of what is sensitive
}

// Add takes one diagnostic.
func (l *List) Add(d Diagnostic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Severity == Error {
		l.errs++
		if !d.InValue {
			l.gaps++
		}
	}
	l.list = append(l.list, d)
}

// Errorf adds an error.
func (l *List) Errorf(pos Pos, code, format string, args ...any) {
	l.Add(Diagnostic{Pos: pos, Severity: Error, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning.
func (l *List) Warnf(pos Pos, code, format string, args ...any) {
	l.Add(Diagnostic{Pos: pos, Severity: Warning, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Failed tells whether an error was added.
func (l *List) Failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs > 0
}

// Incomplete tells whether bindings may be missing from what was read: an error was added that is not in a value.
// Who wins cannot be said then.
func (l *List) Incomplete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaps > 0
}

// Hide has the lines from first to last of a file not shown: something sensitive is written there.
func (l *List) Hide(file string, first, last int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hidden == nil {
		l.hidden = map[string][][2]int{}
	}
	l.hidden[file] = append(l.hidden[file], [2]int{first, last})
}

func (l *List) hides(p Pos) bool {
	return slices.ContainsFunc(l.hidden[p.File], func(lines [2]int) bool { return lines[0] <= p.Line && p.Line <= lines[1] })
}

// Sorted returns what was collected, by place, then severity, then text. Equal findings are reported once.
func (l *List) Sorted() []Diagnostic {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.list)
	for i := range out {
		out[i].Secret = out[i].Secret || l.hides(out[i].Pos)
		out[i].Notes = slices.Clone(out[i].Notes)
		for j := range out[i].Notes {
			out[i].Notes[j].Secret = l.hides(out[i].Notes[j].Pos)
		}
	}
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(a.Pos.Compare(b.Pos), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}
