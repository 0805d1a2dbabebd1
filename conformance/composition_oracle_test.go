package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// This file implements docs/language.md literally, without regard to speed: which conditions hold in a request,
// which sites are rejected, and what lookups return. It shares no code with the compiler or the runtime.

// text is the folded text of a template for a request.
func (w *world) text(template string, request int) string {
	if w.texts[template] == nil {
		for i, r := range w.requests {
			if i == len(w.variables) {
				w.variables = append(w.variables,
					strings.NewReplacer("${a}", r["a"], "${::a}", r["a"], "${b}", r["b"], joined, r["c"]))
			}
			w.texts[template] = append(w.texts[template], strings.ToLower(w.variables[i].Replace(template)))
		}
	}
	return w.texts[template][request]
}

// maxTexts is the largest number of values of a variable in a site.
const maxTexts = 24

// findRequests creates requests in which every variable has every value that a condition might require, and another
// one. It returns false if there are too many.
func (w *world) findRequests() bool {
	values := map[string]bool{"": true, "other": true}
	parts := func(text string) {
		text = strings.ToLower(text)
		for i := range text {
			for j := i + 1; j <= len(text); j++ {
				values[text[i:j]] = true
			}
		}
	}
	for _, b := range w.bindings {
		for _, c := range b.alternatives {
			parts(c.file)
			for _, v := range c.values {
				parts(v)
			}
		}
	}
	for _, text := range w.entryTexts(slices.Collect(maps.Keys(values))) {
		values[text] = true
	}
	if len(values) > maxTexts {
		return false
	}
	all := slices.Sorted(maps.Keys(values))
	for _, a := range all {
		for _, b := range all {
			for _, c := range all {
				w.requests = append(w.requests, map[string]string{"a": a, "b": b, "c": c})
			}
		}
	}
	for _, b := range w.bindings {
		for i := range b.alternatives {
			c := &b.alternatives[i]
			for request := range w.requests {
				c.holds = append(c.holds, w.holds(c, request))
			}
		}
	}
	return true
}

// entryTexts returns the values of entries of data files if the variables have the given values. A file only applies
// if its category has the value of its entry.
func (w *world) entryTexts(values []string) (out []string) {
	for _, b := range w.bindings {
		for _, c := range b.alternatives {
			if c.path == nil {
				continue
			}
			for _, x := range values {
				for _, y := range values {
					request := strings.NewReplacer("${a}", x, "${::a}", x, "${b}", y)
					if strings.EqualFold(request.Replace(c.path.template), c.file) {
						out = append(out, strings.ToLower(request.Replace(c.path.value)))
					}
				}
			}
		}
	}
	return out
}

// holds reports whether a condition holds. For a binding, every category must have the value asked for. For a data
// file, the path of the request must be that file, and the entry's value must equal the value of its category.
func (w *world) holds(c *condition, request int) bool {
	for _, cat := range w.categories {
		has, asked := w.text(cat.template, request), c.path != nil && c.path.category == cat.name
		if want, ok := c.values[cat.name]; ok && has != strings.ToLower(want) ||
			asked && (has == "" || has != w.text(c.path.value, request)) {
			return false
		}
	}
	return c.path == nil || w.text(c.path.template, request) == strings.ToLower(c.file)
}

// differs reports whether the expressions of an entry and its category differ.
func (w *world) differs(p dataPath) bool {
	plain := func(template string) string { return strings.ReplaceAll(template, "${::", "${") }
	return p.category != "common" && plain(p.value) != plain(w.template(p.category))
}

// comparedLater reports whether the value of an entry is known only in a request, because the path does not determine
// it or determines it in several ways. A build then assumes that any two files may apply together.
func (w *world) comparedLater(p dataPath) bool {
	references := func(template string) []string {
		return reference.FindAllString(strings.ReplaceAll(template, "${::", "${"), -1)
	}
	inPath := references(p.template)
	oneWay := len(slices.Compact(slices.Sorted(slices.Values(inPath)))) < 2 ||
		strings.Trim(reference.ReplaceAllString(p.template, ""), "/") == "" && !strings.Contains(p.template, "}$")
	missing := func(name string) bool { return !slices.Contains(inPath, name) }
	inValue := references(p.value)
	return w.differs(p) && len(inValue) > 0 && (!oneWay || slices.ContainsFunc(inValue, missing))
}

