package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
)

// factPrefix precedes the name of a fact in the names of the form's input fields.
const factPrefix = "fact."

// changedFacts returns the changed facts in the query, in the syntax of --if. canonical is false if some of them come
// from input fields. The caller then redirects to an address with only "if" parameters.
func (v *view) changedFacts(n facts.Node) (changed []string, canonical bool) {
	changed, canonical = slices.Clone(v.Values["if"]), true
	if slices.Contains(changed, "") { // the free-form field was left empty
		changed, canonical = slices.DeleteFunc(changed, func(text string) bool { return text == "" }), false
	}
	for _, f := range v.factFields(n) {
		given, ok := v.Values[factPrefix+f.Name]
		if !ok {
			continue
		}
		canonical = false
		if given[0] != f.Value {
			changed = append(changed, f.assign(given[0]))
		}
	}
	return changed, canonical
}

// assign returns the argument of --if that sets the fact to text. If the fact was a number or boolean and text is valid
// JSON, the new value is not a string either.
func (f *factField) assign(text string) string {
	if !f.isText && json.Valid([]byte(text)) {
		return f.Name + ":=" + text
	}
	return f.Name + "=" + text
}

// effectContent lists the keys whose values change for a node.
type effectContent struct {
	Title   string
	Changes []effectRow
	Notes   []string // remarks on changed facts without effect
	Total   int
	Next    string
}

type effectRow struct {
	Key            string
	Old, New       shownValue
	WhyOld, WhyNew string // addresses of the pages that explain Old and New
}

// comparison shows how the node's values would change with other facts, or how they differ from those of another node.
func (v *view) comparison(n facts.Node, r *lookup.Request) (any, error) {
	other, title := n, ""
	if with := v.Get("with"); with != "" {
		var known bool
		if other, known = v.d.node(with); !known {
			return v.unknownOther(n, r, with)
		}
		title = "Compared with " + diag.Visible(with)
	}
	supposed, err := other.With("Cannot change the facts of "+other.Name, v.Values["if"])
	if err != nil {
		return v.badChange(n, r, err)
	}
	now, err := affected.Request(v.d.snap, supposed)
	if err != nil {
		return v.badChange(n, r, err)
	}
	if v.asJSON {
		effect := v.d.style(report.JSON).Effect(r, now, v.d.keys)
		return &report.Diff{Keys: []report.Key{}, If: v.Values["if"], Fleet: 1,
			Nodes: report.Grouped([]string{other.Name}, []report.Effect{effect})}, nil
	}
	effect := v.d.style(report.People).Effect(r, now, v.d.keys)
	c := v.nodeContent(n, r)
	c.Effect = &effectContent{Title: cmp.Or(title, "What if "+suppositions(v.Values["if"])), Total: len(effect)}
	from := min(v.number("from"), len(effect))
	to := min(from+pageRows, len(effect))
	conditions := v.conditions()
	for _, k := range effect[from:to] {
		c.Effect.Changes = append(c.Effect.Changes, effectRow{k.Key, shown(k.Old), shown(k.New), v.Why(n.Name, k.Key),
			v.Why(other.Name, k.Key, conditions...)})
	}
	if to < len(effect) {
		c.Effect.Next = v.Node(n.Name, append(conditions, "with", c.With, "from", to)...)
	}
	if c.With == "" {
		c.Categories = now.Categories()
		c.Unset, c.Empty = v.unset(supposed, now)
	}
	v.noteChanges(c, now)
	return c, nil
}

// badChange returns the page of n with an error: the form's changes of facts are invalid.
func (v *view) badChange(n facts.Node, r *lookup.Request, wrong error) (any, error) {
	if v.asJSON {
		return nil, &problem{status: http.StatusBadRequest, text: diag.Visible(wrong.Error())}
	}
	v.status, v.Twin = http.StatusBadRequest, ""
	c := v.nodeContent(n, r)
	c.Problem, c.Effect = diag.Visible(wrong.Error()), &effectContent{}
	v.noteChanges(c, nil)
	return c, nil
}

// unknownOther returns the page of n with an error: the node to compare with is unknown.
func (v *view) unknownOther(n facts.Node, r *lookup.Request, with string) (any, error) {
	text := "No facts were read for node '" + diag.Visible(with) + "'"
	if v.asJSON {
		return nil, notFound(text, "")
	}
	v.status, v.Twin = http.StatusNotFound, ""
	c := v.nodeContent(n, r)
	c.Problem, c.Effect = text, &effectContent{}
	var names []string
	for _, name := range v.d.nodeNames() {
		if name != n.Name {
			names = append(names, name)
		}
	}
	c.Near = similarNodes(with, names, func(name string, _ ...any) string {
		return v.Node(n.Name, append(v.conditions(), "with", name)...)
	})
	return c, nil
}

// conditions returns the changed facts as query parameters for links.
func (v *view) conditions() (pairs []any) {
	for _, text := range v.Values["if"] {
		pairs = append(pairs, "if", text)
	}
	return pairs
}

// suppose marks the fact as changed to the given value.
func (f *factField) suppose(to string) {
	f.Changed, f.Origin = &to, "assumed; it is '"+short(f.Value, 100)+"' now"
}

// changedFact splits a change in the syntax of --if into the fact's path and its new value.
func changedFact(text string) (name, to string) {
	name, to, _ = strings.Cut(text, "=")
	return strings.TrimSuffix(name, ":"), to
}

// noteChanges marks the changed facts in the form. It adds notes on facts that do not affect any answer and on values
// that occur nowhere. now is the request with the changed facts, or nil if the changes are invalid.
func (v *view) noteChanges(c *nodeContent, now *lookup.Request) {
	for _, text := range c.If {
		name, to := changedFact(text)
		inForm := false
		for i := range c.Facts {
			if f := &c.Facts[i]; f.Name == name {
				f.suppose(to)
				inForm = true
			}
		}
		if !inForm {
			c.OtherFacts = append(c.OtherFacts, text)
		}
		if name == environment && c.With == "" {
			c.Environment.suppose(to)
		}
		if now == nil {
			continue
		}
		root, _, _ := strings.Cut(name, ".")
		if !slices.Contains(v.d.facts, root) && !(root == environment && v.d.readsEnvironment()) {
			note := fmt.Sprintf("Nothing uses the fact '%s'", diag.Visible(root))
			if near := diag.DidYouMean(root, v.d.facts); near != "" {
				note += "; " + near
			} else {
				note += "."
			}
			c.Effect.Notes = append(c.Effect.Notes, note)
		} else if note := v.unknownValue(name, to, now.Numbers()); note != "" {
			c.Effect.Notes = append(c.Effect.Notes, note)
		}
	}
}
