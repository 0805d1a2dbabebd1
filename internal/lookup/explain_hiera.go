package lookup

import (
	"cmp"
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// hieraCandidates sets the states of cs by the rules of Hiera 5, and returns the lookup_options that apply, if any. If
// lookup_options merge the key, all effective candidates are merged. Candidates of the default_hierarchy are only used
// if nothing else is found.
func (x *explainer) hieraCandidates(root string, key lookupkey.Key, bs []filed, cs []Candidate) (*Candidate, error) {
	first := slices.IndexFunc(cs, func(c Candidate) bool { return c.State == Wins })
	places := x.r.file.Hiera()
	if first < 0 || len(places) == 0 || places[bs[first].Layer].Part == snapshot.NoHiera {
		return nil, nil
	}
	h := hieraLookup{lookup: x.base.aside(root), root: root, key: key,
		levelsAt: map[*merge.Level]optionsAt{}}
	own, above, defaults, err := h.answering()
	last, damage := h.renamed()
	if err = cmp.Or(damage, err); err != nil { // the outcome has the same error
		return nil, onlyDamage(h.explain(root, err))
	}
	strategy, _ := own.Strategy() // the outcome has the error; the zero Strategy is 'first'
	takesOne := strategy.First()
	winner := ""
	for i := range cs {
		part := places[bs[i].Layer].Part
		switch {
		case cs[i].State == NotEffective || cs[i].State == Declined:
		case bs[i].Layer > last:
			cs[i].State, cs[i].Why = Hidden, "'"+key.Root+"' is renamed above this"
		case part == snapshot.NoHiera:
			cs[i].State, cs[i].Why = Hidden, "a structured binding is not merged with those above it"
			if is, _ := h.erases(bs[i].key, bs[i].Binding); is {
				cs[i].Why = "'" + key.Root + "' is renamed from here down"
			}
		case (part == snapshot.HieraDefaults) != defaults && defaults:
			cs[i].State, cs[i].Why = Hidden, "'"+key.Text+"' finds nothing in the data of the hierarchies"
		case (part == snapshot.HieraDefaults) != defaults:
			cs[i].State, cs[i].Why = Hidden, "default_hierarchy is used only if nothing else is found"
		case !takesOne:
			cs[i].State, cs[i].Why = Merged, ""
		case winner != "":
			cs[i].State, cs[i].Why = Hidden, "hidden by "+winner
		default:
			cs[i].State, cs[i].Why, winner = Wins, "", cs[i].At
		}
	}
	return x.options(&h, cmp.Or(own, above))
}

// answering returns the lookup options that apply to the value. defaults reports whether the value comes from the
// default_hierarchy. If it does, above has the options of the other hierarchies.
func (h *hieraLookup) answering() (own, above *merge.Entry, defaults bool, err error) {
	h.recipe = &recipe.Recipe{Kind: recipe.Merged} // makes options read all lookup_options, to find their positions
	entry, err := h.options(false)
	if err != nil {
		return nil, nil, false, err
	}
	// merging the values must not mark the options as sensitive
	defer func(secret bool) { h.sensitive = secret }(h.sensitive)
	v, found, err := h.merged(entry, false)
	if err == nil && found {
		_, found, err = h.key.Dig(v)
	}
	if err != nil || found {
		return entry, nil, false, nil // the outcome reports the error
	}
	own, err = h.options(true)
	return own, entry, true, err
}

// options converts an entry of lookup_options to a Candidate for its binding. It returns nil if entry is nil.
func (x *explainer) options(h *hieraLookup, entry *merge.Entry) (*Candidate, error) {
	for level, at := range h.levelsAt { // empty if entry is nil
		if !slices.Contains(level.Entries, entry) {
			continue
		}
		b, err := x.r.file.Binding(at.key, at.Candidate)
		if err != nil {
			return nil, err
		}
		out, err := x.candidate(b, new(string))
		out.Name, out.Outcome = strings.Clone(entry.Name), h.outcome(entry.Value(), true, nil)
		return &out, err
	}
	return nil, nil
}
