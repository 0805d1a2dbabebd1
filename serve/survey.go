package serve

import (
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/lookupkey"
	bindings "bindc/runtime"
)

// snapshotInfo has data about a snapshot that does not depend on a request.
type snapshotInfo struct {
	snapshot  *bindings.Snapshot
	digest    string
	variables []string // names of the variables that lookups need, without facts and trusted
	scoped    []string // names of the variables that the caller's scope can override
	allFacts  bool
	trusted   bool
	locations int
	keys      []string // sorted
	roots     []string // for Hiera 5, the keys without quotes, as in data files; sorted
	merged    []string // keys bound to a multibinding, whose values are already merged; sorted
}

// withChoice returns k with the variables that choosing an environment needs. They are part of the digest, so that
// clients notice a new choice.
func (k *snapshotInfo) withChoice(choice *bindings.Environments) *snapshotInfo {
	if choice == nil {
		return k
	}
	names := choice.Variables()
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

// survey collects data about a snapshot. It returns an error if the file is truncated in the meantime.
func survey(snap *bindings.Snapshot) (k *snapshotInfo, err error) {
	err = snap.Protect(func() (err error) {
		k, err = surveyUnprotected(snap)
		return err
	})
	return k, err
}

func surveyUnprotected(snap *bindings.Snapshot) (*snapshotInfo, error) {
	k := &snapshotInfo{snapshot: snap, digest: snap.Digest(), variables: []string{}}
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
		k.roots = rootKeys(k.keys)
	}
	return k, nil
}

// rootKeys returns the keys without quotes, as in data files, and lookup_options.
func rootKeys(keys []string) []string {
	out := []string{lookupOptions}
	for _, key := range keys {
		if k, err := lookupkey.Parse(key); err == nil && len(k.Path) == 0 {
			out = append(out, k.Root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keysBelow returns the keys that begin with prefix. If direct is set, it omits keys with another :: after the prefix.
// If bare is set, it returns the keys without quotes, as in data files.
func (k *snapshotInfo) keysBelow(prefix string, direct, bare bool) []string {
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
