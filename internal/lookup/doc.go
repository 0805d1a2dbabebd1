// Package lookup is the engine of package runtime. It evaluates the categories of a request, finds
// the effective bindings, evaluates their recipes and explains the result. It also has functions
// for this module's own programs: explanations, Puppet's requests, and the variables that a
// snapshot depends on. Request, Snapshot, Facts and Value of package runtime can be converted to
// the types of this package and back.
//
// A file uses only files below it in this list. A test enforces that no files use one another in a cycle. To follow a
// lookup, read from top to bottom:
//
//	open.go         New opens a snapshot and chooses its rules: plain ones, or those of Hiera 5 (rules.go)
//	lookup.go       Request.Lookup; snapshot.View finds small constants, this file all other values
//	dig.go          a fast path for dotted keys that dig into a constant
//	find.go         find looks up the bindings of a key, and otherwise applies the rules
//	hiera.go        dotted keys, and lookups with a merge strategy
//	bound.go        bound finds the binding of a key and evaluates it
//	descend.go      a descent tries the bindings of a key until one has a value
//	hiera_merge.go  merges values of Hiera 5 hierarchies
//	multibind.go    combines the contributions to a multibinding
//	produce.go      the value of a recipe: a constant, an expression, a producer
//	bounds.go       the limits of a call, and the chain of keys that detects loops
//	request.go      the values of the categories for given facts
//	snapshot.go     recipes and constants in the file
//	types.go        Snapshot, Request and lookup, which refer to one another
//
// A value can depend on other keys. The only way back up the list is the method ask in produce.go: recipes and
// expressions look up keys through the expr.Env that it returns, and environment.go implements that with find. The
// files explain*.go and entries.go use the same steps. facts*.go and derive.go read the facts of a request and add
// legacy facts; dimension.go computes the values that request.go needs.
package lookup
