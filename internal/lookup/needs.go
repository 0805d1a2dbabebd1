package lookup

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Needs returns what a client that queries the snapshot for others must know. variables lists the facts and other
// variables that a result can depend on, and those that they are derived from. If it includes facts, a result can
// depend on any fact. merged lists the keys that are bound to a multibinding in some request. locations is the largest
// number of candidates in one request of a key that may be an array or a hash, and at least 1. Needs reads all
// bindings, which takes a tenth of a second for a million of them. The error is a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Needs() (variables, merged []string, locations int, err error) {
	variables, _, merged, locations, err = s.NeedsOfScopes()
	return variables, merged, locations, err
}

// NeedsOfScopes is like Needs, and also returns the variables that a result reads from the scope of the caller. They
// are written as in the data: role, or ::role for a variable of the top scope. scoped omits facts, trusted,
// server_facts and environment. If some names are unknown, it lists all variables.
func (s *Snapshot) NeedsOfScopes() (variables, scoped, merged []string, locations int, err error) {
	if s.closed.Load() {
		return nil, nil, nil, 0, fs.ErrClosed
	}
	defer runtime.KeepAlive(s)
	sv, err := s.survey()
	if err != nil {
		return nil, nil, nil, 0, err
	}
	variables = sv.names()
	return variables, sv.scopedNames(variables), sv.merged, sv.locations, nil
}

func (s *Snapshot) survey() (*survey, error) {
	sv := &survey{s: s, variables: map[string]bool{}, scoped: map[string]bool{}, paths: map[string]bool{},
		recipes: make([]nature, s.file.Recipes())}
	return sv, s.file.Protect(sv.run)
}

// survey collects the results of Needs and Reads.
type survey struct {
	s         *Snapshot
	variables map[string]bool
	scoped    map[string]bool
	paths     map[string]bool // paths of variables that are read, such as os.family
	recipes   []nature        // by recipe number
	merges    map[uint32]bool
	merged    []string
	nested    []bool // by key number, whether a value may be an array or a hash
	locations int
}

// nature classifies the values that a recipe can have in any request.
type nature byte

const (
	unread nature = iota
	plain         // neither an array nor a hash
	nested        // possibly an array or a hash
	merged        // a multibinding
)

func (sv *survey) run() error {
	for i, d := range sv.s.dimensions {
		d.program.Variables(sv.variable)
		if sv.s.file.HasValues(i) { // otherwise no condition uses the dimension
			d.program.Scoped(sv.scopedVariable)
			d.program.Reads(sv.path)
		}
	}
	depths, err := sv.s.file.Depths()
	if err != nil {
		return err
	}
	sv.merges, sv.nested, sv.locations = map[uint32]bool{}, make([]bool, len(depths)), 1
	if err := sv.s.file.Survey(sv.bound); err != nil {
		return err
	}
	for n := range sv.merges {
		sv.merged = append(sv.merged, strings.Clone(sv.s.file.KeyName(n)))
	}
	slices.Sort(sv.merged)
	for n, depth := range depths {
		if sv.nested[n] && !sv.merges[uint32(n)] {
			sv.locations = max(sv.locations, depth)
		}
	}
	return nil
}

// WithSources returns the given variables and those that they are derived from, sorted and without environment.
func WithSources(variables []string) []string {
	sv := survey{variables: map[string]bool{}}
	for _, name := range variables {
		sv.variable(name)
	}
	return sv.names()
}

// variable records the name of a variable, and of those that it is derived from.
func (sv *survey) variable(name string) {
	if sv.variables[name] {
		return
	}
	sv.variables[strings.Clone(name)] = true
	for _, source := range sources(name) {
		sv.variable(source)
	}
}

func (sv *survey) path(name string, path []value.Value) {
	sv.paths[lookupkey.Dotted(name, path)] = true
}

func (sv *survey) scopedVariable(name string) {
	if !sv.scoped[name] {
		sv.scoped[strings.Clone(name)] = true
	}
}

// scopedNames returns the sorted variables that are read from the scope of the caller. If some of their names are
// unknown, it returns variables.
func (sv *survey) scopedNames(variables []string) []string {
	if sv.scoped[expr.AnyVariable] {
		return variables
	}
	out := []string{}
	for name := range sv.scoped {
		switch strings.TrimPrefix(name, "::") {
		case "facts", "trusted", "server_facts", "environment":
		default:
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// names returns the sorted names of the recorded variables, without environment: that is never a fact, even if a fact
// has this name.
func (sv *survey) names() []string {
	delete(sv.variables, "environment")
	out := make([]string, 0, len(sv.variables))
	for name := range sv.variables {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// bound records the variables that b uses, and the nature of its value.
func (sv *survey) bound(b snapshot.Bound) (err error) {
	is := plain
	n, computed := b.Ref.Recipe()
	switch {
	case b.Stored.Computed:
		is, err = sv.nature(b.Key, b.Stored.Bytes)
	case b.Hidden:
		v, _ := value.Peek(b.Stored.Bytes)
		is = natureOf(v)
	case computed:
		is, err = sv.numbered(b.Key, n)
	case !sv.nested[b.Key]:
		var v value.Value
		v, err = sv.s.value(b.Ref)
		is = natureOf(v)
	}
	sv.nested[b.Key] = sv.nested[b.Key] || is == nested
	if is == merged && !b.Hidden {
		sv.merges[b.Key] = true
	}
	return err
}

func natureOf(v value.Value) nature {
	if k := v.Kind(); k == value.Array || k == value.Hash {
		return nested
	}
	return plain
}

// numbered returns the nature of recipe n. It reads each recipe once.
func (sv *survey) numbered(key uint32, n int) (nature, error) {
	if n < len(sv.recipes) && sv.recipes[n] != unread {
		return sv.recipes[n], nil
	}
	encoded, err := sv.s.file.Recipe(n)
	if err != nil {
		return unread, err
	}
	sv.recipes[n], err = sv.nature(key, encoded)
	return sv.recipes[n], err
}

// nature returns a recipe's nature and records the variables that it uses. It records none for a recipe that cannot be
// decrypted.
func (sv *survey) nature(key uint32, encoded string) (nature, error) {
	_, sealed := sv.s.file.Seal()
	unsealed := sealed && recipe.IsSealed(encoded)
	if unsealed {
		if sv.s.box == nil {
			return nested, nil
		}
		var err error
		if encoded, err = recipe.Unseal(encoded, sv.s.file.KeyName(key), sv.s.box); err != nil {
			return nested, nil
		}
	}
	r, err := recipe.Decode(encoded)
	if err != nil && unsealed {
		return nested, nil
	}
	if err != nil {
		return unread, badRecipe(err)
	}
	r.Reads(func(name string, path []value.Value) {
		sv.variable(name)
		sv.path(name, path)
	})
	r.Scoped(sv.scopedVariable)
	switch {
	case r.Kind == recipe.Multibind:
		return merged, nil
	case r.Transformer != nil:
		return nested, nil
	case r.Kind == recipe.Constant:
		return natureOf(r.Value), nil
	case r.Kind == recipe.Expression && r.Expr.Op == expr.Concat, r.Kind == recipe.Contributions:
		return plain, nil
	}
	return nested, nil
}
