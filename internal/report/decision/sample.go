package decision

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Sample is a request made up to meet the conditions of certain rows.
type Sample struct {
	values assignment // by path
	Alone  bool       // made for a single row, or for none
}

// ID returns a string that is equal for equal samples, also across snapshots. It ignores case.
func (s Sample) ID() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.values)) {
		b.WriteString(path + "=" + s.values[path] + "\n")
	}
	return relation.Fold(b.String())
}

func (s Sample) Size() int { return len(s.values) }

// String returns a list such as "os.family=Debian, role=web".
func (s Sample) String() string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(s.values)) {
		name, _, _ := strings.Cut(path, elementMark)
		out = append(out, strings.ReplaceAll(name, pathSeparator, ".")+"="+s.values[path])
	}
	return strings.Join(out, ", ")
}

// Sampler makes up requests that reach the rows of keys.
type Sampler struct {
	tables    *Tables
	templates [][]piece // by dimension: the pieces of its text, or nil if it is not built from text and variables
	rows      map[string][]Row
}

// NewSampler returns a Sampler for a snapshot.
func NewSampler(b *Tables) (*Sampler, error) {
	s := &Sampler{tables: b, rows: map[string][]Row{}}
	for _, d := range b.snap.Dimensions() {
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			return nil, &snapshot.DamageError{Section: "meta", Expected: "the expression of " + d.Name}
		}
		parts, ok := pieces(n, nil)
		if !ok {
			parts = nil
		}
		s.templates = append(s.templates, parts)
	}
	return s, nil
}

// Samples has the sample requests for a key.
type Samples struct {
	Samples  []Sample
	Rows     int           // number of rows of the key itself
	Terms    []lookup.Term // terms in the conditions of the key's own rows
	Exceeded bool          // samples are missing because the limit was reached
}

// These constants bound the number of samples for a key.
const (
	maxUsed    = 64 // keys considered, including those that values look up
	pairLimit  = 12 // up to this number of conditions, all pairs are combined
	minSamples = 1  // for the request without any variables
)

// Samples returns at most limit requests that reach the rows of key and of the keys that its values look up. It tries
// each row alone, each row with one row of every other kind, and each row with as many others as possible.
func (s *Sampler) Samples(key string, limit int) (*Samples, error) {
	out := &Samples{}
	names, conditions, err := s.conditions(key, out)
	if err != nil {
		return nil, err
	}
	c := combiner{Sampler: s, limit: max(limit, minSamples), seen: map[string]bool{}, out: out}
	c.add(assignment{}, true)
	c.combine(conditions)
	out.Exceeded = out.Exceeded || names > maxUsed
	return out, nil
}

// conditions returns the distinct conditions of all rows on which the value of key can depend. names is the number of
// keys with such rows. It also sets the row counts and terms in out.
func (s *Sampler) conditions(key string, out *Samples) (names int, cs [][]snapshot.Term, err error) {
	queue, queued, seen := []string{key}, map[string]bool{key: true}, map[string]bool{}
	for ; names < len(queue) && names < maxUsed; names++ {
		name := queue[names]
		rows, err := s.rowsOf(name)
		if err != nil {
			return 0, nil, err
		}
		for i := range rows {
			r := &rows[i]
			if own := name == key || name == recipe.MergeKey(key); own && r.merge == nil {
				out.Rows++
				out.Terms = append(out.Terms, r.When...)
			}
			if id := r.conditionID(); !seen[id] {
				seen[id] = true
				cs = append(cs, r.binding.Terms)
			}
			for _, used := range r.uses {
				if !queued[used] {
					queued[used] = true
					queue = append(queue, used)
				}
			}
		}
	}
	if names < len(queue) {
		names = maxUsed + 1
	}
	return names, cs, nil
}

// Uses returns key and all keys that it looks up, directly or indirectly. It covers only rows that s has already read.
func (s *Sampler) Uses(key string) []string {
	out, seen := []string{key}, map[string]bool{key: true}
	for i := 0; i < len(out); i++ {
		for _, r := range s.rows[out[i]] {
			for _, used := range r.uses {
				if !seen[used] {
					seen[used] = true
					out = append(out, used)
				}
			}
		}
	}
	return out[1:]
}

// solve returns variables for which all terms hold, or nil if it finds none.
func (s *Sampler) solve(terms ...[]snapshot.Term) assignment {
	var equations []equation
	values := map[int]string{}
	for _, ts := range terms {
		for _, t := range ts {
			text, twice := values[t.Dimension]
			if twice && text != t.Value || s.templates[t.Dimension] == nil {
				return nil
			}
			if values[t.Dimension] = t.Value; !twice {
				equations = append(equations, equation{s.templates[t.Dimension], t.Value})
			}
		}
	}
	return solution(equations)
}

// combiner builds the samples for a key, without duplicates.
type combiner struct {
	*Sampler
	limit int
	seen  map[string]bool
	out   *Samples
}

func (c *combiner) add(given assignment, alone bool) bool {
	sample := Sample{given, alone}
	switch id := sample.ID(); {
	case given == nil, c.seen[id]:
	case len(c.out.Samples) >= c.limit:
		c.out.Exceeded = true
		return false
	default:
		c.seen[id] = true
		c.out.Samples = append(c.out.Samples, sample)
	}
	return true
}

// byDimensions groups conditions that use the same dimensions. Usually, only one condition in a group can hold for a
// request.
func byDimensions(conditions [][]snapshot.Term) [][][]snapshot.Term {
	var out [][][]snapshot.Term
	at := map[string]int{}
	for _, terms := range conditions {
		id := ""
		for _, t := range terms {
			id += strconv.Itoa(t.Dimension) + " "
		}
		i, known := at[id]
		if !known {
			i = len(out)
			at[id], out = i, append(out, nil)
		}
		out[i] = append(out[i], terms)
	}
	return out
}

