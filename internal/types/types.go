// Package types is the type system of the bindings (language.md, section 9): the types of the documents this project
// implements and those of the Puppet language. A binding's value is held to its type by Check, which admits undef in
// the types of the documents; expressions ask Instance and Accepts, which mean what they mean in Puppet.
package types

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"bindc/diag"
)

// Kind says what a Type is, apart from its parameters.
type Kind uint8

// The kinds, by Puppet's names for them.
const (
	Any Kind = iota
	Undef
	Default
	Boolean
	Integer
	Float
	Numeric
	String
	Enum
	Pattern // bare: regular expressions; with parameters: the strings that match one
	Regexp
	Scalar
	ScalarData
	Data
	RichData
	Collection
	Array
	Hash
	Tuple
	Struct
	Optional
	NotUndef
	Variant
	Iterable
	Iterator
	Meta // Type[T]
	Callable
	unit // of the elements of an empty array: accepted by every type
)

// names are the canonical names, by Kind.
var names = [...]string{"Any", "Undef", "Default", "Boolean", "Integer", "Float", "Numeric", "String", "Enum",
	"Pattern",
	"Regexp", "Scalar", "ScalarData", "Data", "RichData", "Collection", "Array", "Hash", "Tuple", "Struct", "Optional",
	"NotUndef", "Variant", "Iterable", "Iterator", "Type", "Callable", "Unit"}

// aliases are further names of some kinds.
var aliases = map[string]Kind{"Number": Numeric, "Literal": Scalar, "Object": Any}

// absent are types of Puppet whose values no binding can hold. convert_to makes texts of some (package rich).
var absent = []string{"Binary", "Deferred", "Error", "Init", "SemVer", "SemVerRange", "Sensitive", "Target",
	"Timespan", "Timestamp", "TypeAlias", "TypeReference", "TypeSet", "URI"}

// ofCatalog lists the types of Puppet that belong to a catalog or to Ruby, including resource types.
var ofCatalog = []string{"CatalogEntry", "Class", "Resource", "Ruby", "Runtime", "Augeas", "Cron", "Exec", "File",
	"Filebucket", "Group", "Host", "K5login", "Mailalias", "Maillist", "Mount", "Notify", "Package", "Resources",
	"Schedule", "Scheduled_task", "Selboolean", "Selmodule", "Service", "Ssh_authorized_key", "Sshkey", "Stage", "Tidy",
	"User", "Yumrepo", "Zfs", "Zone", "Zpool"}

// ErrCatalog says why a type of a catalog or of Ruby is not supported here.
var ErrCatalog = errors.New("belongs to a catalog or to Ruby, and a binding holds data only")

// ErrAbsent says that Puppet has values of a type, and bindings do not.
var ErrAbsent = errors.New("is not supported in bindings")

// Type is one type. Types are immutable; nil stands for Any.
type Type struct {
	kind  Kind
	plain bool // written without parameters
	fold  bool // Enum: regardless of case
	exact bool // String: only the text in texts; Boolean: only truth
	truth bool

	args     []*Type  // Array: element; Hash: key, value; Tuple, Variant, Callable: each; else one or none
	texts    []string // Enum: values; Pattern, Regexp: sources; String: the one text of an exact one
	members  []member // Struct
	min, max int64    // Integer: range; String, Collection, Array, Hash, Tuple, Callable: length
	from, to float64  // Float: range

	nodes int // the number of types in it, itself included
	depth int
}

// member is one entry of a Struct.
type member struct {
	name     string
	optional bool // the key may be missing
	value    *Type
}

// Limits on one type. Without them, an expression could double a type a hundred times.
const (
	maxDepth = 100
	maxNodes = 10_000
)

// plainTypes are the types without parameters, by Kind.
var plainTypes = makePlain()

func makePlain() []*Type {
	ts := make([]*Type, len(names))
	for i := range ts {
		ts[i] = newType(Kind(i))
		ts[i].plain = true
	}
	return ts
}

// newType is a type without constraints, to be given parameters.
func newType(k Kind) *Type {
	t := &Type{kind: k, max: math.MaxInt64, from: math.Inf(-1), to: math.Inf(1), nodes: 1, depth: 1}
	if k == Integer {
		t.min = math.MinInt64
	}
	return t
}

// Of is the type of kind k without parameters.
func Of(k Kind) *Type { return plainTypes[k] }

// Named is the type of that name without parameters.
func Named(name string) (*Type, error) {
	for k, n := range names[:unit] {
		if n == name {
			return plainTypes[k], nil
		}
	}
	if k, ok := aliases[name]; ok {
		return plainTypes[k], nil
	}
	return nil, noType(name, false)
}

