package relation

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/syntax"
)

func free(int) {}

// related lists dimensions: five categories, a guard of the first category, a guard of common, and others.
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

// terms parses "a=x b=y".
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

func TestWhetherConditionsHoldTogether(t *testing.T) {
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
		{"a=x", "xa=y", false},               // $a would be both x and y
		{"a=x b=y", "ab=x-y", true},          // the category combines both variables
		{"a=x b=z", "ab=x-y", false},         //
		{"a=x", "ab=x-y-z", true},            // possible in one of two ways
		{"a=x b=z", "ab=x-y-z", false},       // possible in neither way
		{"ab=x-y", "guard=y/x", true},        //
		{"ab=x-y", "guard=x/y", false},       //
		{"guard=y/", "", false},              // the guard's category has no value
		{"free=y", "a=x", true},              //
		{"free=y", "b=z", false},             // the guard uses the variable of category b
		{"loud=y", "a=x", true},              // results of functions are unknown
		{"fact=y", "a=x", true},              // an element of another variable
		{"fixed=text", "a=x", true},          //
		{"fixed=other", "", false},           // the dimension is constant
		{"path=x/y/z", "far=y/z", true},      //
		{"path=x/y/z", "far=z", false},       // the name of a node has no slash
		{"node=x/y", "", false},              //
		{"ab=x-y a=x", "ab=x-z", false},      // two values of one dimension
		{"loud=x", "again=x", true},          // equal expressions have equal values
		{"loud=x", "again=y", false},         //
		{"loud=x", "louder=y-z", false},      //
		{"again=x d=y", "louder=x-y", true},  //
		{"again=x d=z", "louder=x-y", false}, //
		{"a=y", "end=y-x", true},             //
		{"a=y", "end=y-xx", false},           // the text after the variable must match exactly
		{"end=y-xz", "", false},              //
		{"fact=x", "fact2=y", true},
		{"dynamic=x", "dynamic2=y", true},
		{"element=x", "element2=y", true},
		{"fact=x", "entry=y", false},           // two spellings of one variable
		{"local=xx", "s=y", true},              // a local variable is not a fact
		{"match=truea", "match2=true-b", true}, // nor is the result of a match
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := r.Together(terms(pair[0]), terms(pair[1])); got != c.together {
				t.Errorf("%q and %q hold together: %v, want %v", pair[0], pair[1], got, c.together)
			}
		}
	}
}

func TestImpliesOnlyIfDecidable(t *testing.T) {
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
		{"a=x", "ab=x-y", false},          // the value of $b is unknown
		{"ab=x-y", "a=x b=y", true},       // the only way to split the value
		{"ab=x-y-z", "a=x", false},        // one of two ways to split it
		{"ab=x-y-z a=x", "b=y-z", true},   // $b follows from $a
		{"ab=x-y-z", "ab=x-y-z", true},    //
		{"ab=x-y", "guard=y/x", true},     // the guard's category has a value
		{"ab=-y", "guard=y/", false},      // the guard's category has no value
		{"guard=y/x", "a=x free=y", true}, //
		{"a=x", "loud=x", false},
		{"a=x", "loud=x loud=x", false},
		{"loud=x", "loud=x", true},
		{"", "fixed=text", true},
		{"", "fixed=other", false},
		{"a=x", "a=x far=1", false},
		{"a=x", "ab=x-", false}, // although $b may be empty
		{"end=y-x-x", "a=y-x", true},
		{"", "folded=tx", true},
		{"loud=x", "again=x", true},
		{"again=x d=y", "louder=x-y", true},
		{"louder=x-y", "loud=x d=y", true},
		{"louder=x-y-z", "loud=x", false}, // one of two ways to split it
		{"fact=x", "entry=x", true},
	} {
		if got := r.Implies(terms(c.a), terms(c.b)); got != c.implies {
			t.Errorf("%q implies %q: %v, want %v", c.a, c.b, got, c.implies)
		}
	}
}

