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
		e, bad := checkNode(x)
		if bad {
			out = append(out, e)
		}
		return !bad || dotted(x) == ""
	})
	return out
}

func checkNode(x *expr.Node) (Error, bool) {
	switch {
	case x.Op == expr.Call && !expr.Known(x.Name):
		return unknownFunction(x), true
	case x.Op == expr.TypeName:
		_, err := types.Parse(x.Name)
		return failure(x, "", err)
	case x.Op == expr.Const && x.Value.Kind() == value.Regexp:
		_, err := expr.CompileRegexp(x.Value.Text())
		return failure(x, "regexp", err)
	}
	return Error{}, false
}

func unknownFunction(x *expr.Node) Error {
	if keys := dotted(x); keys != "" {
		return Error{Off: x.Off, Message: "behind a dot stands a function, and there is none '" + x.Name + "'",
			Hint: "keys stand in brackets: write " + keys + ", in a string ${" + keys[1:] + "}"}
	}
	return Error{Off: x.Off, Hint: diag.DidYouMean(x.Name, expr.Names()),
		Message: "there is no function '" + x.Name + "' here: only functions without side effects can be called"}
}

// dotted is what $facts.os.family is meant to be, $facts['os']['family']; "" for what is written in another way.
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

func failure(x *expr.Node, code diag.Code, err error) (Error, bool) {
	if err == nil {
		return Error{}, false
	}
	return Error{Off: x.Off, Code: code, Message: err.Error()}, true
}