var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// rank is a layer and the positions of the categories. compareRanks is negative if a has precedence.
func (w *world) rank(b *bound, c *condition) []int {
	out := []int{b.layer}
	for i, cat := range w.categories {
		if _, ok := c.values[cat.name]; ok || c.path != nil && c.path.category == cat.name {
			out = append(out, i)
		}
	}
	return out
}

func compareRanks(a, b []int) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(b), len(a)) // the longer list has precedence
}

// alternative is a binding under one of its conditions.
type alternative struct {
	*bound
	rank   []int
	holds  []bool
	erases bool // the key is renamed below this binding
}

func (a alternative) final() bool { return !a.erases && a.bound.final() }

// compositionKeys lists all keys that are looked up.
var compositionKeys = []string{"k", "l", "m", "n", "o"}

// names finds the bound keys and the names of contributions.
func (w *world) names() (keys, parts map[string]bool) {
	if w.keys == nil {
		w.keys, w.collected = w.findNames()
	}
	return w.keys, w.collected
}

func (w *world) findNames() (keys, parts map[string]bool) {
	keys, parts = map[string]bool{}, map[string]bool{}
	for range w.bindings {
		for _, b := range w.bindings {
			switch old := b.old(); {
			case b.contributes:
				parts[b.key] = b.key != ""
			case old == "":
				c := b.alternatives[0]
				keys[b.key] = keys[b.key] || c.path == nil || w.isRead(c)
			case !b.rebind:
				keys[b.key] = keys[b.key] || keys[old]
				parts[b.key] = parts[b.key] || parts[old]
			}
		}
	}
	for _, b := range w.bindings {
		if b.old() != "" && !b.contributes && !b.rebind && !parts[b.key] {
			keys[b.key] = true
		}
	}
	return keys, parts
}

// isRead reports whether a file is the path of some request that has a value of the entry.
func (w *world) isRead(c condition) bool {
	for request := range w.requests {
		if w.text(c.path.template, request) == strings.ToLower(c.file) && w.text(c.path.value, request) != "" {
			return true
		}
	}
	return false
}

// bindsKey reports whether b binds its key. renamesParts reports whether b is about the names of contributions.
func (w *world) bindsKey(b *bound) bool {
	keys, parts := w.names()
	return !b.contributes && (b.old() == "" || b.rebind || !parts[b.old()] || keys[b.old()])
}

func (w *world) renamesParts(b *bound) bool {
	_, parts := w.names()
	return !b.contributes && !b.rebind && b.old() != "" && parts[b.old()]
}

// candidatesOf returns the bindings of a key, and the binding that renames those below it.
func (w *world) candidatesOf(key string) []alternative {
	if out, ok := w.candidates[key]; ok {
		return out
	}
	out := w.alternativesOf(func(b *bound) bool { return b.key == key && w.bindsKey(b) })
	keys, _ := w.names()
	for _, a := range w.alternativesOf(func(b *bound) bool { return b.renamed == key && keys[key] && w.bindsKey(b) }) {
		a.erases = true
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b alternative) int {
		return cmp.Or(compareRanks(a.rank, b.rank), cmp.Compare(a.place, b.place))
	})
	if w.candidates == nil {
		w.candidates = map[string][]alternative{}
	}
	w.candidates[key] = out
	return out
}

// effectiveOf returns the candidates of a key that are effective in a request, by decreasing precedence. If a rank is
// given, it returns those below it.
func (w *world) effectiveOf(request int, key string, below []int) (out []alternative) {
	for _, a := range w.candidatesOf(key) {
		if a.holds[request] && (below == nil || compareRanks(a.rank, below) > 0) {
			out = append(out, a)
		}
	}
	return out
}

