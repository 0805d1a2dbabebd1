package lookup

import (
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// bound looks up key as a whole, without splitting it at dots. last means that nothing else is tried if no binding has
// a value.
func (l *lookup) bound(key string, last bool) (value.Value, bool, error) {
	ref, found, err := l.r.file.Find(key, &l.r.view.Scopes)
	if err != nil || internal(key) {
		return value.Value{}, false, err
	}
	if n, computed := ref.Recipe(); found && computed {
		return l.compute(key, n, last)
	}
	if l.needsBinding() {
		return l.descend(key, -1, last)
	}
	if !found {
		return value.Value{}, false, nil
	}
	v, err := l.r.snap.value(ref)
	return v, err == nil, err
}

// compute evaluates recipe number n, to which key is bound. If the recipe may decline, compute also tries the lower
// bindings.
func (l *lookup) compute(key string, n int, last bool) (value.Value, bool, error) {
	r, err := l.r.snap.recipe(key, n)
	if err != nil {
		return value.Value{}, false, err
	}
	if err := l.enter(key); err != nil {
		return value.Value{}, false, err
	}
	defer l.leave()
	if !r.IsFinal() || l.needsBinding() {
		return l.descend(key, -1, last)
	}
	if r.Kind == recipe.Merged {
		return l.attemptAt(key, r, -1)
	}
	v, err := l.follow(key, r)
	return v, err == nil, err
}
