package policy

import (
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/legacy"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// space describes how the dimensions of a snapshot depend on variables.
type space struct {
	content    *snapshot.Content
	dims       []dimension
	categories map[string]int
	// spellings[variable][folded value] lists how Hiera 5 paths spell the value. Use spelledIn.
	spellings map[string]map[string][]string
	paths     map[string][]string // by variable: the dotted paths under which expressions read it
}

// dimension is a category or guard whose value is composed of text and variables.
type dimension struct {
	*snapshot.Dimension
	parts []decision.Piece
}

// opaqueMark begins the made-up variable for a dimension that is not composed of text and variables. There are no facts
// that set it.
const opaqueMark = "\x01"

func newSpace(c *snapshot.Content) (*space, error) {
	s := &space{content: c, categories: map[string]int{}, paths: map[string][]string{}}
	for i := range c.Dimensions {
		d := dimension{Dimension: &c.Dimensions[i]}
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			return nil, &snapshot.DamageError{Section: "meta", Expected: "the expression of " + d.Name}
		}
		parts, ok := decision.Template(n)
		if !ok {
			parts = []decision.Piece{{Variable: opaqueMark + strconv.Itoa(i)}}
		}
		for _, p := range parts {
			if p.Variable != "" {
				p.Variable = s.variable(p.Variable)
			}
			d.parts = append(d.parts, p)
		}
		if !d.Guard {
			s.categories[d.Name] = i
		}
		s.dims = append(s.dims, d)
	}
	return s, nil
}

// derived lists legacy facts that lookups derive from structured facts, so that each is one variable with two names.
// See docs/language.md, section 7.
var derived = []string{"architecture", "domain", "fqdn", "hostname", "operatingsystem", "operatingsystemmajrelease",
	"operatingsystemrelease", "osfamily"}

// variable returns the name that identifies the variable at path. Both names of a derived fact give the same result.
func (s *space) variable(path string) string {
	name := path
	if slices.Contains(derived, path) {
		name = strings.ReplaceAll(legacy.Structured(path), ".", "\x00")
	}
	if !slices.Contains(s.paths[name], path) {
		s.paths[name] = append(s.paths[name], path)
	}
	return name
}

// way assigns values to variables. An empty value means that the variable is unset.
type way map[string]string

// text returns the value of a dimension for the variables in w. ok is false if it depends on a variable that is not in
// w.
func (s *space) text(dim int, w way) (text string, ok bool) {
	for _, p := range s.dims[dim].parts {
		part := p.Text
		if p.Variable != "" {
			if part, ok = w[p.Variable]; !ok {
				return "", false
			}
		}
		text += part
	}
	return s.folded(dim, text), true
}

// folded returns text case-folded, unless the dimension compares with case.
func (s *space) folded(dim int, text string) string {
	if s.dims[dim].Exact {
		return text
	}
	return fold(text)
}

// isIdle reports whether dim is a guard of a category that may have no value with the variables in w.
func (s *space) isIdle(dim int, w way) bool {
	d := s.dims[dim]
	if !d.Guard || d.Category < 0 {
		return false
	}
	text, ok := s.text(d.Category, w)
	return !ok || text == ""
}

// implies reports whether l holds for every request with the variables in w, provided that l's variable is a string.
func (s *space) implies(w way, l *literal) bool {
	if l.category == "" {
		text, ok := w[s.variable(l.variable)]
		return ok && fold(text) == l.text
	}
	text, ok := s.text(s.categories[l.category], w)
	return ok && fold(text) == l.text
}

// equation states that the parts, one after the other, give the text.
type equation struct {
	parts []decision.Piece
	text  string
	exact bool
	close string // text as the policy spells it, or ""
}

// ofScope returns the equations that hold for requests in a scope. values are the scope's values for the dimensions
// dims.
func (s *space) ofScope(dims []int, values []string) (out []equation) {
	for i, d := range dims {
		out = append(out, equation{parts: s.dims[d].parts, text: values[i], exact: s.dims[d].Exact})
	}
	return out
}

// ofLiterals returns the equations that hold if the literals hold.
func (s *space) ofLiterals(ls []*literal) (out []equation) {
	for _, l := range ls {
		e := equation{text: l.text, close: l.written}
		if l.category != "" {
			e.parts = s.dims[s.categories[l.category]].parts
		} else {
			e.parts = []decision.Piece{{Variable: s.variable(l.variable)}}
		}
		out = append(out, e)
	}
	return out
}

// spelledIn returns how Hiera 5 paths spell the values of variables, by variable and case-folded value.
func (s *space) spelledIn() map[string]map[string][]string {
	if s.spellings != nil {
		return s.spellings
	}
	s.spellings = map[string]map[string][]string{}
	seen := map[string]bool{}
	for _, level := range s.content.Levels {
		for i, d := range level.Dimensions {
			if !s.dims[d].Exact {
				continue
			}
			for _, scope := range level.Scopes {
				id := strconv.Itoa(d) + " " + scope.Values[i]
				if seen[id] {
					continue
				}
				seen[id] = true
				ways, _ := s.solve([]equation{{parts: s.dims[d].parts, text: scope.Values[i], exact: true}})
				for _, w := range ways {
					s.addSpellings(w)
				}
			}
		}
	}
	return s.spellings
}

func (s *space) addSpellings(w way) {
	for variable, text := range w {
		of := s.spellings[variable]
		if of == nil {
			of = map[string][]string{}
			s.spellings[variable] = of
		}
		if at := fold(text); !slices.Contains(of[at], text) {
			of[at] = append(of[at], text)
		}
	}
}
