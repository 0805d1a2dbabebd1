package explore

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/snapshot"
)

type whyContent struct {
	Node       string
	Key        string
	If         []string // changed facts, in the syntax of --if
	Values     string   // address of the node's values, or of the values that the changed facts affect
	Explained  explained
	Categories report.Terms
	Layers     []string // names of the layers that bind the key, highest first
	IsHiera    bool     // the layers come from entries of hiera.yaml
	Facts      []factField
	Unset      []string
	Empty      []string
}

// explained is the explanation of one lookup, formatted for the page.
type explained struct {
	Key, Root string
	Value     shownValue
	Groups    []candidates
	Parts     []candidate // contributions to a multibinding
	LeftParts int         // number of contributions that the page omits
	Options   []candidate // bindings of lookup_options
	Lookups   []explained
	More      int // number of nested lookups that are not explained
}

// candidates groups the bindings with the same State.
type candidates struct {
	Title, About string
	State, Class string
	List         []candidate
	Left         int // number of bindings that the page omits; the JSON twin lists all
}

type candidate struct {
	Name  string
	When  report.Terms
	Value shownValue
	Text  string // source of the expression that computes the value, or ""
	Place place
	Layer string
	State string
	Why   string // why the binding does not apply or is hidden, or ""
	By    *place // position of the binding that hides this one, or nil
}

// stateTitles has an empty group for each state, in page order.
var stateTitles = []candidates{
	{State: lookup.Wins, Class: "wins", Title: "Wins", About: "the highest binding whose condition holds"},
	{State: lookup.Merged, Class: "merged", Title: "Merged", About: "all of these are parts of the value"},
	{State: lookup.Renames, Class: "renames", Title: "Renames", About: "renames other contributions"},
	{State: lookup.Declined, Class: "declined", Title: "Declined", About: "applies, but has no value for this node"},
	{State: lookup.Hidden, Class: "hides", Title: "Hidden", About: "applies, but a higher binding has precedence"},
	{State: lookup.NotEffective, Class: "fails", Title: "Does not apply",
		About: "its condition does not hold for this node"},
}

func (v *view) whyPage() (any, error) {
	key := v.name("key", v.d.hasKey)
	asJSON := v.asJSON
	text := v.r.PathValue("node")
	if given := v.Values["node"]; len(given) > 0 {
		text = given[0]
	}
	to := func(name string, _ ...any) string { return v.Why(name, key) }
	n, err := v.nodeNamed(text, to, link{diag.Visible(key), v.Key(key)})
	if p, ok := errors.AsType[*problem](err); ok && v.Has("node") && len(v.d.nodes) > 0 {
		p.Form = &whyForm{key, text}
	}
	if err != nil {
		return nil, err
	}
	v.asJSON, v.Title, v.Section = asJSON, diag.Visible(key)+" on "+diag.Visible(n.Name), "n"
	changed, err := n.With("Cannot change the facts of "+n.Name, v.Values["if"])
	if err != nil {
		return nil, &problem{status: http.StatusBadRequest, text: diag.Visible(err.Error()),
			Links: []link{{"Back to " + diag.Visible(n.Name), v.Node(n.Name, v.conditions()...)}}}
	}
	n = changed
	r, err := affected.Request(v.d.snap, n)
	if err != nil {
		return nil, err
	}
	if v.asJSON {
		e, err := v.d.style(report.JSON).Explain(r, key)
		return explanations{e}, err
	}
	e, err := v.d.style(report.People).ExplainBriefly(r, key, pageRows, v.d.index())
	if err != nil {
		return nil, err
	}
	if len(e.Candidates) == 0 && e.Outcome.Found != nil && !v.d.hasKey(key) {
		return nil, v.unknownKey(key)
	}
	v.categories = e.Categories
	c := &whyContent{Node: n.Name, Key: key, If: v.Values["if"], Values: v.Node(n.Name, v.conditions()...),
		Explained: v.explained(e, r.Numbers()), Categories: e.Categories,
		Layers: v.layersOf(e), IsHiera: v.d.file.Hiera() != nil, Facts: v.supposedFacts(n)}
	c.Unset, c.Empty = v.unset(n, r)
	return c, nil
}

// supposedFacts returns the node's facts. It marks the facts that the query changes.
func (v *view) supposedFacts(n facts.Node) []factField {
	out := v.factFields(n)
	for _, text := range v.Values["if"] {
		name, _ := changedFact(text)
		for i := range out {
			if out[i].Name == name || strings.HasPrefix(out[i].Name, name+".") {
				out[i].Origin = "supposed"
			}
		}
	}
	return out
}

// layersOf returns the layers that bind the explained key, highest first.
func (v *view) layersOf(e *report.Explanation) (out []string) {
	for _, layer := range v.d.file.Layers() {
		if slices.ContainsFunc(e.Candidates, func(c report.Candidate) bool { return c.Layer == layer }) {
			out = append(out, layer)
		}
	}
	return out
}

