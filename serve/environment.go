package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"time"

	"bindc/diag"
	"bindc/internal/envfile"
	bindings "bindc/runtime"
)

// environments follows the snapshots that clients use: a single file, or one file per environment in a directory. mu is
// never held while a snapshot is read, so that environments do not delay each other.
type environments struct {
	opts       *Options
	mu         sync.Mutex
	retryAfter time.Duration           // delay before retrying an unchanged file that failed to open
	open       map[string]*environment // by path; includes environments that failed to open
	choice     *bindings.Environments  // nil for a single file, or before the first request

	beforeSession func() // test hook: called before a session opens, after the survey of its snapshot
}

type environment struct {
	name string // "" if all environments use one snapshot
	path string

	// The first caller opens the environment; others wait until ready is closed. The other three fields are set if it
	// failed to open.
	ready      chan struct{}
	err        error
	failedFile fs.FileInfo // nil if the file does not exist
	failedAt   time.Time

	mu      sync.Mutex
	watcher *bindings.Watcher
	info    *snapshotInfo // survey of the current snapshot; nil before the first one
}

// openChoice returns the choice of environments in a directory, or nil if Path is a single snapshot. It opens the
// choice on first use.
func (e *environments) openChoice() (*bindings.Environments, error) {
	if info, err := os.Stat(e.opts.Path); err != nil || !info.IsDir() {
		return nil, nil // opening the snapshot reports the error
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.choice != nil {
		return e.choice, nil
	}
	opts := e.opts.Snapshot
	opts.Notify = func(err error) {
		if err != nil {
			e.opts.Report(Event{What: Refused, Err: err})
		}
	}
	choice, err := bindings.OpenEnvironments(e.opts.Path, opts)
	if err != nil {
		e.opts.Report(Event{What: Refused, Err: err})
		return nil, unusable(e.opts.Path, err)
	}
	e.choice = choice
	return choice, nil
}

// get returns the environment with the given name. On first use, it opens and follows the snapshot.
func (e *environments) get(name string) (*environment, error) {
	if !envfile.IsName(name) {
		return nil, failed(bindings.CodeEnvironment,
			"expected an environment name, up to 200 letters, digits, _, . and -, found '"+name+"'")
	}
	path := e.opts.Path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, name+".snap")
	} else {
		name = ""
	}
	env := e.openOnce(name, path, nil)
	if env.mayTryAgain(e.retryAfter) {
		env = e.openOnce(name, path, env)
	}
	<-env.ready
	return env, env.err
}

// infoOf returns the environment with the given name and the survey of its current snapshot.
func (e *environments) infoOf(name string) (*environment, *snapshotInfo, error) {
	for {
		env, err := e.get(name)
		if err != nil {
			return nil, nil, err
		}
		k, err := env.currentInfo()
		if !errors.Is(err, fs.ErrClosed) {
			return env, k, err
		}
		e.drop(env) // another goroutine may have dropped env already
	}
}

// openOnce returns the environment at path, opening it if necessary. If old is not nil, it failed to open, and is
// replaced by another attempt.
func (e *environments) openOnce(name, path string, old *environment) *environment {
	e.mu.Lock()
	env := e.open[path]
	if env != nil && env != old {
		e.mu.Unlock()
		return env
	}
	env = &environment{name: name, path: path, ready: make(chan struct{})}
	e.open[path] = env
	e.mu.Unlock()
	defer close(env.ready)
	env.failedFile, _ = os.Stat(path)
	env.err = e.openError(env, e.follow(env))
	env.failedAt = time.Now()
	if env.err != nil && env.failedFile == nil { // forget wrong names, which could fill the memory
		e.forget(env)
	}
	return env
}

// mayTryAgain reports whether the environment failed to open and another attempt is worthwhile: the file has changed,
// or the given time has passed.
func (e *environment) mayTryAgain(after time.Duration) bool {
	<-e.ready
	if e.err == nil {
		return false
	}
	now, _ := os.Stat(e.path)
	old := e.failedFile
	same := os.SameFile(now, old) && now.Size() == old.Size() && now.ModTime().Equal(old.ModTime())
	return !same || time.Since(e.failedAt) > after
}

// openError converts an error of follow to the answer for clients, and reports it to the log. It is called once for
// each failure, because the environment keeps the answer.
func (e *environments) openError(env *environment, err error) error {
	switch {
	case err == nil:
		return nil
	case env.name != "" && errors.Is(err, fs.ErrNotExist):
		return failed(bindings.CodeEnvironment, "no snapshot for environment '"+env.name+
			"': expected "+env.path+"; create it with bindc build"+e.suggest(env.name))
	}
	e.opts.Report(Event{What: Refused, Environment: env.name, Err: err})
	return unusable(env.path, err)
}

