// Package record stores in a snapshot which policies were proven for it.
package record

import (
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Policy is a policy that holds for every request to a snapshot.
type Policy struct {
	Name   string `json:"name"`
	Digest string `json:"sha256"` // of its file, in hexadecimal
}

// Add records proven policies in c, as a hash of names to digests under an internal key. Programs that do not know the
// key ignore it. Without policies, c does not change.
func Add(c *snapshot.Content, proven []Policy) {
	if len(proven) == 0 {
		return
	}
	var b value.Builder
	for _, p := range sorted(proven) {
		b.Set(value.FromString(p.Name), value.FromString(p.Digest))
	}
	number := len(c.Values)
	c.Values = append(c.Values, snapshot.Stored{Bytes: string(value.Append(nil, b.Hash()))})
	at, _ := slices.BinarySearchFunc(c.Keys, recipe.PoliciesKey,
		func(k snapshot.Key, name string) int { return strings.Compare(k.Name, name) })
	for _, level := range c.Levels {
		for _, scope := range level.Scopes {
			for i := range scope.Entries {
				if scope.Entries[i].Key >= uint32(at) {
					scope.Entries[i].Key++
				}
			}
		}
	}
	c.Keys = slices.Insert(c.Keys, at, snapshot.Key{Name: recipe.PoliciesKey, Default: number,
		Cold: []snapshot.Cold{{Above: len(c.Levels), Layer: len(c.Layers) - 1, Value: uint32(number)}}})
}

// Read returns the policies that were proven for a snapshot, sorted by name. The error is a *snapshot.DamageError.
func Read(f *snapshot.Snapshot) ([]Policy, error) {
	bound, err := f.Bindings(recipe.PoliciesKey)
	if err != nil || len(bound) == 0 {
		return nil, err
	}
	v, err := f.Value(bound[0].Ref)
	if err != nil {
		return nil, err
	}
	damage := &snapshot.DamageError{Section: "keys", Expected: "a hash of policies to digests"}
	if v.Kind() != value.Hash || !value.Sound(v) {
		return nil, damage
	}
	var out []Policy
	for name, digest := range v.Pairs() {
		if name.Kind() != value.String || digest.Kind() != value.String {
			return nil, damage
		}
		out = append(out, Policy{strings.Clone(name.Text()), strings.Clone(digest.Text())})
	}
	return sorted(out), nil
}

func sorted(list []Policy) []Policy {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) })
	return list
}