// combine adds samples for each condition alone and for combinations of conditions.
func (c *combiner) combine(conditions [][]snapshot.Term) {
	groups := byDimensions(conditions)
	for n, terms := range conditions {
		if !c.add(c.solve(terms), true) {
			return
		}
		all := [][]snapshot.Term{terms}
		for _, group := range groups {
			tries := len(group)
			if len(conditions) > pairLimit {
				tries = min(tries, 1+len(terms))
			}
			joined := false
			for i := range tries {
				other := group[(n+i)%len(group)]
				if !c.add(c.solve(terms, other), false) {
					return
				}
				if both := append(slices.Clone(all), other); !joined && c.solve(both...) != nil {
					all, joined = both, true
				}
			}
		}
		if !c.add(c.solve(all...), false) {
			return
		}
	}
}

// Variables returns the paths of all variables on which answers can depend.
func (s *Sampler) Variables() ([]string, error) {
	names := map[string]bool{}
	for _, parts := range s.templates {
		for _, p := range parts {
			if p.variable != "" && !strings.Contains(p.variable, elementMark) {
				names[p.variable] = true
			}
		}
	}
	note := func(r *recipe.Recipe) {
		for _, n := range r.Expressions() {
			expr.HieraVariables(n, func(_ int, path []string) { names[joinPath(slices.Clone(path))] = true })
		}
	}
	for encoded, err := range s.tables.snap.AllRecipes() {
		if err != nil {
			return nil, err
		}
		if recipe.IsSealed(encoded) {
			continue
		}
		r, err := recipe.Decode(encoded)
		if err != nil {
			return nil, &snapshot.DamageError{Section: "recipes", Expected: "a recipe: " + err.Error()}
		}
		note(r)
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names)), nil
}

// otherText returns a value for a variable that a sample does not set. Each variable gets a different value, which
// conditions are unlikely to use.
func otherText(path string) string { return "other_" + strings.ReplaceAll(path, pathSeparator, "_") }

// Facts returns the facts of s. Variables in others that s does not set get values that occur in no condition.
func (s Sample) Facts(others []string) (*bindings.Facts, error) {
	given := maps.Clone(s.values)
	for _, path := range others {
		if _, set := given[path]; !set {
			given[path] = otherText(path)
		}
	}
	root := tree{}
	paths := slices.SortedFunc(maps.Keys(given), func(a, b string) int {
		_, setA := s.values[a]
		_, setB := s.values[b]
		if setA != setB { // variables of s come first, so that those in others do not replace them
			return map[bool]int{true: -1, false: 1}[setA]
		}
		return cmp.Compare(a, b)
	})
	for _, path := range paths {
		name, number, _ := strings.Cut(path, elementMark)
		root.set(strings.Split(name, pathSeparator), number, given[path])
	}
	var opts bindings.FactsOptions
	if e, ok := root["environment"].(string); ok {
		opts.Environment = e
	}
	vars := tree{}
	for name := range root {
		if strings.Contains(name, "::") {
			vars[name] = root[name]
		}
	}
	var err error
	if opts.Trusted, err = runtimeValue(root["trusted"]); err != nil {
		return nil, err
	}
	if opts.Variables, err = runtimeValue(vars); err != nil {
		return nil, err
	}
	ofFacts, _ := root["facts"].(tree) // the facts named in noFacts
	for _, name := range []string{"environment", "trusted", "facts"} {
		delete(root, name)
	}
	maps.Copy(root, ofFacts)
	maps.DeleteFunc(root, func(name string, _ any) bool { return strings.Contains(name, "::") })
	facts, err := runtimeValue(root)
	if err != nil {
		return nil, err
	}
	return bindings.NewFacts(facts, opts)
}

// tree is a nested hash of variables. Each value is a string, a list of strings, or a tree.
type tree map[string]any

// set sets the text at path, unless some parent on the path already is a string. If number is not "", it is the index
// of the text in a list.
func (t tree) set(path []string, number, text string) {
	for _, name := range path[:len(path)-1] {
		below, ok := t[name].(tree)
		if !ok && t[name] != nil {
			return
		}
		if !ok {
			below = tree{}
			t[name] = below
		}
		t = below
	}
	name := path[len(path)-1]
	if number == "" {
		if t[name] == nil {
			t[name] = text
		}
		return
	}
	i, _ := strconv.Atoi(number)
	list, _ := t[name].([]string)
	for len(list) <= i || i >= 0 && len(list) < 2 {
		list = append(list, otherText(strconv.Itoa(len(list))))
	}
	if i < 0 {
		list = []string{text}
	} else {
		list[i] = text
	}
	t[name] = list
}

// runtimeValue converts a tree. It converts anything else to undef.
func runtimeValue(x any) (bindings.Value, error) {
	t, ok := x.(tree)
	if !ok {
		return bindings.Value{}, nil
	}
	return bindings.Value(lookup.FromValue(t.value())), nil
}

func (t tree) value() value.Value {
	var b value.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		v := value.Value{}
		switch of := t[name].(type) {
		case string:
			v = value.FromString(of)
		case []string:
			var list []value.Value
			for _, text := range of {
				list = append(list, value.FromString(text))
			}
			v = value.FromSlice(list)
		case tree:
			v = of.value()
		}
		b.Set(value.FromString(name), v)
	}
	return b.Hash()
}