// explained formats an explanation and groups the bindings by state. numbers are the value numbers of the node's
// categories.
func (v *view) explained(e *report.Explanation, numbers []uint32) explained {
	out := explained{Key: e.Key, Root: e.Root, Value: shown(e.Outcome), More: e.Unexplained,
		LeftParts: e.LeftParts + max(0, len(e.Contributions)-pageRows)}
	texts := v.expressions(e.Key, numbers)
	for _, group := range stateTitles {
		for i := range e.Candidates {
			if c := &e.Candidates[i]; c.State != group.State {
				continue
			} else if len(group.List) == pageRows {
				group.Left++
			} else {
				shown := v.candidate(c, e.Candidates)
				if shown.Text = texts[c.At]; shown.Text == shown.Value.Text {
					shown.Text = ""
				}
				group.List = append(group.List, shown)
			}
		}
		if group.State == lookup.NotEffective {
			group.Left += e.Left
		}
		if len(group.List) > 0 {
			out.Groups = append(out.Groups, group)
		}
	}
	for i := range e.Contributions[:min(len(e.Contributions), pageRows)] {
		out.Parts = append(out.Parts, v.candidate(&e.Contributions[i], nil))
	}
	for i := range e.Options {
		out.Options = append(out.Options, v.candidate(&e.Options[i], nil))
	}
	for i := range e.Lookups {
		out.Lookups = append(out.Lookups, v.explained(&e.Lookups[i], numbers))
	}
	return out
}

// expressions maps the position of each binding of key that is computed to its expression. It covers only the bindings
// that ExplainBriefly returns.
func (v *view) expressions(key string, numbers []uint32) map[string]string {
	if !isClosed(v.d.tally.ready) {
		v.unstable = true
		return nil
	}
	number, _ := slices.BinarySearch(v.d.keys, key)
	if _, isComputed := slices.BinarySearch(v.d.tally.computed, int32(number)); !isComputed {
		return nil
	}
	table, err := v.d.tables().Where(snapshot.Filter{Others: pageRows,
		Possible: func(dimension int, number uint32) bool { return number == numbers[dimension] }}).Values(key)
	if err != nil {
		return nil // unlikely: the explanation has already read these bindings
	}
	out := map[string]string{}
	for _, b := range v.d.style(report.People).Values(key, table).Bindings {
		if b.Outcome.Computed != "" {
			out[b.At] = shown(b.Outcome).Text
		}
	}
	return out
}

// candidate formats a binding. If it is hidden, all must contain the binding that hides it.
func (v *view) candidate(c *report.Candidate, all []report.Candidate) candidate {
	out := candidate{Name: diag.Visible(c.Name), When: c.When, Value: shown(c.Outcome), Place: v.place(c.At),
		Layer: c.Layer, State: c.State, Why: c.Why}
	if c.State != lookup.NotEffective {
		out.When = v.spelled(c.When)
	}
	if at, ok := strings.CutPrefix(c.Why, "hidden by "); ok && c.State == lookup.Hidden {
		by := v.place(at)
		out.By, out.Why = &by, ""
		if i := slices.IndexFunc(all, func(c report.Candidate) bool { return c.At == at }); i >= 0 {
			out.Why = v.precedence(&all[i], c)
		}
	}
	return out
}

// spelled returns when with its values in the node's spelling. Conditions that ignore case are stored in lower case.
// when must hold for the node.
func (v *view) spelled(when report.Terms) report.Terms {
	out := slices.Clone(when)
	for i := range out {
		for _, c := range v.categories {
			if c.Name == out[i].Name && strings.EqualFold(c.Value, out[i].Value) {
				out[i].Value = c.Value
			}
		}
	}
	return out
}

// precedence explains why high has precedence over low. Both bindings apply to the node.
func (v *view) precedence(high, low *report.Candidate) string {
	n, places := slices.Index(v.d.file.Layers(), high.Layer), v.d.file.Hiera()
	isHiera := n >= 0 && n < len(places) && places[n].Part != snapshot.NoHiera
	switch {
	case high.Layer != low.Layer:
		return fmt.Sprintf("the layer '%s' is above '%s'", diag.Visible(high.Layer), diag.Visible(low.Layer))
	case isHiera:
		return "hiera.yaml lists its path first"
	}
	for _, t := range high.When {
		has := func(other lookup.Term) bool { return other.Name == t.Name }
		if !slices.ContainsFunc(low.When, has) {
			if len(low.When) == 0 {
				only := diag.Visible(t.Name + " = " + t.Value)
				return fmt.Sprintf("it is for %s only, and this one is for all nodes", only)
			}
			return fmt.Sprintf("the category %s is above %s", diag.Visible(t.Name), diag.Visible(low.When[0].Name))
		}
	}
	return "it comes first"
}