func (w *world) alternativesOf(is func(*bound) bool) (out []alternative) {
	for _, b := range w.bindings {
		for i := range b.alternatives {
			if is(b) {
				c := &b.alternatives[i]
				out = append(out, alternative{bound: b, rank: w.rank(b, c), holds: c.holds})
			}
		}
	}
	return out
}

func both(a, b []bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] && b[i]
	}
	return out
}

func ever(holds []bool) bool { return slices.Contains(holds, true) }

func within(a, b []bool) bool { return slices.Equal(both(a, b), a) }

// hidden reports whether a candidate above rank holds whenever where does, and always answers. where may never hold. A
// candidate with a new name is below the rename.
func hidden(all []alternative, rank []int, where []bool) bool {
	return !ever(where) || slices.ContainsFunc(all, func(a alternative) bool {
		return a.final() && compareRanks(a.rank, rank) < 0 && within(where, a.holds) &&
			!slices.ContainsFunc(all, func(e alternative) bool {
				return e.erases && compareRanks(e.rank, rank) < 0 && compareRanks(a.rank, e.rank) <= 0 &&
					ever(both(where, e.holds))
			})
	})
}

// expected lists the expected diagnostics, as "severity code key".
func (w *world) expected() map[string]bool {
	out := map[string]bool{}
	for _, key := range compositionKeys {
		all := w.candidatesOf(key)
		for _, a := range all {
			for _, b := range all {
				where := both(a.holds, b.holds)
				if a.place < b.place && compareRanks(a.rank, b.rank) == 0 && ever(where) &&
					(a.erases || b.erases || !hidden(all, a.rank, where)) {
					out["error conflict "+key] = true
				}
			}
			if !a.erases {
				kindsOf(out, all, a.bound)
			}
		}
	}
	if slices.ContainsFunc(w.paths, w.differs) {
		out["warning category_value"] = true
	}
	w.duplicates(out)
	w.rebindings(out)
	w.exclusions(out)
	for request := range w.requests {
		for _, key := range compositionKeys {
			if !out["error loop"] && w.loops(request, key, nil, nil) {
				out["error loop"] = true
			}
		}
	}
	return out
}

// rebindings reports new names for keys that do not exist, rebindings with nothing below, and contributions with two
// new names.
func (w *world) rebindings(out map[string]bool) {
	keys, parts := w.names()
	for _, b := range w.bindings {
		old := b.old()
		switch {
		case old == "" || b.contributes:
		case !keys[old] && (b.rebind || !parts[old]):
			out["error rebind "+b.key] = true
		case b.alias == "" && !b.abstract && w.bindsKey(b) && !w.anyBelow(b, old):
			out["warning rebind "+old] = true
		}
	}
	all := w.alternativesOf(func(b *bound) bool { return b.renamed != "" && w.renamesParts(b) })
	for _, a := range all {
		for _, b := range all {
			if a.place < b.place && a.renamed == b.renamed && compareRanks(a.rank, b.rank) == 0 &&
				ever(both(a.holds, b.holds)) {
				out["error conflict "+a.renamed] = true
			}
		}
	}
}

func (w *world) anyBelow(b *bound, key string) bool {
	for _, a := range w.alternativesOf(func(o *bound) bool { return o == b }) {
		for _, o := range w.candidatesOf(key) {
			if o.bound != b && !o.erases && compareRanks(o.rank, a.rank) > 0 && ever(both(a.holds, o.holds)) {
				return true
			}
		}
	}
	return false
}

// loops reports whether key, or its value below a rank, depends on itself, directly or through others. It assumes that
// values that depend on others are found.
func (w *world) loops(request int, key string, below []int, path []string) bool {
	name := fmt.Sprint(key, below)
	if slices.Contains(path, name) {
		return true
	}
	path = append(slices.Clip(path), name)
	for _, a := range w.effectiveOf(request, key, below) {
		switch {
		case a.erases || a.abstract:
			return false
		case a.collects != nil:
			return w.loopsInParts(request, a, path)
		case a.alias != "" && w.loops(request, a.alias, nil, path),
			a.renamed != "" && w.loops(request, a.renamed, a.rank, path),
			w.loopsBehind(request, a.bound, path):
			return true
		case !w.declines(request, a, nil):
			return a.rebind && w.loops(request, key, a.rank, path)
		}
	}
	return false
}

