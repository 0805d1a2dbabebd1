package runtime_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	bindings "bindc/runtime"
)

// The default interval is one second. The test uses a fake clock.
func TestWatcherPollsEverySecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	synctest.Test(t, func(t *testing.T) {
		var news atomic.Int32
		w, err := bindings.Watch(path, bindings.WatchOptions{Notify: func(err error) {
			if news.Add(1); err != nil {
				t.Error(err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		silent, err := bindings.Watch(path, bindings.WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		for n := 1; n < 4; n++ {
			build(t, path, generation(n+1))
			time.Sleep(999 * time.Millisecond)
			synctest.Wait()
			if news.Load() != int32(n-1) {
				t.Errorf("%d news before second %d", news.Load(), n)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if news.Load() != int32(n) {
				t.Errorf("%d news after second %d", news.Load(), n)
			}
			for _, w := range []*bindings.Watcher{w, silent} {
				lease := begin(t, w)
				checkGeneration(t, lease, n+1)
				lease.Close()
			}
		}
		w.Close()
		build(t, path, generation(9))
		time.Sleep(time.Hour)
		if news.Load() != 3 {
			t.Errorf("%d news, some of them after Close", news.Load())
		}
	})
}

// Notify is called once for a new file, and once for each reason why a file is rejected.
func TestNotifyReportsEachChangeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	synctest.Test(t, func(t *testing.T) {
		news := make(chan error, 3) // one for each poll
		w, err := bindings.Watch(path, bindings.WatchOptions{Interval: time.Minute, Notify: func(err error) {
			news <- err
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		looks := func(want error) {
			t.Helper()
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			if len(news) != 1 {
				t.Fatalf("notified %d times, expected once", len(news))
			}
			if err := <-news; !errors.Is(err, want) {
				t.Errorf("notified of %v, expected %v", err, want)
			}
		}
		replace(t, path, []byte("not a snapshot"))
		looks(bindings.ErrFormat)
		build(t, path, generation(2))
		looks(nil)
		lease := begin(t, w)
		defer lease.Close()
		checkGeneration(t, lease, 2)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		looks(fs.ErrNotExist)
	})
}

// Close waits for a running call of Notify.
func TestCloseWaitsForNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	synctest.Test(t, func(t *testing.T) {
		var told, closed bool
		heard := make(chan struct{})
		w, err := bindings.Watch(path, bindings.WatchOptions{Notify: func(error) { told = true; <-heard }})
		if err != nil {
			t.Fatal(err)
		}
		build(t, path, generation(2))
		time.Sleep(time.Second)
		go func() { w.Close(); closed = true }()
		synctest.Wait()
		if !told || closed {
			t.Errorf("while Notify has not returned: told is %t, closed is %t", told, closed)
		}
		close(heard)
		synctest.Wait()
		if !closed {
			t.Error("the watcher is not closed")
		}
	})
}

// The default interval for environments is one second too. Notify is called once for each new file.
func TestEnvironmentsArePolledEverySecond(t *testing.T) {
	dir := t.TempDir()
	environment(t, dir, "a", "first")
	environment(t, dir, "b", "first")
	synctest.Test(t, func(t *testing.T) {
		var news atomic.Int32
		all, err := bindings.OpenEnvironments(dir, bindings.WatchOptions{Notify: func(err error) {
			if news.Add(1); err != nil {
				t.Error(err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for n, says := range []string{"first", "second", "third"} {
			for _, name := range []string{"a", "b"} {
				got := environmentOf(t, all, asking(t, name, `{}`))
				if want := says + " " + name; got != want || news.Load() != int32(n) {
					t.Errorf("%s is %s after %d news, expected %s after %d", name, got, news.Load(), want, n)
				}
			}
			if n == 2 {
				break
			}
			environment(t, dir, "a", []string{"second", "third"}[n])
			environment(t, dir, "b", []string{"second", "third"}[n])
			time.Sleep(time.Second)
			synctest.Wait()
		}
		all.Close()
		environment(t, dir, "a", "last")
		time.Sleep(time.Hour)
		if news.Load() != 2 {
			t.Errorf("%d news, some of them after Close", news.Load())
		}
	})
}
