package types

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bindc/internal/value"
)

// ErrUnknown is the error for a type whose values are not known: it does not exist, or only a program of a module
// defines it.
var ErrUnknown = errors.New("is not known")

// Aliases resolves the type aliases of modules.
type Aliases struct {
	source func(name string) (text string, ok bool)
	found  map[string]*Type // by name; nil while the alias is being read
	failed map[string]error
}

// NewAliases returns the aliases whose definitions source returns, by name.
func NewAliases(source func(name string) (text string, ok bool)) *Aliases {
	return &Aliases{source: source, found: map[string]*Type{}, failed: map[string]error{}}
}

// ParseDeclared parses a type as manifests declare it, where names have their meaning in Puppet. Aliases are resolved.
// The error is ErrUnknown if a type is not known.
func (a *Aliases) ParseDeclared(text string) (*Type, error) {
	t, err := parse(text, a.named)
	if err != nil {
		return nil, err
	}
	var wrong error
	t.anyInside(func(t *Type) bool {
		switch {
		case t.kind == alias: // it may have been found to be wrong after it was used
			wrong = a.failed[t.texts[0]]
		case t.plain && (t.kind == Pattern || t.kind == Enum): // these have other values in Puppet than in bindings
			wrong = fmt.Errorf("the type '%s' without parameters %w", t, ErrUnknown)
		}
		return wrong != nil
	}, map[*Type]bool{})
	if wrong != nil {
		return nil, wrong
	}
	return t, nil
}

// unknownTypes lists types of Puppet whose values cannot be told from other values here.
var unknownTypes = []string{"Init", "Object", "TypeAlias", "TypeReference", "TypeSet", "Error", "Target", "Iterator"}

// named returns the type or alias called name.
func (a *Aliases) named(name string) (*Type, error) {
	switch {
	case name == "Sensitive":
		return Of(sensitive), nil
	case name == "RichDataKey":
		return (&Type{kind: Variant, max: Of(Variant).max}).with(Of(String), Of(Numeric))
	case slices.Contains(unknownTypes, name):
		return nil, fmt.Errorf("the type '%s' %w", name, ErrUnknown)
	case slices.Contains(names[:unit], name):
		return Of(kindNamed(name)), nil
	case slices.Contains(absent, name) || slices.Contains(ofCatalog, name):
		return newNamed(foreign, name), nil
	}
	return a.alias(name)
}

func kindNamed(name string) Kind { return Kind(slices.Index(names[:], name)) }

func newNamed(k Kind, name string) *Type {
	t := newType(k)
	t.texts = []string{name}
	return t
}

// alias returns the alias called name. While its definition is read, its target is not set, so that an alias can refer
// to itself.
func (a *Aliases) alias(name string) (*Type, error) {
	if t := a.found[name]; t != nil {
		return t, a.failed[name]
	}
	text, ok := a.source(name)
	if !ok {
		return nil, fmt.Errorf("the type '%s' %w", name, ErrUnknown)
	}
	t := newNamed(alias, name)
	a.found[name] = t
	target, err := parse(text, a.named)
	if err == nil && target.expands(t, 0) {
		err = fmt.Errorf("the type '%s' %w: it is defined by itself", name, ErrUnknown)
	}
	if err != nil {
		a.failed[name] = err
		t.target = Of(Any)
		return nil, err
	}
	t.target = target
	return t, nil
}

// resolved returns the type that an alias stands for, or t itself.
func (t *Type) resolved() *Type {
	for t != nil && t.kind == alias && t.target != nil {
		t = t.target
	}
	return t
}

// expands reports whether a value is a t if it is a u, without looking into the value. Such an alias u would have no
// meaning.
func (t *Type) expands(u *Type, depth int) bool {
	if t == u || depth > maxDepth {
		return true
	}
	switch t.kind {
	case alias:
		return t.target != nil && t.target.expands(u, depth+1)
	case Variant, Optional, NotUndef, sensitive:
		return slices.ContainsFunc(t.args, func(a *Type) bool { return a.expands(u, depth+1) })
	}
	return false
}

// anyInside reports whether is holds for t or a type inside it.
func (t *Type) anyInside(is func(*Type) bool, seen map[*Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	inside := func(a *Type) bool { return a.anyInside(is, seen) }
	return is(t) || inside(t.target) || slices.ContainsFunc(t.args, inside) ||
		slices.ContainsFunc(t.members, func(m member) bool { return inside(m.value) })
}

// holdsSensitive reports whether v, a sensitive value, has type t.
func (t *Type) holdsSensitive(v value.Value, how manner) bool {
	switch t.kind {
	case Any, RichData:
		return true
	case sensitive:
		inner, err := v.Read()
		return t.plain || err == nil && t.args[0].holds(inner, how)
	case Variant:
		return t.holdsAny(v, how)
	case Optional, NotUndef:
		return t.plain && t.kind == NotUndef || !t.plain && t.args[0].holds(v, how)
	}
	return false
}

// foreignParams returns a type of which data has no values, with parameters that only matter in messages.
func (t *Type) foreignParams(params []value.Value) *Type {
	var list []string
	for _, p := range params {
		list = append(list, string(value.AppendText(nil, p)))
	}
	return newNamed(foreign, t.texts[0]+"["+strings.Join(list, ", ")+"]")
}

// AdmitsSensitive reports whether a sensitive value of kind k may have type t.
func (t *Type) AdmitsSensitive(k value.Kind) bool {
	switch t = t.resolved(); t.Kind() {
	case sensitive:
		return t.plain || t.args[0].Admits(k)
	case Optional, NotUndef, Variant:
		return slices.ContainsFunc(t.args, func(a *Type) bool { return a.AdmitsSensitive(k) })
	}
	return t.Admits(k)
}

// OnlyKind returns the only type inside t that may have values of kind k: one of a Variant, or the type in an Optional,
// or t itself. If there are several, it returns Any.
func (t *Type) OnlyKind(k value.Kind) *Type {
	t = t.resolved()
	switch t.Kind() {
	case Variant, Optional, NotUndef:
	default:
		return t
	}
	var only *Type
	for _, a := range t.args {
		switch {
		case !a.Admits(k):
		case only != nil:
			return Of(Any)
		default:
			only = a.OnlyKind(k)
		}
	}
	if only == nil {
		return Of(Any)
	}
	return only
}
