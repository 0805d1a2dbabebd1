package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/testmode"
)

// sets lists valid bindings files.
var sets = []string{
	"bindings default {}",
	"# what follows\nbindings ntp::default { /* none */ }",
	"bindings x {\n  bind 'a' to 1\n  bind \"b\" to [1, 'two', {three => 3}]\n}",
	"bindings x { bind abstract 'a' bind override Integer, 'b' to -1 bind sensitive String 'c' to \"x${y}\" }",
	"bindings x { bind 'a' to optional lookup('b') bind 'c' to ('a' in ['a']) bind 'd' to if 1 in [1] { 'a' in $b } else { 2 } }",
	"bindings x { when virtual true and node ['a', \"b\"] or osfamily debian { when common { bind 'a' to 6.10 } } when os-v 6.10 {} }",
	"bindings x { multibind Array[String], 'names' AS 'm' { uniq => true, 'flatten' => -1 } bind to 'Mary' IN 'm' bind 'k' TO 1 in 'm' }",
	"bindings x { multibind Hash 'h' as \"h\" { combinator => |$key, $c, $v| { unless !$c { $v } else { $c + $v } } } }",
	"bindings x { rebind 'a' rebind abstract String, 'b' bind alias 'a' as 'c' bind renamed Integer 'a' AS sensitive Integer, 'd' }",
	"bindings x { include a include [b::c, 'd', 'e-f', \"h\"] exclude ::g exclude \"::i\\n\" }",
	"bindings x { bind parameters ntp to { a => 1 } bind parameters Web[one] to optional Sql[one] { map => {a => b} } bind parameters class n to 'x' }",
	"bindings x { bind variables to { a => 1 } bind abstract variables Array[String] to ['a'] bind variable abstract to 'b' }",
	"bindings x { bind map Web to Sql[x] { a => b, 'c' => d } bind abstract map Web to Sql bind map abstract A to B bind 'c' to 1 }",
	"bindings x { bind dependency File['/etc/x'] ~> [Service[a], Service['b']] bind dependency a -> b }",
	"bindings x { bind 'a' to producer 'p' { producer_args => { n => 1 } } bind 'b' to producer bind 'c' { to_first_found => ['x'] } }",
	"bindings x { bind 'a' to /a\\/b/ bind 'b' to optional /c/ bind 'c' to $d / 2 }",
	"bindings x { bind to \"${a} ${b['c']} $d\" in 'm' bind 'b' to [\"${a}${b}\"] in 'm' }",
	"bindings x { bind 'q' to Sql[?? name == 'one' and (port > 80 or not up != true) and 'a' ~= /x/] { select_result => |$r| { $r[0] } } }",
	"bindings x {\n  bind 'h' to @(\"END\"/L)\n    text ${a} \\\n    more\n    | END\n  bind 'i' to @(A) + @(B) in 'm'\n  a\n  A\n  b\n  B\n}",
	"bindings x { bind 'a' to $b ? { 1 => 'x', default => 2 } bind 'c' to $b.map |$x| { $x in [1] } in 'z' bind 'd' to (*[1, 2]) }",
	"bindings x { bind 'long' to ['" + strings.Repeat("a', 'b", 30) + "', {k => ['" + strings.Repeat("c', *['d'], 'e", 20) + "']}, *$y] }",
}

func TestPrintedBindingsParseToEqualTree(t *testing.T) {
	for _, src := range sets {
		checkSet(t, src)
	}
}

// checkSet checks that src parses, and that printing and parsing it again gives an equal tree.
func checkSet(t *testing.T, src string) {
	t.Helper()
	b, errs := ParseBindings(src)
	if errs != nil {
		t.Errorf("%s: %v", src, errs)
		return
	}
	printed := PrintBindings(b)
	again, errs := ParseBindings(printed)
	if errs != nil || !reflect.DeepEqual(placeless(b), placeless(again)) {
		t.Errorf("%s\nis printed as\n%s\n%v", src, printed, errs)
	}
}

// placeless converts a tree to values without positions, for comparison with DeepEqual.
func placeless(b *Bindings) []any { return []any{b.Name.Text, placelessList(b.Statements)} }

func placelessList(list []Statement) []any {
	var out []any
	text := func(n *expr.Node) any {
		if n == nil {
			return nil
		}
		return sexpr(n)
	}
	words := func(list []Word) (out []string) {
		for _, w := range list {
			out = append(out, w.Text)
		}
		return out
	}
	for _, s := range list {
		one := []any{s.Word, words(s.Flags), text(s.Type), text(s.Key), text(s.Old), text(s.OldType), words(s.Names),
			text(s.Target), text(s.Other), s.Arrow.Text, text(s.To), s.Producer, s.Optional, text(s.In),
			placelessList(s.Statements)}
		if s.Query != nil {
			one = append(one, s.Query.Type.Text, sexpr(s.Query.Where))
		}
		for _, o := range s.Options {
			one = append(one, o.Name.Text, sexpr(o.Value))
		}
		for _, all := range s.When {
			for _, p := range all {
				one = append(one, p.Category.Text, words(p.Values))
			}
			one = append(one, "or")
		}
		out = append(out, one)
	}
	return out
}

