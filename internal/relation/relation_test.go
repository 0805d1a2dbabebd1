package relation

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/syntax"
)

func free(int) {}

// related are dimensions: five categories, a guard of the first and one of common.
var related = []struct{ name, template string }{
	{"a", "${a}"}, {"ab", "${a}-${b}"}, {"b", "${::b}"}, {"xa", "x-${a}"}, {"loud", "${upcase($a)}"},
	{"guard", "${b}/${a}"}, {"free", "${b}"}, {"fixed", "text"}, {"fact", "${facts['a']['x']}"}, {"far", "${c}"},
	{"node", "${fqdn}"}, {"path", "${fqdn}/${c}"},
	{"again", "${ upcase($a) }"}, {"louder", "${upcase($a)}-${d}"}, {"mixed", "${upcase($a)}-${a}"},
	{"entry", "${facts[\"a\"][x]}"}, {"d", "${d}"}, {"folded", "${'T'}${join(['x'])}"}, {"s", "${s}"},
	{"end", "${a}-x"}, {"fact2", "${facts['b']['x']}"}, {"dynamic", "${facts[$x]}"}, {"dynamic2", "${facts[$y]}"},
	{"element", "${split($a, '-')[0]}"}, {"element2", "${split($b, '-')[0]}"}, {"pre", "x-${upcase($a)}"},
	{"local", "${$s = $d}${s}"}, {"match", "${$d =~ /x(.)/}${1}"},
	{"match2", "${$d =~ /y(.)/}-${1}"},
}

func relatedDimensions(t *testing.T) []Dimension {
	var out []Dimension
	for i, d := range related {
		n, errs := syntax.ParseString(d.template)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		dim := Dimension{Category: i, Value: n}
		switch d.name {
		case "guard":
			dim.Guard, dim.Category = true, 0
		case "free":
			dim.Guard, dim.Category = true, -1
		}
		out = append(out, dim)
	}
	return out
}

// terms reads "a=x b=y".
func terms(text string) Condition {
	var out Condition
	for _, pair := range strings.Fields(text) {
		name, v, _ := strings.Cut(pair, "=")
		dim := slices.IndexFunc(related, func(d struct{ name, template string }) bool { return d.name == name })
		out = append(out, Term{Dimension: dim, Value: v})
	}
	sortTerms(out)
	return out
}

func TestConditionsExcludeOneAnother(t *testing.T) {
	r := New(relatedDimensions(t), free)
	for _, c := range []struct {
		a, b     string
		together bool
	}{
		{"", "", true},
		{"far=1", "a=1", true},
		{"far=1", "far=2", false},
		{"a=x", "xa=x-x", true},
		{"a=x", "xa=x-y", false},
		{"a=x", "xa=y", false},               // no value gives y
		{"a=x b=y", "ab=x-y", true},          // both variables are known
		{"a=x b=z", "ab=x-y", false},         //
		{"a=x", "ab=x-y-z", true},            // one of two ways
		{"a=x b=z", "ab=x-y-z", false},       // neither of them
		{"ab=x-y", "guard=y/x", true},        //
		{"ab=x-y", "guard=x/y", false},       //
		{"guard=y/", "", false},              // a guard of a category without a value
		{"free=y", "a=x", true},              //
		{"free=y", "b=z", false},             // a guard and the category of its variable
		{"loud=y", "a=x", true},              // what a function computes is not compared
		{"fact=y", "a=x", true},              // nor is an entry of another variable
		{"fixed=text", "a=x", true},          //
		{"fixed=other", "", false},           // never holds
		{"path=x/y/z", "far=y/z", true},      //
		{"path=x/y/z", "far=z", false},       // no name of a node has a slash
		{"node=x/y", "", false},              //
		{"ab=x-y a=x", "ab=x-z", false},      // one dimension, two values
		{"loud=x", "again=x", true},          // what is written in both is computed once
		{"loud=x", "again=y", false},         //
		{"loud=x", "louder=y-z", false},      //
		{"again=x d=y", "louder=x-y", true},  //
		{"again=x d=z", "louder=x-y", false}, //
		{"a=y", "end=y-x", true},             //
		{"a=y", "end=y-xx", false},           // what stands behind has to be there, and nothing else
		{"end=y-xz", "", false},              //
		{"fact=x", "fact2=y", true},
		{"dynamic=x", "dynamic2=y", true},
		{"element=x", "element2=y", true},
		{"fact=x", "entry=y", false},           // two ways to write one variable
		{"local=xx", "s=y", true},              // a local variable is none of the request
		{"match=truea", "match2=true-b", true}, // nor is what a match yields
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := r.Together(terms(pair[0]), terms(pair[1])); got != c.together {
				t.Errorf("%q and %q hold together: %v, want %v", pair[0], pair[1], got, c.together)
			}
		}
	}
}

