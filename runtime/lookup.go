package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Lookup is the value of key for this request. Where key is not bound, found is false. The error is an *Error if the
// binding that wins cannot be evaluated, a *DamageError if the snapshot is damaged, and fs.ErrClosed if it is closed.
func (r *Request) Lookup(key string) (v Value, found bool, err error) {
	if r.closed.Load() {
		return Value{}, false, fs.ErrClosed
	}
	if r.wary || internal(key) {
		return r.careful(key)
	}
	ref, found, err := r.file.Find(key, &r.scopes)
	runtime.KeepAlive(r) // and with it the map
	if err != nil || !found {
		if err == nil && digs(key) && r.snap.hiera() {
			return r.byHiera(key, nil)
		}
		return Value{}, false, err
	}
	if !ref.Small() {
		return r.found(key, ref)
	}
	return Value{r.snap.values.Value(uint64(ref))}, true, nil
}

// found is Lookup of what is computed or large.
func (r *Request) found(key string, ref snapshot.Ref) (Value, bool, error) {
	if n, computed := ref.Recipe(); computed {
		v, found, err := r.compute(key, n)
		if !found && err == nil && digs(key) && r.snap.hiera() {
			return r.byHiera(key, nil)
		}
		return v, found, err
	}
	v, err := r.file.Value(ref)
	return Value{v}, err == nil, err
}

// internal tells whether key is one that only the snapshot itself asks for, as that of the contributions to a
// multibinding: it is nothing to be looked up, not even in the quotes of Hiera 5.
func internal(key string) bool { return strings.HasPrefix(key, "\x00") }

// compute is Lookup where key is bound to a recipe.
func (r *Request) compute(key string, n int) (Value, bool, error) {
	l := lookups.Get().(*lookup)
	l.r, l.total = r, bounds()
	return l.end(l.compute(key, n))
}

// end is the outcome of a lookup that is done with.
func (l *lookup) end(v value.Value, found bool, err error) (Value, bool, error) {
	out := l.outcome(v, found, err)
	*l = lookup{chain: l.chain[:0]}
	lookups.Put(l)
	return out.Value, out.Found, out.Err
}

// outcome is what a lookup has found, or that is inside it.
func (l *lookup) outcome(v value.Value, found bool, err error) Outcome {
	if v, err = l.unveiled(v, err); err == nil && l.sensitive {
		v = v.Sensitive()
	}
	return Outcome{Value{v}, found && err == nil, err}
}

// unveiled is v without what is veiled in it.
func (l *lookup) unveiled(v value.Value, err error) (value.Value, error) {
	if err != nil || !l.veiled {
		return v, err
	}
	v, sensitive, err := v.Unveiled()
	l.sensitive = l.sensitive || sensitive
	return v, err
}

// hides tells whether messages must not show what was found on the way.
func (l *lookup) hides() bool { return l.sensitive || l.hidden }

// lookups are those that are done: the text of an interpolated string is all that looking it up allocates.
var lookups = sync.Pool{New: func() any { return &lookup{} }}

// Bounds on one lookup and all those it leads to, so that no data hangs it.
const (
	maxChain    = 500
	maxLookups  = 100_000
	maxSteps    = 16 << 20  // of expressions
	maxProduced = 512 << 20 // bytes, see expr.Total
)

// bounds are those on what one lookup computes.
func bounds() expr.Total { return expr.Total{Steps: maxSteps, Size: maxProduced} }

// lookup is one call of Lookup that has come to a computed value: the keys it is in the middle of.
type lookup struct {
	r         *Request
	chain     []string
	lookups   int
	total     expr.Total
	sensitive bool      // something sensitive was found on the way
	veiled    bool      // and may be inside of what is being found, see value.Value.Unveiled
	marked    bool      // what is structured has made something sensitive, and not only eyaml: see LookupEntries
	hidden    bool      // what was found is in no message, though nothing is sensitive for it
	record    *recorder // nil: nobody asks why
}

// find is Lookup inside a lookup.
func (l *lookup) find(key string) (value.Value, bool, error) {
	if l.record != nil {
		return l.recorded(key)
	}
	return l.answer(key)
}

func (l *lookup) answer(key string) (value.Value, bool, error) {
	if err := l.fails(key, false); err != nil {
		return value.Value{}, false, err
	}
	v, found, err := l.bound(key)
	if !found && err == nil && digs(key) && l.r.snap.hiera() {
		return l.hiera(key, nil)
	}
	return v, found, err
}

// bound is what key itself is bound to.
func (l *lookup) bound(key string) (value.Value, bool, error) {
	ref, found, err := l.r.file.Find(key, &l.r.scopes)
	if !found || internal(key) {
		return value.Value{}, false, err
	}
	if n, computed := ref.Recipe(); computed {
		return l.compute(key, n)
	}
	v, err := l.r.file.Value(ref)
	if err == nil {
		err = sound(v)
	}
	return v, err == nil, err
}

// compute follows the recipe that key is bound to. Where that is not final, what is behind it may answer.
func (l *lookup) compute(key string, n int) (value.Value, bool, error) {
	recipe, err := l.r.snap.recipe(key, n)
	if err != nil {
		return value.Value{}, false, err
	}
	if err := l.enter(key); err != nil {
		return value.Value{}, false, err
	}
	defer l.leave()
	if !recipe.IsFinal() {
		return l.descend(key, -1)
	}
	v, err := l.follow(key, recipe)
	return v, err == nil, err
}

