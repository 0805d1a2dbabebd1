package report

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Diff holds the changes from one snapshot to another.
type Diff struct {
	Causes []Cause `json:"causes,omitempty"`

	Keys  []Key    `json:"keys"`
	Nodes []Group  `json:"nodes,omitzero"`  // fleet nodes with changes
	Fleet int      `json:"fleet,omitempty"` // number of nodes of the fleet
	If    []string `json:"if,omitempty"`    // changed facts, if values in one snapshot are compared

	askedFor map[string]bool // removed keys that manifests still look up, or nil
}

// isEmpty reports whether nothing changes.
func (d *Diff) isEmpty() bool { return len(d.Keys) == 0 && len(d.Nodes) == 0 }

// Summary returns a line with the numbers of changed keys and affected nodes.
func (d *Diff) Summary() string {
	if d.isEmpty() && len(d.If) > 0 {
		return "With " + strings.Join(d.If, ", ") + ", nothing changes."
	}
	if d.isEmpty() {
		return "Nothing changes."
	}
	nodes, reached := 0, map[string]bool{}
	for _, g := range d.Nodes {
		nodes += len(g.Nodes)
		for _, k := range g.Changes {
			reached[k.Key] = true
		}
	}
	if nodes == 0 {
		text := d.changes(len(d.Keys))
		if d.Fleet > 0 {
			text += ", but on none of " + diag.Count(d.Fleet, "node")
		}
		return text + "."
	}
	text := fmt.Sprintf("%s, on %d of %s", d.changes(len(reached)), nodes, diag.Count(d.Fleet, "node"))
	if more := len(d.Unreached()); more > 0 {
		text += fmt.Sprintf("; %d more on none of them", more)
	}
	return text + "."
}

// changes returns the beginning of a summary: how many keys change.
func (d *Diff) changes(keys int) string {
	switch {
	case len(d.If) > 0:
		return "With " + strings.Join(d.If, ", ") + ", answers change"
	case len(d.Keys) == 0:
		return "No binding changes, but values do"
	case keys == 1:
		return "1 key changes"
	}
	return diag.Count(keys, "key") + " change"
}

// Unreached returns the changed keys that change for no node of the fleet.
func (d *Diff) Unreached() map[string]bool {
	out := map[string]bool{}
	for _, k := range d.Keys {
		out[k.Key] = true
	}
	for _, g := range d.Nodes {
		for _, k := range g.Changes {
			delete(out, k.Key)
		}
	}
	return out
}

// SetAskedFor records the manifests that still look up removed keys. uses lists the positions by key.
func (d *Diff) SetAskedFor(uses map[string][]Use) {
	d.askedFor = map[string]bool{}
	for i := range d.Keys {
		if k := &d.Keys[i]; k.Gone {
			k.AskedFor = uses[k.Key]
			d.askedFor[k.Key] = len(k.AskedFor) > 0
		}
	}
}

// Key is a key with its changes.
type Key struct {
	Key           string   `json:"key"`
	Gone          bool     `json:"gone,omitempty"`       // the key was bound before, but no longer is
	RenamedTo     string   `json:"renamed_to,omitempty"` // the new key with the same values
	AskedFor      []Use    `json:"asked_for,omitempty"`  // manifests that look up a removed key
	Changes       []Change `json:"changes"`
	Contributions []Change `json:"contributions,omitempty"`
}

// Use is a position at which a manifest looks up a key.
type Use struct {
	At string `json:"at"`
	By string `json:"by"`
}

// Change is a condition under which the answer differs.
type Change struct {
	When    Terms    `json:"when"`
	Except  []Terms  `json:"except,omitempty"`
	Name    string   `json:"name,omitempty"`
	Old     Outcome  `json:"old"`
	New     Outcome  `json:"new"`
	OldAt   string   `json:"old_at,omitempty"`
	NewAt   string   `json:"new_at,omitempty"`
	Through []string `json:"through,omitempty"`
	Below   bool     `json:"below,omitempty"`
}

// Group is a set of nodes with the same changes.
type Group struct {
	Nodes   []string `json:"nodes"`
	Changes Effect   `json:"changes"`
}

// Effect lists the changes for a node, sorted by key.
type Effect []KeyEffect

// KeyEffect is the change of a key for a node.
type KeyEffect struct {
	Key string  `json:"-"`
	Old Outcome `json:"old"`
	New Outcome `json:"new"`
}

// MarshalJSON returns an object with a member for each key.
func (e Effect) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, k := range e {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, value.AppendJSON(nil, value.FromString(k.Key))...), ':'), Marshal(k)...)
	}
	return append(out, '}'), nil
}

// id returns the same text for effects that look the same.
func (e Effect) id() string {
	var b strings.Builder
	for _, k := range e {
		fmt.Fprintf(&b, "%q %q %q ", k.Key, k.Old.text(), k.New.text())
	}
	return b.String()
}

