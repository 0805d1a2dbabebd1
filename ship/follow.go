package ship

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Follow pulls again and again, each name by itself.
type Follow struct {
	Pulls    []*Pull
	Interval time.Duration // between two looks; the next is due after half to one and a half of it
	MaxDelay time.Duration // what it grows to while looks fail
	Timeout  time.Duration // of one look with what follows from it
	// Report is told what came of each look. It is called by several goroutines at once.
	Report func(p *Pull, r Result, err error)
	Wake   <-chan struct{} // all look at once when it yields something
}

// Run follows until ctx is done.
func (f *Follow) Run(ctx context.Context) {
	var all sync.WaitGroup
	wakes := make([]chan struct{}, len(f.Pulls))
	for i, p := range f.Pulls {
		wakes[i] = make(chan struct{}, 1)
		all.Go(func() { f.follow(ctx, p, wakes[i]) })
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-f.Wake:
			for _, w := range wakes {
				select {
				case w <- struct{}{}:
				default: // it is awake
				}
			}
		}
	}
	all.Wait()
}

func (f *Follow) follow(ctx context.Context, p *Pull, wake <-chan struct{}) {
	delay := f.Interval
	for ctx.Err() == nil {
		look, cancel := context.WithTimeout(ctx, f.Timeout)
		r, err := p.Run(look)
		cancel()
		if ctx.Err() != nil {
			return
		}
		f.Report(p, r, err)
		if delay *= 2; err == nil {
			delay = f.Interval
		}
		delay = min(delay, max(f.MaxDelay, f.Interval))
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(jittered(delay)):
		}
	}
}

// jittered is half to one and a half of d, so that a fleet does not ask at one time.
func jittered(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Int64N(int64(d)+1))
}