const noStatement = "expected a statement, which begins with 'bind', 'exclude', 'include', 'multibind', 'rebind' or 'when'"

// checkFaults compares errors with the expected ones, each written as LINE:COLUMN MESSAGE HINT.
func checkFaults(t *testing.T, src string, errs []SyntaxError, want []string) {
	t.Helper()
	var got []string
	for _, e := range errs {
		line := strings.Count(src[:e.Off], "\n") + 1
		col := e.Off - strings.LastIndexByte(src[:e.Off], '\n')
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", line, col, e.Message, e.Hint)))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %s\nwant %s", src, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// One run reports all errors of a bindings file, with their positions and hints.
func TestReportsAllErrorsInBindingsFile(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"", []string{"1:1 expected 'bindings NAME { … }', found the end of the text"}},
		{"binding x {}", []string{"1:1 expected 'bindings NAME { … }', found 'binding' did you mean 'bindings'?"}},
		{"bindings x {} bindings y {}", []string{"1:15 expected only one 'bindings' in a file " + oneSet}},
		{"bindings x {}\nbind 'a' to 1", []string{"2:1 expected nothing after the } of the bindings, found 'bind'"}},
		{"bindings x {\n  bind alias parameters Web[one] as 'a'\n  bind renamed map A to B as 'b'\n  rebind variable a\n}", []string{
			"2:14 expected the key to rebind, a string, found 'parameters' " + keyHints["parameters"],
			"3:16 expected the key to rebind, a string, found 'map' " + keyHints["map"],
			"4:10 expected the key to rebind, a string, found 'variable' " + keyHints["variable"]}},
		{"bindings x {\n  bnd 'a' to 1\n  bind 'b' t 2\n  bind 'c' to 3\n}", []string{
			"2:3 expected a statement, which begins with 'bind', 'exclude', 'include', 'multibind', 'rebind' or 'when', found 'bnd' did you mean 'bind'?",
			"3:12 expected a statement, which begins with 'bind', 'exclude', 'include', 'multibind', 'rebind' or 'when', found 't'"}},
		{"bindings x {\n bind 'a' to [1,\n bind 'b' to\n bind 'c' to 'x\n bind 'd' to )\n}", []string{
			"3:7 expected ] or , after the entry of the list, found a string",
			"4:2 expected a value or another producer after 'to', found 'bind'",
			"4:14 expected the closing quote of the text that starts here close it with the quote that opens it",
			"5:14 expected a value, found ')'"}},
		{"bindings x {\n when nod [] {\n  bind 'a' too 1\n }\n bind ab 'c'\n}", []string{
			"2:12 expected a category value (a string, number or boolean), found ']'",
			"3:12 expected a statement, which begins with 'bind', 'exclude', 'include', 'multibind', 'rebind' or 'when', found 'too' did you mean 'to'?",
			"5:7 expected a key in quotes, a type, or another word of bind, found 'ab'"}},
		{"bindings x {\n bind abstract varibles to ['a']\n bind \"a${b}\" to 1\n bind alias 'a' to 'b'\n}", []string{
			"2:16 expected a key in quotes, a type, or another word of bind, found 'varibles' did you mean 'variables'?",
			"3:7 expected a key to bind, as a string, found a string that interpolates it must be a constant",
			"4:17 expected 'as' and the new key, found 'to'"}},
		{"bindings x {\n bind Type[Logger] to Type[Special]\n bind class ntp to class ntp2\n bind abstract Array[class ntp], 'n'\n bind 'a' to producer Type[P]\n}", []string{
			"2:2 a binding of a type without a name creates Ruby objects, which is not supported bind a value to a name: bind 'name' to …",
			"3:7 a class needs a catalog, which bindings do not have parameters of a class are bound with: bind parameters NAME to { … }",
			"4:22 a class needs a catalog, which bindings do not have as text, write 'class' in quotes",
			"5:23 producers written in Ruby are not supported register one with the runtime, and name it: producer 'name'"}},
		{"bindings x { bind to 3 bind dependency a <- b }", []string{
			"1:14 expected a key to bind, in quotes, or 'in' and the id of a multibinding",
			"1:42 expected -> or ~> between the two sides, found '<-'"}},
		{"bindings x {\n bnd 'a' to 1\n inclde ntp\n whn osfamily debian {\n  bind 'a' t\n  exclde [a]\n }\n bind 'b' to [1,\n" +
			" multibnd String, 'm'\n bind 'c'\n  t\n to 2\n}", []string{
			"2:2 " + noStatement + ", found 'bnd' did you mean 'bind'?",
			"3:2 " + noStatement + ", found 'inclde' did you mean 'include'?",
			"4:2 " + noStatement + ", found 'whn' did you mean 'when'?",
			"5:12 " + noStatement + ", found 't'",
			"6:3 " + noStatement + ", found 'exclde' did you mean 'exclude'?",
			"9:11 expected ] or , after the entry of the list, found 'String'",
			"9:2 " + noStatement + ", found 'multibnd' did you mean 'multibind'?",
			"11:3 " + noStatement + ", found 't'"}},
		{"bindngs x {\n bind 'a'\n  t 1\n}", []string{
			"1:1 expected 'bindings NAME { … }', found 'bindngs' did you mean 'bindings'?",
			"3:3 " + noStatement + ", found 't'"}},
		{"bindings {\n bnd 'a' to 1\n}", []string{
			"1:10 expected the name of the bindings, found '{'",
			"2:2 " + noStatement + ", found 'bnd' did you mean 'bind'?"}},
		{"class bindings {\n bnd 'a' to 1\n}", []string{
			"1:1 expected 'bindings NAME { … }', found the keyword class"}},
	} {
		_, errs := ParseBindings(c.src)
		checkFaults(t, c.src, errs, c.want)
	}
}