func (w *world) loopsInParts(request int, m alternative, path []string) bool {
	seen := map[string]bool{}
	if slices.ContainsFunc(w.bindings, w.renamesParts) {
		return false // the key is never looked up
	}
	for _, p := range w.effective(request, func(b *bound) bool { return b.contributes }) {
		if taken := seen[p.key]; taken && (m.collects.decides(p.bound) || m.collects.resolution == "ignore") {
			continue
		}
		seen[p.key] = true
		if p.alias != "" && w.loops(request, p.alias, nil, path) || w.loopsBehind(request, p.bound, path) {
			return true
		}
	}
	return false
}

func (w *world) loopsBehind(request int, b *bound, path []string) bool {
	for _, key := range b.tried {
		if w.loops(request, key, nil, path) {
			return true
		}
		if found, undef := w.known(request, key, nil, nil); found && !undef {
			return false
		}
	}
	return false
}

// declines reports whether a candidate declines for certain, without an evaluation. path has the keys that led to
// it.
func (w *world) declines(request int, a alternative, path []string) bool {
	switch {
	case a.final():
		return false
	case a.alias != "":
		if slices.Contains(path, a.alias) {
			return false
		}
		found, _ := w.known(request, a.alias, nil, append(slices.Clip(path), a.alias))
		return !found
	case a.old() != "":
		found, _ := w.known(request, a.old(), a.rank, path)
		return !found
	}
	for _, key := range a.tried {
		if slices.Contains(path, key) {
			return false
		}
		if found, undef := w.known(request, key, nil, append(slices.Clip(path), key)); found && !undef {
			return false
		}
	}
	return a.tried != nil || a.value == nil
}

// known reports whether a key certainly has a value, and whether that value is undef in every request.
func (w *world) known(request int, key string, below []int, path []string) (found, undef bool) {
	for _, a := range w.effectiveOf(request, key, below) {
		if a.erases {
			return false, false
		}
		if !w.declines(request, a, path) {
			return true, a.value == nil && !a.abstract && a.collects == nil && a.tried == nil && a.old() == ""
		}
	}
	return false, false
}

// kindsOf returns the expected diagnostics for a binding that is abstract or overrides.
func kindsOf(out map[string]bool, all []alternative, b *bound) {
	seen, concrete, beaten, rival, always := false, false, false, false, true
	for _, a := range all {
		if a.bound != b || a.erases {
			continue
		}
		wins, covered := !hidden(all, a.rank, a.holds), false
		for _, o := range all {
			if o.bound == b || !o.final() || !ever(both(a.holds, o.holds)) {
				continue
			}
			switch c := compareRanks(o.rank, a.rank); {
			case c < 0:
				concrete = concrete || !o.abstract
				rival = rival || wins && o.layer == a.layer
			case c > 0 && wins:
				beaten, covered = true, covered || within(a.holds, o.holds)
			}
		}
		seen, always = seen || wins, always && (covered || !wins)
	}
	switch {
	case !seen:
	case b.abstract && !concrete:
		out["error abstract "+b.key] = true
	case b.abstract:
		out["warning abstract "+b.key] = true
	case b.override && !beaten && !rival:
		out["error override "+b.key] = true
	case b.override && !(beaten && always):
		out["warning override "+b.key] = true
	}
}

