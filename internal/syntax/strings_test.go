package syntax

import (
	"strings"
	"testing"
)

func TestParsesStringsWithInterpolations(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "''"},
		{"plain \\n \"quoted\" 'text' # no comment", `'plain \\n "quoted" \'text\' # no comment'`},
		{"a\nb", `'a\nb'`},
		{"${x}", "(concat $x)"},
		{"$x", "(concat $x)"},
		{"a $x b ${y} c", "(concat 'a ' $x ' b ' $y ' c')"},
		{"$x$y", "(concat $x $y)"},
		{"$::x $x::y $x:: $::", "(concat $::x ' ' $x::y ' ' $x ':: $::')"},
		{"$_x", "(concat $_x)"},
		{"${x[y]} ${x.f} ${f(x)} ${x['a'][1]}",
			"(concat (access $x 'y') ' ' (call f $x) ' ' (call f 'x') ' ' (access (access $x 'a') 1))"},
		{"${if $x { 'a' } else { \"b${y}\" }}", "(concat (if $x 'a' (concat 'b' $y)))"},
		{"${{'a' => '}'}}", "(concat (hash 'a' '}'))"},
		{"${0}", "(concat $0)"},
		{"$ $$ 5$ $5 $6$salt$Hash/ $A $- $", "'$ $$ 5$ $5 $6$salt$Hash/ $A $- $'"},
		{"100$", "'100$'"},
		{`\$x`, "'$x'"},
		{`\${x}`, "'${x}'"},
		{`\\$x`, `'\\$x'`},
		{`\\\$x`, `'\\\\$x'`},
		{`a\$b\$c $x\$d`, "(concat 'a$b$c ' $x '$d')"},
		{`C:\new\$x \t \" \`, `'C:\\new$x \\t \\" \\'`},
		{`\n${x}\n`, `(concat '\\n' $x '\\n')`},
		{`${"a\tb\$"}`, `(concat 'a\tb$')`},
		{"é${x}☃", "(concat 'é' $x '☃')"},
		{"${@(\"END\")}b\n  in ${x}\n  | END\n", "error"},
		{"${x\n}", "(concat $x)"},
		{"${ # comment }\n x }", "(concat $x)"},
		{"\x00$x\x00", "(concat '\x00' $x '\x00')"},
		{"${}", "error"},
		{"a ${", "error"},
		{"a ${x", "error"},
		{"a ${x y}", "error"},
		{"a ${'x}", "error"},
		{"$x::Y", "error"},
		{"${X::y}", "error"},
	} {
		got := "error"
		if n, errs := ParseString(c.text); errs == nil {
			got = sexpr(n)
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestErrorsInStringsHaveOffsets(t *testing.T) {
	for _, marked := range []string{"é ^${}", "é ^${x", "é ${x ^y}", "é ${1 + ^}", "é ^$x::Y", `é \$ ${^+ 1}`} {
		off := strings.IndexByte(marked, '^')
		_, errs := ParseString(marked[:off] + marked[off+1:])
		if len(errs) != 1 || errs[0].Off != off {
			t.Errorf("%s: %v", marked, errs)
		}
	}
}

func BenchmarkParseStringPlain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ParseString("a value of the usual length, without anything to interpolate")
	}
}

func BenchmarkParseStringInterpolated(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ParseString("/etc/${module_name}/conf.d/$fqdn.conf")
	}
}
