package main

import (
	"fmt"
	"slices"
	"strings"

	"bindc/facts"
	"bindc/internal/value"
)

type diffShape struct {
	Causes []cause `json:"causes,omitempty"`

	Keys  []keyShape   `json:"keys"`
	Nodes []groupShape `json:"nodes,omitzero"`
}

type keyShape struct {
	Key           string        `json:"key"`
	Changes       []changeShape `json:"changes"`
	Contributions []changeShape `json:"contributions,omitempty"`
}

type changeShape struct {
	When    terms    `json:"when"`
	Except  []terms  `json:"except,omitempty"`
	Name    string   `json:"name,omitempty"`
	Old     outcome  `json:"old"`
	New     outcome  `json:"new"`
	OldAt   string   `json:"old_at,omitempty"`
	NewAt   string   `json:"new_at,omitempty"`
	Through []string `json:"through,omitempty"`
	Below   bool     `json:"below,omitempty"`
}

// groupShape is nodes for which the same changes.
type groupShape struct {
	Nodes   []string `json:"nodes"`
	Changes effect   `json:"changes"`
}

// effect is what changes, by key in order.
type effect []keyEffect

type keyEffect struct {
	key string
	Old outcome `json:"old"`
	New outcome `json:"new"`
}

func (e effect) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, k := range e {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, value.AppendJSON(nil, value.FromString(k.key))...), ':'), asJSON(k)...)
	}
	return append(out, '}'), nil
}

// id returns a text that is the same for effects that look the same.
func (e effect) id() (id string) {
	for _, k := range e {
		id += fmt.Sprintf("%q %q %q ", k.key, k.Old.text(), k.New.text())
	}
	return id
}

// grouped is the nodes for which something changes, those with the same effect together.
func grouped(fleet []facts.Node, effects []effect) []groupShape {
	out := []groupShape{}
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
			out = append(out, groupShape{Changes: e})
		}
		out[k].Nodes = append(out[k].Nodes, fleet[i].Name)
	}
	return out
}

// bindings are the changes that people are shown: of a multibinding, what is contributed says it all.
func (k *keyShape) bindings() []changeShape {
	return slices.DeleteFunc(slices.Clone(k.Changes), func(c changeShape) bool {
		return len(k.Contributions) > 0 && c.isIndirect() && c.Old.collects()
	})
}

// isIndirect tells whether nothing is bound otherwise: what is looked up changes.
func (c *changeShape) isIndirect() bool { return c.why() != "" && c.Old.text() == c.New.text() }

// why is what changes though the value is written as it was, in words; "" where the value itself does.
func (c *changeShape) why() string {
	if c.Below {
		return "which may decline: what is below it changes"
	}
	if len(c.Through) > 0 {
		return "which changes with " + strings.Join(c.Through, ", ")
	}
	return ""
}

// collects tells whether a value is computed from contributions only.
func (o outcome) collects() bool { return strings.HasPrefix(o.Computed, "multibind(") }

// shownGroup is nodes for which the same changes, as people are told.
type shownGroup struct {
	groupShape
	own map[string]bool // the keys of which each node has a value of its own
}

// groups are the nodes, those together for which the same keys change in the same way. What facts decide, such as a
// text with the name of the node in it, would else make a group of each.
func (d *diffShape) groups() []shownGroup {
	computed := map[string]bool{}
	for _, k := range d.Keys {
		for _, c := range k.Changes {
			for _, o := range []outcome{c.Old, c.New} {
				computed[k.Key] = computed[k.Key] || o.Computed != "" && !o.collects()
			}
		}
	}
	var out []shownGroup
	at := map[string]int{}
	for _, g := range d.Nodes {
		id := ""
		for _, c := range g.Changes {
			if id += fmt.Sprintf("%q", c.key); !computed[c.key] {
				id += fmt.Sprintf("%q %q", c.Old.text(), c.New.text())
			}
		}
		i, ok := at[id]
		if !ok {
			at[id] = len(out)
			out = append(out, shownGroup{g, map[string]bool{}})
			continue
		}
		out[i].Nodes = append(slices.Clip(out[i].Nodes), g.Nodes...)
		for j, c := range g.Changes {
			first := &out[i].Changes[j]
			if first.Old.text() != c.Old.text() || first.New.text() != c.New.text() {
				out[i].own[c.key] = true
			}
		}
	}
	return out
}

// together is changes that have the same values at the same places, in the order of the first of each.
func together(cs []changeShape) [][]changeShape {
	var out [][]changeShape
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