// suggest returns a hint with the environment whose name is most similar to name, or "".
func (e *environments) suggest(name string) string {
	e.mu.Lock()
	choice := e.choice
	e.mu.Unlock()
	if choice == nil {
		return ""
	}
	names, _ := choice.Names()
	hint := diag.DidYouMean(name, names)
	if hint == "" {
		return ""
	}
	return "; " + hint
}

// follow opens, verifies and follows the snapshot of an environment. It must verify the first file, because a Watcher
// only verifies files that replace it.
func (e *environments) follow(env *environment) error {
	if err := env.watch(e.opts.Snapshot, func(err error) { e.onChange(env, err) }); err != nil {
		return err
	}
	e.onChange(env, nil)
	return nil
}

// watch opens the watcher of the environment. From then on, notify is called for each new file.
func (e *environment) watch(opts bindings.WatchOptions, notify func(error)) error {
	opts.Notify = func(err error) { e.forward(err, notify) }
	e.mu.Lock()
	watcher, err := bindings.Watch(e.path, opts)
	if err == nil {
		err = e.startFollowing(watcher)
	}
	e.mu.Unlock()
	if err != nil && watcher != nil {
		watcher.Close() // after Unlock, because Close waits for a running call of Notify, which waits for mu
	}
	return err
}

// startFollowing verifies the snapshot of watcher, and then sets e.watcher. The caller must hold mu.
func (e *environment) startFollowing(watcher *bindings.Watcher) error {
	snap, err := watcher.Snapshot()
	if err == nil {
		err = snap.Verify()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	e.watcher = watcher
	return nil
}

// forward calls notify if the environment uses its watcher. Otherwise the watcher is about to be closed.
func (e *environment) forward(err error, notify func(error)) {
	if e.isOpen() {
		notify(err)
	}
}

// isOpen reports whether the environment is open. It waits while another goroutine opens it.
func (e *environment) isOpen() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watcher != nil
}

// onChange reports a new or a rejected file to the log. It surveys a new file at once, which also releases the previous
// one. If the file was removed, it drops the environment.
func (e *environments) onChange(env *environment, err error) {
	ev := Event{What: Refused, Environment: env.name, Err: err}
	if err == nil {
		ev.What = Switched
		var k *snapshotInfo
		if k, ev.Err = env.currentInfo(); k != nil {
			ev.Digest = k.digest
		}
	}
	e.opts.Report(ev)
	if env.name != "" && errors.Is(err, fs.ErrNotExist) {
		go e.drop(env) // drop waits for this call to return
	}
}

// drop stops following env. Open sessions continue.
func (e *environments) drop(env *environment) {
	e.forget(env)
	env.watcher.Close()
}

// forget removes env from the open environments, so that the next question opens its file again.
func (e *environments) forget(env *environment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[env.path] == env {
		delete(e.open, env.path)
	}
}

// close stops following all environments. No goroutine may be opening one.
func (e *environments) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, env := range e.open {
		if env.err == nil {
			env.watcher.Close()
		}
	}
	if e.choice != nil {
		e.choice.Close()
	}
}

// currentInfo returns the survey of the current snapshot, and surveys the snapshot if necessary.
func (e *environment) currentInfo() (*snapshotInfo, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	snap, err := e.watcher.Snapshot()
	if err != nil {
		return nil, err
	}
	if e.info == nil || e.info.snapshot != snap {
		if e.info, err = survey(snap); err != nil {
			return nil, err
		}
	}
	return e.info, nil
}

// unusable converts an error of the snapshot at path to the answer for clients. The message includes the fix.
func unusable(path string, err error) *failure {
	var known *bindings.Error
	var damage *bindings.DamageError
	var system *fs.PathError
	switch {
	case errors.As(err, &known):
		return failed(known.Code, err.Error())
	case errors.As(err, &damage):
		return failed(bindings.CodeDamaged, err.Error()+"; build it again, or copy it again")
	case errors.Is(err, bindings.ErrVersion):
		return failed(bindings.CodeVersion, err.Error())
	case errors.Is(err, bindings.ErrFormat):
		return failed(bindings.CodeFormat, err.Error()+"; expected a file written by bindc build")
	case errors.As(err, &system) && system.Path == path && errors.Is(err, fs.ErrPermission):
		return failed(codeMissing, fmt.Sprintf("cannot read the snapshot: %v; let %s read the file and enter its directories",
			err, currentUser()))
	case errors.As(err, &system) && system.Path == path:
		return failed(codeMissing,
			fmt.Sprintf("cannot read the snapshot: %v; expected a file written by bindc build", err))
	}
	return failed(codeRefused, err.Error())
}

func currentUser() string {
	if u, err := user.Current(); err == nil {
		return "the user '" + u.Username + "'"
	}
	return fmt.Sprintf("the user %d", os.Getuid())
}
