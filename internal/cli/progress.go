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

// Progress shows the progress of long work on one line of a terminal, and removes the line at the end. If the output is
// not a terminal, it shows nothing.
type Progress struct {
	out   *os.File // nil to show nothing
	step  atomic.Pointer[string]
	total atomic.Int64 // 0 if the total is unknown
	done  atomic.Int64
	stop  chan struct{}
	idle  sync.WaitGroup
}

const (
	shortWork = 500 * time.Millisecond // work that takes less time is not shown
	eachFrame = 100 * time.Millisecond
)

// NewProgress shows progress on w, if that is a terminal, until End.
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

// Begin starts a step with a number of items, or 0 if the number is unknown.
func (p *Progress) Begin(text string, total int) {
	p.done.Store(0)
	p.total.Store(int64(total))
	p.step.Store(&text)
}

// Found increments the total of the step. It may be called concurrently.
func (p *Progress) Found() { p.total.Add(1) }

// Done counts a finished item. It may be called concurrently.
func (p *Progress) Done() { p.done.Add(1) }

// End removes the line.
func (p *Progress) End() {
	close(p.stop)
	p.idle.Wait()
}

// show draws the line repeatedly, for the first time after a delay.
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

// line describes the progress: "reading files: 1 200", or "looking up nodes: 40 of 500".
func (p *Progress) line() string {
	text, total, done := *p.step.Load(), p.total.Load(), p.done.Load()
	switch {
	case total > 0:
		return text + ": " + grouped(done) + " of " + grouped(max(total, done)) // the total is still growing
	case done > 0:
		return text + ": " + grouped(done)
	}
	return text
}

// grouped returns n with a space between each three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
