package syntax

import (
	"fmt"
	"strings"
	"testing"
)

func (a Attribute) String() string { return fmt.Sprintf("%s@%d=%s", a.Name, a.Off, Print(a.Value)) }

func TestParsesEnvironments(t *testing.T) {
	tests := []struct{ src, want string }{
		{"", "[]"},
		{"# nothing\n", "[]"},
		{"site { }", "[]"},
		{"site { Environment { modulepath => 'a:b', } }", "[modulepath@21='a:b']"},
		{"site { environment { 'production': envdir => \"$confdir/master\", manifest => 'x' } }",
			"[] 'production'[envdir@35=\"${confdir}/master\" manifest@64='x']"},
		{"site { environment { 'a': ; 'b': envdir => '/b'; } dynamic_environments { '/e': } }",
			"[] 'a'[] 'b'[envdir@33='/b'] dynamic '/e'[]"},
		{"$a = '/x'; site { dynamic_environments { $a: } }\nif $b { $environment = 'c' }",
			"[] dynamic $a[] ; $a = '/x' ; if $b { $environment = 'c' }"},
		{"site { environment { ['a', 'b']: } } site { Environment { } }", "[] ['a', 'b'][]"},
	}
	for _, test := range tests {
		e, errs := ParseEnvironments(test.src)
		if len(errs) > 0 {
			t.Errorf("%s: %v", test.src, errs)
			continue
		}
		got := fmt.Sprint(e.Defaults)
		for _, d := range e.Static {
			got += fmt.Sprint(" ", Print(d.Title), d.Attributes)
		}
		for _, d := range e.Dynamic {
			got += fmt.Sprint(" dynamic ", Print(d.Title), d.Attributes)
		}
		for _, n := range e.Statements {
			got += " ; " + strings.Join(strings.Fields(Print(n)), " ")
		}
		if got != test.want {
			t.Errorf("%s: %s, expected %s", test.src, got, test.want)
		}
	}
}

func TestRejectsInvalidEnvironments(t *testing.T) {
	for src, at := range map[string]int{
		"site":                                   0, // a bare word, whose value is not used
		"site {":                                 6,
		"site { categories { } }":                7,
		"site { environment 'a' }":               19,
		"site { environment { 'a' } }":           25,
		"site { environment { 'a': b } }":        28,
		"site { environment { 'a': b => 1 c } }": 33,
		"site { Environment { 'a' => 1 } }":      21,
		"$environment = 'a' }":                   19,
		"1":                                      0,
		"site { } 'x'":                           9,
		"environment { 'a': }":                   0,
	} {
		_, errs := ParseEnvironments(src)
		if len(errs) != 1 || errs[0].Off != at {
			t.Errorf("%s: %v, expected an error at %d", src, errs, at)
		}
	}
}

// One run reports each error once.
func TestReportsEachErrorOfEnvironmentsOnce(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"$environment = 'a' }\n$a = 'x' 'y'\n$b = )\n$c = 1", []string{
			"1:20 expected a statement or site { }, found '}'",
			"2:10 this value is not used $environment = '...' chooses an environment",
			"3:6 expected a value, found ')'"}},
		{"site {\n  Environment { modulepath => , bindingsdir 'b', manifest => 'c' manifestdir => 'd' }\n" +
			"  enviroment { 'a': }\n  environment { 'b' envdir => '/b' }\n}\n$a = =", []string{
			"2:31 expected a value, found ','",
			"2:45 expected => after the name of the attribute, found a string",
			"2:66 expected } or , after the attribute, found 'manifestdir'",
			"3:3 expected Environment { }, environment { } or dynamic_environments { }, found 'enviroment' " +
				"did you mean 'environment'?",
			"4:21 expected : after the title of environment, found 'envdir'",
			"6:6 expected a value, found '='"}},
		{"site {\n  environment { 'a': envdir => '/a'\n  environment { 'b': envdir => => }\n$environment = )", []string{
			"3:3 expected } or ; after the attributes of environment, found 'environment'",
			"3:32 expected a value, found '=>'",
			"4:16 expected a value, found ')'"}},
		{"if $a == {\n  $environment = )\n  $b = 'b'\n} elsif $c === 1 {\n  $environment = 'd'\n} else {\n" +
			"  $environment = ]\n}\n$e = $", []string{
			"2:18 expected a value, found ')'",
			"4:14 expected a value, found '='",
			"7:18 expected a value, found ']'",
			"9:6 expected a variable name after $"}},
		{"$a = 'b\n# comment\n$c = 1\nsite { Environment { 'd' => 1 } }", []string{
			"4:24 the string is not closed: expected '"}}, // the string that begins in line 1 ends here
		{"site {\n  environment { 'a': }\n$environment = )", []string{
			"3:1 expected } at the end of site, found '$environment'", "3:16 expected a value, found ')'"}},
	} {
		_, errs := ParseEnvironments(c.src)
		checkFaults(t, c.src, errs, c.want)
	}
}

// No input makes the parser fail.
func FuzzEnvironments(f *testing.F) {
	f.Add("site { Environment { a => 1 } environment { 'b': c => \"$d\"; } dynamic_environments { '/e': } }\n$x = 1")
	f.Add("sit { } site { environment 'a' } }\nif $b = {\n$c = )\n} elsif = {\n} $e = \"${f\n}")
	f.Fuzz(func(t *testing.T, src string) {
		e, errs := ParseEnvironments(src)
		checkErrors(t, src, errs)
		if errs == nil {
			for _, n := range e.nodes() {
				Print(n)
			}
		}
	})
}
