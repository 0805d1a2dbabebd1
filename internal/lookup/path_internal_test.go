package lookup

import (
	"testing"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// hieraPath builds the same path as its program. plainPath and append reject programs that are not plain paths, and
// paths that need cleaning.
func TestPlainPathAgreesWithProgram(t *testing.T) {
	const facts = `{"os": {"family": "Debian", "release": {"major": 12}}, "role": "web", "one": 1, "list": ["a"],
		"none": null, "empty": "", "up": "../x", "dot": ".x", "slash": "/x", "two": "a//b", "inside": "a/./b", "again": "%{role}",
		"percent": "a%", "s": {"%": "y", "up": ".."}}`
	for _, c := range []struct {
		dir, path, want string
		quick           bool
	}{
		{"", "nodes/%{trusted.certname}.yaml", "nodes/n1.yaml", true},
		{"", "%{role}", "web", true},
		{"", "%{::role}/x.yaml", "web/x.yaml", true},
		{"", "%{facts.os.family}-%{role}.yaml", "Debian-web.yaml", true},
		{"%{role}/", "%{::os.family}.yaml", "web/Debian.yaml", true},
		{"%{role}/", "common.yaml", "web/common.yaml", true},
		{"", "x%{nobody}.yaml", "x.yaml", true},
		{"", "x%{nobody.at.all}.yaml", "x.yaml", true},
		{"", "x%{os.none.at}.yaml", "x.yaml", true},
		{"", "x%{none}%{empty}.yaml", "x.yaml", true},
		{"", "x%{osfamily}.yaml", "x.yaml", true}, // derived from os.family, which data of Hiera 5 does not see
		{"", "x%{s.up}.yaml", "x...yaml", true},
		{"", "%{one}.yaml", "1.yaml", false},
		{"", "%{os.release.major}.yaml", "12.yaml", false},
		{"", "x%{list}.yaml", `x["a"].yaml`, false},
		{"", "%{list.0}.yaml", "a.yaml", false},
		{"", "%{again}.yaml", "web.yaml", false},
		{"", "%{percent}.yaml", "a%.yaml", false},
		{"%{role}/", "%{again}.yaml", "web/web.yaml", false},
		{"%{one}/", "common.yaml", "1/common.yaml", false},
		{"", "%{literal('x')}%{role}.yaml", "xweb.yaml", true},
		{"", "x/%{up}/y.yaml", "x/y.yaml", false},
		{"", "%{up}/y.yaml", "", false},
		{"", "%{dot}/y.yaml", ".x/y.yaml", false},
		{"", "%{slash}/y.yaml", "", false},
		{"%{role}/", "%{slash}/y.yaml", "", false},
		{"%{slash}/", "y.yaml", "", false},
		{"%{role}", "%{slash}/y.yaml", "", false},
		{"%{role}/", "%{one.y}.yaml", "an error", false},
		{"%{one.y}/", "x.yaml", "an error", false},
		{"", "%{two}/y.yaml", "a/b/y.yaml", false},
		{"", "%{nobody}/y.yaml", "", false},
		{"", "x/%{nobody}/y.yaml", "x/y.yaml", false},
		{"", "%{inside}/y.yaml", "a/b/y.yaml", false},
		{"", "%{nobody}", "", false},
		{"%{role}/", "%{nobody}", "", false},
		{"", "%{lookup('role')}.yaml", "an error", false},
		{"%{lookup('role')}/", "x.yaml", "an error", false},
		{"", "x%{secret}.yaml", "xSensitive [value redacted].yaml", false},
		{"", "x%{hidden.y}.yaml", "xSensitive [value redacted].yaml", false},
		{"", "x%{one.y}.yaml", "an error", false},
		{"", "x%{role.y}.yaml", "an error", false},
	} {
		v, err := parseJSON([]byte(facts))
		if err != nil {
			t.Fatal(err)
		}
		secret := value.FromString("x").Sensitive()
		pair := func(key string, v value.Value) value.Pair { return value.Pair{Key: value.FromString(key), Value: v} }
		f, err := NewFacts(v, FactsOptions{Node: "n1", Variables: Value(value.FromPairs(pair("secret", secret),
			pair("hidden", value.FromPairs(pair("y", value.FromInt(1))).Sensitive())))})
		if err != nil {
			t.Fatal(err)
		}
		dir, wrong := expr.ParseHiera(c.dir)
		path, more := expr.ParseHiera(c.path)
		if len(wrong)+len(more) > 0 {
			t.Fatal(c.path, wrong, more)
		}
		program := expr.HieraPath(dir, path)
		got, err := (&dimension{program: program}).text(f)
		if err != nil {
			got = "an error"
		}
		if got != c.want {
			t.Errorf("%s %s yields %q, expected %q (%v)", c.dir, c.path, got, c.want, err)
		}
		p := plainPath(program)
		if p == nil {
			if c.quick {
				t.Errorf("%s %s is left to its program", c.dir, c.path)
			}
			continue
		}
		if text, ok := p.append(nil, f); ok != c.quick || ok && string(text) != c.want {
			t.Errorf("%s %s is %q, %t, expected %q, %t", c.dir, c.path, text, ok, c.want, c.quick)
		}
	}
	text, _ := expr.ParseHiera("common.yaml")
	if plainPath(text) != nil {
		t.Error("a text is a path of parts")
	}
	literal := func(v value.Value) *expr.Node { return &expr.Node{Op: expr.Const, Value: v} }
	variable := &expr.Node{Op: expr.Var, Name: expr.HieraScope}
	scope := func(kids ...*expr.Node) *expr.Node {
		return &expr.Node{Op: expr.Call, Name: expr.HieraScope, Kids: kids}
	}
	for what, part := range map[string]*expr.Node{
		"a variable of another language": variable, "a number": literal(value.FromInt(1)), "nothing": scope(),
		"no name": scope(literal(value.FromString("::"))), "a computed name": scope(variable),
		"no call": {Op: expr.ArrayLit, Name: expr.HieraScope,
			Kids: []*expr.Node{literal(value.FromString("a"))}},
		"a computed key":    scope(literal(value.FromString("a")), variable),
		"a number as a key": scope(literal(value.FromString("a")), literal(value.FromInt(1))),
	} {
		for _, program := range []*expr.Node{expr.HieraPath(text, part), expr.HieraPath(part, text)} {
			if p := plainPath(program); p != nil {
				t.Errorf("%s is a plain path: %+v", what, p)
			}
		}
	}
}
