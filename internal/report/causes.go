package report

import (
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// Cause is a level or a file that only one of two snapshots has, with the keys that change because of it.
type Cause struct {
	What  string   `json:"what"` // added or removed
	Level string   `json:"level,omitempty"`
	File  string   `json:"file,omitempty"`
	Files []string `json:"files,omitempty"` // files of a level
	Keys  []string `json:"keys"`            // sorted
}

// fewKeys is the largest number of keys to show one by one instead of under their cause.
const fewKeys = 3

// causes groups the changes of keys by their causes.
type causes struct {
	files, levels [2]map[string]bool // in the old and in the new snapshot
	list          []*Cause
}

// findCauses finds the levels and files that explain all changes of a key.
func findCauses(before, after *snapshot.Snapshot, d *decision.Difference) (*causes, error) {
	c := &causes{}
	for i, s := range []*snapshot.Snapshot{before, after} {
		inputs, err := s.Inputs()
		if err != nil {
			return nil, err
		}
		c.files[i], c.levels[i] = map[string]bool{}, map[string]bool{}
		for _, in := range inputs {
			c.files[i][in.Path] = true
		}
		for _, level := range s.Layers() {
			c.levels[i][level] = true
		}
	}
	for i := range d.Keys {
		if found := c.ofKey(&d.Keys[i]); found != nil {
			found.Keys = append(found.Keys, d.Keys[i].Key)
		}
	}
	return c, nil
}

// ofKey returns the cause that all changes of a key have in common, or nil.
func (c *causes) ofKey(k *decision.KeyChanges) (common *Cause) {
	changes := slices.Concat(k.Changes, k.Contributions)
	old, now := map[string]bool{}, map[string]bool{}
	for _, x := range changes {
		if x.Old != nil {
			old[x.Old.At] = true
		}
		if x.New != nil {
			now[x.New.At] = true
		}
	}
	for _, x := range changes {
		found := c.ofChange(x)
		switch {
		case found == nil && x.Old != nil && x.New == nil && now[x.Old.At]: // the row only moved
		case found == nil && x.Old == nil && x.New != nil && old[x.New.At]:
		case found == nil || common != nil && found != common:
			return nil
		default:
			common = found
		}
	}
	return common
}

// ofChange returns the cause of a change, or nil.
func (c *causes) ofChange(x decision.Change) *Cause {
	if x.Old != nil && !c.files[1][diag.ParsePos(x.Old.At).File] {
		return c.cause("removed", x.Old, c.levels[1])
	}
	if x.New != nil && !c.files[0][diag.ParsePos(x.New.At).File] {
		return c.cause("added", x.New, c.levels[0])
	}
	return nil
}

// cause returns the cause of a row that the other snapshot lacks: the level, if the other snapshot lacks the whole
// level, and otherwise the file.
func (c *causes) cause(what string, r *decision.Row, others map[string]bool) *Cause {
	file := diag.ParsePos(r.At).File
	wanted := Cause{What: what, Level: r.Layer}
	if others[r.Layer] {
		wanted = Cause{What: what, File: file}
	}
	i := slices.IndexFunc(c.list, func(o *Cause) bool {
		return o.What == wanted.What && o.Level == wanted.Level && o.File == wanted.File
	})
	if i < 0 {
		i = len(c.list)
		c.list = append(c.list, &wanted)
	}
	found := c.list[i]
	if found.Level != "" && !slices.Contains(found.Files, file) {
		found.Files = append(found.Files, file)
	}
	return found
}

// shown returns the causes of more than fewKeys changes, sorted by decreasing number of keys.
func (c *causes) shown() (out []Cause) {
	for _, cause := range c.list {
		if len(cause.Keys) > fewKeys {
			slices.Sort(cause.Files)
			out = append(out, *cause)
		}
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return len(b.Keys) - len(a.Keys) })
	return out
}

// isGrouped reports whether a key is only shown as part of a cause.
func (d *Diff) isGrouped(key string) bool {
	return !d.askedFor[key] && slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.changes(key) })
}

// changes reports whether a key changes because of c.
func (c *Cause) changes(key string) bool {
	_, found := slices.BinarySearch(c.Keys, key)
	return found
}

// causesOf returns a line for each cause, with the number of keys that change for a node because of it.
func (d *Diff) causesOf(e Effect) (out []string) {
	for i := range d.Causes {
		c := &d.Causes[i]
		n := 0
		for _, k := range e {
			if c.changes(k.Key) {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s of %s", diag.Count(n, "key"), c.title()))
		}
	}
	return out
}

// title describes the cause.
func (c *Cause) title() string {
	if c.File != "" {
		return c.What + ": the file " + c.File
	}
	text := c.What + ": the level '" + c.Level + "'"
	if len(c.Files) == 1 {
		return text + ", with the file " + c.Files[0]
	}
	return text + fmt.Sprintf(", with %s as %s", diag.Count(len(c.Files), "file"), c.Files[0])
}

// consequence lists the keys that change, as words.
func (c *Cause) consequence() []string {
	words := []string{diag.Count(len(c.Keys), "key"), "changes,", "as"}
	if len(c.Keys) > 1 {
		words[1] = "change,"
	}
	return append(words, firstNames(c.Keys, fewKeys)...)
}
