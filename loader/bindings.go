package loader

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/literal"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader/internal/site"
)

// setCompiler compiles the statements of one bindings file (language.md, section 5).
type setCompiler struct {
	*site.Dimensions
	diags   *diag.List
	pools   *datafile.Pools
	secrets map[string]bool // ids of sensitive multibindings anywhere in the site
	shared  bool            // the file is in a module, which may have bindings for other sites

	inclusions map[inclusion]*bindingsfile.Compiled // compiled inclusions and exclusions of the whole site
	slashed    bool                                 // whether a key that begins with '/' has been reported

	out       []Binding
	transfers []Transfer
}

// readSet compiles a bindings file. If names is not empty, the name declared in the file must be one of them.
func (c *setCompiler) readSet(source bindingsfile.Source, names []string) {
	if source == nil {
		return
	}
	f := source.Read(c.secrets, c.diags)
	if f == nil {
		return
	}
	if len(names) > 0 {
		c.checkName(f, names)
	}
	c.statements(f.Statements, []Condition{nil}, []int{0})
}

func (c *setCompiler) checkName(f *bindingsfile.File, names []string) {
	name := names[0]
	if f.Name == nil {
		c.diags.Errorf(f.Pos, "bindings", "expected 'name: %s', as the path of the file requires", name)
		return
	}
	given := f.Name.Value
	reported := given.IsUndef() && strings.HasSuffix(f.Pos.File, ".pp")
	if !reported && !slices.Contains(names, given.Text()) {
		c.diags.Errorf(f.Name.Pos, "bindings", "expected the name '%s', which the path of the file requires, found %s", name,
			value.Describe(given))
	}
}

// statements compiles statements that apply if any of the given conditions holds. when lists the indexes of these
// conditions in Site.Conditions.
func (c *setCompiler) statements(list []*bindingsfile.Statement, conditions []Condition, when []int) {
	for _, s := range list {
		switch s.Keyword {
		case bindingsfile.When:
			c.conditional(s, conditions)
		case bindingsfile.Bind:
			c.binding(s, when)
		case bindingsfile.Include, bindingsfile.Exclude:
			c.classes(s.Subjects, s.Keyword == bindingsfile.Exclude, when)
		case bindingsfile.Parameters:
			c.parameters(s, when)
		case bindingsfile.Variables:
			c.compileEach(s, recipe.VariableKeys, "variable", when)
		case bindingsfile.Map:
			c.paramMap(s, when)
		case bindingsfile.Dependency:
			c.dependency(s, when)
		}
	}
}

func (c *setCompiler) binding(s *bindingsfile.Statement, when []int) {
	if s.Value != nil {
		literal.CheckReserved(s.Key, s.Pos, &c.slashed, c.diags)
		b := Binding{Key: s.Key, When: when, Pos: s.Pos}
		c.number(&b, s.Value)
		c.out = append(c.out, b)
		return
	}
	if in := s.In.ScalarText(); in == includedClasses || in == excludedClasses {
		c.contributedClasses(s, when)
		return
	}
	if s.In == nil {
		literal.CheckReserved(s.Key, s.KeyPos, &c.slashed, c.diags)
	}
	c.checkIDs(s)
	c.checkMap(s)
	c.compile(s, when)
}

func (c *setCompiler) checkIDs(s *bindingsfile.Statement) {
	ids := []*bindingsfile.Literal{s.In}
	for _, p := range s.Producers {
		if p.Name == "multibind_id" {
			ids = append(ids, p.Argument)
		}
	}
	for _, l := range ids {
		switch id := l.ScalarText(); id {
		case recipe.PoliciesID:
			c.diags.Add(diag.Diagnostic{Pos: l.Pos, Code: "reserved", InValue: true,
				Message: "the id '" + id + "' of a multibinding is reserved for proven policies",
				Hint:    "choose another"})
		case includedClasses, excludedClasses, recipe.ClassesKey, recipe.DependenciesKey:
			c.diags.Add(diag.Diagnostic{Pos: l.Pos, Code: "reserved", InValue: true,
				Message: "the id '" + id + "' of a multibinding is reserved",
				Hint:    "choose another; classes are always collected under the key '" + recipe.ClassesKey + "'"})
		}
	}
}

