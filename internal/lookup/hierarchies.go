package lookup

import (
	"fmt"
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// errEarlyHiera is the error for files with the first form of the feature hiera. Their internal keys have different
// names, so lookups of merged keys would return undef.
var errEarlyHiera = fmt.Errorf("%w: the file has feature hiera in its first form, without a list of hierarchies, and "+
	"this program reads a later form; build it again with the bindc of this program's version", snapshot.ErrVersion)

// hierarchies returns the hierarchies of the snapshot, or nil without Hiera 5 data. It reads them once.
func (r *Request) hierarchies() (*hierarchies, error) {
	if h := r.snap.hierarchies.Load(); h != nil || !r.snap.Hiera() {
		return h, nil
	}
	ref, found, err := r.file.Find(recipe.HierarchiesKey, &r.view.Scopes)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errEarlyHiera
	}
	v, err := r.snap.value(ref)
	if err != nil {
		return nil, err
	}
	h := &hierarchies{}
	h.paths, _ = v.Get(value.FromString("paths"))
	h.options, _ = v.Get(value.FromString("options"))
	h.written, _ = v.Get(value.FromString("written"))
	h.foreign = foreignModules(h.written)
	r.snap.hierarchies.Store(h)
	return h, nil
}

// foreignModules returns the modules that have an entry without locations. Verify does not check written, so its
// elements may have any form.
func foreignModules(written value.Value) map[string]bool {
	out := map[string]bool{}
	for h := range written.Elems() {
		if !isHierarchy(h) || snapshot.HieraPart(h.Index(0).Int()) != snapshot.HieraModule {
			continue
		}
		for e := range h.Index(3).Elems() {
			if e.Len() == 1 {
				out[strings.Clone(h.Index(1).Text())] = true
			}
		}
	}
	return out
}

// isHierarchy reports whether v has the form of a hierarchy's source.
func isHierarchy(v value.Value) bool {
	return isTuple(v, 4) && v.Index(0).Kind() == value.Int && isText(v.Index(1)) && isText(v.Index(2)) &&
		all(v.Index(3), func(entry value.Value) bool {
			return isTuple(entry, 1) && isText(entry.Index(0)) && all(value.FromSlice(entry.Slice()[1:]), isLocation)
		})
}

func isLocation(v value.Value) bool {
	return isTuple(v, 4) && isText(v.Index(0)) && isText(v.Index(1)) && isText(v.Index(2)) &&
		(isText(v.Index(3)) || v.Index(3).Kind() == value.Int)
}

// isTuple reports whether v is an array of at least n elements.
func isTuple(v value.Value, n int) bool { return v.Kind() == value.Array && v.Len() >= n }

func isText(v value.Value) bool { return v.Kind() == value.String }

// all reports whether v is an array and sound accepts each element.
func all(v value.Value, sound func(value.Value) bool) bool {
	return v.Kind() == value.Array && !slices.ContainsFunc(v.Slice(), func(e value.Value) bool { return !sound(e) })
}

// isForeign reports whether the module of key has data that only Puppet reads. Such data may take precedence over the
// data in the snapshot.
func (r *Request) isForeign(key string) bool {
	h := r.snap.hierarchies.Load()
	return h != nil && len(h.foreign) > 0 && h.foreign[lookupkey.Module(key)]
}

// checkHierarchies sets r.failing and r.mayFail. failed has the errors of paths that could not be evaluated, by
// dimension. Each of them fails all lookups in its hierarchy.
func (r *Request) checkHierarchies(failed map[int]error) error {
	r.failing, r.mayFail = nil, false
	r.view.SetIndirect(r.caller != nil)
	h, err := r.hierarchies()
	if h == nil {
		return err
	}
	if len(failed) > 0 {
		r.failing = map[string]error{}
		for module, paths := range h.paths.Pairs() {
			for path := range paths.Elems() {
				if err := failed[int(path.Int())]; err != nil {
					r.failing[module.Text()] = err
				}
			}
		}
	}
	r.mayFail = len(r.failing) > 0 || h.options.Len() > 0
	r.view.SetIndirect(r.caller != nil || r.mayFail)
	return nil
}

// pathError returns the error of a path that fails all lookups of the keys of a module, or nil.
func (r *Request) pathError(module string) error {
	if err := r.failing[""]; err != nil {
		return err
	}
	return r.failing[module]
}
