package lookup

import (
	"io/fs"
	"runtime"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// Effective returns the outcomes of all bindings of key that apply to the request, in order of precedence. It includes
// those that the winning binding hides. Effective is faster than Candidates: it takes about as long as one lookup per
// binding. It returns the same errors as Explain.
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
	for c, err := range r.file.Candidates(key, r.numbers, &r.view.Scopes) {
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
