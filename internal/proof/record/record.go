// Package record stores in a snapshot which policies have been proven for it.
package record

import (
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Policy is a policy that was proven to hold for every request to a snapshot.
type Policy struct {
	Name   string `json:"name"`
	Digest string `json:"sha256"` // SHA-256 of the policy file in hexadecimal
}

// Add adds the proven policies to c under an internal key, which programs may ignore. It does nothing if proven is
// empty.
func Add(c *snapshot.Content, proven []Policy) {
	if len(proven) == 0 {
		return
	}
	r := &recipe.Recipe{Kind: recipe.Contributions}
	for i, p := range sorted(proven) {
		r.Parts = append(r.Parts, recipe.Part{Name: p.Name, Named: true, Place: uint32(i),
			Recipe: &recipe.Recipe{Kind: recipe.Constant, Value: value.FromString(p.Digest)}})
	}
	number := len(c.Values)
	c.Values = append(c.Values, snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, r))})
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

// Read returns the policies that were proven for a snapshot, sorted by name. It returns a *snapshot.DamageError if they
// cannot be decoded.
func Read(f *snapshot.Snapshot) ([]Policy, error) {
	bound, err := f.Bindings(recipe.PoliciesKey)
	if err != nil || len(bound) == 0 {
		return nil, err
	}
	damage := &snapshot.DamageError{Section: "keys", Expected: "proven policies with their digests"}
	n, computed := bound[0].Ref.Recipe()
	if !computed {
		return nil, damage
	}
	encoded, err := f.Recipe(n)
	if err != nil {
		return nil, err
	}
	r, err := recipe.Decode(encoded)
	if err != nil {
		return nil, damage
	}
	var out []Policy
	for _, p := range r.Parts {
		out = append(out, Policy{strings.Clone(p.Name), strings.Clone(p.Recipe.Value.Text())})
	}
	return sorted(out), nil
}

func sorted(list []Policy) []Policy {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) })
	return list
}
