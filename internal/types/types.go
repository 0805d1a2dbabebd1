// Package types implements the types of bindings (language.md, section 9): the types of ARM-8 and ARM-9, and the
// types of the Puppet language. Check is for the values of bindings; it lets undef have all types of ARM-8 and ARM-9.
// Instance and Accepts are for expressions and follow Puppet.
package types

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"bindc/diag"
)

// Kind identifies a type without its parameters.
type Kind uint8

// Kinds have the names that the types have in Puppet, except Meta.
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
	Pattern // without parameters, regular expressions; with parameters, strings that match one of them
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
	Meta // the type Type or Type[T]
	Callable
	unit // the element type of an empty array; every type accepts it

	// These kinds only occur in types from ParseDeclared.
	sensitive // the type Sensitive or Sensitive[T]
	foreign   // a type that no data value has, such as a resource type
	alias     // a type alias of a module
)

// names lists the canonical names of types, indexed by Kind.
var names = [...]string{"Any", "Undef", "Default", "Boolean", "Integer", "Float", "Numeric", "String", "Enum",
	"Pattern",
	"Regexp", "Scalar", "ScalarData", "Data", "RichData", "Collection", "Array", "Hash", "Tuple", "Struct", "Optional",
	"NotUndef", "Variant", "Iterable", "Iterator", "Type", "Callable", "Unit", "Sensitive", "", ""}

// aliases maps alternative names of types to kinds.
var aliases = map[string]Kind{"Number": Numeric, "Literal": Scalar, "Object": Any}

// absent lists the Puppet types that bindings do not support. convert_to supports some of them (package rich).
var absent = []string{"Binary", "Deferred", "Error", "Init", "SemVer", "SemVerRange", "Sensitive", "Target",
	"Timespan", "Timestamp", "TypeAlias", "TypeReference", "TypeSet", "URI"}

// ofCatalog lists types of Puppet that only exist in catalogs or in Ruby, including resource types.
var ofCatalog = []string{"CatalogEntry", "Class", "Resource", "Ruby", "Runtime", "Augeas", "Cron", "Exec", "File",
	"Filebucket", "Group", "Host", "K5login", "Mailalias", "Maillist", "Mount", "Notify", "Package", "Resources",
	"Schedule", "Scheduled_task", "Selboolean", "Selmodule", "Service", "Ssh_authorized_key", "Sshkey", "Stage", "Tidy",
	"User", "Yumrepo", "Zfs", "Zone", "Zpool"}

// ErrCatalog is the error for types that only exist in catalogs or in Ruby.
var ErrCatalog = errors.New("belongs to a catalog or to Ruby, but bindings contain only data")

// ErrAbsent is the error for Puppet types that bindings do not support.
var ErrAbsent = errors.New("is not supported in bindings")

// Type is a type of the Puppet language. Types are immutable. A nil Type means Any.
type Type struct {
	kind  Kind
	plain bool // has no parameters
	fold  bool // Enum: ignores case
	exact bool // String: accepts only texts[0]; Boolean: accepts only truth; Tuple, Callable: has a size
	truth bool

	args     []*Type  // inner types, such as the element type of an Array
	texts    []string // Enum: values; Pattern, Regexp: sources; exact String: its text; otherwise a name
	target   *Type    // alias: the aliased type; nil while it is being read
	members  []member // Struct: its keys and their types
	min, max int64    // Integer: range; String, Collection, Array, Hash, Tuple, Callable: range of lengths
	from, to float64  // Float: range

	nodes int // number of types and texts in the type, including the type itself
	depth int
}

type member struct {
	name     string
	optional bool // the key may be missing
	value    *Type
}

// These limits apply to each type. Without them, an expression could double the size of a type a hundred times.
const (
	maxDepth = 100
	maxNodes = 10_000
)

// plainTypes lists the types without parameters, indexed by Kind.
var plainTypes = makePlain()

func makePlain() []*Type {
	ts := make([]*Type, len(names))
	for i := range ts { // the entries of foreign and alias are unused
		ts[i] = newType(Kind(i))
		ts[i].plain = true
	}
	return ts
}

// newType returns a new type of kind k without restrictions. The caller can add parameters.
func newType(k Kind) *Type {
	t := &Type{kind: k, max: math.MaxInt64, from: math.Inf(-1), to: math.Inf(1), nodes: 1, depth: 1}
	if k == Integer {
		t.min = math.MinInt64
	}
	return t
}

// Of returns the type of kind k without parameters.
func Of(k Kind) *Type { return plainTypes[k] }

// Named returns the type called name, without parameters.
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

// noType returns the error for an unknown type. If a title in brackets follows the name, it may be a resource type.
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
	if fix := diag.Correct(name, allNames()); !fix.IsNone() {
		return &misspelt{fmt.Sprintf("unknown type '%s'; %s", name, fix.Hint()), fix}
	}
	if titled {
		return fmt.Errorf("the resource type '%s' %w", name, ErrCatalog)
	}
	return fmt.Errorf("unknown type '%s'", name)
}

type misspelt struct {
	message string
	fix     diag.Fix
}

func (e *misspelt) Error() string { return e.message }

// FixOf returns the suggested fix for an error returned by Parse, if there is one.
func FixOf(err error) diag.Fix {
	if e := (*misspelt)(nil); errors.As(err, &e) {
		return e.fix
	}
	return diag.Fix{}
}

// insteadOf maps common type aliases of the module stdlib to replacements. The replacement String[1] accepts more
// than the alias.
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

// allNames returns the type names that messages may suggest.
func allNames() []string {
	all := append([]string(nil), names[:unit]...)
	return append(all, "Number", "Literal", "Object")
}

// Kind returns the kind of t. A nil t means Any.
func (t *Type) Kind() Kind {
	if t == nil {
		return Any
	}
	return t.kind
}

// Elem returns the type of an Array's elements or of a Hash's values, or the type inside Optional, NotUndef,
// Iterable, Iterator, Type or Sensitive. It returns nil for all other types and if t has no parameters.
func (t *Type) Elem() *Type {
	if t == nil || len(t.args) == 0 || t.kind == Variant || t.kind == Tuple || t.kind == Callable {
		return nil
	}
	return t.args[len(t.args)-1]
}

// Key returns the type of a Hash's keys. It returns nil for all other types and for a bare Hash.
func (t *Type) Key() *Type {
	if t == nil || t.kind != Hash || len(t.args) < 2 {
		return nil
	}
	return t.args[0]
}

// Members returns the types of a Variant or Tuple. It returns nil for all other types.
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

// Bounds returns the range of an Integer, or the range of lengths of a String or collection. For other types, the
// result is meaningless.
func (t *Type) Bounds() (min, max int64) { return t.min, t.max }

// Finite reports whether t is an Integer type with a lower and an upper bound.
func (t *Type) Finite() bool {
	return t.kind == Integer && t.min != math.MinInt64 && t.max != math.MaxInt64
}

// with sets the inner types of the new type t. It returns an error if t is too large.
func (t *Type) with(args ...*Type) (*Type, error) {
	t.args = args
	return t, t.measure()
}

// measure sets t.nodes and t.depth. It returns an error if t is too large.
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

func (t *Type) addSize(component *Type) {
	t.nodes += component.nodes
	t.depth = max(t.depth, component.depth+1)
}
