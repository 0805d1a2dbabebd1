package lookup

import (
	"errors"
	"runtime"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Lookup is that of package runtime, whose fast path consists of the same steps.
func (r *Request) Lookup(key string) (Value, bool, error) {
	v, found, err := r.find(key)
	return r.View(v), found, err
}

// find is Lookup without the file that keeps the value mapped.
func (r *Request) find(key string) (value.Value, bool, error) {
	if !r.Direct(key) {
		return r.Indirect(key)
	}
	ref, found, err := r.Ref(key)
	runtime.KeepAlive(r)
	switch {
	case found && ref.Small():
		return r.Small(ref), true, nil
	case !found && (err != nil || !r.Digs(key)):
		return value.Value{}, false, err
	}
	return r.Follow(key, ref, found)
}

// View returns a value that a lookup by r has found, with the file that it may be a view of.
func (r *Request) View(v value.Value) Value { return Value{v, r.file} }

// The steps of a lookup return a value without the file: that has no more words than Go returns in registers.

// Direct reports whether a lookup of key may begin with Ref: r is open, and only what key is bound to decides.
func (r *Request) Direct(key string) bool { return !r.closed.Load() && !r.indirect && !internal(key) }

// Ref returns the reference that key is bound to. The caller keeps r alive, and with it the map.
func (r *Request) Ref(key string) (snapshot.Ref, bool, error) { return r.file.Find(key, &r.scopes) }

// Digs reports whether a key that Ref does not find may lead into a value of Hiera 5.
func (r *Request) Digs(key string) bool { return r.hiera && digs(key) }

// Small returns the value of a small reference.
func (r *Request) Small(ref snapshot.Ref) value.Value { return r.snap.values.Value(uint64(ref)) }

// Follow finishes a lookup whose key is bound to a computed or large value, or may lead into a value of Hiera 5.
func (r *Request) Follow(key string, ref snapshot.Ref, found bool) (value.Value, bool, error) {
	if !found {
		l := r.start()
		return l.end(r.rules.beyond(l, key))
	}
	if n, computed := ref.Recipe(); computed {
		return r.compute(key, n)
	}
	v, err := r.snap.value(ref)
	return v, err == nil, err
}

// internal reports whether key is used only by the snapshot itself, such as the key for contributions to a
// multibinding. It cannot be looked up, not even in the quotes of Hiera 5.
func internal(key string) bool { return strings.HasPrefix(key, "\x00") }

// compute evaluates the recipe that key is bound to.
func (r *Request) compute(key string, n int) (value.Value, bool, error) {
	l := r.start()
	v, found, err := l.compute(key, n, false)
	if !found && err == nil {
		v, found, err = r.rules.beyond(l, key)
	}
	return l.end(v, found, err)
}

// end finishes a lookup and returns its result.
func (l *lookup) end(v value.Value, found bool, err error) (value.Value, bool, error) {
	v, found, err = l.result(v, found, err)
	l.done()
	return v, found, err
}

// result marks the result of a lookup, or of one inside it, if it is sensitive.
func (l *lookup) result(v value.Value, found bool, err error) (value.Value, bool, error) {
	if v, err = l.unveiled(v, err); err == nil && l.sensitive {
		v = v.Sensitive()
	}
	return v, found && err == nil, err
}

// outcome converts the result of a lookup, or of one inside it, to an Outcome.
func (l *lookup) outcome(v value.Value, found bool, err error) Outcome {
	v, found, err = l.result(v, found, err)
	return Outcome{l.r.View(v), found, err}
}

// unveiled returns v with its veiled parts in the clear, and records whether one was sensitive.
func (l *lookup) unveiled(v value.Value, err error) (value.Value, error) {
	if err != nil || !l.veiled {
		return v, err
	}
	v, sensitive, err := v.Unveiled()
	l.sensitive = l.sensitive || sensitive
	return v, err
}

// hides reports whether messages must not show what the lookup found on the way.
func (l *lookup) hides() bool { return l.sensitive || l.hidden }

// lookup is a call of Lookup that has reached a computed value. chain has the keys that it is computing.
type lookup struct {
	*bounds   // shared with all lookups that this one causes
	own       bounds
	r         *Request
	chain     []string
	sensitive bool      // something sensitive was found on the way
	veiled    bool      // and may be inside of what is being found, see value.Value.Unveiled
	marked    bool      // a structured binding, not only eyaml, made it sensitive: see LookupEntries
	hidden    bool      // messages must not show what was found, though it is not marked sensitive
	record    *recorder // nil: nothing is recorded

	notesStructure bool // record whether the value found is structured: see LookupEntries
	structured     bool // the last value found is structured
}

// find is Lookup inside a lookup.
func (l *lookup) find(key string) (value.Value, bool, error) {
	if l.record != nil {
		return l.recorded(key)
	}
	return l.answer(key)
}

func (l *lookup) answer(key string) (value.Value, bool, error) {
	rules := l.r.rules
	v, found, err := l.bound(key, rules.isLast(key))
	if found || err != nil {
		return v, found, err
	}
	return rules.beyond(l, key)
}

// bound looks up the bindings of key itself. last means that the lookup has no other place to try.
func (l *lookup) bound(key string, last bool) (value.Value, bool, error) {
	ref, found, err := l.r.file.Find(key, &l.r.scopes)
	if err != nil || internal(key) {
		return value.Value{}, false, err
	}
	if n, computed := ref.Recipe(); found && computed {
		return l.compute(key, n, last)
	}
	if l.looksCloser() {
		return l.descend(key, -1, last)
	}
	if !found {
		return value.Value{}, false, nil
	}
	v, err := l.r.snap.value(ref)
	return v, err == nil, err
}

// looksCloser reports whether the lookup must know which binding answers, not only the value.
func (l *lookup) looksCloser() bool { return l.r.mayFail || l.notesStructure }

// compute follows the recipe that key is bound to. Where that is not final, what is behind it may answer.
func (l *lookup) compute(key string, n int, last bool) (value.Value, bool, error) {
	recipe, err := l.r.snap.recipe(key, n)
	if err != nil {
		return value.Value{}, false, err
	}
	if err := l.enter(key); err != nil {
		return value.Value{}, false, err
	}
	defer l.leave()
	if !recipe.IsFinal() || l.looksCloser() {
		return l.descend(key, -1, last)
	}
	v, err := l.follow(key, recipe)
	return v, err == nil, err
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
	var failure *Error
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		return damage
	case !errors.As(err, &failure):
		failure = failed(key, CodeEvaluation, "'"+strings.TrimLeft(key, "\x00")+"': "+err.Error())
		failure.Err = err
	}
	if l.hides() && (failure.Code == CodeEvaluation || failure.Code == CodeProducer) {
		return failed(key, failure.Code, "'"+key+"': the value is sensitive, and so is what went wrong")
	}
	return failure
}

func (l *lookup) options() expr.Options {
	return expr.Options{Functions: stdlib.Functions, StrictVariables: l.r.snap.opts.StrictVariables, Total: &l.total}
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
		return l.r.rules.merge(l, key, r, 0)
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
	v, err := produce(l.forProducer(), Value{r.Value, l.r.file})
	if err != nil {
		e := failed(key, CodeProducer, "'"+key+"': the producer '"+r.Name+"' failed: "+err.Error())
		e.Err = err
		return value.Value{}, e
	}
	l.sensitive = l.sensitive || v.Sensitive()
	return v.own(l.r.file)
}
