package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"bindc/internal/choice"
	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	bindings "bindc/runtime"
)

// environments follows the snapshots that are asked for: of a directory that of each environment, else one.
type environments struct {
	opts   *Options
	mu     sync.Mutex
	open   map[string]*environment // by path
	choose *bindings.Environments  // of a directory, once somebody has asked
}

// environment follows one snapshot.
type environment struct {
	name    string // "" where there is one for all
	mu      sync.Mutex
	watcher *bindings.Watcher
	last    *known // of the file that answers; nil: not known yet
}

// known is what there is to know of a snapshot before it is asked.
type known struct {
	snapshot  *bindings.Snapshot
	digest    string
	variables []string // but for those below
	allFacts  bool
	trusted   bool
	locations int
	keys      []string // sorted
	roots     []string // of a site of Hiera 5, the keys without the quotes that some need; sorted
	merged    []string // sorted
}

// chooser chooses the environments of sessions; nil where there is one snapshot for all.
func (e *environments) chooser() (*bindings.Environments, error) {
	if info, err := os.Stat(e.opts.Path); err != nil || !info.IsDir() {
		return nil, nil // what is there, if anything, is said when it is opened
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

// get is the environment of that name, followed from now on.
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
	e.mu.Lock()
	defer e.mu.Unlock()
	if env := e.open[path]; env != nil {
		return env, nil
	}
	env, err := e.follow(name, path)
	switch {
	case err == nil:
		e.open[path] = env
		e.changed(env, path, nil)
		return env, nil
	case name != "" && errors.Is(err, fs.ErrNotExist):
		return nil, failed(bindings.CodeEnvironment,
			"there is no snapshot of environment '"+name+"': expected "+path+", which bindc build makes"+e.beside(name))
	}
	e.opts.Report(Event{What: Refused, Environment: name, Err: err})
	return nil, unusable(path, err)
}

// beside says which environments there are in place of name.
func (e *environments) beside(name string) string {
	if e.choose == nil {
		return ""
	}
	there, _ := e.choose.Names()
	hint := diag.DidYouMean(name, there)
	if hint == "" {
		return ""
	}
	return "; " + hint
}

// follow opens the snapshot at path, reads it from end to end, as a Watcher does those that replace it, and follows it.
func (e *environments) follow(name, path string) (*environment, error) {
	env := &environment{name: name}
	watch := e.opts.Snapshot
	watch.Notify = func(err error) { e.changed(env, path, err) }
	env.mu.Lock()
	defer env.mu.Unlock()
	var err error
	if env.watcher, err = bindings.Watch(path, watch); err != nil {
		return nil, err
	}
	snap, err := env.watcher.Snapshot()
	if err == nil {
		err = snap.Verify()
	}
	if err != nil {
		go env.watcher.Close() // which waits for a call of Notify, which waits for this
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return env, nil
}

// changed surveys the file that answers now, before anybody asks, and lets go of the one before. An environment whose
// file is gone is one no longer.
func (e *environments) changed(env *environment, path string, err error) {
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
		go e.drop(env, path) // closing waits for this call
	}
}

// drop ends following path. The sessions there go on.
func (e *environments) drop(env *environment, path string) {
	e.mu.Lock()
	if e.open[path] == env {
		delete(e.open, path)
	}
	e.mu.Unlock()
	env.watcher.Close()
}

func (e *environments) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, env := range e.open {
		env.watcher.Close()
	}
	clear(e.open)
	if e.choose != nil {
		e.choose.Close()
	}
}

// known is what is known of the file that answers now.
func (e *environment) known() (*known, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		snap, err := e.watcher.Snapshot()
		if err != nil {
			return nil, err
		}
		if e.last != nil && e.last.snapshot == snap {
			return e.last, nil
		}
		e.last = nil
		k, err := survey(snap)
		if err == nil {
			e.last = k
			return k, nil
		}
		if !errors.Is(err, fs.ErrClosed) {
			return nil, err
		}
	}
}

// chosenBy is k with what the choice of an environment needs to know of the node. Another choice needs other things:
// the digest tells.
func (k *known) chosenBy(choose *bindings.Environments) *known {
	if choose == nil {
		return k
	}
	names := choose.Variables()
	if len(names) == 0 {
		return k
	}
	out := *k
	out.digest += "+" + strings.Join(names, ",")
	out.variables = slices.Clone(k.variables)
	for _, name := range names {
		switch name {
		case "facts":
			out.allFacts = true
		case "trusted":
			out.trusted = true
		default:
			out.variables = append(out.variables, name)
		}
	}
	slices.Sort(out.variables)
	out.variables = slices.Compact(out.variables)
	return &out
}

func survey(snap *bindings.Snapshot) (*known, error) {
	k := &known{snapshot: snap, digest: snap.Digest(), variables: []string{}}
	names, merged, locations, err := snap.Needs()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		switch name {
		case "facts":
			k.allFacts = true
		case "trusted":
			k.trusted = true
		default:
			k.variables = append(k.variables, name)
		}
	}
	k.merged, k.locations = merged, locations
	k.keys = slices.Collect(snap.Keys())
	if len(merged) > 0 && !slices.Contains(k.keys, lookupOptions) {
		k.keys = append(k.keys, lookupOptions)
	}
	slices.Sort(k.keys)
	if snap.Hiera() {
		k.roots = roots(k.keys)
	}
	return k, nil
}

// roots are keys as data has them, lookup_options among them.
func roots(keys []string) []string {
	out := []string{lookupOptions}
	for _, key := range keys {
		if k, err := lookupkey.Parse(key); err == nil && len(k.Path) == 0 {
			out = append(out, k.Root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// below ranges over the keys that begin with prefix, with direct only those that have no :: behind it; as they are
// listed, or as data has them.
func (k *known) below(prefix string, direct, bare bool) []string {
	all := k.keys
	if bare && k.roots != nil {
		all = k.roots
	}
	from, _ := slices.BinarySearch(all, prefix)
	var out []string
	for _, key := range all[from:] {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			break
		}
		if !direct || !strings.Contains(rest, "::") {
			out = append(out, key)
		}
	}
	return out
}

// unusable says why the snapshot at path does not answer, and what to do.
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
	case errors.As(err, &system) && system.Path == path:
		return failed(codeMissing,
			fmt.Sprintf("cannot read the snapshot: %v; expected a file that bindc build wrote", err))
	}
	return failed(codeRefused, err.Error())
}
