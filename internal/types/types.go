// Package types implements the type system of the bindings (language.md, section 9): the types of
// ARM-8 and ARM-9, and those of the Puppet language. Check checks the value of a binding. For it,
// undef has all types of ARM-8 and ARM-9. Expressions use Instance and Accepts, which have the same
// meaning as in Puppet.
package types

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"bindc/diag"
)

// Kind is the kind of a Type, without its parameters.
type Kind uint8

// The kinds have Puppet's names.
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
	Pattern // without parameters: regular expressions; with parameters: the strings that match one
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
	unit // of the elements of an empty array: every type accepts it
)

// names lists the canonical names by Kind.
var names = [...]string{"Any", "Undef", "Default", "Boolean", "Integer", "Float", "Numeric", "String", "Enum",
	"Pattern",
	"Regexp", "Scalar", "ScalarData", "Data", "RichData", "Collection", "Array", "Hash", "Tuple", "Struct", "Optional",
	"NotUndef", "Variant", "Iterable", "Iterator", "Type", "Callable", "Unit"}

// aliases lists other names of some kinds.
var aliases = map[string]Kind{"Number": Numeric, "Literal": Scalar, "Object": Any}

// absent lists types of Puppet whose values no binding can have. convert_to converts to texts of
// some of them (package rich).
var absent = []string{"Binary", "Deferred", "Error", "Init", "SemVer", "SemVerRange", "Sensitive", "Target",
	"Timespan", "Timestamp", "TypeAlias", "TypeReference", "TypeSet", "URI"}

// ofCatalog lists the types of Puppet that belong to a catalog or to Ruby, including resource types.
var ofCatalog = []string{"CatalogEntry", "Class", "Resource", "Ruby", "Runtime", "Augeas", "Cron", "Exec", "File",
	"Filebucket", "Group", "Host", "K5login", "Mailalias", "Maillist", "Mount", "Notify", "Package", "Resources",
	"Schedule", "Scheduled_task", "Selboolean", "Selmodule", "Service", "Ssh_authorized_key", "Sshkey", "Stage", "Tidy",
	"User", "Yumrepo", "Zfs", "Zone", "Zpool"}

// ErrCatalog is the reason why a type of a catalog or of Ruby is not supported.
var ErrCatalog = errors.New("belongs to a catalog or to Ruby, but bindings only have data")

// ErrAbsent is the reason why a type that Puppet has values of is not supported.
var ErrAbsent = errors.New("is not supported in bindings")

// Type is a type. Types are immutable. nil means Any.
type Type struct {
	kind  Kind
	plain bool // written without parameters
	fold  bool // Enum: case-insensitive
	exact bool // String: only the text in texts; Boolean: only truth
	truth bool

	args     []*Type  // Array: element; Hash: key, value; Tuple, Variant, Callable: each; otherwise one or none
	texts    []string // Enum: values; Pattern, Regexp: sources; String: the only text if exact
	members  []member // Struct
	min, max int64    // Integer: range; String, Collection, Array, Hash, Tuple, Callable: length
	from, to float64  // Float: range

	nodes int // number of types in it, including itself
	depth int
}

// member is an entry of a Struct.
type member struct {
	name     string
	optional bool // the key may be missing
	value    *Type
}

// Limits of one type. Without them, an expression could double a type a hundred times.
const (
	maxDepth = 100
	maxNodes = 10_000
)

// plainTypes lists the types without parameters, by Kind.
var plainTypes = makePlain()

func makePlain() []*Type {
	ts := make([]*Type, len(names))
	for i := range ts {
		ts[i] = newType(Kind(i))
		ts[i].plain = true
	}
	return ts
}

// newType returns a type without constraints, to which parameters can be added.
func newType(k Kind) *Type {
	t := &Type{kind: k, max: math.MaxInt64, from: math.Inf(-1), to: math.Inf(1), nodes: 1, depth: 1}
	if k == Integer {
		t.min = math.MinInt64
	}
	return t
}

// Of returns the type of kind k without parameters.
func Of(k Kind) *Type { return plainTypes[k] }

// Named returns the type with that name without parameters.
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

// insteadOf maps the aliases of the module stdlib that are most frequent in data to types that can
// replace them. If it has String[1], the alias is narrower.
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

// allNames returns the names of all types, for suggestions.
func allNames() []string {
	all := append([]string(nil), names[:unit]...)
	return append(all, "Number", "Literal", "Object")
}

// Kind returns the kind of t.
func (t *Type) Kind() Kind {
	if t == nil {
		return Any
	}
	return t.kind
}

// Elem returns the type of the elements of an Array, of the values of a Hash, or the type inside
// Optional, NotUndef, Iterable, Iterator and Type. It returns nil for other types.
func (t *Type) Elem() *Type {
	if t == nil || len(t.args) == 0 || t.kind == Variant || t.kind == Tuple || t.kind == Callable {
		return nil
	}
	return t.args[len(t.args)-1]
}

// Key returns the type of the keys of a Hash, and nil for other types.
func (t *Type) Key() *Type {
	if t == nil || t.kind != Hash || len(t.args) < 2 {
		return nil
	}
	return t.args[0]
}

// Members returns the types of a Variant or Tuple.
func (t *Type) Members() []*Type {
	if t == nil || t.kind != Variant && t.kind != Tuple {
		return nil
	}
	return t.args
}

// Texts returns the values of an Enum, or the sources of a Pattern or Regexp.
func (t *Type) Texts() []string {
	if t == nil || t.kind == String {
		return nil
	}
	return t.texts
}

// Bounds returns the range of an Integer, or of the length of a String or collection.
func (t *Type) Bounds() (min, max int64) { return t.min, t.max }

// Finite reports whether an Integer is bounded on both sides.
func (t *Type) Finite() bool {
	return t.kind == Integer && t.min != math.MinInt64 && t.max != math.MaxInt64
}

// with sets the inner types of a new type and measures it.
func (t *Type) with(args ...*Type) (*Type, error) {
	t.args = args
	return t, t.measure()
}

// measure computes the size of t, and returns an error if it is too large.
func (t *Type) measure() error {
	t.nodes, t.depth = 1+len(t.texts), 1
	for _, a := range t.args {
		t.addSize(a)
	}
	for _, m := range t.members {
		t.addSize(m.value)
	}
	if t.nodes > maxNodes || t.depth > maxDepth {
		return fmt.Errorf("the type is too large")
	}
	return nil
}

// addSize adds the size of a, a type inside t.
func (t *Type) addSize(a *Type) {
	t.nodes += a.nodes
	t.depth = max(t.depth, a.depth+1)
}
