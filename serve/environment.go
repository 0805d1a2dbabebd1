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

// environments follows the snapshots that clients ask for: a single file, or one file per environment in a directory.
// No goroutine holds mu while it reads a snapshot, so that environments do not delay each other.
type environments struct {
	opts       *Options
	mu         sync.Mutex
	retryAfter time.Duration           // when to retry a file that failed to open and has not changed
	open       map[string]*environment // environments by path, including those that failed to open
	choice     *bindings.Environments  // choice of environments in a directory; set by the first request

	beforeSession func() // set by tests: called before a session opens, after the needs of its snapshot were read
}

// environment follows one snapshot.
type environment struct {
	name string // "" if one snapshot is for all environments
	path string

	// The first caller opens the environment; others wait until ready is closed. The next three fields describe a
	// failure to open it.
	ready      chan struct{}
	err        error
	failedFile fs.FileInfo // the file that could not be opened; nil if it does not exist
	failedAt   time.Time

	mu      sync.Mutex
	watcher *bindings.Watcher
	info    *snapshotInfo // survey of the active file; nil before the first survey
}

// openChoice returns the choice of environments of a directory, or nil if Path is a single snapshot.
func (e *environments) openChoice() (*bindings.Environments, error) {
	if info, err := os.Stat(e.opts.Path); err != nil || !info.IsDir() {
		return nil, nil // opening the snapshot will report the error
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

// get returns the environment with the given name and follows its snapshot from then on.
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

// infoOf returns the environment with the given name and the survey of its active file.
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
		e.drop(env) // another goroutine may have done so already
	}
}

// openOnce returns the environment at path. It opens the environment if none is open, or if the open one is old, the
// environment that failed to open.
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
	if env.err != nil && env.failedFile == nil { // otherwise wrong names could fill the memory
		e.forget(env)
	}
	return env
}

// mayTryAgain reports whether opening the environment failed and is worth another try, because the file has changed or
// the given time has passed.
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

// openError turns the error of opening an environment into the answer for clients, and logs it. The environment keeps
// the answer, so each failure is logged once.
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

// suggest returns a hint with a similar name, if an environment has one.
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

// follow opens, verifies and follows the snapshot of an environment. It has to verify the first file, because a Watcher
// only verifies the files that replace it.
func (e *environments) follow(env *environment) error {
	if err := env.watch(e.opts.Snapshot, func(err error) { e.onChange(env, err) }); err != nil {
		return err
	}
	e.onChange(env, nil)
	return nil
}

// watch opens the watcher of the environment. Afterwards, notify is called for each new file.
func (e *environment) watch(opts bindings.WatchOptions, notify func(error)) error {
	opts.Notify = func(err error) { e.forward(err, notify) }
	e.mu.Lock()
	watcher, err := bindings.Watch(e.path, opts)
	if err == nil {
		err = e.startFollowing(watcher)
	}
	e.mu.Unlock()
	if err != nil && watcher != nil {
		watcher.Close() // waits for a running call of Notify, which waits for mu
	}
	return err
}

// startFollowing verifies the watcher's snapshot and then follows it. The caller must hold mu.
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

// forward passes a watcher's report to notify if the environment follows that watcher. Any other watcher is about to be
// closed.
func (e *environment) forward(err error, notify func(error)) {
	if e.isOpen() {
		notify(err)
	}
}

// isOpen reports whether the environment is open. It waits while another goroutine opens the environment.
func (e *environment) isOpen() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watcher != nil
}

// onChange surveys a new active file before the next question needs the survey, which also releases the previous file.
// It drops an environment whose file is gone.
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
		go e.drop(env) // in another goroutine, because drop waits for this call to return
	}
}

// drop stops following an environment. Its open sessions continue.
func (e *environments) drop(env *environment) {
	e.forget(env)
	env.watcher.Close()
}

// forget removes an environment, so that the next question opens its file again.
func (e *environments) forget(env *environment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[env.path] == env {
		delete(e.open, env.path)
	}
}

// close stops following all environments. The caller ensures that no goroutine is opening one.
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

// currentInfo returns the survey of the active file.
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

// unusable returns the answer to clients for an error of the snapshot at path. Its message includes the fix.
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

// currentUser names the user that this process runs as.
func currentUser() string {
	if u, err := user.Current(); err == nil {
		return "the user '" + u.Username + "'"
	}
	return fmt.Sprintf("the user %d", os.Getuid())
}
