// Package lookup is the engine of package runtime: it evaluates the categories of a request, finds the bindings that
// are effective, follows their recipes and explains the answer. It has what only this module's own programs need, too:
// explanations, what Puppet asks for, and what a snapshot depends on. A Request of package runtime converts to one of
// this package and back; so do its Snapshot, Facts and Value.
//
// A file uses only files below it, and a test of the module holds this. To follow one key, read down this list:
//
//	open.go         New opens a snapshot and chooses its rules: plain ones, or those of Hiera 5 (rules.go)
//	lookup.go       Request.Lookup, the steps of one call; a constant is found here
//	find.go         find answers a key: what it is bound to, or else what the rules say
//	hiera.go        a key that leads into a value, or is asked for with a strategy
//	bound.go        bound finds the binding of a key
//	descend.go      a binding that may have no answer leaves it to those below
//	hiera_merge.go  the values of the hierarchies, merged
//	multibind.go    the contributions to a multibinding, put together
//	produce.go      the value of a recipe: a constant, an expression, a producer
//	bounds.go       what a call may use; the chain of keys that finds loops
//	request.go      the values of the categories for some facts
//	snapshot.go     recipes and constants in the file
//	types.go        Snapshot, Request and lookup, which refer to one another
//
// A value can depend on other keys. The only way back up is the method ask in produce.go: a recipe and an expression
// ask for keys through the expr.Env that it returns, and environment.go answers them with find. The files explain*.go
// and entries.go answer other questions by the same steps.
package lookup
