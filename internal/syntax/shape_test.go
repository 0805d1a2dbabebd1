package syntax

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// shape is a source and the tree that Puppet parses it to, or "error".
type shape struct{ src, tree string }

func shapes(t testing.TB) []shape {
	data, err := os.ReadFile("testdata/shapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []shape
	for block := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n\n") {
		at := strings.LastIndex(block, "\n=> ")
		if at < 0 {
			t.Fatalf("no answer: %s", block)
		}
		list = append(list, shape{block[:at], block[at+len("\n=> "):]})
	}
	return list
}

// The parser gives the same trees as Puppet.
func TestParserGivesSameTreesAsPuppet(t *testing.T) {
	for _, s := range shapes(t) {
		got := "error"
		if n, errs := ParseExpression(s.src); errs == nil {
			got = sexpr(n)
		}
		if got != s.tree {
			t.Errorf("%s\n got %s\nwant %s", s.src, got, s.tree)
		}
	}
}

// sexpr formats n like testdata/referee.rb.
func sexpr(n *expr.Node) string {
	switch n.Op {
	case expr.Const:
		return constantText(n.Value)
	case expr.Var:
		return "$" + n.Name
	case expr.TypeName:
		return n.Name
	case expr.Unary:
		return form(map[string]string{"-": "neg", "!": "!"}[n.Name], n.Kids...)
	case expr.Binary:
		return form(n.Name, n.Kids...)
	case expr.Assign:
		target := "$" + n.Name
		if n.Name == "" {
			target = form("array", n.Kids[1:]...)
		}
		return "(= " + target + " " + sexpr(n.Kids[0]) + ")"
	case expr.Call:
		s := form("call "+n.Name, n.Kids...)
		if n.Lambda != nil {
			s = s[:len(s)-1] + " " + lambdaText(n.Lambda) + ")"
		}
		return s
	}
	return form(opNames[n.Op], n.Kids...)
}

var opNames = map[expr.Op]string{
	expr.Concat: "concat", expr.ArrayLit: "array", expr.HashLit: "hash", expr.Splat: "splat", expr.Access: "access",
	expr.If: "if", expr.Case: "case", expr.Selector: "selector", expr.Option: "option", expr.Block: "block",
}

func form(op string, kids ...*expr.Node) string {
	for _, kid := range kids {
		op += " " + sexpr(kid)
	}
	return "(" + op + ")"
}

func lambdaText(l *expr.Lambda) string {
	s := "(lambda"
	for _, p := range l.Params {
		s += " {"
		if p.Rest {
			s += "*"
		}
		s += p.Name
		if p.Type != nil {
			s += " type " + sexpr(p.Type)
		}
		if p.Default != nil {
			s += " = " + sexpr(p.Default)
		}
		s += "}"
	}
	return s + " " + sexpr(l.Body) + ")"
}

var textEscapes = strings.NewReplacer("\\", `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func constantText(v value.Value) string {
	switch v.Kind() {
	case value.Undef:
		return "undef"
	case value.Float:
		return fmt.Sprintf("%.17e", v.Float())
	case value.String:
		return "'" + textEscapes.Replace(v.Text()) + "'"
	case value.Regexp:
		return "/" + textEscapes.Replace(v.Text()) + "/"
	}
	return string(value.AppendText(nil, v))
}
