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
	"bindc/internal/choice"
	bindings "bindc/runtime"
)

// environments follows the snapshots that clients ask for: one per environment in a directory, or a single file. No
// goroutine holds mu while it reads a snapshot, so that environments do not delay each other.
type environments struct {
	opts   *Options
	mu     sync.Mutex
	until  time.Duration           // how long a file that could not be opened is not tried again, unless it changes
	open   map[string]*environment // by path, including those that could not be opened
	choose *bindings.Environments  // for a directory, after the first request

	between func() // runs between reading the needs of a snapshot and opening a session: for tests
}

// environment follows one snapshot.
type environment struct {
	name string // "" if one snapshot is for all environments
	path string

	// The first caller opens it, and others wait until ready is closed. If it could not be opened, the fields below
	// have the error.
	ready chan struct{}
	err   error
	seen  fs.FileInfo // the file that could not be opened; nil if it does not exist
	tried time.Time

	mu      sync.Mutex
	watcher *bindings.Watcher
	last    *known // for the active file; nil if not known yet
}

// chooser returns the choice of environments; nil if one snapshot is for all environments.
func (e *environments) chooser() (*bindings.Environments, error) {
	if info, err := os.Stat(e.opts.Path); err != nil || !info.IsDir() {
		return nil, nil // opening the file reports any error
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.choose != nil {
		return e.choose, nil
	}
	opts := e.opts.Snapshot
	opts.Notify = func(err error) {
		if err != nil {
			e.opts.Report(Event{What: Refused, Err: err})
		}
	}
	choose, err := bindings.OpenEnvironments(e.opts.Path, opts)
	if err != nil {
		e.opts.Report(Event{What: Refused, Err: err})
		return nil, unusable(e.opts.Path, err)
	}
	e.choose = choose
	return choose, nil
}

// get returns the environment with that name, and follows it from now on.
func (e *environments) get(name string) (*environment, error) {
	if !choice.Named(name) {
		return nil, failed(bindings.CodeEnvironment,
			"expected the name of an environment, up to 200 letters, digits, _, . and -, found '"+name+"'")
	}
	path := e.opts.Path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, name+".snap")
	} else {
		name = ""
	}
	env := e.entry(name, path, nil)
	if env.mayTryAgain(e.until) {
		env = e.entry(name, path, env)
	}
	<-env.ready
	return env, env.err
}

// known returns the environment of that name, with the data about its active file.
func (e *environments) known(name string) (*environment, *known, error) {
	for {
		env, err := e.get(name)
		if err != nil {
			return nil, nil, err
		}
		k, err := env.known()
		if !errors.Is(err, fs.ErrClosed) {
			return env, k, err
		}
		e.drop(env) // or somebody else does
	}
}

// entry returns the environment at path. If there is none, or only old, which failed, entry opens it.
func (e *environments) entry(name, path string, old *environment) *environment {
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
	env.seen, _ = os.Stat(path)
	env.err = e.failure(env, e.follow(env))
	env.tried = time.Now()
	if env.err != nil && env.seen == nil { // do not keep names that do not exist
		e.forget(env)
	}
	return env
}

// mayTryAgain reports whether opening the environment failed but is worth another try: the file has changed, or the
// time until has passed.
func (e *environment) mayTryAgain(until time.Duration) bool {
	<-e.ready
	if e.err == nil {
		return false
	}
	now, _ := os.Stat(e.path)
	same := os.SameFile(now, e.seen) && now.Size() == e.seen.Size() && now.ModTime().Equal(e.seen.ModTime())
	return !same || time.Since(e.tried) > until
}

// failure returns the error for questions about an environment that could not be opened, and reports it to the log. The
// caller keeps the error, so that it is reported once.
func (e *environments) failure(env *environment, err error) error {
	switch {
	case err == nil:
		return nil
	case env.name != "" && errors.Is(err, fs.ErrNotExist):
		return failed(bindings.CodeEnvironment, "there is no snapshot of environment '"+env.name+
			"': expected "+env.path+", which bindc build makes"+e.beside(env.name))
	}
	e.opts.Report(Event{What: Refused, Environment: env.name, Err: err})
	return unusable(env.path, err)
}