// duplicates reports contributions that collide whenever one of them is effective.
func (w *world) duplicates(out map[string]bool) {
	if slices.ContainsFunc(w.bindings, w.renamesParts) {
		return // contributions may get other names
	}
	for _, m := range w.candidatesOf("m") {
		if m.erases || m.collects == nil || hidden(w.candidatesOf("m"), m.rank, m.holds) {
			continue
		}
		decided := func(b *bound) bool { return b.contributes && b.final() && m.collects.decides(b) }
		for _, a := range w.alternativesOf(decided) {
			same := w.alternativesOf(func(b *bound) bool { return b.contributes && b.key == a.key })
			for _, b := range same {
				if a.place >= b.place || !b.final() || !slices.Equal(a.holds, b.holds) ||
					!ever(both(m.holds, a.holds)) {
					continue
				}
				equal := compareRanks(a.rank, b.rank) == 0
				if m.collects.resolution == "error" || equal && !hidden(same, a.rank, a.holds) {
					out["error duplicate m"] = true
				}
			}
		}
	}
}

// exclusions reports classes that are included and excluded with equal precedence.
func (w *world) exclusions(out map[string]bool) {
	for _, class := range []string{"p", "q"} {
		all := w.alternativesOf(func(b *bound) bool { return b.class != "" && b.key == class })
		for _, a := range all {
			for _, b := range all {
				where := both(a.holds, b.holds)
				if a.class != b.class && compareRanks(a.rank, b.rank) == 0 && !hidden(all, a.rank, where) {
					out["error conflict "+class] = true
				}
			}
		}
	}
}

// classes returns the included classes.
func (w *world) classes(request int) (list []any, found bool) {
	list = []any{}
	seen := map[string]bool{}
	for _, p := range w.effective(request, func(b *bound) bool { return b.class != "" }) {
		if !seen[p.key] && p.class == "include" {
			list = append(list, p.key)
		}
		seen[p.key] = true
	}
	return list, slices.ContainsFunc(w.bindings, func(b *bound) bool { return b.class == "include" })
}

// decides reports whether only one contribution with the name of b can count.
func (c *collects) decides(b *bound) bool {
	if c.combines {
		return false
	}
	if !c.array {
		return c.resolution == "priority" || c.resolution == "error"
	}
	return b.key != "" && c.named || b.key == "" && c.unnamed
}

// effective returns the highest effective alternative of each binding, by decreasing precedence.
func (w *world) effective(request int, is func(*bound) bool) (out []alternative) {
	for _, a := range w.alternativesOf(is) {
		if !a.holds[request] {
			continue
		}
		i := slices.IndexFunc(out, func(o alternative) bool { return o.bound == a.bound })
		switch {
		case i < 0:
			out = append(out, a)
		case compareRanks(a.rank, out[i].rank) < 0:
			out[i] = a
		}
	}
	slices.SortStableFunc(out, func(a, b alternative) int {
		return cmp.Or(compareRanks(a.rank, b.rank), cmp.Compare(a.place, b.place))
	})
	return out
}

// answer returns the result of a lookup as JSON, "nothing", or the code of its error.
func (w *world) answer(t *testing.T, request int, key string) string {
	switch v, found, code := w.find(request, key, nil); {
	case code != "":
		return code
	case !found:
		return "nothing"
	default:
		return canonical(t, encode(t, v))
	}
}

func (w *world) find(request int, key string, path []string) (v any, found bool, code string) {
	if key == "/classes" {
		v, found = w.classes(request)
		return v, found, ""
	}
	return w.findBelow(request, key, nil, path)
}

// findBelow returns the value of a key, or its value below a rank.
func (w *world) findBelow(request int, key string, below []int, path []string) (v any, found bool, code string) {
	all := w.effectiveOf(request, key, below)
	name := fmt.Sprint(key, below)
	switch {
	case len(all) == 0 || all[0].erases:
		return nil, false, ""
	case all[0].abstract:
		return nil, false, "abstract"
	case slices.Contains(path, name):
		return nil, false, "loop"
	}
	path = append(slices.Clip(path), name)
	for _, a := range all {
		switch {
		case a.erases:
			return nil, false, ""
		case a.abstract:
			return nil, false, "abstract"
		case a.rebind:
			continue
		case a.renamed != "":
			v, found, code = w.findBelow(request, a.renamed, a.rank, path)
		case a.collects != nil:
			v, code = a.collects.collect(w.parts(request), func(b *bound) (any, bool, string) {
				return w.produce(request, b, path)
			})
			found = true
		default:
			v, found, code = w.produce(request, a.bound, path)
		}
		if found || code != "" {
			return v, code == "", code
		}
	}
	return nil, false, ""
}

