package lookup

import (
	"slices"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// ask returns the Env in which recipes and expressions look up other keys. There is no other way to start a nested
// lookup. environment.go implements the Env.
func (l *lookup) ask() expr.Env { return l }

// produce returns the value of a recipe that does not combine several bindings.
func (l *lookup) produce(key string, r *recipe.Recipe) (value.Value, error) {
	switch r.Kind {
	case recipe.Constant:
		return r.Value, nil
	case recipe.Expression:
		return expr.Eval(r.Expr, l.ask(), l.options())
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
	}
	return value.Value{}, &DamageError{Section: "recipes", Expected: "a recipe that '" + key + "' can be bound to"}
}

// target looks up a key and checks the type of its value. The value of an unbound key is undef.
func (l *lookup) target(t recipe.Target) (value.Value, error) {
	v, _, err := l.ask().Lookup(t.Key, t.Type)
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
	v, err := produce(l.forProducer(), l.r.View(r.Value))
	if err != nil {
		e := failed(key, CodeProducer, "'"+key+"': the producer '"+r.Name+"' failed: "+err.Error())
		e.Err = err
		return value.Value{}, e
	}
	l.sensitive = l.sensitive || v.Sensitive()
	return v.own(l.r.snap.values)
}

// finish applies the transformer of r to v, counts the result towards the limits and checks its type. If err is not
// nil, finish only converts err to an *Error.
func (l *lookup) finish(key string, r *recipe.Recipe, v value.Value, err error) (value.Value, error) {
	if err == nil && r.Transformer != nil {
		v, err = expr.CallLambda(r.Transformer, l.ask(), l.options(), v)
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

// rebound applies the rebindings above a value to it, lowest first. found is always true, so that callers can return
// the results of rebound.
func (l *lookup) rebound(key string, above []*recipe.Recipe, v value.Value) (_ value.Value, found bool, err error) {
	for _, r := range slices.Backward(above) {
		if err != nil {
			break
		}
		l.sensitive = l.sensitive || r.Sensitive
		v, err = l.open(v, nil)
		v, err = l.finish(key, r, v, err)
	}
	return v, true, err
}

func (l *lookup) checkType(key string, t *types.Type, v value.Value) error {
	if m := t.Check(v); m != nil {
		return failed(key, CodeTypeMismatch, "'"+key+"': "+m.Text(l.hides()))
	}
	return nil
}

func (l *lookup) options() expr.Options {
	return expr.Options{Functions: stdlib.Functions, StrictVariables: l.r.snap.opts.StrictVariables, Total: &l.total}
}