func TestReportsAllErrorsInConfiguration(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"", []string{"1:1 expected 'site { … }', found the end of the text"}},
		{"sit { categories { a 1 } }", []string{
			"1:1 expected 'site { … }', found 'sit' did you mean 'site'?",
			"1:22 expected => after the name of the category, found '1'"}},
		{"site {\n categries { a => 1 }\n bindngs => [ layer { 'a': include => 'x' } ]\n}", []string{
			"2:2 expected 'bindings' or 'categories' in site { }, found 'categries' did you mean 'categories'?",
			"3:2 expected 'bindings' or 'categories' in site { }, found 'bindngs' did you mean 'bindings'?"}},
		{"site {\n categories {\n  a => $::,\n  b $c,\n  d => 1 e => 2,\n  f => [1,\n  g => 2\n }\n" +
			" categories { h => }\n bindings => [\n  layer { 'm' include => 'x' }\n  layer { 'n': inclde => 5,\n" +
			"   exclud => ['a' },\n  layr { 'o': include => 'x' },\n  layer { 3: include => 'x' } ]\n}", []string{
			"3:8 expected a variable name after $",
			"4:5 expected => after the name of the category, found '$c'",
			"5:10 expected } or , after the category, found 'e'",
			"8:2 expected ] or , after the entry of the list, found '}'",
			"9:2 the categories are listed twice: expected one 'categories'",
			"9:20 expected a value, found '}'",
			"11:15 expected : after the name of the layer, found 'include'",
			"12:16 expected 'include' or 'exclude', found 'inclde' did you mean 'include'?",
			"12:26 expected a URI, a string, found '5'",
			"14:3 expected layer { 'name': include => 'URI' }, found 'layr' did you mean 'layer'?",
			"15:11 expected the name of the layer, a string, found '3'"}},
		{"site { categories { a => 1\n bindings => [ layr ] }", []string{
			"2:2 expected } or , after the category, found 'bindings'",
			"2:16 expected layer { 'name': include => 'URI' }, found 'layr' did you mean 'layer'?"}},
		{"site { categories { a => 1 } } b", []string{
			"1:32 expected nothing after site { }, found 'b' a file has one site { }"}},
		{"site { bindings => [ layer { 'a': include => 'x' ] categories {", []string{
			"1:50 expected } or , after the attribute of the layer, found ']'"}},
	} {
		_, errs := ParseSite(c.src)
		checkFaults(t, c.src, errs, c.want)
	}
}

func FuzzSite(f *testing.F) {
	f.Add("site { categories { a => \"${b} c\", } bindings => [ layer { 'd': include => ['e'], exclude => 'f' }, ] }")
	f.Add("sit { categories { a b => 1 } bindings => [ layr { inclde => 'f' ] }")
	f.Fuzz(func(t *testing.T, src string) {
		s, errs := ParseSite(src)
		checkErrors(t, src, errs)
		if errs == nil && s == nil {
			t.Errorf("%q says nothing, without an error", src)
		}
	})
}

func FuzzBindings(f *testing.F) {
	for _, src := range sets {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		_, errs := ParseBindings(src)
		checkErrors(t, src, errs)
		if errs == nil {
			checkSet(t, src)
		}
	})
}

// The parser does not read a long line again for each of its errors.
func TestLongLineIsReadOnce(t *testing.T) {
	testmode.SkipUnderRace(t)
	const levels = 400_000 // reading the line once per error would take minutes
	src := "bindings default { bind x { to => " + strings.Repeat("{a=>", levels) + "1" +
		strings.Repeat("}", levels) + " } }"
	if _, errs := ParseBindings(src); len(errs) == 0 {
		t.Error("it is accepted")
	}
}