// enter notes that name is being computed: a key, or the internal key of a multibinding. It fails where name already
// is.
func (l *lookup) enter(name string) error {
	if i := slices.Index(l.chain, name); i >= 0 {
		chain := append(slices.Clone(l.chain[i:]), name)
		for j := range chain {
			chain[j] = entered(chain[j])
		}
		name = strings.TrimPrefix(chain[0], "multibind ")
		return failed(name, CodeLoop, "'"+name+"' needs itself: "+strings.Join(chain, " -> "))
	}
	if len(l.chain) >= maxChain || l.lookups > maxLookups {
		return failed(name, CodeEvaluation,
			fmt.Sprintf("this lookup needs more than %d others, or a chain of more than %d", maxLookups, maxChain))
	}
	l.lookups++
	l.chain = append(l.chain, name)
	return nil
}

// entered is a name that enter took, for people.
func entered(name string) string {
	if id, ok := strings.CutPrefix(name, "\x00"); ok {
		return "multibind " + id
	}
	key, _, _ := strings.Cut(name, "\x00") // and the level, see below
	return key
}

// leave ends what enter began. A lookup is kept for the next one, and text of the mapped file is not.
func (l *lookup) leave() {
	last := len(l.chain) - 1
	l.chain[last] = ""
	l.chain = l.chain[:last]
}

// follow produces a value, transforms it, and holds the result to its type.
func (l *lookup) follow(key string, r *recipe.Recipe) (value.Value, error) {
	l.sensitive = l.sensitive || r.Sensitive
	v, err := l.produce(key, r)
	return l.finish(key, r, v, err)
}

// finish transforms what was produced, unless that failed, and holds the result to its type.
func (l *lookup) finish(key string, r *recipe.Recipe, v value.Value, err error) (value.Value, error) {
	if err == nil && r.Transformer != nil {
		v, err = expr.CallLambda(r.Transformer, l, l.options(), v)
	}
	if err == nil {
		err = l.total.Add(v)
	}
	if err == nil {
		err = l.checkType(key, r.Type, v)
	}
	if err != nil {
		return value.Value{}, l.explain(key, err)
	}
	return v, nil
}

func (l *lookup) checkType(key string, t *types.Type, v value.Value) error {
	if m := t.Check(v); m != nil {
		return failed(key, CodeTypeMismatch, "'"+key+"': "+m.Text(l.hides()))
	}
	return nil
}

// explain makes an *Error of what went wrong in an expression, keeping one that came from a lookup in it. Where
// something sensitive was involved, a message that may quote it is not handed on.
func (l *lookup) explain(key string, err error) error {
	var known *Error
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		return damage
	case !errors.As(err, &known):
		known = failed(key, CodeEvaluation, "'"+key+"': "+err.Error())
		known.Err = err
	}
	if l.hides() && (known.Code == CodeEvaluation || known.Code == CodeProducer) {
		return failed(key, known.Code, "'"+key+"': the value is sensitive, and so is what went wrong")
	}
	return known
}

func (l *lookup) options() expr.Options {
	return expr.Options{StrictVariables: l.r.snap.opts.StrictVariables, Total: &l.total}
}

func (l *lookup) produce(key string, r *recipe.Recipe) (value.Value, error) {
	switch r.Kind {
	case recipe.Constant:
		return r.Value, nil
	case recipe.Expression:
		return expr.Eval(r.Expr, l, l.options())
	case recipe.LookupOf:
		return l.target(r.Targets[0])
	case recipe.FirstFound:
		return l.firstFound(r.Targets)
	case recipe.HashLookup:
		h, err := l.target(r.Targets[0])
		v, _ := h.Get(r.Value)
		return v, err
	case recipe.Custom:
		return l.custom(key, r)
	case recipe.Abstract:
		return value.Value{}, failed(key, CodeAbstract,
			"'"+key+"' is abstract: nothing binds it to a value for this request")
	case recipe.Multibind:
		return l.multibind(key, r)
	case recipe.Merged:
		return l.merge(key, r, 0)
	}
	return value.Value{}, &DamageError{Section: "recipes", Expected: "a recipe that '" + key + "' can be bound to"}
}

// target looks a key up and asserts its type; a key that is not bound is undef.
func (l *lookup) target(t recipe.Target) (value.Value, error) {
	v, _, err := l.Lookup(t.Key, t.Type)
	return v, err
}

func (l *lookup) firstFound(ts []recipe.Target) (value.Value, error) {
	for _, t := range ts {
		if v, err := l.target(t); err != nil || !v.IsUndef() {
			return v, err
		}
	}
	return value.Value{}, nil
}

func (l *lookup) custom(key string, r *recipe.Recipe) (value.Value, error) {
	produce := l.r.snap.opts.Producers[r.Name]
	if produce == nil {
		return value.Value{}, failed(key, CodeProducer,
			"'"+key+"' needs the producer '"+r.Name+"', which this program has not registered")
	}
	v, err := produce(l.r, Value{v: r.Value})
	if err != nil {
		e := failed(key, CodeProducer, "'"+key+"': the producer '"+r.Name+"' failed: "+err.Error())
		e.Err = err
		return value.Value{}, e
	}
	l.sensitive = l.sensitive || v.Sensitive()
	return v.get(), nil
}

// Variable is the variable of that name in the top scope. It is part of expr.Env.
func (l *lookup) Variable(name string) (value.Value, bool) {
	v, ok := l.r.facts.variables[name]
	return v, ok
}

// Lookup looks a key up from inside an expression. It is part of expr.Env.
func (l *lookup) Lookup(key string, t *types.Type) (value.Value, bool, error) {
	v, found, err := l.find(key)
	v, err = l.unveiled(v, err)
	if err == nil && v.IsSensitive() { // what else is computed of it would not know
		l.sensitive = true
		v, err = v.Read()
	}
	if err == nil && found {
		err = l.checkType(key, t, v)
	}
	return v, found && err == nil, err
}
