package report

import (
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// Cause explains the changes of several keys at once: only one of the two snapshots has this level or file.
type Cause struct {
	What  string   `json:"what"` // "added" or "removed"
	Level string   `json:"level,omitempty"`
	File  string   `json:"file,omitempty"`
	Files []string `json:"files,omitempty"` // files of the level, sorted
	Keys  []string `json:"keys"`            // keys that change only because of the cause, sorted
}

// fewKeys is the number of keys up to which changes are shown by key instead of by cause.
const fewKeys = 3

type causes struct {
	files, levels [2]map[string]bool // files and levels of the old and of the new snapshot
	list          []*Cause
}

// findCauses finds the keys whose changes all come from a single file or level that only one snapshot has.
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

// ofKey returns the cause that explains all changes of a key. It returns nil if there is none.
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

// ofChange returns the cause of a single change, or nil if both snapshots have the files that it involves.
func (c *causes) ofChange(x decision.Change) *Cause {
	if x.Old != nil && !c.files[1][diag.ParsePos(x.Old.At).File] {
		return c.cause("removed", x.Old, c.levels[1])
	}
	if x.New != nil && !c.files[0][diag.ParsePos(x.New.At).File] {
		return c.cause("added", x.New, c.levels[0])
	}
	return nil
}

// cause returns the cause for row r, which only one snapshot has. It is r's level if others, the levels of the other
// snapshot, does not contain it. Otherwise it is r's file.
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

// shown returns the causes that explain more than fewKeys keys, those with the most keys first.
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

// isGrouped reports whether the changes of key are shown only under their cause.
func (d *Diff) isGrouped(key string) bool {
	return !d.askedFor[key] && slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.changes(key) })
}

// changes reports whether c explains the changes of key.
func (c *Cause) changes(key string) bool {
	_, found := slices.BinarySearch(c.Keys, key)
	return found
}

// causesOf returns a line for each cause that changes keys in e, with the number of these keys.
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

// title returns a heading such as "removed: the file data/common.yaml".
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

// consequence returns the words of a sentence part such as "4 keys change, as a, b, c and 1 more".
func (c *Cause) consequence() []string {
	words := []string{diag.Count(len(c.Keys), "key"), "changes,", "as"}
	if len(c.Keys) > 1 {
		words[1] = "change,"
	}
	return append(words, firstNames(c.Keys, fewKeys)...)
}
