package lookup

import (
	"io/fs"
	"runtime"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// Effective returns the outcomes of the bindings of key that are effective in the request, in order of precedence: the
// one that Lookup uses and those that it hides. It omits the explanations of Candidates and costs about as much as one
// lookup for each. The error is as in Explain.
func (r *Request) Effective(key string) ([]Outcome, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	if internal(key) {
		return nil, nil
	}
	var out []Outcome
	l := r.start()
	defer l.done()
	x := explainer{r: r, base: l}
	for c, err := range r.file.Candidates(key, r.numbers, &r.scopes) {
		if err != nil {
			return nil, err
		}
		b := snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored}
		o, r, err := x.evaluate(key, filed{b, key}, c.Level)
		if err != nil {
			return nil, err
		}
		if r != nil && r.Kind == recipe.Erased {
			break
		}
		if !o.declined() {
			out = append(out, o)
		}
	}
	return out, nil
}