// checkMap reports a transformer on a rebound parameter map. Transformers run during lookups, but the build needs the
// map.
func (c *setCompiler) checkMap(s *bindingsfile.Statement) {
	if len(s.Producers) != 1 || s.Producers[0].Name != "rebind" || s.Transformer == nil {
		return
	}
	if l := s.Producers[0].Argument; strings.HasPrefix(l.ScalarText(), recipe.MapKeys) {
		c.errorf(l, "a map of parameters is needed when the site is built: expected no 'transformer' with the "+
			"'rebind' of '%s'", l.Value.Text())
	}
}

func (c *setCompiler) compile(s *bindingsfile.Statement, when []int) {
	s.Sensitive = s.Sensitive || s.In != nil && c.secrets[s.In.ScalarText()]
	more := s.Compile(c.diags)
	if more == nil {
		return
	}
	b := Binding{Key: more.Key, When: when, Pos: more.Pos, More: more}
	if more.In == nil {
		c.number(&b, compiled(more.Recipe))
	}
	c.out = append(c.out, b)
}

// compiled returns the compiled form of r. If r is nil because its source has an error, the key is bound to null
// instead.
func compiled(r *recipe.Recipe) []byte {
	if r == nil {
		return recipe.AppendConstant(nil, value.Value{})
	}
	return recipe.AppendCompiled(nil, r)
}

// number sets b.Number and b.Value. It adds the key and the value to the site's lists if they are new.
func (c *setCompiler) number(b *Binding, value []byte) {
	b.Number, b.Value = c.pools.Keys.Number([]byte(b.Key)), c.pools.Values.Number(value)
}