// beside suggests an existing environment for name.
func (e *environments) beside(name string) string {
	e.mu.Lock()
	choose := e.choose
	e.mu.Unlock()
	if choose == nil {
		return ""
	}
	there, _ := choose.Names()
	hint := diag.DidYouMean(name, there)
	if hint == "" {
		return ""
	}
	return "; " + hint
}

// follow opens the snapshot of an environment, verifies all of it, and follows it. (A Watcher verifies only the files
// that replace the first one.)
func (e *environments) follow(env *environment) error {
	if err := env.watch(e.opts.Snapshot, func(err error) { e.changed(env, err) }); err != nil {
		return err
	}
	e.changed(env, nil)
	return nil
}

// watch opens the watcher of the environment. If that succeeds, notify is called for each new file.
func (e *environment) watch(opts bindings.WatchOptions, notify func(error)) error {
	opts.Notify = func(err error) { e.notified(err, notify) }
	e.mu.Lock()
	watcher, err := bindings.Watch(e.path, opts)
	if err == nil {
		err = e.begin(watcher)
	}
	e.mu.Unlock()
	if err != nil && watcher != nil {
		watcher.Close() // waits for a running call of Notify, which waits for mu
	}
	return err
}

// begin follows a watcher whose file is sound. The caller holds mu.
func (e *environment) begin(watcher *bindings.Watcher) error {
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

// notified passes on what a watcher reports, unless the environment does not follow it: such a watcher is about to be
// closed.
func (e *environment) notified(err error, notify func(error)) {
	if e.follows() {
		notify(err)
	}
}

// follows reports whether the environment is open. While another goroutine opens it, follows waits.
func (e *environment) follows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watcher != nil
}

// changed surveys the active file before the next question needs it, and releases the previous file. If the file of an
// environment is gone, changed drops the environment.
func (e *environments) changed(env *environment, err error) {
	ev := Event{What: Refused, Environment: env.name, Err: err}
	if err == nil {
		ev.What = Switched
		var k *known
		if k, ev.Err = env.known(); k != nil {
			ev.Digest = k.digest
		}
	}
	e.opts.Report(ev)
	if env.name != "" && errors.Is(err, fs.ErrNotExist) {
		go e.drop(env) // Close waits for this call, so it must run in another goroutine
	}
}

// drop stops following an environment. Its sessions continue.
func (e *environments) drop(env *environment) {
	e.forget(env)
	env.watcher.Close()
}

// forget removes an environment, so that the next question opens the file again.
func (e *environments) forget(env *environment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[env.path] == env {
		delete(e.open, env.path)
	}
}

// close stops following all environments for good. No goroutine may be opening one.
func (e *environments) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, env := range e.open {
		if env.err == nil {
			env.watcher.Close()
		}
	}
	if e.choose != nil {
		e.choose.Close()
	}
}

// known returns the data about the active file.
func (e *environment) known() (*known, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	snap, err := e.watcher.Snapshot()
	if err != nil {
		return nil, err
	}
	if e.last == nil || e.last.snapshot != snap {
		if e.last, err = survey(snap); err != nil {
			return nil, err
		}
	}
	return e.last, nil
}

// unusable returns the failure for the snapshot at path, with the fix.
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
		return failed(bindings.CodeFormat, err.Error()+"; expected a file that bindc build wrote")
	case errors.As(err, &system) && system.Path == path && errors.Is(err, fs.ErrPermission):
		return failed(codeMissing, fmt.Sprintf("cannot read the snapshot: %v; let %s read the file and enter its directories", err,
			me()))
	case errors.As(err, &system) && system.Path == path:
		return failed(codeMissing,
			fmt.Sprintf("cannot read the snapshot: %v; expected a file that bindc build wrote", err))
	}
	return failed(codeRefused, err.Error())
}

// me names the user that this process runs as.
func me() string {
	if u, err := user.Current(); err == nil {
		return "the user '" + u.Username + "'"
	}
	return fmt.Sprintf("the user %d", os.Getuid())
}
