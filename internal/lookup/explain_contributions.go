package lookup

import (
	"fmt"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// contributions returns the contributions to the multibinding that wins in e, or nil if there is none.
func (x *explainer) contributions(e *Explanation) ([]Candidate, error) {
	r := e.multibind
	if r == nil {
		return nil, nil
	}
	bs, err := x.contributed(e)
	if err != nil {
		return nil, err
	}
	bs, parts, err := x.parts(r.Name, bs)
	if damaged(err) {
		return nil, err
	}
	if err != nil { // some parts are encrypted, so they cannot be matched with contributions
		return nil, nil
	}
	out := make([]Candidate, len(bs))
	for i, b := range bs {
		if out[i], err = x.candidate(b, new(string)); err != nil {
			return nil, err
		}
		out[i].Name = strings.Clone(parts[i].Name)
		if p := parts[i].Recipe; p.Renames() {
			if out[i].State == Wins {
				out[i].State, out[i].Why = Renames, renames(p)
			}
			continue
		}
		if out[i].Outcome, err = x.follow(e.Key, r.Name, parts[i].Recipe, -1); err != nil {
			return nil, err
		}
	}
	hideContributions(out, parts, x.counted[e], r.Options)
	return out, nil
}

// contributed returns the contributions to e.multibind that x.filter selects, and all others of their scopes, because
// parts matches all contributions of a scope. If x.filter selects none, or would leave out only a few, contributed
// returns all contributions.
func (x *explainer) contributed(e *Explanation) ([]snapshot.Binding, error) {
	bs, left, err := x.source.BindingsWhere(e.multibind.Name, snapshot.Filter{Possible: x.filter.Possible})
	switch {
	case err != nil || x.filter.Others == 0:
		return bs, err
	case len(bs) > 0 && left.Outside > x.filter.Others:
		e.LeftParts = left.Outside
		return bs, nil
	}
	bs, _, err = x.source.BindingsWhere(e.multibind.Name, snapshot.Filter{})
	return bs, err
}

// renames describes what r does to other contributions. r is a rename or an alias.
func renames(r *recipe.Recipe) string {
	if r.Kind == recipe.AliasedPart {
		return "contributions named '" + strings.Clone(r.Name) + "' have this name too"
	}
	return "contributions below it named '" + strings.Clone(r.Name) + "' have this name"
}

// parts returns the parts of all scopes in bs, and the binding that each part came from. It matches the contributions
// and the parts of a scope in order. In a forged file, a part may have no contribution; its origin is then unknown.
func (x *explainer) parts(name string, bs []snapshot.Binding) (at []snapshot.Binding, out []recipe.Part, err error) {
	inScope := map[string][]recipe.Part{}
	scopeOf := func(b snapshot.Binding) string { return fmt.Sprintf("%d %#v", b.Layer, b.Terms) }
	for _, b := range bs {
		if n, computed := b.Ref.Recipe(); computed {
			r, err := x.r.snap.recipe(name, n)
			if err != nil {
				return nil, nil, err
			}
			inScope[scopeOf(b)] = append(inScope[scopeOf(b)], r.Parts...)
		}
	}
	take := func(b snapshot.Binding) {
		left := inScope[scopeOf(b)]
		at, out, inScope[scopeOf(b)] = append(at, b), append(out, left[0]), left[1:]
	}
	for _, b := range bs {
		if b.Contribution && len(inScope[scopeOf(b)]) > 0 {
			take(b)
		}
	}
	for _, b := range bs {
		for b.Origin = (snapshot.Origin{}); len(inScope[scopeOf(b)]) > 0; {
			take(b)
		}
	}
	return at, out, nil
}

// hideContributions sets the state of effective contributions that are not part of the value, because others hide them
// or because they declined.
func hideContributions(out []Candidate, parts []recipe.Part, counted []contributed, o *recipe.Options) {
	at := make([]int, len(counted)) // at[i] is the index in out of counted[i], or -1
	seen := map[int]bool{}
	for i, c := range counted {
		at[i] = slices.IndexFunc(parts, func(p recipe.Part) bool {
			return p.Place == c.part.Place && p.Precedence == c.part.Precedence
		})
		if at[i] >= 0 {
			taken := &out[at[i]]
			taken.Outcome, seen[at[i]] = c.outcome, true
			if c.outcome.declined() {
				taken.State, taken.Why = Declined, "it has no value to contribute"
			}
		}
	}
	for i := range out {
		if seen[i] || out[i].State != Wins {
			continue
		}
		k := slices.IndexFunc(counted, func(c contributed) bool { return c.part.Place == parts[i].Place })
		if k >= 0 && at[k] >= 0 {
			out[i].State, out[i].Why = Hidden, "hidden by "+out[at[k]].At
			continue
		}
		k = slices.IndexFunc(counted, func(c contributed) bool {
			return !c.outcome.declined() && c.part.Name == parts[i].Name && c.part.Named == parts[i].Named
		})
		if k >= 0 && at[k] >= 0 {
			explainNotTaken(&out[i], out[at[k]].At, parts[i], counted[k].part, o)
		}
	}
}

// explainNotTaken records in c, the candidate for p, why the multibinding does not use p. taken, whose position is at,
// is the contribution with the same name that it uses instead.
func explainNotTaken(c *Candidate, at string, p, taken recipe.Part, o *recipe.Options) {
	decides := o.Resolution == recipe.Priority
	if o.Array {
		decides = p.Named && o.PriorityOnNamed || !p.Named && o.PriorityOnUnnamed
	}
	first := !o.Array && (o.Resolution == recipe.Ignore || o.Resolution == recipe.Included)
	switch {
	case o.Combinator != nil:
	case first, decides && taken.Precedence != p.Precedence:
		c.State, c.Why = Hidden, "hidden by "+at
	case decides:
		c.Why = "it has the name and the precedence of " + at
	case !o.Array && o.Resolution == recipe.ErrorOnConflict:
		c.Why = "it has the name of " + at + ", and conflict_resolution is 'error'"
	}
}
