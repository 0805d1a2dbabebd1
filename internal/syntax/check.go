package syntax

import (
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Check reports the functions, types and regular expressions in a tree that an evaluation could only fail on.
func Check(n *expr.Node) []Error {
	var out []Error
	walk(n, func(x *expr.Node) bool {
		if e, bad := checkNode(x); bad {
			out = append(out, e)
		}
		return true
	})
	return out
}

func checkNode(x *expr.Node) (Error, bool) {
	switch {
	case x.Op == expr.Call && !expr.Known(x.Name):
		e := Error{Off: x.Off, Message: "there is no function '" + x.Name +
			"' here: only functions without side effects can be called"}
		e.Hint = diag.DidYouMean(x.Name, expr.Names())
		return e, true
	case x.Op == expr.TypeName:
		_, err := types.Parse(x.Name)
		return failure(x, err)
	case x.Op == expr.Const && x.Value.Kind() == value.Regexp:
		_, err := expr.CompileRegexp(x.Value.Text())
		return failure(x, err)
	}
	return Error{}, false
}

func failure(x *expr.Node, err error) (Error, bool) {
	if err == nil {
		return Error{}, false
	}
	return Error{Off: x.Off, Message: err.Error()}, true
}
