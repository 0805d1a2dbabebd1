package report

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// Cause is a level or a file that one of two snapshots lacks, with the keys that change because of it.
type Cause struct {
	What  string   `json:"what"` // added or removed
	Level string   `json:"level,omitempty"`
	File  string   `json:"file,omitempty"`
	Files []string `json:"files,omitempty"` // of a level
	Keys  []string `json:"keys"`
}

// fewKeys is how many keys of one cause are shown each by itself.
const fewKeys = 3

// causes finds what explains changes of keys.
type causes struct {
	files, levels [2]map[string]bool // of the old snapshot, and of the new one
	all           []*Cause
	byKey         map[string]*Cause
}

// findCauses groups the keys of a difference by the level or file that all their changes come from.
func findCauses(before, after *snapshot.Snapshot, d *decision.Difference) (*causes, error) {
	c := &causes{byKey: map[string]*Cause{}}
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
			c.byKey[d.Keys[i].Key] = found
		}
	}
	return c, nil
}

// ofKey returns the one cause of all changes of a key, or nil.
func (c *causes) ofKey(k *decision.KeyChanges) (one *Cause) {
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
		case found == nil && x.Old != nil && x.New == nil && now[x.Old.At]: // it moves up
		case found == nil && x.Old == nil && x.New != nil && old[x.New.At]:
		case found == nil || one != nil && found != one:
			return nil
		default:
			one = found
		}
	}
	return one
}

// ofChange returns the cause of a change, or nil.
func (c *causes) ofChange(x decision.Change) *Cause {
	if x.Old != nil && !c.files[1][fileOf(x.Old.At)] {
		return c.cause("removed", x.Old, c.levels[1])
	}
	if x.New != nil && !c.files[0][fileOf(x.New.At)] {
		return c.cause("added", x.New, c.levels[0])
	}
	return nil
}

// cause returns the cause of a row that the other snapshot lacks: its level, unless the other has that, or its file.
func (c *causes) cause(what string, r *decision.Row, others map[string]bool) *Cause {
	file := fileOf(r.At)
	wanted := Cause{What: what, Level: r.Layer}
	if others[r.Layer] {
		wanted = Cause{What: what, File: file}
	}
	i := slices.IndexFunc(c.all, func(o *Cause) bool {
		return o.What == wanted.What && o.Level == wanted.Level && o.File == wanted.File
	})
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &wanted)
	}
	found := c.all[i]
	if found.Level != "" && !slices.Contains(found.Files, file) {
		found.Files = append(found.Files, file)
	}
	return found
}

// fileOf is the file of a place, path:line:col.
func fileOf(at string) string {
	file, _, _ := strings.Cut(at, ":")
	return file
}

// shown returns the causes that have more than a few keys, those of most keys first.
func (c *causes) shown() (out []Cause) {
	for _, one := range c.all {
		if len(one.Keys) > fewKeys {
			slices.Sort(one.Files)
			out = append(out, *one)
		}
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return len(b.Keys) - len(a.Keys) })
	return out
}

// isGrouped reports whether a key is shown with its cause only.
func (d *Diff) isGrouped(key string) bool {
	return !d.asked[key] && slices.ContainsFunc(d.Causes, func(c Cause) bool { return slices.Contains(c.Keys, key) })
}

// causesOf says of a node how many keys change by each cause.
func (d *Diff) causesOf(e Effect) (out []string) {
	for i := range d.Causes {
		c := &d.Causes[i]
		n := 0
		for _, k := range e {
			if slices.Contains(c.Keys, k.Key) {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s of %s", diag.Count(n, "key"), c.title()))
		}
	}
	return out
}

// title is the cause in words.
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

// consequence says which keys change.
func (c *Cause) consequence() []string {
	words := []string{diag.Count(len(c.Keys), "key"), "changes,", "as"}
	if len(c.Keys) > 1 {
		words[1] = "change,"
	}
	return append(words, names(c.Keys, fewKeys)...)
}