func TestConditionsImplyOneAnother(t *testing.T) {
	r := New(relatedDimensions(t), free)
	for _, c := range []struct {
		a, b    string
		implies bool
	}{
		{"", "", true},
		{"far=1 a=1", "far=1", true},
		{"far=1", "far=1 a=1", false},
		{"a=x", "xa=x-x", true},
		{"xa=x-x", "a=x", true},
		{"a=x b=y", "ab=x-y", true},
		{"a=x b=y", "ab=x-z", false},
		{"a=x", "ab=x-y", false},          // b is not known
		{"ab=x-y", "a=x b=y", true},       // the only way
		{"ab=x-y-z", "a=x", false},        // one of two ways
		{"ab=x-y-z a=x", "b=y-z", true},   // the other variable follows
		{"ab=x-y-z", "ab=x-y-z", true},    //
		{"ab=x-y", "guard=y/x", true},     // the guard's category has a value
		{"ab=-y", "guard=y/", false},      // it has none
		{"guard=y/x", "a=x free=y", true}, //
		{"a=x", "loud=x", false},
		{"a=x", "loud=x loud=x", false},
		{"loud=x", "loud=x", true},
		{"", "fixed=text", true},
		{"", "fixed=other", false},
		{"a=x", "a=x far=1", false},
		{"a=x", "ab=x-", false}, // though $b may be empty
		{"end=y-x-x", "a=y-x", true},
		{"", "folded=tx", true},
		{"loud=x", "again=x", true},
		{"again=x d=y", "louder=x-y", true},
		{"louder=x-y", "loud=x d=y", true},
		{"louder=x-y-z", "loud=x", false}, // one of two ways
		{"fact=x", "entry=x", true},
	} {
		if got := r.Implies(terms(c.a), terms(c.b)); got != c.implies {
			t.Errorf("%q implies %q: %v, want %v", c.a, c.b, got, c.implies)
		}
	}
}

// What has too many ways is not decided, and does not take long.
func TestRelationsAreBounded(t *testing.T) {
	var dims []Dimension
	for i, text := range []string{"${a}${b}${c}${d}${e}${f}", "${a}", "${g}", "${g}", "${a}${b}", "${b}/${a}"} {
		n, _ := syntax.ParseString(text)
		dims = append(dims, Dimension{Category: i, Value: n})
	}
	dims[3].Guard, dims[3].Category = true, 0
	spent := 0
	r := New(dims, func(steps int) { spent += steps })
	many := Term{Dimension: 0, Value: strings.Repeat("x", 200)}
	a, g, guard := Term{Dimension: 1, Value: "x"}, Term{Dimension: 2, Value: "x"},
		Term{Dimension: 3, Value: "x"}
	if r.Together(Condition{many}, Condition{{Dimension: 1, Value: "y"}}) {
		t.Error("what can be decided by what is known is not")
	}
	if c := (Condition{many}); !r.Together(c, Condition{a}) || r.Implies(c, Condition{a}) {
		t.Error("what cannot be decided is decided")
	}
	if !r.Implies(Condition{many}, Condition{many}) {
		t.Error("a condition does not imply itself")
	}
	if !r.Implies(Condition{many, g}, Condition{guard}) {
		t.Error("a category of which the value is given has none")
	}
	if r.Implies(Condition{g}, Condition{guard}) {
		t.Error("a category of which nothing is known has a value")
	}
	for n, decided := range map[int]bool{maxWays - 1: true, maxWays: false} { // n bytes are split in n+1 ways
		two, other := Term{Dimension: 4, Value: strings.Repeat("x", n)}, Term{Dimension: 5, Value: "y/y"}
		if r.Together(Condition{two}, Condition{other}) == decided {
			t.Errorf("of %d bytes, decided is %v", n, !decided)
		}
	}
	if spent == 0 {
		t.Error("it costs nothing")
	}
}

// A computed dimension says something of others that depend on its variables, and what that is is not known: but of
// what computes the same.
func TestUndecidedDimensions(t *testing.T) {
	r := New(relatedDimensions(t), free)
	for c, want := range map[string]string{
		"a=x b=y loud=x":          "loud a",
		"b=y loud=x far=z":        "",
		"loud=x again=x":          "",
		"d=y loud=x louder=x-y":   "",
		"xa=x-x again=x":          "again xa",
		"far=z mixed=x-x":         "",
		"loud=x mixed=x-x":        "loud mixed",
		"a=x pre=x-x":             "pre a",
		"local=xx d=x":            "local d",
		"fact=x entry=x a=x ab=x": "",
	} {
		got := ""
		if computed, other, ok := r.Undecided(terms(c)); ok {
			got = related[computed].name + " " + related[other].name
		}
		if got != want {
			t.Errorf("of %q is undecided %q, want %q", c, got, want)
		}
	}
}
