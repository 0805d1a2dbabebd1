package runtime

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bindc/diag"
	"bindc/internal/envfile"
	"bindc/internal/lookup"
)

// Environments answers requests from a directory that has a snapshot DIR/NAME.snap for each environment. bindc
// environments writes such a directory. The program in DIR/.environments chooses the environment of a request by its
// facts. Without that file, the environment is the one that the agent requests, or production.
//
// The first request for an environment opens its snapshot and follows it as a Watcher does. Environments are added and
// removed as their files appear and disappear, and a new program replaces the old one. All methods may be called
// concurrently.
type Environments struct {
	dir     string
	opts    WatchOptions
	program atomic.Pointer[envfile.Choice] // nil once closed
	stop    func()

	mu       sync.RWMutex // guards watchers
	watchers map[string]*Watcher

	looking sync.Mutex // held while polling the program; guards closed, seen and refused
	closed  bool
	seen    fs.FileInfo // file of the program; nil if it must be read again
	refused error       // why the program in seen was rejected; nil if it was not
}

// OpenEnvironments opens the environments in dir and follows them until Close. opts apply to every snapshot. Accept is
// also called for the program. Interval is the time between two polls of the directory. Notify is called with nil if a
// file or the program was replaced, and with the error if it was rejected. OpenEnvironments returns the errors of Open,
// for the program.
func OpenEnvironments(dir string, opts WatchOptions) (*Environments, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	e := &Environments{dir: dir, opts: opts, stop: func() {}, watchers: map[string]*Watcher{}}
	if _, err := e.choose(); err != nil {
		return nil, err
	}
	if opts.Interval >= 0 {
		e.stop = poll(cmp.Or(opts.Interval, time.Second), reporter(e.Check, opts.Notify))
	}
	return e, nil
}

// Request is like Snapshot.Request, in the environment of facts. The caller must close the Lease. The error is an
// *Error, with the code environment if the environment does not exist; an error of Open; or fs.ErrClosed after Close.
func (e *Environments) Request(facts *Facts) (*Lease, error) {
	name, facts, err := e.Choose(facts)
	if err != nil {
		return nil, err
	}
	for {
		w, err := e.watcher(name)
		if err != nil {
			return nil, err
		}
		l, err := w.Request(facts)
		if errors.Is(err, fs.ErrClosed) {
			continue // the environment was just removed; after Close, watcher fails
		}
		return l, err
	}
}

// Choose returns the name of the environment for facts, and facts with the variable environment set to it. The
// environment need not exist. The error is an *Error, or fs.ErrClosed.
func (e *Environments) Choose(facts *Facts) (name string, chosen *Facts, err error) {
	c := e.program.Load()
	switch {
	case c == nil:
		return "", nil, fs.ErrClosed
	case facts == nil:
		return "", nil, &Error{Code: CodeFacts, Message: "expected the facts of a node, found none (nil)"}
	}
	given := (*lookup.Facts)(facts)
	name, err = c.Choose(given.Variable, given.Agent())
	if err != nil {
		return "", nil, &Error{Code: CodeEnvironment, Message: "cannot choose an environment: " + err.Error(), Err: err}
	}
	return name, (*Facts)(given.In(name)), nil
}

// Variables returns the sorted names of the variables that the choice of an environment can depend on, and of those
// that they are derived from. After Close, it returns nil.
func (e *Environments) Variables() []string {
	c := e.program.Load()
	if c == nil {
		return nil
	}
	return lookup.WithSources(c.Variables())
}

