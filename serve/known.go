package serve

import (
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/lookupkey"
	bindings "bindc/runtime"
)

// known has the data about a snapshot that does not depend on a request.
type known struct {
	snapshot  *bindings.Snapshot
	digest    string
	variables []string // needed, apart from facts and trusted
	scoped    []string // variables that the scope of a caller can change
	allFacts  bool
	trusted   bool
	locations int
	keys      []string // sorted
	roots     []string // for a site of Hiera 5, the keys without the quotes that some need; sorted
	merged    []string // sorted
}

// chosenBy returns a copy of k that includes the variables needed to choose the environment. Its digest depends on
// these variables, so that clients notice another choice.
func (k *known) chosenBy(choose *bindings.Environments) *known {
	if choose == nil {
		return k
	}
	names := choose.Variables()
	if len(names) == 0 {
		return k
	}
	out := *k
	out.digest += "+" + strings.Join(names, ",")
	out.variables = slices.Clone(k.variables)
	for _, name := range names {
		switch name {
		case "facts":
			out.allFacts = true
		case "trusted":
			out.trusted = true
		default:
			out.variables = append(out.variables, name)
			out.scoped = append(slices.Clone(out.scoped), name)
		}
	}
	slices.Sort(out.variables)
	out.variables = slices.Compact(out.variables)
	return &out
}

// survey collects the data about a snapshot. It guards the reads, because the file may be truncated in the meantime.
func survey(snap *bindings.Snapshot) (k *known, err error) {
	err = snap.Protect(func() (err error) {
		k, err = unguarded(snap)
		return err
	})
	return k, err
}

func unguarded(snap *bindings.Snapshot) (*known, error) {
	k := &known{snapshot: snap, digest: snap.Digest(), variables: []string{}}
	names, scoped, merged, locations, err := (*lookup.Snapshot)(snap).NeedsOfScopes()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		switch name {
		case "facts":
			k.allFacts = true
		case "trusted":
			k.trusted = true
		default:
			k.variables = append(k.variables, name)
		}
	}
	k.scoped, k.merged, k.locations = scoped, merged, locations
	k.keys = slices.Collect(snap.Keys())
	if !slices.Contains(k.keys, lookupOptions) {
		k.keys = append(k.keys, lookupOptions)
	}
	slices.Sort(k.keys)
	if (*lookup.Snapshot)(snap).Hiera() {
		k.roots = roots(k.keys)
	}
	return k, nil
}

// roots returns the keys as data has them, including lookup_options.
func roots(keys []string) []string {
	out := []string{lookupOptions}
	for _, key := range keys {
		if k, err := lookupkey.Parse(key); err == nil && len(k.Path) == 0 {
			out = append(out, k.Root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// below ranges over the keys that begin with prefix, as they are listed or as data has them. With direct, it skips keys
// that have :: after the prefix.
func (k *known) below(prefix string, direct, bare bool) []string {
	all := k.keys
	if bare && k.roots != nil {
		all = k.roots
	}
	from, _ := slices.BinarySearch(all, prefix)
	var out []string
	for _, key := range all[from:] {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			break
		}
		if !direct || !strings.Contains(rest, "::") {
			out = append(out, key)
		}
	}
	return out
}
