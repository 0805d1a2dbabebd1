package types

import (
	"errors"
	"slices"
	"strings"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// Aliases resolves the type aliases that modules define. It reads each definition once.
type Aliases struct {
	source   func(name string) (text string, ok bool)
	found    map[string]*Type // alias types by name; an alias has no target while it is being read
	problems map[string]error // why an alias cannot be read, by name
	declared map[string]declared
}

// declared is a result of ParseDeclared.
type declared struct {
	t       *Type
	unknown []string
	err     error
}

// NewAliases returns an Aliases that reads definitions with source. source returns false if no module defines the
// alias.
func NewAliases(source func(name string) (text string, ok bool)) *Aliases {
	return &Aliases{source: source, found: map[string]*Type{}, problems: map[string]error{},
		declared: map[string]declared{}}
}

// Problem explains why ParseDeclared treats the type called name as unknown. It returns nil if no module defines the
// type.
func (a *Aliases) Problem(name string) error {
	if slices.Contains(unknownTypes, name) || slices.Contains(names[:unit], name) {
		return errors.New("only Puppet can decide which values have this type")
	}
	return a.problems[name]
}

// ParseDeclared parses a type in a manifest. Names have their meaning in Puppet, and aliases are resolved. A type
// inside it that is not known accepts every value; unknown lists the names of such types. The results for the same text
// are the same Type and the same slice.
func (a *Aliases) ParseDeclared(text string) (t *Type, unknown []string, err error) {
	p, known := a.declared[text]
	if !known {
		p = a.parse(text)
		a.declared[text] = p
	}
	return p.t, p.unknown, p.err
}

func (a *Aliases) parse(text string) (out declared) {
	if out.t, out.err = parse(parser{text: text, find: a.named, declared: true}); out.err != nil {
		return declared{err: out.err}
	}
	out.t.visit(func(t *Type) {
		if t.kind == alias && t.target == openType {
			out.unknown = append(out.unknown, t.texts[0])
		}
	}, map[*Type]bool{})
	slices.Sort(out.unknown)
	out.unknown = slices.Compact(out.unknown)
	return out
}

// openType is the target of every unknown type.
var openType = newType(Any)

// open returns an unknown type with this name. It accepts every value.
func open(name string) *Type {
	t := newNamed(alias, name)
	t.target = openType
	return t
}

// unknownTypes lists the Puppet types whose values this package cannot determine.
var unknownTypes = []string{"Init", "Object", "TypeAlias", "TypeReference", "TypeSet", "Error", "Target", "Iterable",
	"Iterator"}

func (a *Aliases) named(name string) (*Type, error) {
	switch {
	case name == "Sensitive":
		return Of(sensitive), nil
	case name == "RichDataKey":
		return (&Type{kind: Variant, max: Of(Variant).max}).with(Of(String), Of(Numeric))
	case slices.Contains(unknownTypes, name):
		return open(name), nil
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

// alias returns the alias called name. While its definition is being read, its target is nil, so that an alias can
// refer to itself.
func (a *Aliases) alias(name string) (*Type, error) {
	if t := a.found[name]; t != nil {
		return t, nil
	}
	t := newNamed(alias, name)
	a.found[name] = t
	text, ok := a.source(name)
	if !ok {
		t.target = openType
		return t, nil
	}
	target, err := parse(parser{text: text, find: a.named, declared: true})
	if err == nil && target.expands(t, 0) { // Puppet rejects or simplifies such an alias
		err = errors.New("the alias refers to itself without an array or a hash around it")
	}
	if err != nil {
		a.problems[name], target = err, openType
	}
	t.target = target
	return t, nil
}

// resolved follows aliases. It returns t if t is not an alias, or if its definition is still being read.
func (t *Type) resolved() *Type {
	for t != nil && t.kind == alias && t.target != nil {
		t = t.target
	}
	return t
}

// expands reports whether t refers to u without an array or a hash in between. An alias u with this definition would
// have no meaning.
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

// unfinished reports whether it is still unknown if t accepts undef, because t refers to an alias that is being read.
func (t *Type) unfinished(depth int) bool {
	switch {
	case depth > maxDepth || t.kind == alias && t.target == nil:
		return true
	case t.kind == alias:
		return t.target.unfinished(depth + 1)
	case t.kind == Variant:
		return slices.ContainsFunc(t.args, func(a *Type) bool { return a.unfinished(depth + 1) })
	}
	return false
}

// withoutSize returns t without its size if t is a Collection, Array or Hash of Any. Inside other types, Puppet
// ignores that size: Array[Any, 1] may be empty.
func (t *Type) withoutSize() *Type {
	isAny := func(a *Type) bool { return a.Accepts(Of(Any)) }
	if t.unbounded() || t.kind != Collection && t.kind != Array && t.kind != Hash || !all(t.args, isAny) {
		return t
	}
	out := *t
	out.min, out.max = 0, newType(t.kind).max
	return &out
}

// visit calls see once for t and for each type inside it.
func (t *Type) visit(see func(*Type), seen map[*Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	see(t)
	t.target.visit(see, seen)
	for _, a := range t.args {
		a.visit(see, seen)
	}
	for _, m := range t.members {
		m.value.visit(see, seen)
	}
}

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

// declaredWith is With for a type in a manifest, where regular expressions may use lookaround.
func (t *Type) declaredWith(params []value.Value) (*Type, error) {
	t, err := t.withParams(params, func(src string) error {
		_, err := onigmo.CompileMatcher(src)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.withoutSize(), nil
}

// foreignParams returns t with parameters, for messages. No data value has such a type.
func (t *Type) foreignParams(params []value.Value) *Type {
	var list []string
	for _, p := range params {
		list = append(list, string(value.AppendText(nil, p)))
	}
	return newNamed(foreign, t.texts[0]+"["+strings.Join(list, ", ")+"]")
}

// AdmitsSensitive reports whether a sensitive value of kind k can have type t.
func (t *Type) AdmitsSensitive(k value.Kind) bool {
	switch t = t.resolved(); t.Kind() {
	case sensitive:
		return t.plain || t.args[0].Admits(k)
	case Optional, NotUndef, Variant:
		return slices.ContainsFunc(t.args, func(a *Type) bool { return a.AdmitsSensitive(k) })
	}
	return t.Admits(k)
}

// OnlyKind returns the one type inside t that can have values of kind k, if t is a Variant, Optional or NotUndef. If
// there are several or none, it returns Any. For any other t, it returns t.
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
