package syntax

import (
	"fmt"
	"strings"
	"testing"
)

func (a Attribute) String() string { return fmt.Sprintf("%s@%d=%s", a.Name, a.Off, Print(a.Value)) }

func TestEnvironmentsAreParsed(t *testing.T) {
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

func TestEnvironmentsThatAreNone(t *testing.T) {
	for src, at := range map[string]int{
		"site":                                   0, // a value that is not used
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

// Whatever a file holds, it is parsed or refused.
func FuzzEnvironments(f *testing.F) {
	f.Add("site { Environment { a => 1 } environment { 'b': c => \"$d\"; } dynamic_environments { '/e': } }\n$x = 1")
	f.Fuzz(func(t *testing.T, src string) {
		e, errs := ParseEnvironments(src)
		if errs == nil {
			for _, n := range e.nodes() {
				Print(n)
			}
		}
	})
}
