package syntax

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

const lookup = "lookup"

// olderLookups maps the lookup functions of older Hiera versions and of ARM-8 to the calls of lookup() that replace
// them.
var olderLookups = map[string]string{
	"hiera":             "lookup('KEY')",
	"hiera_array":       "lookup('KEY'); a multibinding collects the values of several levels",
	"hiera_hash":        "lookup('KEY'); a multibinding collects the values of several levels",
	"hiera_include":     "lookup('KEY').include in a manifest; an expression cannot include classes",
	"inject":            "lookup('KEY')",
	"inject_provider":   "lookup('KEY')",
	"optionally_inject": "lookup('KEY') |$value| { ... }, where $value is undef if nothing is bound",
}

// lookupHint suggests a call of lookup() that replaces a call of an older function. It returns "" if there is none.
func lookupHint(call *expr.Node) string {
	instead := olderLookups[call.Name]
	if instead == "" {
		return ""
	}
	if len(call.Kids) > 0 {
		if key, ok := call.Kids[0].Constant(); ok && key.Kind() == value.String {
			instead = strings.Replace(instead, "KEY", key.Text(), 1)
		}
	}
	return "write " + instead
}

// CheckWithoutLookup is like Check, but also returns an error for each lookup. reason says why lookups are not
// allowed.
func CheckWithoutLookup(n *expr.Node, reason string) []SyntaxError {
	errs := Check(n)
	for call := range Calls(n) {
		name, _ := call.Callee()
		if name != lookup && olderLookups[name] == "" {
			continue
		}
		errs = slices.DeleteFunc(errs, func(e SyntaxError) bool { return e.Off == call.Off })
		errs = append(errs, SyntaxError{Off: call.Off, Message: name + "() cannot be called here: " + reason})
	}
	return errs
}
