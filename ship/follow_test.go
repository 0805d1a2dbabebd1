package ship

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// An hour without the registry, by a clock of the test's: what answers stays, the source is asked less and less often,
// but every ten minutes, and what it has then answers.
func TestFollowOutlivesItsSource(t *testing.T) {
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
		if failed < 60/15 || failed > 16 {
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

// Names are followed each by itself: one whose source hangs holds nobody up.
func TestOneNameDoesNotHoldUpAnother(t *testing.T) {
	m := newMaster(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m.pull.Now = time.Now
		m.shelf.text = "one"
		slow := *m.pull
		slow.Name, slow.Source = "staging", hanging{}
		var mu sync.Mutex
		ended := map[string]error{}
		f := Follow{Pulls: []*Pull{&slow, m.pull}, Interval: time.Minute, Timeout: 10 * time.Second,
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