// Names returns the sorted names of the environments that have a snapshot.
func (e *Environments) Names() ([]string, error) {
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), envfile.Extension); ok && envfile.IsName(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// watcher returns the watcher of an environment's snapshot. It opens the snapshot on first use.
func (e *Environments) watcher(name string) (*Watcher, error) {
	e.mu.RLock()
	w := e.watchers[name]
	e.mu.RUnlock()
	if w != nil {
		return w, nil
	}
	if !envfile.IsName(name) {
		return nil, e.unknown(name)
	}
	return e.follow(name)
}

// follow opens the watcher of an environment for which watcher found none.
func (e *Environments) follow(name string) (*Watcher, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.program.Load() == nil {
		return nil, fs.ErrClosed
	}
	if w := e.watchers[name]; w != nil { // another request has just opened the environment
		return w, nil
	}
	opts := e.opts
	opts.Interval, opts.Notify = -1, nil // Environments.Check polls all watchers
	w, err := Watch(e.path(name), opts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e.unknown(name)
	}
	if err == nil {
		e.watchers[name] = w
	}
	return w, err
}

func (e *Environments) path(name string) string { return filepath.Join(e.dir, name+envfile.Extension) }

// unknown returns the error for an environment without a snapshot. The message lists those that have one.
func (e *Environments) unknown(name string) error {
	names, _ := e.Names()
	message := fmt.Sprintf("there is no environment '%s'", name)
	declared := func(d envfile.Environment) bool { return d.Name == name }
	if c := e.program.Load(); c != nil && slices.ContainsFunc(c.Environments, declared) {
		message = fmt.Sprintf("the environment '%s' has no snapshot: it was never built without an error", name)
	}
	hint := diag.DidYouMean(name, names)
	if len(names) > 0 {
		message += "; there is " + diag.QuotedFor(hint, names)
	} else {
		message += "; there is no file " + e.path(name)
	}
	if hint != "" {
		message += "; " + hint
	}
	return &Error{Code: CodeEnvironment, Message: message}
}

// Check polls the directory now, as Watcher.Check polls a file. switched reports whether the program or a snapshot was
// replaced, or a snapshot was removed. The error joins the errors of all rejected files.
func (e *Environments) Check() (switched bool, err error) {
	switched, err = e.choose()
	e.mu.RLock()
	watchers := maps.Clone(e.watchers)
	e.mu.RUnlock()
	errs := []error{err}
	for _, name := range slices.Sorted(maps.Keys(watchers)) {
		news, err := watchers[name].Check()
		if errors.Is(err, fs.ErrNotExist) {
			e.drop(name)
			news, err = true, nil
		}
		switched = switched || news
		if !errors.Is(err, fs.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return switched, errors.Join(errs...)
}

// drop stops following an environment whose file was removed. Requests that have begun may still be finished.
func (e *Environments) drop(name string) {
	e.mu.Lock()
	w := e.watchers[name]
	delete(e.watchers, name)
	e.mu.Unlock()
	if w != nil {
		w.Close()
	}
}

// choose reads the program in the directory if its file has changed. If the file was removed, the previous program
// stays in use.
func (e *Environments) choose() (switched bool, err error) {
	e.looking.Lock()
	defer e.looking.Unlock()
	if e.closed {
		return false, fs.ErrClosed
	}
	path := filepath.Join(e.dir, envfile.File)
	now, err := os.Stat(path) // an error is ignored, because then reading fails too
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.seen == nil:
		e.program.CompareAndSwap(nil, &envfile.Choice{Program: envfile.AgentProgram()})
		return false, nil
	case same(now, e.seen):
		return false, e.refused
	}
	c, err := envfile.Read(path, func(content []byte) error {
		if e.opts.Accept == nil {
			return nil
		}
		return e.opts.Accept(path, sha256.Sum256(content))
	})
	err = inFile(path, err)
	if err == nil || unsound(err) {
		e.seen, e.refused = now, err
	}
	if err != nil {
		return false, err // poll again: the signature may be written after the file
	}
	e.program.Store(c)
	return true, nil
}

// Close stops following all environments, as Watcher.Close does for one file. Further calls do nothing. The error is
// always nil.
func (e *Environments) Close() error {
	e.stop()
	e.looking.Lock()
	defer e.looking.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.program.Store(nil)
	for _, w := range e.watchers {
		w.Close()
	}
	clear(e.watchers)
	return nil
}
