package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Progress shows on a terminal, in one line that is removed at the end, how far long work is. Elsewhere it shows
// nothing.
type Progress struct {
	out  *os.File // nil: nothing is shown
	step atomic.Pointer[step]
	done atomic.Int64
	stop chan struct{}
	idle sync.WaitGroup
}

// step is what is being done, and to how many; 0 where nobody knows.
type step struct {
	text  string
	total int
}

const (
	shortWork = 500 * time.Millisecond // is over before somebody wonders
	eachFrame = 100 * time.Millisecond
)

// NewProgress shows what is done on w, if that is a terminal, until End.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{stop: make(chan struct{})}
	p.step.Store(&step{})
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return p
	}
	p.out = f
	p.idle.Go(func() { p.show(shortWork) })
	return p
}

// Begin says what is done from now on, to how many things; 0 where nobody knows.
func (p *Progress) Begin(text string, total int) {
	p.done.Store(0)
	p.step.Store(&step{text, total})
}

// Done counts one of them. Several goroutines may.
func (p *Progress) Done() { p.done.Add(1) }

// End removes the line.
func (p *Progress) End() {
	close(p.stop)
	p.idle.Wait()
}

// show draws the line, for the first time after a while.
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

// line is how far the work is: "reading files: 1200", "looking up nodes: 40 of 500".
func (p *Progress) line() string {
	s, done := p.step.Load(), p.done.Load()
	switch {
	case s.total > 0:
		return fmt.Sprintf("%s: %d of %d", s.text, done, s.total)
	case done > 0:
		return fmt.Sprintf("%s: %d", s.text, done)
	}
	return s.text
}
