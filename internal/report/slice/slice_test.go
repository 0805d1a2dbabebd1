package slice

import (
	"errors"
	"slices"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/value"
	"bindc/snapshot"
)

// dimensions returns two categories, a guard, and a category with exact values.
func dimensions() []snapshot.Dimension {
	of := func(name string) []byte { return expr.Append(nil, &expr.Node{Op: expr.Var, Name: name}) }
	return []snapshot.Dimension{{Name: "node", Category: -1, Program: of("fqdn")},
		{Name: "environment", Category: -1, Program: of("environment")},
		{Name: "role", Guard: true, Category: 0, Program: of("role")},
		{Name: "path", Category: -1, Exact: true, Program: of("path")}}
}

func TestParseAcceptsOneValuePerDimension(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  []snapshot.Term
		err   string
	}{
		{[]string{"environment=Production"}, []snapshot.Term{{Dimension: 1, Value: "production"}}, ""},
		{[]string{"path=A=b", "node=n"}, []snapshot.Term{{Dimension: 3, Value: "A=b"}, {Dimension: 0, Value: "n"}}, ""},
		{[]string{"environment"}, nil, unknown("environment")},
		{[]string{"environment="}, nil, unknown("environment=")},
		{[]string{"role=web"}, nil, unknown("role=web")},
		{[]string{"node=a", "node=b"}, nil, "expected one value of 'node', found two"},
	} {
		got, err := Parse(dimensions(), c.given)
		if !slices.Equal(got, c.want) || text(err) != c.err {
			t.Errorf("%q: %v, %v; expected %v, %s", c.given, got, err, c.want, c.err)
		}
	}
}

func unknown(found string) string {
	return "expected CATEGORY=VALUE of one of the categories node, environment, path, found '" + found + "'"
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A slice can be cut again, for requests that meet the terms of both, but not for requests that it does not cover.
func TestCutTwiceKeepsRequestsOfBoth(t *testing.T) {
	c := &snapshot.Content{Layers: []string{"site"}, Dimensions: dimensions(),
		Keys:   []snapshot.Key{{Name: "k", Default: 0}},
		Values: []snapshot.Stored{{Bytes: string(value.Append(nil, value.FromInt(1)))}}}
	node, production := snapshot.Term{Dimension: 0, Value: "n"}, snapshot.Term{Dimension: 1, Value: "production"}
	for _, terms := range [][]snapshot.Term{{production}, {node, production}, {node}} {
		if err := Cut(c, terms); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(c.Slice, []snapshot.Term{node, production}) {
		t.Errorf("it is for %v", c.Slice)
	}
	want := "this is a slice for requests with environment 'production' only: it has nothing for 'test'"
	if err := Cut(c, []snapshot.Term{{Dimension: 1, Value: "test"}}); text(err) != want {
		t.Errorf("for others: %v", err)
	}
	if len(c.Slice) != 2 {
		t.Errorf("what was refused changed it: %v", c.Slice)
	}
}

func TestInvalidExpressionIsReportedAsDamage(t *testing.T) {
	c := &snapshot.Content{Dimensions: []snapshot.Dimension{{Name: "node", Category: -1, Program: []byte{0xff}}}}
	var damage *snapshot.DamageError
	if err := Cut(c, []snapshot.Term{{Value: "n"}}); !errors.As(err, &damage) || damage.Section != "meta" {
		t.Errorf("%v", err)
	}
}
