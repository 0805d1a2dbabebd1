package ship

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Follow runs pulls repeatedly, each name independently.
type Follow struct {
	Pulls    []*Pull
	Interval time.Duration // average pause between two polls; each pause is 0.5 to 1.5 times as long
	MaxDelay time.Duration // maximum pause; the pause grows while the source does not answer
	Timeout  time.Duration // time limit for one poll, including download and checks
	// Report is called after each poll, by several goroutines at once.
	Report func(p *Pull, r Result, err error)
	Wake   <-chan struct{} // each value makes all names poll at once
	// Collect is called at the start and every hour, to remove old snapshots; it may be nil.
	Collect func()
}

const collectEvery = time.Hour

// Run polls all names until ctx is done and the last poll has ended.
func (f *Follow) Run(ctx context.Context) {
	var all sync.WaitGroup
	wakes := make([]chan struct{}, len(f.Pulls))
	for i, p := range f.Pulls {
		wakes[i] = make(chan struct{}, 1)
		all.Go(func() { f.follow(ctx, p, wakes[i]) })
	}
	if f.Collect != nil {
		all.Go(func() { f.collect(ctx) })
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-f.Wake:
			for _, w := range wakes {
				select {
				case w <- struct{}{}:
				default: // a wake-up is already pending
				}
			}
		}
	}
	all.Wait()
}

func (f *Follow) collect(ctx context.Context) {
	for ctx.Err() == nil {
		f.Collect()
		select {
		case <-ctx.Done():
		case <-time.After(collectEvery):
		}
	}
}

// maxStart limits the time over which the first polls are spread.
const maxStart = 30 * time.Second

// follow polls one name until ctx is done. Each time the source does not answer, the pause doubles, up to MaxDelay.
// After a rejected release the pause stays short, because the next release may be accepted.
func (f *Follow) follow(ctx context.Context, p *Pull, wake <-chan struct{}) {
	delay := f.Interval
	for pause := firstPause(f.Interval); sleep(ctx, pause, wake); pause = jittered(delay) {
		poll, cancel := context.WithTimeout(ctx, f.Timeout)
		r, err := p.Run(poll)
		cancel()
		if ctx.Err() != nil {
			return
		}
		f.Report(p, r, err)
		if ReasonOf(err) == Network {
			delay = min(2*delay, max(f.MaxDelay, f.Interval))
		} else {
			delay = f.Interval
		}
	}
}

// sleep waits until d has passed or wake receives a value. It returns false if ctx is done.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	select {
	case <-ctx.Done():
	case <-wake:
	case <-time.After(d):
	}
	return ctx.Err() == nil
}

// firstPause returns a random duration up to the interval, so that the first polls are spread.
func firstPause(interval time.Duration) time.Duration { return rand.N(min(interval, maxStart) + 1) }

// jittered returns a random duration from 0.5 to 1.5 times d, so that a fleet does not poll all at once.
func jittered(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Int64N(int64(d)+1))
}