// parts returns the effective contributions with their names.
func (w *world) parts(request int) (out []alternative) {
	renames := w.alternativesOf(func(b *bound) bool { return b.renamed != "" && w.renamesParts(b) })
	slices.SortStableFunc(renames, func(a, b alternative) int { return compareRanks(b.rank, a.rank) })
	for _, p := range w.effective(request, func(b *bound) bool { return b.contributes }) {
		name := p.key
		var last []int // rank of the last rename
		for _, r := range renames {
			if r.holds[request] && compareRanks(r.rank, p.rank) < 0 && r.renamed == name && name != "" &&
				(last == nil || compareRanks(r.rank, last) < 0) {
				name, last = r.key, r.rank
			}
		}
		names := []string{name}
		for i := 0; i < len(names); i++ {
			for _, a := range w.effective(request, func(b *bound) bool { return b.alias != "" && w.renamesParts(b) }) {
				if a.alias == names[i] && !slices.Contains(names, a.key) {
					names = append(names, a.key)
				}
			}
		}
		for _, name := range names {
			b := *p.bound
			b.key = name
			out = append(out, alternative{bound: &b, rank: p.rank, holds: p.holds})
		}
	}
	return out
}

// produce returns the value of a binding. found is false if it declines.
func (w *world) produce(request int, b *bound, path []string) (v any, found bool, code string) {
	switch {
	case b.alias != "":
		return w.find(request, b.alias, path)
	case b.tried == nil:
		return b.value, !b.optional || b.value != nil, ""
	}
	for _, key := range b.tried {
		if v, _, code := w.find(request, key, path); code != "" || v != nil {
			return v, code == "", code
		}
	}
	return nil, !b.optional, ""
}

func (c *collects) collect(parts []alternative, produce func(*bound) (any, bool, string)) (any, string) {
	first := map[string]alternative{}
	list, hash := []any{}, map[string]any{}
	for _, p := range parts {
		higher, taken := first[p.key]
		if taken && c.resolution == "ignore" {
			continue
		}
		twice := taken && c.decides(p.bound)
		if twice && c.resolution != "error" && compareRanks(higher.rank, p.rank) != 0 {
			continue
		}
		if twice && p.final() {
			return nil, "duplicate"
		}
		v, there, code := produce(p.bound)
		switch {
		case code != "":
			return nil, code
		case !there:
			continue
		case twice:
			return nil, "duplicate"
		case !taken:
			first[p.key] = p
		}
		switch {
		case c.combines && c.array:
			list = []any{list, v}
		case c.combines:
			hash[p.key] = []any{p.key, hash[p.key], v}
		case c.array:
			list = append(list, v)
		case c.resolution == "append":
			sofar, _ := hash[p.key].([]any)
			hash[p.key] = append(sofar, v)
		case c.resolution == "merge" && taken:
			merged := maps.Clone(v.(map[string]any))
			maps.Copy(merged, hash[p.key].(map[string]any))
			hash[p.key] = merged
		default:
			hash[p.key] = v
		}
	}
	if c.array {
		return c.finish(list), ""
	}
	for name, v := range hash {
		if c.resolution == "append" {
			hash[name] = c.finish(v.([]any))
		}
	}
	return hash, ""
}

func (c *collects) finish(list []any) []any {
	for range 5 { // more rounds than any nesting in these sites
		if c.flatten == 0 {
			break
		}
		var flat []any
		for _, e := range list {
			if inner, ok := e.([]any); ok {
				flat = append(flat, inner...)
			} else {
				flat = append(flat, e)
			}
		}
		list = flat
		if c.flatten > 0 {
			break
		}
	}
	out := []any{}
	for _, e := range list {
		if !c.uniq || !slices.ContainsFunc(out, func(o any) bool { return fmt.Sprint(o) == fmt.Sprint(e) }) {
			out = append(out, e)
		}
	}
	return out
}
