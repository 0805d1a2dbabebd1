package runtime

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"bindc/internal/lookup"
)

// Watcher follows a path and answers requests from the current snapshot there, so that a program need not be restarted
// when its site is built again. The file must be replaced as a whole, by renaming another file over it (as bindc build
// does) or by changing a symbolic link. If a file is overwritten in place, it changes during the requests that read it.
// Neither a Watcher nor an open Snapshot can prevent that, unless Options.Copy is set.
//
// All methods may be called concurrently. A request uses the same snapshot until it is closed. A snapshot that was
// replaced is closed with its last request.
type Watcher struct {
	path    string
	opts    WatchOptions
	current atomic.Pointer[shared] // nil once closed
	stop    func()                 // ends polling, after any running poll; may be called more than once

	mu      sync.Mutex  // held during a poll; guards seen and refused
	seen    fs.FileInfo // the file that the last poll found; nil to open the file in the next poll
	refused error       // why the file in seen was rejected; nil if it was not
}

// WatchOptions configures a Watcher or Environments. The zero value is the default.
type WatchOptions struct {
	Options // for every snapshot that the Watcher opens

	// Interval is the time between two polls of the path. 0 means one second. If it is negative, the path is only
	// polled by Check.
	Interval time.Duration
	// Notify is called after a poll, other than by Check, that changed something: with nil if a new file is in use, and
	// with the error if the file was rejected. It is called once for each reason to reject files. Calls do not overlap.
	// Notify must not call Close.
	Notify func(error)
}

// Watch opens the snapshot at path as Open does, and follows the path until Close. It uses a new file only after Verify
// has read it completely. It returns the errors of Open.
func Watch(path string, opts WatchOptions) (*Watcher, error) {
	w := &Watcher{path: path, opts: opts, stop: func() {}}
	snap, err := w.open(func(*Snapshot) error { return nil })
	if err != nil {
		return nil, err
	}
	w.current.Store(&shared{snap: snap})
	if opts.Interval >= 0 {
		w.stop = poll(cmp.Or(opts.Interval, time.Second), reporter(w.Check, opts.Notify))
	}
	return w, nil
}

// Request is like Snapshot.Request, with the current snapshot. The caller must close the Lease. Request returns the
// errors of Snapshot.Request, and fs.ErrClosed after Close.
func (w *Watcher) Request(facts *Facts) (*Lease, error) {
	for {
		s := w.current.Load()
		if s == nil {
			return nil, fs.ErrClosed
		}
		if !s.acquire() {
			continue // the snapshot was just replaced
		}
		l := &Lease{source: s}
		if err := l.engine().Begin(s.snap.engine(), &l.closed, (*lookup.Facts)(facts)); err != nil {
			s.release()
			return nil, err
		}
		return l, nil
	}
}

// Snapshot returns the current snapshot. After that is replaced, it is closed with the last of its requests. The error
// is fs.ErrClosed after Close.
func (w *Watcher) Snapshot() (*Snapshot, error) {
	if s := w.current.Load(); s != nil {
		return s.snap, nil
	}
	return nil, fs.ErrClosed
}

// Check polls the path now. If it finds another file that Verify accepts, it uses that file from now on and returns
// true. If it rejects the file at the path, the previous file stays in use, and the error is that of Open or Verify. A
// damaged file is not read a second time. After Close, the error is fs.ErrClosed.
func (w *Watcher) Check() (switched bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.current.Load()
	if old == nil {
		return false, fs.ErrClosed
	}
	if now, _ := os.Stat(w.path); same(now, w.seen) {
		return false, w.refused
	}
	snap, err := w.open((*Snapshot).Verify)
	if err != nil {
		return false, err
	}
	w.current.Store(&shared{snap: snap})
	old.retire()
	return true, nil
}

// Close stops following the path. It waits for a running poll or call of Notify. Requests that have begun may be
// finished; the snapshot is closed with the last of them. Further calls do nothing. The error is always nil.
func (w *Watcher) Close() error {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.current.Swap(nil); s != nil {
		s.retire()
	}
	return nil
}

// open opens the file at the path and calls check. It remembers the file if opening it again would give the same
// result.
func (w *Watcher) open(check func(*Snapshot) error) (*Snapshot, error) {
	before, err := os.Stat(w.path)
	w.seen, w.refused = nil, nil
	if err != nil {
		return nil, err
	}
	snap, err := Open(w.path, w.opts.Options)
	if err == nil {
		if err = inFile(w.path, check(snap)); err != nil {
			snap.Close()
		}
	}
	after, _ := os.Stat(w.path)
	if (err == nil || unsound(err)) && same(before, after) {
		w.seen, w.refused = before, err
	}
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// unsound reports whether err is about the content of a file, so that it is useless to open the same file again.
func unsound(err error) bool {
	var damage *DamageError
	return errors.Is(err, ErrFormat) || errors.Is(err, ErrVersion) || errors.As(err, &damage)
}

// same reports whether a and b are the same unchanged file. A new file may have the inode number of a deleted one, and
// programs that copy files may set the modification time. So same also compares the time of the change.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changed(a) == changed(b)
}

// poll calls report at every tick, with the previous result of report, until stop is called. stop waits for a running
// call, and may be called more than once.
func poll(interval time.Duration, report func(before string) string) (stop func()) {
	done, tick := make(chan struct{}), time.NewTicker(interval).C // the garbage collector stops the ticker
	var running sync.WaitGroup
	running.Go(func() {
		for reported := ""; ; {
			select {
			case <-tick:
				reported = report(reported)
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		running.Wait()
	})
}

// reporter returns a function that calls check, and then notify if there is news. An error is not news if it has the
// same text as the error that was last reported.
func reporter(check func() (switched bool, err error), notify func(error)) func(before string) string {
	return func(before string) (reported string) {
		switched, err := check()
		if err != nil {
			reported = err.Error()
		}
		if notify != nil && (switched || reported != "" && reported != before) {
			notify(err)
		}
		return reported
	}
}

// Lease is a Request made by a Watcher or by Environments. Like a Request, it may be used by several goroutines. Values
// already looked up stay valid after Close.
type Lease struct {
	Request
	source *shared
	closed atomic.Bool
}

// Close ends the request. Later lookups return fs.ErrClosed. Further calls do nothing. l may be nil.
func (l *Lease) Close() {
	if l != nil && !l.closed.Swap(true) {
		l.source.release()
	}
}

// shared is a snapshot used by several requests. users is the number of these requests, plus the constant retired once
// the snapshot is retired. A request that begins after that sees a negative sum, and uses another snapshot.
type shared struct {
	snap  *Snapshot
	users atomic.Int64
}

// retired is added to users to retire a snapshot. It is so negative that no number of requests makes the sum positive
// or overflows it.
const retired = math.MinInt64 / 2

// acquire adds a request to users. It returns false if the snapshot is retired.
func (s *shared) acquire() bool {
	if s.users.Add(1) > 0 {
		return true
	}
	s.release()
	return false
}

// release reverses acquire. users may return to retired more than once, because acquire briefly adds requests to a
// retired snapshot.
func (s *shared) release() {
	if s.users.Add(-1) == retired {
		s.snap.Close()
	}
}

// retire prevents new requests, and closes the snapshot with its last request.
func (s *shared) retire() {
	if s.users.Add(retired) == retired {
		s.snap.Close()
	}
}
