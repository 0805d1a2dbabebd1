// Package lookup is the engine of package runtime. It evaluates the categories of a request, finds
// the effective bindings, evaluates their recipes and explains the result. It also has functions
// for this module's own programs: explanations, Puppet's requests, and the variables that a
// snapshot depends on. Request, Snapshot, Facts and Value of package runtime can be converted to
// the types of this package and back.
//
// A file only uses files below it in this list, as a test checks. To follow a lookup, read from top
// to bottom:
//
//	open.go         New opens a snapshot and chooses its rules: plain ones, or those of Hiera 5 (rules.go)
//	lookup.go       Request.Lookup; the view of the snapshot finds small constants, the rest is here
//	dig.go          a dotted key that leads into a constant
//	find.go         find looks up the bindings of a key, and otherwise applies the rules
//	hiera.go        keys that lead into a value, and lookups with a merge strategy
//	bound.go        bound finds the binding of a key
//	descend.go      a binding that declines leaves the lookup to those below
//	hiera_merge.go  merges the values of the hierarchies
//	multibind.go    combines the contributions to a multibinding
//	produce.go      the value of a recipe: a constant, an expression, a producer
//	bounds.go       the limits of a call; the chain of keys that detects loops
//	request.go      the values of the categories for given facts
//	snapshot.go     recipes and constants in the file
//	types.go        Snapshot, Request and lookup, which refer to one another
//
// A value can depend on other keys. The only way back up the list is the method ask in produce.go: recipes and
// expressions look up keys through the expr.Env that it returns, and environment.go implements that with find. The
// files explain*.go and entries.go use the same steps.
package lookup
