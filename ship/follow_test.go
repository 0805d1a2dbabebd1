package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The source is down for an hour of synthetic time. The active snapshot stays, and the source is polled less and less
// often, but at least every ten minutes. Its next release becomes active.
func TestFollowPollsLessOftenWhileTheSourceIsDown(t *testing.T) {
	m := newMaster(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m.pull.Now = time.Now
		m.shelf.text = "one"
		wake := make(chan struct{})
		var mu sync.Mutex
		var failed, activated int
		f := Follow{Pulls: []*Pull{m.pull}, Interval: 30 * time.Second, MaxDelay: 10 * time.Minute,
			Timeout: time.Minute,
			Wake:    wake, Report: func(_ *Pull, r Result, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed++
				} else if r.Activated {
					activated++
				}
			}}
		done := make(chan struct{})
		go func() { f.Run(ctx); close(done) }()

		time.Sleep(5 * time.Minute)
		synctest.Wait()
		m.answers("one")
		m.shelf.set(func() {
			if n := m.shelf.looks; n < 5*60/45 || n > 5*60/15+1 {
				t.Errorf("%d looks in five minutes, at 15 to 45 s", n)
			}
			m.shelf.fails, m.shelf.text = errors.New("connection refused"), "two"
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		m.answers("one")
		mu.Lock()
		if failed < 60/15 || failed > 16 { // the pause doubles, up to ten minutes
			t.Errorf("%d looks in an hour of failures", failed)
		}
		mu.Unlock()
		m.shelf.set(func() { m.shelf.fails = nil })
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		m.answers("two")

		m.shelf.set(func() { m.shelf.text = "three" })
		wake <- struct{}{}
		synctest.Wait()
		m.answers("three")
		cancel()
		<-done
		if activated != 3 {
			t.Errorf("%d activations of three releases", activated)
		}
	})
}

// Names are followed independently: a source that hangs does not delay other names.
func TestHangingSourceDoesNotDelayOtherNames(t *testing.T) {
	m := newMaster(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m.pull.Now = time.Now
		m.shelf.text = "one"
		slow := *m.pull
		slow.Name, slow.Source = "staging", hanging{}
		var mu sync.Mutex
		ended := map[string]error{}
		f := Follow{Pulls: []*Pull{&slow, m.pull}, Interval: time.Second, Timeout: 10 * time.Second,
			Report: func(p *Pull, _ Result, err error) {
				mu.Lock()
				defer mu.Unlock()
				ended[p.Name] = err
			}}
		done := make(chan struct{})
		go func() { f.Run(ctx); close(done) }()
		time.Sleep(9 * time.Second)
		synctest.Wait()
		m.answers("one")
		mu.Lock()
		if _, ok := ended["staging"]; ok {
			t.Error("staging ended before its time was up")
		}
		mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if !errors.Is(ended["staging"], context.DeadlineExceeded) {
			t.Errorf("staging ended with %v", ended["staging"])
		}
	})
}

type hanging struct{}

func (hanging) String() string { return "hanging" }
func (hanging) Look(ctx context.Context, _ string) (*Offer, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// following runs f for a time by the clock of the test.
func following(t *testing.T, f *Follow, d time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { f.Run(ctx); close(done) }()
	time.Sleep(d)
	synctest.Wait()
	cancel()
	<-done
}

// Only a source that does not answer is polled less often. A rejected release or a failing disk does not change the
// interval.
func TestOnlyUnavailableSourcesArePolledLessOften(t *testing.T) {
	const least, most = 60 * 60 / 45, 60*60/15 + 1 // at pauses of 15 to 45 s
	for name, c := range map[string]struct {
		fail       func(m *master)
		least, top int
	}{
		"refused": {func(m *master) {
			m.pull.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
		}, least, most},
		"something else": {func(m *master) { m.shelf.fails = &Refusal{"an image"} }, least, most},
		"disk":           {func(m *master) { m.store.files.fault = failWrites }, least, most},
		"network":        {func(m *master) { m.shelf.breaks = io.ErrUnexpectedEOF }, 4, 16},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaster(t)
			m.shelf.text = "one"
			c.fail(m)
			synctest.Test(t, func(t *testing.T) {
				m.pull.Now = time.Now
				var failed atomic.Int64
				following(t, &Follow{Pulls: []*Pull{m.pull}, Interval: 30 * time.Second, MaxDelay: 10 * time.Minute,
					Timeout: time.Minute, Report: func(_ *Pull, _ Result, err error) {
						if err != nil {
							failed.Add(1)
						}
					}}, time.Hour)
				if n := int(failed.Load()); n < c.least || n > c.top {
					t.Errorf("%d failures in an hour, expected %d to %d", n, c.least, c.top)
				}
			})
			m.store.files.fault = nil
			m.answers("")
		})
	}
}

