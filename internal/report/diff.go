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

// Diff describes the changes from one snapshot to another, or from the node's real facts to changed facts.
type Diff struct {
	Causes []Cause `json:"causes,omitempty"`

	Keys  []Key    `json:"keys"`
	Nodes []Group  `json:"nodes,omitzero"`  // groups of fleet nodes with changed values
	Fleet int      `json:"fleet,omitempty"` // number of nodes in the fleet
	If    []string `json:"if,omitempty"`    // changed facts, if a single snapshot is compared with itself

	askedFor map[string]bool // for each removed key, whether manifests still look it up; nil if unknown
}

func (d *Diff) isEmpty() bool { return len(d.Keys) == 0 && len(d.Nodes) == 0 }

// Summary returns a sentence with the numbers of changed keys and affected nodes.
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

// changes returns the beginning of the summary, such as "3 keys change". keys is the number of changed keys.
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

// Unreached returns the keys in d.Keys that change for no node of the fleet.
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

// SetAskedFor records where manifests still look up removed keys. uses maps keys to positions in manifests.
func (d *Diff) SetAskedFor(uses map[string][]Use) {
	d.askedFor = map[string]bool{}
	for i := range d.Keys {
		if k := &d.Keys[i]; k.Gone {
			k.AskedFor = uses[k.Key]
			d.askedFor[k.Key] = len(k.AskedFor) > 0
		}
	}
}

type Key struct {
	Key           string   `json:"key"`
	Gone          bool     `json:"gone,omitempty"`       // the old snapshot binds the key, but the new one does not
	RenamedTo     string   `json:"renamed_to,omitempty"` // new key with the same values, or ""
	AskedFor      []Use    `json:"asked_for,omitempty"`  // where manifests still look up the removed key
	Changes       []Change `json:"changes"`
	Contributions []Change `json:"contributions,omitempty"`
}

// Use is the position of a lookup in a manifest. By describes the code that looks up the key.
type Use struct {
	At string `json:"at"`
	By string `json:"by"`
}

// Change says that the value differs for requests that meet When but none of Except.
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

// Group is a set of nodes whose values change in the same way.
type Group struct {
	Nodes   []string `json:"nodes"`
	Changes Effect   `json:"changes"`
}

// Effect lists the changed values of one node, sorted by key.
type Effect []KeyEffect

// KeyEffect is the value of a key before and after, for one node.
type KeyEffect struct {
	Key string  `json:"-"`
	Old Outcome `json:"old"`
	New Outcome `json:"new"`
}

// MarshalJSON encodes e as a JSON object with one member per key.
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

// id returns a string that is equal for effects that are printed the same way.
func (e Effect) id() string {
	var b strings.Builder
	for _, k := range e {
		fmt.Fprintf(&b, "%q %q %q ", k.Key, k.Old.text(), k.New.text())
	}
	return b.String()
}

// Grouped groups the nodes that have equal effects. effects[i] belongs to nodes[i]. Nodes without changes are left out.
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

// bindings returns k.Changes without those that merely follow from changed contributions to a multibinding.
func (k *Key) bindings() []Change {
	return slices.DeleteFunc(slices.Clone(k.Changes), func(c Change) bool {
		return len(k.Contributions) > 0 && c.isIndirect() && c.Old.collects()
	})
}

// isIndirect reports whether the binding itself is unchanged, and only a value that it depends on changes.
func (c *Change) isIndirect() bool { return c.why() != "" && c.Old.text() == c.New.text() }

// why explains a change of a binding that itself is unchanged. It returns "" for other changes.
func (c *Change) why() string {
	if c.Below {
		return "which may decline, and a lower value changes"
	}
	if len(c.Through) > 0 {
		return "which changes with " + strings.Join(c.Through, ", ")
	}
	return ""
}

// collects reports whether the value is a multibinding, that is, collected from contributions.
func (o Outcome) collects() bool { return strings.HasPrefix(o.Computed, "multibind(") }

// shownGroup is a group of nodes, as pages show it.
type shownGroup struct {
	Group
	differing map[string]bool // keys with different values on different nodes of the group
}

// groups merges groups in which the same keys change, if their values differ only because they depend on facts. A page
// thus shows one group instead of one per node name.
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

// together groups changes that differ only in their conditions. The groups are in order of their first change.
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

// Diff returns a report on d, the difference between two snapshots. The caller adds the nodes.
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

// Effect returns the keys whose values differ between two requests for the same node.
func (s Style) Effect(old, now *lookup.Request, keys []string) Effect {
	out, exact := Effect{}, Style{Sensitive: true, Form: People} // notices changed sensitive values
	for _, key := range keys {
		before, after := lookedUp(old, key), lookedUp(now, key)
		if x, y := exact.Outcome(before).text(), exact.Outcome(after).text(); x != y ||
			before.Value.Sensitive() != after.Value.Sensitive() {
			out = append(out, KeyEffect{key, s.Outcome(before), s.Outcome(after)})
		}
	}
	return out
}