// Grouped groups the nodes by their effects. nodes and effects have the same order. It omits nodes without changes.
func Grouped(nodes []string, effects []Effect) []Group {
	out := []Group{}
	at := map[string]int{}
	for i, e := range effects {
		if len(e) == 0 {
			continue
		}
		id := e.id()
		k, ok := at[id]
		if !ok {
			k = len(out)
			at[id] = k
			out = append(out, Group{Changes: e})
		}
		out[k].Nodes = append(out[k].Nodes, nodes[i])
	}
	return out
}

// bindings returns the changes to show. It omits changes of a multibinding that follow from its contributions.
func (k *Key) bindings() []Change {
	return slices.DeleteFunc(slices.Clone(k.Changes), func(c Change) bool {
		return len(k.Contributions) > 0 && c.isIndirect() && c.Old.collects()
	})
}

// isIndirect reports whether the binding is unchanged, and only a value that it looks up changes.
func (c *Change) isIndirect() bool { return c.why() != "" && c.Old.text() == c.New.text() }

// why explains why the answer changes although the binding does not. It returns "" for other changes.
func (c *Change) why() string {
	if c.Below {
		return "which may decline, and a lower value changes"
	}
	if len(c.Through) > 0 {
		return "which changes with " + strings.Join(c.Through, ", ")
	}
	return ""
}

// collects reports whether the value is a multibinding, and thus computed from contributions only.
func (o Outcome) collects() bool { return strings.HasPrefix(o.Computed, "multibind(") }

// shownGroup is a group of nodes on a page.
type shownGroup struct {
	Group
	differing map[string]bool // keys whose values differ between the nodes
}

// groups merges the groups of nodes in which the same keys change in the same way. It ignores differences between
// values that depend on facts, such as the name of the node.
func (d *Diff) groups() []shownGroup {
	computed := map[string]bool{}
	for _, k := range d.Keys {
		for _, c := range k.Changes {
			for _, o := range []Outcome{c.Old, c.New} {
				computed[k.Key] = computed[k.Key] || o.Computed != "" && !o.collects()
			}
		}
	}
	var out []shownGroup
	at := map[string]int{}
	for _, g := range d.Nodes {
		var id strings.Builder
		for _, c := range g.Changes {
			if fmt.Fprintf(&id, "%q", c.Key); !computed[c.Key] {
				fmt.Fprintf(&id, "%q %q", c.Old.text(), c.New.text())
			}
		}
		i, ok := at[id.String()]
		if !ok {
			at[id.String()] = len(out)
			out = append(out, shownGroup{g, map[string]bool{}})
			continue
		}
		out[i].Nodes = append(slices.Clip(out[i].Nodes), g.Nodes...)
		for j, c := range g.Changes {
			first := &out[i].Changes[j]
			if first.Old.text() != c.Old.text() || first.New.text() != c.New.text() {
				out[i].differing[c.Key] = true
			}
		}
	}
	return out
}

// together groups changes with the same values and places. Groups are in the order of their first change.
func together(cs []Change) [][]Change {
	var out [][]Change
	at := map[string]int{}
	for _, c := range cs {
		id := fmt.Sprintf("%q %q %q %q %q", c.Old.text(), c.New.text(), c.OldAt, c.NewAt, c.why())
		i, ok := at[id]
		if !ok {
			i = len(out)
			at[id] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// Diff returns the report on a difference between two snapshots, without nodes.
func (s Style) Diff(before, after *snapshot.Snapshot, d *decision.Difference) (*Diff, error) {
	found, err := findCauses(before, after, d)
	if err != nil {
		return nil, err
	}
	return &Diff{Keys: s.keys(d), Causes: found.shown()}, nil
}

func (s Style) keys(d *decision.Difference) []Key {
	out := []Key{}
	for _, k := range d.Keys {
		out = append(out, Key{Key: k.Key, Gone: k.Gone, RenamedTo: k.Renamed, Changes: s.changes(k.Changes),
			Contributions: s.changes(k.Contributions)})
	}
	return out
}

func (s Style) changes(cs []decision.Change) []Change {
	out := []Change{}
	for _, c := range cs {
		x := Change{When: c.When, Old: s.row(c.Old), New: s.row(c.New), Through: c.Through,
			Below: c.Below}
		for _, e := range c.Except {
			x.Except = append(x.Except, e)
		}
		if c.Old != nil {
			x.OldAt, x.Name = c.Old.At, c.Old.Name
		}
		if c.New != nil {
			x.NewAt, x.Name = c.New.At, c.New.Name
		}
		out = append(out, x)
	}
	return out
}

func lookedUp(r *lookup.Request, key string) lookup.Outcome {
	v, found, err := r.Lookup(key)
	return lookup.Outcome{Value: v, Found: found, Err: err}
}

// Effect returns the keys whose answers differ between two requests for a node.
func (s Style) Effect(old, now *lookup.Request, keys []string) Effect {
	out, exact := Effect{}, Style{Sensitive: true, Form: People} // different values look different in exact
	for _, key := range keys {
		before, after := lookedUp(old, key), lookedUp(now, key)
		if x, y := exact.Outcome(before).text(), exact.Outcome(after).text(); x != y ||
			before.Value.Sensitive() != after.Value.Sensitive() {
			out = append(out, KeyEffect{key, s.Outcome(before), s.Outcome(after)})
		}
	}
	return out
}
