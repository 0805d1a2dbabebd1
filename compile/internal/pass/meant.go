package pass

import "bindc/diag"

// Unbound completes d, a diagnostic about a key that nothing binds. fix replaces it by a similar key that is bound, or
// is the zero Fix. places is the number of places that use the key, minus the number that use the similar one.
//
// Normally, fix becomes the fix of d. But the similar key may be the misspelt one: if only the unbound key is a
// parameter of a class, or if more places use it than bind the similar one. Then d has no fix, and a note shows where
// the similar key is bound.
func (e *Env) Unbound(d *diag.Diagnostic, fix diag.Fix, places int) {
	if fix.IsNone() {
		return
	}
	key, near := fix.Old, fix.New
	isParameter := e.isParameter(key) && !e.isParameter(near)
	bound, at := 0, diag.Pos{}
	if isParameter || places > 1 {
		bound, at = e.bindingsOf(near)
	}
	switch {
	case isParameter:
		d.Hint = "this is the key of a parameter of a class, so correct '" + near + "' where it is bound"
	case bound > 0 && places > bound:
		d.Hint = "'" + near + "' is bound: correct one of the two names"
	default:
		d.Fix = fix
		return
	}
	if bound > 0 {
		d.Notes = append(d.Notes, diag.Note{Pos: at, Message: "'" + near + "' is bound here"})
	}
}

func (e *Env) isParameter(key string) bool { return e.IsParameter != nil && e.IsParameter(key) }

// bindingsOf returns the number of positions that bind key, and the first of these positions.
func (e *Env) bindingsOf(key string) (n int, first diag.Pos) {
	seen := map[diag.Pos]bool{}
	note := func(at diag.Pos) {
		if seen[at] = true; len(seen) == 1 || at.Compare(first) < 0 {
			first = at
		}
	}
	for _, layer := range e.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				for j, entry := range c.Files[i].Entries {
					if e.Site.Keys[entry.Key] == key {
						note(c.Files[i].Pos(j))
					}
				}
			}
			for i := range c.Bindings {
				if b := &c.Bindings[i]; b.Key == key && (b.More == nil || b.More.In == nil) {
					note(b.Pos)
				}
			}
		}
	}
	return len(seen), first
}
