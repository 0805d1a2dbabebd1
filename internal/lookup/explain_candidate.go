package lookup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// explainer adds to the recorded lookups the bindings that they did not use.
type explainer struct {
	*recorder
	r      *Request
	base   *lookup                // all evaluations share its limits
	filled map[string]Explanation // results of bound, by key
	files  []snapshot.Input

	source   source
	filter   snapshot.Filter
	brief    bool // omit Locations
	numbered bool // positions have the number of a file in place of its name; see ExplainUnset
}

// source is where an explainer reads bindings: a *snapshot.Snapshot or *snapshot.AllBindings.
type source interface {
	BindingsWhere(key string, f snapshot.Filter) ([]snapshot.Binding, snapshot.Left, error)
}

// filed is a binding with the key under which the snapshot stores it. For a value that is merged, this is an internal
// key.
type filed struct {
	snapshot.Binding
	key string
}

// bindings returns the bindings of key that x.filter selects, in order of precedence, and the number of bindings that
// it leaves out. For a merged key, it returns the bindings of the merged values instead of the recipes that merge them.
func (x *explainer) bindings(key string) (out []filed, left int, err error) {
	merged, leftMerged, err := x.source.BindingsWhere(recipe.MergeKey(key), x.filter)
	if err != nil {
		return nil, 0, err
	}
	isMerged, filter := len(merged) > 0 || leftMerged != snapshot.Left{}, x.filter
	if isMerged && filter.Others > 0 {
		filter.Others = math.MaxInt // recipes that merge are not counted, so all bindings must be read
	}
	filter.Uncounted = true // if Others is 0, leftOwn is not used
	own, leftOwn, err := x.source.BindingsWhere(key, filter)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range own {
		if isMerged {
			_, r, _ := x.r.snap.content(key, b)
			if r != nil && r.Kind == recipe.Merged { // if r is nil, evaluate reports damage
				continue
			}
		}
		out = append(out, filed{b, key})
	}
	for _, b := range merged {
		out = append(out, filed{b, recipe.MergeKey(key)})
	}
	slices.SortStableFunc(out, func(a, b filed) int { return snapshot.ByPrecedence(a.Binding, b.Binding) })
	if x.filter.Others > 0 {
		left = leftOwn.InScopes + leftOwn.Outside + leftMerged.InScopes + leftMerged.Outside
	}
	return out, left, nil
}

func (x *explainer) bindingsOf(key string) (out []filed, err error) {
	bs, _, err := x.source.BindingsWhere(key, x.filter)
	for _, b := range bs {
		out = append(out, filed{b, key})
	}
	return out, err
}

// candidate converts b to a Candidate without an Outcome. If b is effective and *winner is "", candidate sets *winner
// to the position of b.
func (x *explainer) candidate(b snapshot.Binding, winner *string) (c Candidate, err error) {
	c = Candidate{Layer: strings.Clone(x.r.file.Layers()[b.Layer]), State: Wins}
	if c.At, err = x.at(b.Origin); err != nil {
		return c, err
	}
	var fails []string
	complete := false // a term fails although all its variables are set
	for _, t := range b.Terms {
		d := &x.r.snap.dimensions[t.Dimension]
		name := d.shown()
		c.When = append(c.When, Term{name, t.Value})
		if x.r.file.ValueNumber(t.Dimension, t.Value) == x.r.numbers[t.Dimension] {
			continue
		}
		why, lacks := x.failure(t.Dimension), x.r.lacks(t.Dimension)
		if slices.Contains(fails, why) {
			continue // two guards share a category
		}
		fails = append(fails, why)
		c.Unset, complete = append(c.Unset, lacks...), complete || len(lacks) == 0
	}
	if complete {
		c.Unset = nil
	}
	switch {
	case len(fails) > 0:
		c.State, c.Why = NotEffective, "condition does not hold: "+strings.Join(fails, ", ")
	case *winner != "":
		c.State, c.Why = Hidden, "hidden by "+*winner
	default:
		*winner = c.At
	}
	return c, nil
}

// failure describes why a term on a dimension does not hold, such as "role is web". For an idle guard, it describes the
// category.
func (x *explainer) failure(dimension int) string {
	if d := &x.r.snap.dimensions[dimension]; x.r.isIdle(d) {
		dimension = d.category
	}
	return x.r.snap.dimensions[dimension].shown() + " is " + x.shownValue(dimension)
}

func (x *explainer) shownValue(dimension int) string {
	text, ok := x.r.text(dimension)
	switch {
	case !ok:
		return "not set"
	case text == "":
		return "empty"
	}
	return text
}

func (x *explainer) readFiles() (err error) {
	if x.files == nil {
		x.files, err = x.r.file.Inputs()
	}
	return err
}

// at formats a position as path:line:col.
func (x *explainer) at(o snapshot.Origin) (string, error) {
	if x.numbered {
		return fmt.Sprintf("%d:%d:%d", o.Input, o.Line, o.Col), nil
	}
	if err := x.readFiles(); err != nil {
		return "", err
	}
	if o.Line == 0 || int64(o.Input) >= int64(len(x.files)) {
		return "an unknown place", nil
	}
	return fmt.Sprintf("%s:%d:%d", x.files[o.Input].Path, o.Line, o.Col), nil
}

// evaluate returns the outcome that key would have if binding b won, and the recipe of b, or nil for a constant. It
// only fails if the snapshot is damaged.
func (x *explainer) evaluate(key string, b filed, level int) (Outcome, *recipe.Recipe, error) {
	v, r, err := x.r.snap.content(b.key, b.Binding)
	if damaged(err) {
		return Outcome{}, nil, err
	}
	if err != nil {
		return Outcome{Err: err}, nil, nil
	}
	if r == nil {
		return Outcome{x.r.View(v), true, nil}, nil, nil
	}
	o, err := x.follow(key, key, r, level)
	return o, r, err
}

// follow returns the outcome of recipe r of key in a level. A nested lookup of name is reported as a loop.
func (x *explainer) follow(key, name string, r *recipe.Recipe, level int) (Outcome, error) {
	l := x.base.aside(name)
	if r.Kind == recipe.Erased {
		return Outcome{}, nil
	}
	v, found, err := l.attemptAt(key, r, level)
	if damaged(err) {
		return Outcome{}, err
	}
	return l.outcome(v, found, err), nil
}
