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

// space holds the variables that the dimensions of a snapshot depend on.
type space struct {
	content    *snapshot.Content
	dims       []dimension
	categories map[string]int
	// how values are spelled in Hiera 5 paths, by variable and folded value
	spellings map[string]map[string][]string
	paths     map[string][]string // the paths by which a variable is read
}

// dimension is a category or a guard as a text with variables.
type dimension struct {
	*snapshot.Dimension
	parts []decision.Piece
}

// opaqueMark begins the variable of a dimension that is not text with variables. No facts can be constructed for it.
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

// derived lists the variables that every request has under two names: the path of a structured fact, and the name of
// the legacy fact that lookups derive from it (docs/language.md, section 7).
var derived = []string{"architecture", "domain", "fqdn", "hostname", "operatingsystem", "operatingsystemmajrelease",
	"operatingsystemrelease", "osfamily"}

// variable returns the identifier of the variable that a path reads.
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

// way assigns values to variables. The value "" means that the variable is not set.
type way map[string]string

// text returns the text of a dimension. ok is false if the text depends on a variable that w does not assign.
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

// folded folds a text unless the dimension is exact.
func (s *space) folded(dim int, text string) string {
	if s.dims[dim].Exact {
		return text
	}
	return fold(text)
}

// isIdle reports whether dim is a guard that may have no value because its category may have no value.
func (s *space) isIdle(dim int, w way) bool {
	d := s.dims[dim]
	if !d.Guard || d.Category < 0 {
		return false
	}
	text, ok := s.text(d.Category, w)
	return !ok || text == ""
}

// implies reports whether a literal holds for every request with the values in w, if its variable is a string.
func (s *space) implies(w way, l *literal) bool {
	if l.category == "" {
		text, ok := w[s.variable(l.variable)]
		return ok && fold(text) == l.text
	}
	text, ok := s.text(s.categories[l.category], w)
	return ok && fold(text) == l.text
}

// equation requires that the concatenated parts equal the text.
type equation struct {
	parts []decision.Piece
	text  string
	exact bool
	close string // the spelling of text in the policy, if it comes from one
}

// ofScope returns the equations of a scope.
func (s *space) ofScope(dims []int, values []string) (out []equation) {
	for i, d := range dims {
		out = append(out, equation{parts: s.dims[d].parts, text: values[i], exact: s.dims[d].Exact})
	}
	return out
}

// ofLiterals returns the equations of literals.
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

// spelledIn collects how the values of exact dimensions spell the texts of variables, so that a policy's text can be
// spelled as in Hiera 5 paths.
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
