package lookup

import (
	"slices"
	"sync/atomic"

	"bindc/internal/expr"
	"bindc/snapshot"
)

// New opens the snapshot in f. After an error, f is closed. The error is a *DamageError, or an *Error with the code
// encrypted if opts.Unseal fails.
func New(f *snapshot.Snapshot, opts Options) (*Snapshot, error) {
	box, err := unseal(f, opts.Unseal)
	if err != nil {
		f.Close()
		return nil, err
	}
	opts.StrictVariables = opts.StrictVariables || f.Strict()
	s := &Snapshot{file: f, opts: opts, rules: rulesOf(f), box: box, recipes: make([]atomic.Pointer[recipeChunk],
		f.Recipes()/len(recipeChunk{})+1)}
	s.values = f.Values()
	for _, d := range f.Dimensions() {
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			err := &DamageError{Section: "meta", Expected: "the expression of " + d.Name} // before f unmaps d.Name
			f.Close()
			return nil, err
		}
		s.dimensions = append(s.dimensions, dimension{d.Name, d.Category, d.Guard, d.Exact, n, soleVariable(n),
			plainPath(n)})
	}
	s.slice, s.digs = f.Slice(), digsDirectly(f)
	return s, nil
}

func rulesOf(f *snapshot.Snapshot) rules {
	if len(f.Hiera()) > 0 {
		return hieraRules{}
	}
	return plainRules{}
}

// digsDirectly reports whether Request.dig may be used for f: it has Hiera 5 data and no default_hierarchy.
func digsDirectly(f *snapshot.Snapshot) bool {
	return len(f.Hiera()) > 0 && !slices.ContainsFunc(f.Hiera(), func(p snapshot.HieraPlace) bool {
		return p.Part == snapshot.HieraDefaults
	})
}
