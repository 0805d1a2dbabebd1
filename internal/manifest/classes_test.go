package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bindc/internal/manifest"
)

// headerLines formats the definitions of a manifest, one per line. A parameter with a default ends in '='.
func headerLines(src string) string {
	h := manifest.ReadHeader("a.pp", src)
	var out []string
	for _, c := range h.Classes {
		line := fmt.Sprintf("%d:%d %s", c.At.Line, c.At.Col, c.Name)
		for _, p := range c.Params {
			line += " | " + strings.TrimSpace(p.Type+" $"+p.Name)
			if p.Optional {
				line += " ="
			}
		}
		out = append(out, line)
	}
	for _, a := range h.Aliases {
		out = append(out, fmt.Sprintf("%d:%d type %s = %s", a.At.Line, a.At.Col, a.Name, a.Type))
	}
	if !h.Whole {
		out = append(out, "not whole")
	}
	return strings.Join(out, "\n")
}

func TestReadsClassHeadersAndTypeAliases(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"no parameters", "class a { }", "1:7 a"},
		{"empty list", "class a() { }", "1:7 a"},
		{"types and defaults", "class a::b (\n  String $x,\n  Array[Integer[1, 2], 1] $y = [1, 2],\n  $z,\n) inherits a { }",
			"1:7 a::b | String $x | Array[Integer[1, 2], 1] $y = | $z"},
		{"leading ::", "class ::a ($x) inherits ::a::params { }", "1:7 a | $x"},
		{"comments", "class a ( # it's, (\n  Enum['a', /* , */ 'b'] # ]\n  $x /* = 1 */, $y) { }", "1:7 a | Enum['a', 'b'] $x | $y"},
		{"lambda in default", "class a ($x = $b.map |$k, $v = 1| { $v }, $y) { }", "1:7 a | $x = | $y"},
		{"variables in default", `class a ($x = "${b[1, 2]}, $c", $y = $x ? { 1 => 2, default => $z }, $w = f($x, $y)) { }`,
			"1:7 a | $x = | $y = | $w ="},
		{"heredoc in default", "class a ($x = @(END), $y) { }\n  class b ($no) { }\n  | END\nclass c { }", "1:7 a | $x = | $y\n4:7 c"},
		{"pattern", `class a (Pattern[/\A[^\/,]+\z/] $x, Struct[{a => String, Optional[b] => Hash[String, Integer]}] $y = {}) { }`,
			`1:7 a | Pattern[/\A[^\/,]+\z/] $x | Struct[{a => String, Optional[b] => Hash[String, Integer]}] $y =`},
		{"parameter that takes all further arguments", "class a (String *$x) { }", "1:7 a | String $x"},
		{"nested", "class a { class b ($x) { class c { } } }\nclass d { }", "1:7 a\n1:17 a::b | $x\n1:32 a::b::c\n2:7 d"},
		{"in comments and strings", "# class a { }\n/* class b { } */ $x = 'class c { }' $y = \"class d { } ${'class e { }'}\"", ""},
		{"not definitions", "class { 'a': x => 1 } Class['a'] -> Class['b'] f(class => 1) $class = 1 notify { 'x': class => y }", ""},
		{"aliases", "# a\ntype A::B = Variant[String, # x\n  Array[A::B]]\ntype C = Integer\n$x = 1",
			"2:6 type A::B = Variant[String, Array[A::B]]\n4:6 type C = Integer"},
		{"list without end", "class a ($x, ", "not whole"},
		{"body without end", "class a ($x) { ", "1:7 a | $x\nnot whole"},
		{"too many brackets", "class a ($x) { } }", "1:7 a | $x\nnot whole"},
		{"type without end", "type A = Array[", "not whole"},
		{"name without a body at the end", "class a", ""},
		{"parameters without a body at the end", "class a ($x)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := headerLines(c.src); got != c.want {
				t.Errorf("%s\nis\n%s\nwant\n%s", c.src, got, c.want)
			}
		})
	}
}

func TestReadsClassDeclarations(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"include a", "a"},
		{"include a, b::c\n$d = 1", "a b::c"},
		{"include ::a", "a"},
		{"include('a', [\"b\", c])", "a b c"},
		{"contain a\nrequire b", "a b"},
		{"'a'.include  ['b', 'c'].contain", "a b c"},
		{"class x inherits y { }", "y"},
		{"class { 'a': x => 1, y => {z => 1}; ['b', 'c']: * => $d }", "a(x,y) b(*)any c(*)any"},
		{"class { '::a': }", "a"},
		{"include $x", ""},
		{"include \"a::${b}\"", ""},
		{"file { 'x': require => File['y'] }", ""},
		{"$x = { include => a }", ""},
		{"\"${[1].each |$x| { include a }}\"", "a"},
	} {
		var out []string
		for _, d := range manifest.ReadDeclarations("a.pp", c.src) {
			if d.Names != nil {
				continue
			}
			text := d.Class
			if len(d.Given) > 0 {
				text += "(" + strings.Join(d.Given, ",") + ")"
			}
			if d.Any {
				text += "any"
			}
			out = append(out, text)
		}
		slices.Sort(out)
		if got := strings.Join(out, " "); got != c.want {
			t.Errorf("%s\nis   %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestKnowsWhereClassesAreDeclared(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"include a", "a"},
		{"node 'x' { include a }\nnode default { class { 'b': } }", "a, b"},
		{"class x ($p = {a => 1}) inherits y { include a }", "y in x, a in x"},
		{"class x { class z { include a } include b }", "a in x::z, b in x"},
		{"define d ($p) { include a }", "a in d"},
		{"if $x { include a } else { include b }\ninclude c", "a if, b if, c"},
		{"class x { case $y { 1: { include a } } [1].each |$i| { contain b } include(c) }", "a in x if, b in x if, c in x"},
		{"class x { if $y { class { 'a': } } }", "a in x if"},
		{"file { 'f': class => 1 }\ninclude a", "a"},
		{"\"${[1].each |$x| { include a }}\"", "a in ? if"},
		{"} } include a", "a"},
		{"class x { class { 'a': } contain a if $y { include a } }", "a in x"},
		{"class x { if $y { class { 'a': } contain a } else { contain a } contain a }", "a in x if, a in x if, a in x"},
		{"class x { contain a class { 'a': } }", "a in x, a in x"},
		{"class x { class { 'a': } }\nclass z { contain a }", "a in x, a in z"},
	} {
		var out []string
		for _, d := range manifest.ReadDeclarations("a.pp", c.src) {
			if d.Names != nil {
				continue
			}
			text := d.Class
			if d.Within != "" {
				text += " in " + d.Within
			}
			if d.Conditional {
				text += " if"
			}
			out = append(out, text)
		}
		if got := strings.Join(out, ", "); got != c.want {
			t.Errorf("%s\nis   %s\nwant %s", c.src, got, c.want)
		}
	}
}

func FuzzReadHeader(f *testing.F) {
	f.Add("class a (Array[String, 1] $x = [1], $y) inherits b { class c { } }")
	f.Add("type A = Variant[String, A]")
	f.Add("class { 'a': x => 1; ['b']: * => $c } include a, b ['x'].contain")
	f.Fuzz(func(t *testing.T, src string) {
		for _, c := range manifest.ReadHeader("a.pp", src).Classes {
			if c.Name == "" || c.At.Line == 0 {
				t.Errorf("a class without a name or a position: %v", c)
			}
		}
		manifest.ReadDeclarations("a.pp", src)
	})
}
