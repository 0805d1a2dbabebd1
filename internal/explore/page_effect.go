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
)

// factPrefix begins the names of the inputs of the form, which end in the name of a fact.
const factPrefix = "fact."

// changedFacts returns the changes that the query asks for, as for --if. canonical is false if some come from the
// inputs of the form.
func (v *view) changedFacts(n facts.Node) (changed []string, canonical bool) {
	changed, canonical = slices.Clone(v.Values["if"]), true
	if i := slices.Index(changed, ""); i >= 0 { // the free input of the form is empty
		changed, canonical = slices.Delete(changed, i, i+1), false
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

// assign returns the text that sets the fact. It stays a number or a boolean if the new text is one, too.
func (f *factField) assign(text string) string {
	if !f.isText && json.Valid([]byte(text)) {
		return f.Name + ":=" + text
	}
	return f.Name + "=" + text
}

// effectContent is what changes for a node.
type effectContent struct {
	Title   string
	Changes []effectRow
	Unused  []string // changed facts that nothing uses
	Total   int
	Next    string
}

// effectRow is a key with two values.
type effectRow struct {
	Key            string
	Old, New       shownValue
	WhyOld, WhyNew string // addresses of the pages that explain both values
}

// comparison shows the keys whose values change with some facts, or differ for another node.
func (v *view) comparison(n facts.Node, r *lookup.Request) (any, error) {
	other, title := n, ""
	if with := v.Get("with"); with != "" {
		var err error
		if other, err = v.nodeNamed(with); err != nil {
			return nil, err
		}
		title = "Compared with " + diag.Visible(with)
	}
	now, err := v.d.request(other, v.Values["if"])
	if err != nil {
		return nil, badChange(err)
	}
	if v.asJSON {
		effect := v.d.style(report.JSON).Effect(r, now, v.d.keys)
		return &report.Diff{Keys: []report.Key{}, If: v.Values["if"], Fleet: 1,
			Nodes: report.Grouped([]string{other.Name}, []report.Effect{effect})}, nil
	}
	effect := v.d.style(report.People).Effect(r, now, v.d.keys)
	c := v.nodeContent(n, r)
	c.Effect = &effectContent{Title: cmp.Or(title, "What if "+strings.Join(v.Values["if"], ", ")), Total: len(effect)}
	from := min(v.number("from"), len(effect))
	to := min(from+pageRows, len(effect))
	var conditions []any
	for _, text := range c.If {
		conditions = append(conditions, "if", text)
	}
	for _, k := range effect[from:to] {
		c.Effect.Changes = append(c.Effect.Changes, effectRow{k.Key, shown(k.Old), shown(k.New), v.Why(n.Name, k.Key),
			v.Why(other.Name, k.Key, conditions...)})
	}
	if to < len(effect) {
		c.Effect.Next = v.Node(n.Name, append(conditions, "with", c.With, "from", to)...)
	}
	v.noteChanges(c)
	return c, nil
}

// badChange returns the error for a change of a fact that cannot be used.
func badChange(err error) error {
	return &problem{status: http.StatusBadRequest, text: err.Error(),
		Hint: "A change has the form NAME=TEXT or NAME:=JSON."}
}

// noteChanges marks the changed facts in the form, and notes those that no answer depends on.
func (v *view) noteChanges(c *nodeContent) {
	for _, text := range c.If {
		name, to, _ := strings.Cut(text, "=")
		name = strings.TrimSuffix(name, ":")
		for i := range c.Facts {
			if c.Facts[i].Name == name {
				c.Facts[i].Changed = to
			}
		}
		root, _, _ := strings.Cut(name, ".")
		if !slices.Contains(v.d.facts, root) && !(root == environment && v.d.readsEnvironment()) {
			note := fmt.Sprintf("nothing uses the fact '%s'", diag.Visible(root))
			if near := diag.DidYouMean(root, v.d.facts); near != "" {
				note += "; " + near
			}
			c.Effect.Unused = append(c.Effect.Unused, note)
		}
	}
}
