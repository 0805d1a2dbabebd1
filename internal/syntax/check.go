package syntax

import (
	"errors"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Check returns an error for each unknown function, each unknown type and each invalid regular expression in n.
func Check(n *expr.Node) []SyntaxError {
	var out []SyntaxError
	walk(n, func(x *expr.Node) bool {
		e, bad := checkNode(x)
		if bad {
			out = append(out, e)
		}
		out = append(out, checkPatterns(x)...)
		return !bad || x.Op != expr.Access && dotted(x) == ""
	})
	return out
}

// Around returns a node that contains l, so that Check also checks the parameters of l.
func Around(l *expr.Lambda) *expr.Node { return &expr.Node{Op: expr.Block, Lambda: l} }

func checkNode(x *expr.Node) (SyntaxError, bool) {
	switch {
	case x.Op == expr.Call:
		name, _ := x.Callee()
		if _, exists := stdlib.Functions.Find(name); !exists {
			return unknownFunction(x, name), true
		}
	case x.Op == expr.TypeName:
		_, err := types.Parse(x.Name)
		return failure(x, "", err)
	case x.Op == expr.Access && len(x.Kids) > 1 && x.Kids[0].Op == expr.TypeName && isText(x.Kids[1]):
		_, err := types.Parse(x.Kids[0].Name + "['']")
		if errors.Is(err, types.ErrCatalog) {
			return failure(x, "", err)
		}
	case x.Op == expr.Const && x.Value.Kind() == value.Regexp:
		_, err := expr.CompileRegexp(x.Value.Text())
		return failure(x, "regexp", err)
	}
	return SyntaxError{}, false
}

func checkPatterns(x *expr.Node) (out []SyntaxError) {
	pattern := 1
	switch {
	case len(x.Kids) <= pattern || x.Kids[0].Op == expr.Splat:
		return nil
	case x.Op == expr.Call && slices.Contains([]string{"match", "regsubst", "split"}, x.Name):
	case x.Op == expr.Binary && (x.Name == "=~" || x.Name == "!~"):
	default:
		return nil
	}
	texts := []*expr.Node{x.Kids[pattern]}
	if texts[0].Op == expr.ArrayLit { // match also accepts a list of patterns
		texts = texts[0].Kids
	}
	for _, text := range texts {
		if v := text.Value; text.Op == expr.Const && v.Kind() == value.String {
			if _, err := expr.CompileRegexp(v.Text()); err != nil {
				out = append(out, SyntaxError{Off: text.Off, Code: "regexp", Message: err.Error()})
			}
		}
	}
	return out
}

// unknownFunction returns the error for x, a call of the unknown function name. The call may be indirect, as in
// call('name').
func unknownFunction(x *expr.Node, name string) SyntaxError {
	if keys := dotted(x); keys != "" {
		fix := diag.Fix{Old: strings.NewReplacer("['", ".", "']", "").Replace(keys[1:]), New: keys[1:], Syntax: true}
		return SyntaxError{Off: x.Off, Fix: fix,
			Message: "a dot calls a function, and there is no function '" + name + "'",
			Hint:    "put keys in brackets: write " + keys + ", in a string ${" + keys[1:] + "}"}
	}
	e := SyntaxError{Off: x.Off, Message: "there is no function '" + name + "' here", Hint: lookupHint(x)}
	if e.Hint == "" {
		e.Message += ": only functions without side effects can be called"
		fix := diag.Correct(name, stdlib.Functions.Names())
		if e.Hint = fix.Hint(); name == x.Name {
			e.Fix = fix
		}
	}
	return e
}

// dotted returns $facts['os']['family'] for the expression $facts.os.family. It returns "" for other expressions.
func dotted(x *expr.Node) string {
	var keys string
	for ; x.Op == expr.Call && len(x.Kids) == 1 && x.Lambda == nil && x.Kids[0].Off < x.Off; x = x.Kids[0] {
		keys = "['" + x.Name + "']" + keys
	}
	if keys == "" || x.Op != expr.Var {
		return ""
	}
	return "$" + x.Name + keys
}

func failure(x *expr.Node, code diag.Code, err error) (SyntaxError, bool) {
	if err == nil {
		return SyntaxError{}, false
	}
	if errors.Is(err, types.ErrCatalog) {
		code = "catalog"
	}
	return SyntaxError{Off: x.Off, Code: code, Message: err.Error(), Fix: types.FixOf(err)}, true
}

func isText(n *expr.Node) bool {
	v, ok := n.Constant()
	return n.Op == expr.Concat || ok && v.Kind() == value.String
}