// noType returns the error for an unknown type. A name with a title in brackets is a resource reference unless the name
// is misspelt.
func noType(name string, titled bool) error {
	if slices.Contains(absent, name) {
		return fmt.Errorf("the type '%s' %w", name, ErrAbsent)
	}
	if slices.Contains(ofCatalog, name) {
		return fmt.Errorf("the type '%s' %w", name, ErrCatalog)
	}
	if instead, ok := insteadOf[name]; ok {
		return fmt.Errorf("type aliases of modules are not available here; write %[2]s instead of '%[1]s'", name, instead)
	}
	if hint := diag.DidYouMean(name, allNames()); hint != "" {
		return fmt.Errorf("unknown type '%s'; %s", name, hint)
	}
	if titled {
		return fmt.Errorf("the resource type '%s' %w", name, ErrCatalog)
	}
	return fmt.Errorf("unknown type '%s'", name)
}

// insteadOf is what the aliases of the module stdlib that data has most can be replaced by. Where it says String[1],
// the alias is narrower.
var insteadOf = map[string]string{
	"Stdlib::Absolutepath":          "Pattern[/\\A\\//]",
	"Stdlib::Unixpath":              "Pattern[/\\A\\//]",
	"Stdlib::Port":                  "Integer[0, 65535]",
	"Stdlib::Port::Privileged":      "Integer[1, 1023]",
	"Stdlib::Port::Unprivileged":    "Integer[1024, 65535]",
	"Stdlib::Host":                  "String[1]",
	"Stdlib::Fqdn":                  "String[1]",
	"Stdlib::IP::Address":           "String[1]",
	"Stdlib::IP::Address::V4":       "String[1]",
	"Stdlib::IP::Address::V6":       "String[1]",
	"Stdlib::IP::Address::Nosubnet": "String[1]",
	"Stdlib::HTTPUrl":               "Pattern[/\\A(?i:https?:\\/\\/)/]",
	"Stdlib::HTTPSUrl":              "Pattern[/\\A(?i:https:\\/\\/)/]",
	"Stdlib::Ensure::Service":       "Enum['stopped', 'running']",
	"Stdlib::Ensure::Package":       "String[1]",
	"Stdlib::Filemode":              "String[1]",
	"Stdlib::MAC":                   "String[1]",
	"Stdlib::Email":                 "Pattern[/@/]",
	"Stdlib::Filesource":            "String[1]",
}

// allNames are the names of all types, for suggestions.
func allNames() []string {
	all := append([]string(nil), names[:unit]...)
	return append(all, "Number", "Literal", "Object")
}

// Kind is the kind of t.
func (t *Type) Kind() Kind {
	if t == nil {
		return Any
	}
	return t.kind
}

// Elem is the type of the elements of an Array or of the values of a Hash, the type inside of Optional, NotUndef,
// Iterable, Iterator and Type, and nil where there is none.
func (t *Type) Elem() *Type {
	if t == nil || len(t.args) == 0 || t.kind == Variant || t.kind == Tuple || t.kind == Callable {
		return nil
	}
	return t.args[len(t.args)-1]
}

// Key is the type of the keys of a Hash, else nil.
func (t *Type) Key() *Type {
	if t == nil || t.kind != Hash || len(t.args) < 2 {
		return nil
	}
	return t.args[0]
}

// Members are the types of a Variant or Tuple.
func (t *Type) Members() []*Type {
	if t == nil || t.kind != Variant && t.kind != Tuple {
		return nil
	}
	return t.args
}

// Texts are the values of an Enum, or the sources of a Pattern or Regexp.
func (t *Type) Texts() []string {
	if t == nil || t.kind == String {
		return nil
	}
	return t.texts
}

// Bounds is the range of an Integer, or of the length of a String or collection.
func (t *Type) Bounds() (min, max int64) { return t.min, t.max }

// Finite tells whether an Integer is bounded on both sides.
func (t *Type) Finite() bool {
	return t.kind == Integer && t.min != math.MinInt64 && t.max != math.MaxInt64
}

// with gives a new type its inner types and adds up its size.
func (t *Type) with(args ...*Type) (*Type, error) {
	t.args = args
	return t, t.measure()
}

// measure adds up what is in t and refuses what is too large.
func (t *Type) measure() error {
	t.nodes, t.depth = 1+len(t.texts), 1
	for _, a := range t.args {
		t.hold(a)
	}
	for _, m := range t.members {
		t.hold(m.value)
	}
	if t.nodes > maxNodes || t.depth > maxDepth {
		return fmt.Errorf("the type is too large")
	}
	return nil
}

// hold counts a, which is in t.
func (t *Type) hold(a *Type) {
	t.nodes += a.nodes
	t.depth = max(t.depth, a.depth+1)
}