func failWrites(op, path string) error {
	if op == "write" {
		return errors.New("input/output error")
	}
	return nil
}

// Follow spreads the first polls of the names over the interval.
func TestFirstPollsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		begun := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		f := &Follow{Interval: time.Hour, Timeout: time.Minute, Report: func(*Pull, Result, error) {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(begun))
		}}
		m := newMaster(t)
		for i := range n {
			p := *m.pull
			p.Name, p.Now, p.Source = fmt.Sprintf("n%d", i), time.Now, &shelf{fails: io.EOF}
			f.Pulls = append(f.Pulls, &p)
		}
		following(t, f, maxStart)
		if len(at) != n || at[n-1]-at[0] < maxStart*3/4 || at[n/2] < maxStart/4 || at[n/2] > maxStart*3/4 {
			t.Errorf("%d names were polled from %v to %v", len(at), at[0], at[len(at)-1])
		}
	})
}

// counting is a source whose body takes a while to read. It counts how many bodies are read at once.
type counting struct {
	*shelf
	now, most *atomic.Int64
}

func (c counting) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := c.shelf.Look(ctx, validator)
	if err != nil {
		return nil, err
	}
	body := o.Body
	o.Body = func(ctx context.Context) (io.ReadCloser, error) {
		c.most.Store(max(c.most.Load(), c.now.Add(1)))
		time.Sleep(time.Second)
		c.now.Add(-1)
		return body(ctx)
	}
	return o, nil
}

// Turns limits how many pulls fetch and check a release at once. Each pull gets its turn.
func TestDownloadsWaitForTheirTurn(t *testing.T) {
	m := newMaster(t)
	synctest.Test(t, func(t *testing.T) {
		var now, most, activated atomic.Int64
		turns := make(chan struct{}, 3)
		f := &Follow{Interval: time.Minute, Timeout: time.Hour, Report: func(_ *Pull, r Result, err error) {
			if err != nil {
				t.Error(err)
			}
			if r.Activated {
				activated.Add(1)
			}
		}}
		for i := range 30 {
			p := *m.pull
			p.Name, p.Now, p.Turns = fmt.Sprintf("n%d", i), time.Now, turns
			p.Source = counting{&shelf{text: fmt.Sprint("text ", i)}, &now, &most}
			f.Pulls = append(f.Pulls, &p)
		}
		wake := make(chan struct{}, 1)
		wake <- struct{}{} // all names poll at once
		f.Wake = wake
		following(t, f, 50*time.Second)
		if most.Load() != 3 || activated.Load() != 30 || len(turns) != 0 {
			t.Errorf("%d at once, %d names, %d turns go on; expected 3, 30, 0", most.Load(), activated.Load(),
				len(turns))
		}
	})
}

// A pull that does not get its turn to download ends at its timeout. A pull whose source has nothing new does not
// wait for its turn.
func TestWaitingForATurnEndsAtTheTimeout(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	m.pull.Turns = make(chan struct{}, 1)
	m.pull.Turns <- struct{}{}
	if err := m.pullNow(); err != nil {
		t.Errorf("nothing new: %v", err)
	}
	m.shelf.text = "two"
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := m.pull.Run(ctx); !errors.Is(err, context.DeadlineExceeded) || ReasonOf(err) != Network {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	<-m.pull.Turns
	if err := m.pullNow(); err != nil || len(m.pull.Turns) != 0 {
		t.Errorf("%v, %d turns go on", err, len(m.pull.Turns))
	}
	m.answers("two")
}