func (c *setCompiler) conditional(w *bindingsfile.Statement, outer []Condition) {
	conditions, ok := c.when(w, outer)
	if !ok {
		return
	}
	ids := make([]int, len(conditions))
	for i, cond := range conditions {
		ids[i] = c.Condition(cond)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if c.chargeAlternatives(w, len(ids)) {
		c.statements(w.Statements, conditions, ids)
	}
}

// chargeAlternatives charges the alternatives of a `when` against the limit, once for the `when` and once for each
// statement in it. It returns false if the limit is exceeded.
func (c *setCompiler) chargeAlternatives(w *bindingsfile.Statement, alternatives int) bool {
	c.Alternatives -= max(0, alternatives-1) * (1 + len(w.Statements))
	if c.Alternatives < 0 {
		c.tooMany(w.Pos)
	}
	return c.Alternatives >= 0
}

func (c *setCompiler) tooMany(at diag.Pos) {
	c.diags.Errorf(at, "when", "the conditions of this site have too many alternatives in total, counted for each "+
		"binding; write fewer lists of values, or raise --max-alternatives")
}

// maxAlternatives limits the number of conditions that one `when` expands to.
const maxAlternatives = 1 << 16

// when returns every combination of an outer condition and an alternative of the `when` statement w.
func (c *setCompiler) when(w *bindingsfile.Statement, outer []Condition) ([]Condition, bool) {
	var out []Condition
	for _, all := range w.Alternatives {
		alternatives := make([]Condition, len(outer))
		for i, cond := range outer {
			alternatives[i] = slices.Clone(cond)
		}
		for i := range all {
			var ok bool
			if alternatives, ok = c.restrict(alternatives, &all[i]); !ok {
				return nil, false
			}
		}
		out = append(out, alternatives...)
		if len(out) > maxAlternatives {
			c.diags.Errorf(w.Pos, "when", "expected at most %d alternatives, this condition has more", maxAlternatives)
			return nil, false
		}
	}
	return out, true
}

// warnOfCommon warns about a condition on 'common' that does not list the value true. Such a condition has no effect.
func (c *setCompiler) warnOfCommon(p *bindingsfile.Pair) {
	if len(p.Values) > 0 && !slices.Contains(folded(p.Values), "true") {
		c.diags.Add(diag.Diagnostic{Pos: p.Pos, Severity: diag.Warning, Code: "when",
			Message: "'common' is true for every request: this condition has no effect",
			Hint:    "use another category, or remove the condition"})
	}
}

// warnOfConstant warns about a condition on a category that has the same value for every request, if the condition does
// not list that value. A value that was probably meant to be a variable has its own warning, see warnOfFixedValue. It
// does not warn in modules, which may have conditions for other sites.
func (c *setCompiler) warnOfConstant(p *bindingsfile.Pair, category *expr.Node) {
	v, constant := category.Constant()
	if !constant || c.shared || v.Kind() != value.String || slices.Contains(folded(p.Values), Fold(v.Text())) {
		return
	}
	name, text := p.Category.Value.Text(), v.Text()
	if text == name || strings.HasPrefix(text, "$") {
		return
	}
	d := diag.Diagnostic{Pos: p.Pos, Severity: diag.Warning, Code: "when",
		Message: "'" + name + "' is '" + text + "' for every request: this condition never holds"}
	d.Discreet = d.Message
	if len(p.Values) == 1 {
		d.Fix = c.diags.CorrectTypo(p.Values[0], []string{text})
	}
	c.diags.Add(d)
}

// warnOfPatterns warns about values that look like a pattern or an interpolation, because conditions compare text.
func (c *setCompiler) warnOfPatterns(p *bindingsfile.Pair) {
	for _, v := range p.Values {
		isRegexp := len(v) > 2 && strings.HasPrefix(v, "/") && strings.HasSuffix(v, "/")
		if isRegexp || strings.Contains(v, "*") || strings.Contains(v, "${") {
			c.diags.Add(diag.Diagnostic{Pos: p.Pos, Severity: diag.Warning, Code: "when",
				Message:  "this condition holds only for the text '" + v + "': conditions have no patterns or variables",
				Discreet: "this condition holds only for one text: conditions have no patterns or variables",
				Hint:     "list the values, or compute the category in binder_config.yaml"})
		}
	}
}

// restrict narrows each condition to requests in which a category has one of the given values. It may modify the
// conditions in place.
func (c *setCompiler) restrict(conditions []Condition, p *bindingsfile.Pair) ([]Condition, bool) {
	name := p.Category.Value.Text() // "" unless it is a string
	category, ok := c.Category(name)
	if !ok {
		c.Unknown(p.Category.Value, p.Category.Pos)
		return nil, false
	}
	if category < 0 {
		c.warnOfCommon(p)
		return conditions, true
	}
	c.warnOfConstant(p, c.All[category].Value)
	c.warnOfPatterns(p)
	values := folded(p.Values)
	var out []Condition
	for _, cond := range conditions {
		i := slices.IndexFunc(cond, func(t Term) bool { return t.Dimension == category })
		for n, v := range values {
			switch {
			case i < 0 && n == len(values)-1:
				out = append(out, append(cond, Term{Dimension: category, Value: v}))
			case i < 0:
				out = append(out, append(slices.Clone(cond), Term{Dimension: category, Value: v}))
			case cond[i].Value == v:
				out = append(out, cond)
			}
		}
		if len(out) > maxAlternatives {
			c.diags.Errorf(p.Pos, "when", "expected at most %d alternatives, this condition has more", maxAlternatives)
			return nil, false
		}
	}
	if len(out) == 0 {
		c.diags.Errorf(p.Pos, "when",
			"this condition never holds: an outer one requires another value of the category '%s'", name)
		return nil, false
	}
	return out, true
}

func folded(values []string) []string {
	var out []string
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if v = Fold(v); !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
