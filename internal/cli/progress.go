package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Progress shows the progress of a long operation on one line of a terminal. End removes the line.
// If the output is not a terminal, nothing is shown.
type Progress struct {
	out   *os.File // nil if nothing is shown
	step  atomic.Pointer[string]
	total atomic.Int64 // 0 if unknown
	done  atomic.Int64
	stop  chan struct{}
	idle  sync.WaitGroup
}

const (
	shortWork = 500 * time.Millisecond // progress is shown only after this time
	eachFrame = 100 * time.Millisecond
)

// NewProgress returns a Progress that writes to w. The caller must call End.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{stop: make(chan struct{})}
	p.step.Store(new(string))
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return p
	}
	p.out = f
	p.idle.Go(func() { p.show(shortWork) })
	return p
}

// Begin starts a step. total is the number of items, or 0 if it is unknown.
func (p *Progress) Begin(text string, total int) {
	p.done.Store(0)
	p.total.Store(int64(total))
	p.step.Store(&text)
}

// Found adds 1 to the total of the current step. It is safe for concurrent use.
func (p *Progress) Found() { p.total.Add(1) }

// Done counts a finished item of the current step. It is safe for concurrent use.
func (p *Progress) Done() { p.done.Add(1) }

// End stops showing progress and removes the line.
func (p *Progress) End() {
	close(p.stop)
	p.idle.Wait()
}

// show draws the line after the given time, and then repeatedly until End.
func (p *Progress) show(after time.Duration) {
	wait := time.NewTimer(after)
	defer wait.Stop()
	shown := false
	for {
		select {
		case <-p.stop:
			if shown {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case <-wait.C:
			fmt.Fprint(p.out, "\r\x1b[K", p.line())
			shown = true
			wait.Reset(eachFrame)
		}
	}
}

// line returns the text of the line, such as "reading files: 1 200" or "looking up nodes: 40 of
// 500".
func (p *Progress) line() string {
	text, total, done := *p.step.Load(), p.total.Load(), p.done.Load()
	switch {
	case total > 0:
		return text + ": " + grouped(done) + " of " + grouped(max(total, done)) // total may still grow
	case done > 0:
		return text + ": " + grouped(done)
	}
	return text
}

// grouped formats n with a space between groups of three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
