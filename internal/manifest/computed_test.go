package manifest_test

import (
	"strings"
	"testing"

	"bindc/internal/manifest"
	"bindc/internal/testmode"
)

// describe formats a declaration with a computed name: patterns, keys, variables and place.
func describe(d *manifest.Declaration) string {
	words := d.Names.Patterns
	for _, key := range d.Names.Keys {
		words = append(words, "key "+key)
	}
	for _, name := range d.Names.Values {
		words = append(words, "$"+name)
	}
	text := strings.Join(words, " ")
	if len(d.Given) > 0 {
		text += "(" + strings.Join(d.Given, ",") + ")"
	}
	if d.Within != "" {
		text += " in " + d.Within
	}
	if d.InNode {
		text += " node"
	}
	if d.Conditional {
		text += " if"
	}
	return text
}

func TestFindsPossibleNamesOfComputedDeclarations(t *testing.T) {
	const role = "$role = $trusted['extensions']['pp_role']\n"
	for _, c := range []struct{ src, want string }{
		{"include \"role::${role}\"", "role::*"},
		{"include \"role::${trusted['extensions']['pp_role']}\"", "role::*"},
		{"include $facts['role']", "$facts.role"},
		{role + "include $role", "$trusted.extensions.pp_role"},
		{role + "$class = \"role::${role}\"\ninclude $class", "role::*"},
		{"if $a { $c = 'role::a' } else { $c = \"role::${a}\" }\nif defined($c) { include $c }", "role::* role::a"},
		{"if $facts['role'] { include \"role::${facts['role']}\" }", "role::*"},
		{"if $x != undef and !empty($x) { include \"role::${x}\" }", "role::*"},
		{"if $other { include \"role::${x}\" }", "role::* if"},
		{"if $x == 'a' { include \"role::${x}\" }", "role::* if"},
		{"if !defined($x) { include \"role::${x}\" }", "role::* if"},
		{"unless $x { include \"role::${x}\" }", "role::* if"},
		{"case $x { 'a': { include \"role::${x}\" } }", "role::* if"},
		{"node default { include \"role::${x}\" }", "role::* node"},
		{"lookup('classes', Array[String], 'unique').include", "key classes"},
		{"lookup('classes', Array[String], 'unique', [])\n  .contain", "key classes"},
		{"include(lookup({name => 'classes', merge => 'unique'}))", "key classes"},
		{"hiera_include('classes')", "key classes"},
		{"$c = hiera('my::role', 'role::base')\nnode default { include $c }", "role::base key my::role node"},
		{"lookup('classes').each |$c| { contain $c }", "key classes"},
		{"each(lookup('classes')) |String $c| { contain $c }", "key classes"},
		{"lookup('names').map |$n| { \"packages::${n}\" }.include", "packages::*"},
		{"$all = lookup('a') + flatten($t.map |$x| { lookup(\"b.${x}\") })\ninclude($all)", "key a key b"},
		{"class x ($c = 'y') { include $c }", "y key x::c in x"},
		{"class x { include \"${title}::linux\" }", "x::linux in x"},
		{"class x { contain $y::c }", "key y::c in x"},
		{"delete($classes, 'a').include", "$classes"},
		{"class { \"role::${x}\": p => 1 }", "role::*(p)"},
		{"include a\nnotify { \"${x}\": }", ""},
	} {
		var out []string
		for _, d := range manifest.ReadDeclarations("a.pp", c.src) {
			if d.Names == nil {
				continue
			}
			out = append(out, describe(&d))
		}
		if got := strings.Join(out, ", "); got != c.want {
			t.Errorf("%s\nis   %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestDeeplyNestedNamesAreUnknown(t *testing.T) {
	testmode.SkipUnderRace(t)
	const depth = 100_000
	src := "include " + strings.Repeat("f(", depth) + "$x" + strings.Repeat(")", depth)
	for _, d := range manifest.ReadDeclarations("a.pp", src) {
		if d.Names != nil && len(d.Names.Values) == 1 && d.Names.Values[0] == "" {
			return
		}
	}
	t.Error("no declaration with an unknown name")
}