// Ways returns conditions on variables. Each of them includes the terms that follow from its variables.
func TestWaysIncludeImpliedTerms(t *testing.T) {
	r := New(relatedDimensions(t), free)
	for c, want := range map[string][]string{
		"":                {""},
		"far=1":           {""},
		"ab=x-y":          {"a=x b=y"},
		"ab=x-y-z":        {"a=x b=y-z", "a=x-y b=z"},
		"ab=x-y-z a=x":    {"b=y-z"},
		"ab=x-y-z a=y":    nil,
		"ab=x-y-z loud=x": {"a=x b=y-z", "a=x-y b=z"},
		"louder=x-y-z":    {"loud=x d=y-z", "loud=x-y d=z"},
	} {
		ways, all := r.Ways(terms(c))
		if len(ways) != len(want) || !all {
			t.Errorf("%q has %d ways, all: %v; want all %d", c, len(ways), all, len(want))
			continue
		}
		for i, w := range want {
			if !r.Implies(ways[i], terms(c)) || !r.Implies(ways[i], terms(w)) {
				t.Errorf("of %q, way %d is %v, want %q", c, i, ways[i], w)
			}
			if again, all := r.Ways(ways[i]); len(again) != 1 || !slices.Equal(again[0], ways[i]) || !all {
				t.Errorf("way %v of %q is split: %v", ways[i], c, again)
			}
			if i > 0 && r.Together(ways[i], ways[0]) {
				t.Errorf("of %q, ways %v and %v hold together", c, ways[i], ways[0])
			}
		}
	}
	many := terms("ab=" + strings.Repeat("-", maxWays+1))
	if ways, all := r.Ways(many); len(ways) != 1 || !slices.Equal(ways[0], many) || all {
		t.Errorf("a condition with too many ways is split: all %v, %d", all, len(ways))
	}
}

// If a condition can hold in too many ways, it is undecided, and this takes little time.
func TestConditionsWithTooManyWaysAreUndecided(t *testing.T) {
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
		t.Error("a decidable condition is undecided")
	}
	if c := (Condition{many}); !r.Together(c, Condition{a}) || r.Implies(c, Condition{a}) {
		t.Error("an undecidable condition is decided")
	}
	if !r.Implies(Condition{many}, Condition{many}) {
		t.Error("a condition does not imply itself")
	}
	if !r.Implies(Condition{many, g}, Condition{guard}) {
		t.Error("a category with a given value has none")
	}
	if r.Implies(Condition{g}, Condition{guard}) {
		t.Error("an unknown category has a value")
	}
	for n, decided := range map[int]bool{maxWays - 1: true, maxWays: false} { // n bytes can be split in n+1 ways
		two, other := Term{Dimension: 4, Value: strings.Repeat("x", n)}, Term{Dimension: 5, Value: "y/y"}
		if r.Together(Condition{two}, Condition{other}) == decided {
			t.Errorf("of %d bytes, decided is %v", n, !decided)
		}
	}
	if spent == 0 {
		t.Error("it costs nothing")
	}
}

// It is unknown how a computed dimension depends on its variables. Its relation to other dimensions with these
// variables is undecided, unless they have equal expressions.
func TestComputedDimensionsAreUndecidedIfTheyShareVariables(t *testing.T) {
	r := New(relatedDimensions(t), free)
	for c, want := range map[string]string{
		"a=x b=y loud=x":          "loud a",
		"b=y loud=x far=z":        "",
		"loud=x again=x":          "",
		"d=y loud=x louder=x-y":   "",
		"xa=x-x again=x":          "again xa",
		"far=z mixed=x-x":         "",
		"mixed=x-x-x":             "",
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
		ways, _ := r.Ways(terms(c))
		for _, w := range ways {
			if _, _, ok := r.Undecided(w); ok != (want != "") {
				t.Errorf("of way %v of %q, it is undecided: %v", w, c, ok)
			}
		}
	}
}

func TestSameIgnoresCaseAndSpelling(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"${x}", "$x", true},
		{"${x}", "$::x", true},
		{"$::x", "${::x}", true},
		{"${x}", "${y}", false},
		{"${x}", "x", false},
		{"${x}-${y}", "${::x}-$y", true},
		{"${x}-${y}", "${y}-${x}", false},
		{"${x}-${y}", "${x}_${y}", false},
		{"a-${x}", "A-${x}", true},
		{"${'a'}-${x}", "a-${x}", true},
		{"a${x}", "${x}a", false},
		{"${x}", "${downcase($x)}", true},
		{"r-${::x}", "r-${downcase($x)}", true},
		{"${upcase($y)}", "${upcase($x)}", false},
		{"${facts['os']['family']}", "${facts[os]['family']}", true},
		{"${facts['os']['family']}", "${facts['os']['name']}", false},
		{"x", "X", true},
		{"x", "y", false},
	} {
		a, errs := syntax.ParseString(c.a)
		b, more := syntax.ParseString(c.b)
		if len(errs)+len(more) > 0 {
			t.Fatal(errs, more)
		}
		if got := Same(a, b); got != c.want || Same(b, a) != got {
			t.Errorf("%s and %s are the same: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
