package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/internal/diag"
	"bindc/internal/slice"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

var compositionSites = flag.Int("sites", 60, "how many random sites TestComposition makes")

// TestComposition makes random sites whose categories and paths are functions of the same variables, and holds what is
// refused and what lookups answer to language.md, sections 6 and 8, taken literally: all values that could make a
// difference are tried for all variables, and in each such request everything that is effective is compared with
// everything else.
//
// More sites: go test ./conformance -run Composition -sites 20000
func TestComposition(t *testing.T) {
	refused := 0
	for seed := range uint64(*compositionSites) {
		w := randomWorld(rand.New(rand.NewPCG(seed, 8)))
		if !w.try(t, seed) {
			refused++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d sites are refused", refused, *compositionSites)
}

// world is a site and all requests that differ to it.
type world struct {
	categories []category // highest first
	layers     int
	bindings   []*bound
	paths      []dataPath
	requests   []map[string]string // by variable; "" is for one that is not given
	texts      map[string][]string // of each template, by request
}

type category struct{ name, template string }

// bound is a binding of a key, or a contribution.
type bound struct {
	key, pos           string // pos identifies it
	layer, place       int
	alternatives       []condition
	value              any
	abstract, override bool
	collects           *collects // it is a multibinding
	contributes        bool      // to the multibinding 'id', under the name key
	tried              []string  // it is the first of these keys that is found and not undef
}

type condition struct {
	values map[string]string // by category
	path   *dataPath         // or that a data file has the path of the request, and the request a value of its category
	file   string
	holds  []bool // by request
}

type collects struct {
	array      bool
	resolution string
	flatten    int
	uniq       bool
	named      bool
	unnamed    bool
}

// dataPath is the one entry of a Hiera-2 directory.
type dataPath struct {
	layer    int
	category string // or common
	template string
	files    []string
}

// joined is a template that no build takes apart. c is in no other, so that it is all that a site says of c.
const joined = "${join([$c])}"

func randomWorld(r *rand.Rand) *world {
	templates := []string{"${a}", "${b}", "${::a}", "${a}-${b}", "${b}${a}", "x${a}", joined, "${a}",
		joined + "-${a}", joined}
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	w := &world{layers: 1 + r.IntN(2), texts: map[string][]string{}}
	for _, name := range []string{"node", "one", "two", "environment"} {
		w.categories = append(w.categories, category{name, pick(templates...)})
	}
	value := func(template string) string {
		for strings.Contains(template, "${") {
			from, to := strings.Index(template, "${"), strings.Index(template, "}")
			template = template[:from] + pick("x", "y", "X", "x-y", "y") + template[to+1:]
		}
		return template
	}
	place := 0
	add := func(b *bound) {
		b.place, b.pos = place, fmt.Sprint(place)
		place++
		w.bindings = append(w.bindings, b)
	}
	when := func() (out []condition) {
		for range 1 + r.IntN(4)/3 {
			c := condition{values: map[string]string{}}
			for _, cat := range w.categories {
				if r.IntN(5) < 2 {
					c.values[cat.name] = value(cat.template)
				}
			}
			out = append(out, c)
		}
		return out
	}
	targets := func() (out []string) {
		for range 1 + r.IntN(2) {
			out = append(out, pick("k", "l", "m"))
		}
		return out
	}
	multibind := &collects{named: true}
	if multibind.array = r.IntN(2) == 0; multibind.array {
		multibind.named, multibind.unnamed = r.IntN(3) > 0, r.IntN(3) == 0
	} else {
		multibind.resolution = pick("priority", "ignore", "error", "append", "merge")
	}
	if multibind.array || multibind.resolution == "append" {
		multibind.flatten, multibind.uniq = r.IntN(3)-1, r.IntN(2) == 0
	}
	for layer := range w.layers {
		if r.IntN(2) == 0 {
			cat := w.categories[r.IntN(len(w.categories))]
			p := dataPath{layer: layer, category: cat.name}
			p.template = pick(cat.template, cat.template+"/${b}", "${a}/${b}", "${b}")
			if r.IntN(4) == 0 {
				p.category = "common"
			}
			for range 1 + r.IntN(3) {
				file := value(p.template)
				if !slices.ContainsFunc(p.files, func(f string) bool { return strings.EqualFold(f, file) }) {
					p.files = append(p.files, file)
				}
			}
			w.paths = append(w.paths, p)
			for _, file := range p.files {
				when := []condition{{path: &p, file: file}}
				add(&bound{key: "k", layer: layer, value: float64(place), alternatives: when})
			}
		}
		for range r.IntN(5) {
			b := &bound{key: pick("k", "l"), layer: layer, value: float64(place), alternatives: when()}
			if r.IntN(8) == 0 {
				b.value = nil
			}
			if r.IntN(3) == 0 {
				b.tried = targets()
			}
			switch r.IntN(8) {
			case 0:
				b.abstract, b.value, b.tried = true, nil, nil
			case 1:
				b.override = true
			}
			add(b)
		}
		if r.IntN(3) == 0 {
			add(&bound{key: "m", layer: layer, alternatives: when(), collects: multibind})
		}
		for range r.IntN(4) {
			b := &bound{key: pick("n", "o"), layer: layer, alternatives: when(), contributes: true}
			if multibind.array {
				b.key = pick("n", "")
			}
			b.value = []any{float64(place), nil, []any{float64(1), []any{float64(place)}}}[r.IntN(3)]
			if multibind.resolution == "merge" {
				b.value = map[string]any{pick("p", "q"): float64(place)}
			} else if r.IntN(4) == 0 {
				b.tried = targets()
			}
			add(b)
		}
	}
	if !w.findRequests() {
		return randomWorld(r)
	}
	return w
}

// text is a template for a request, folded.
func (w *world) text(template string, request int) string {
	if w.texts[template] == nil {
		for _, r := range w.requests {
			variables := strings.NewReplacer("${a}", r["a"], "${::a}", r["a"], "${b}", r["b"], joined, r["c"])
			w.texts[template] = append(w.texts[template], strings.ToLower(variables.Replace(template)))
		}
	}
	return w.texts[template][request]
}

// maxTexts is how many values a variable has at most in a site.
const maxTexts = 24

// findRequests makes the requests in which every variable has every value that some condition could ask for, or
// another; false where these are too many.
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

// holds tells whether a condition holds: every category has its value, or the path is that of the file.
func (w *world) holds(c *condition, request int) bool {
	for _, cat := range w.categories {
		has, asked := w.text(cat.template, request), c.path != nil && c.path.category == cat.name
		if want, ok := c.values[cat.name]; ok && has != strings.ToLower(want) || asked && has == "" {
			return false
		}
	}
	return c.path == nil || w.text(c.path.template, request) == strings.ToLower(c.file)
}

// rank is a layer and the places of the categories; compareRanks is negative where a has precedence.
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
	return cmp.Compare(len(b), len(a)) // the longer list is the higher
}

// alternative is a binding under one of its conditions.
type alternative struct {
	*bound
	rank  []int
	holds []bool
}

func (w *world) alternativesOf(is func(*bound) bool) (out []alternative) {
	for _, b := range w.bindings {
		for i := range b.alternatives {
			if is(b) {
				out = append(out, alternative{b, w.rank(b, &b.alternatives[i]), b.alternatives[i].holds})
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

// hidden tells whether something above rank holds wherever where does, which may be nowhere.
func hidden(all []alternative, rank []int, where []bool) bool {
	return !ever(where) || slices.ContainsFunc(all, func(a alternative) bool {
		return compareRanks(a.rank, rank) < 0 && within(where, a.holds)
	})
}

// expected is what has to be reported, as "severity code key".
func (w *world) expected() map[string]bool {
	out := map[string]bool{}
	for _, key := range []string{"k", "l", "m"} {
		all := w.alternativesOf(func(b *bound) bool { return b.key == key && !b.contributes })
		for _, a := range all {
			for _, b := range all {
				where := both(a.holds, b.holds)
				if a.place < b.place && compareRanks(a.rank, b.rank) == 0 && !hidden(all, a.rank, where) {
					out["error conflict "+key] = true
				}
			}
			kindsOf(out, all, a.bound)
		}
	}
	w.duplicates(out)
	for request := range w.requests {
		for _, key := range []string{"k", "l", "m"} {
			if !out["error loop"] && w.loops(request, key, nil) {
				out["error loop"] = true
			}
		}
	}
	return out
}

// loops tells whether key comes to need itself, or what it needs does. What needs others is taken to be found.
func (w *world) loops(request int, key string, path []string) bool {
	if slices.Contains(path, key) {
		return true
	}
	path = append(path, key)
	all := w.effective(request, func(b *bound) bool { return b.key == key && !b.contributes })
	if len(all) == 0 {
		return false
	}
	if all[0].collects == nil {
		return w.loopsBehind(request, all[0].bound, path)
	}
	seen := map[string]bool{}
	for _, p := range w.effective(request, func(b *bound) bool { return b.contributes }) {
		if taken := seen[p.key]; taken && (all[0].collects.decides(p.bound) || all[0].collects.resolution == "ignore") {
			continue
		}
		seen[p.key] = true
		if w.loopsBehind(request, p.bound, path) {
			return true
		}
	}
	return false
}

func (w *world) loopsBehind(request int, b *bound, path []string) bool {
	for _, key := range b.tried {
		if w.loops(request, key, path) {
			return true
		}
		found := w.effective(request, func(b *bound) bool { return b.key == key && !b.contributes })
		if len(found) > 0 && (found[0].value != nil || found[0].abstract || found[0].collects != nil ||
			found[0].tried != nil) {
			return false
		}
	}
	return false
}

// kindsOf says what a binding that is abstract or override has to be reported for.
func kindsOf(out map[string]bool, all []alternative, b *bound) {
	seen, concrete, beaten, rival, always := false, false, false, false, true
	for _, a := range all {
		if a.bound != b {
			continue
		}
		wins, covered := !hidden(all, a.rank, a.holds), false
		for _, o := range all {
			if o.bound == b || !ever(both(a.holds, o.holds)) {
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

// duplicates are contributions that collide whenever one of them is effective.
func (w *world) duplicates(out map[string]bool) {
	bound1 := func(b *bound) bool { return b.key == "m" && !b.contributes }
	for _, m := range w.alternativesOf(bound1) {
		if hidden(w.alternativesOf(bound1), m.rank, m.holds) {
			continue
		}
		for _, a := range w.alternativesOf(func(b *bound) bool { return b.contributes && m.collects.decides(b) }) {
			same := w.alternativesOf(func(b *bound) bool { return b.contributes && b.key == a.key })
			for _, b := range same {
				if a.place >= b.place || !slices.Equal(a.holds, b.holds) || !ever(both(m.holds, a.holds)) {
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

// decides tells whether only one contribution of the name of b can count.
func (c *collects) decides(b *bound) bool {
	if !c.array {
		return c.resolution == "priority" || c.resolution == "error"
	}
	return b.key != "" && c.named || b.key == "" && c.unnamed
}

// effective is the highest effective alternative of each binding, highest first.
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

// answer is the JSON of what a lookup finds, "nothing", or the code of its error.
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
	all := w.effective(request, func(b *bound) bool { return b.key == key && !b.contributes })
	switch {
	case len(all) == 0:
		return nil, false, ""
	case all[0].abstract:
		return nil, false, "abstract"
	case slices.Contains(path, key):
		return nil, false, "loop"
	}
	produce := func(b *bound) (any, string) { return w.produce(request, b, append(path, key)) }
	if all[0].collects == nil {
		v, code = produce(all[0].bound)
	} else {
		v, code = all[0].collects.collect(w.effective(request, func(b *bound) bool { return b.contributes }), produce)
	}
	return v, code == "", code
}

func (w *world) produce(request int, b *bound, path []string) (any, string) {
	if b.tried == nil {
		return b.value, ""
	}
	for _, key := range b.tried {
		if v, _, code := w.find(request, key, path); code != "" || v != nil {
			return v, code
		}
	}
	return nil, ""
}

func (c *collects) collect(parts []alternative, produce func(*bound) (any, string)) (any, string) {
	first := map[string]alternative{}
	list, hash := []any{}, map[string]any{}
	for _, p := range parts {
		higher, taken := first[p.key]
		if !taken {
			first[p.key] = p
		}
		if taken && c.decides(p.bound) {
			if c.resolution == "error" || compareRanks(higher.rank, p.rank) == 0 {
				return nil, "duplicate"
			}
			continue
		}
		if taken && c.resolution == "ignore" {
			continue
		}
		v, code := produce(p.bound)
		if code != "" {
			return nil, code
		}
		switch {
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
	for range 5 { // deeper than anything here
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

// try builds the site and compares; false where it is refused.
func (w *world) try(t *testing.T, seed uint64) bool {
	dir := t.TempDir()
	w.write(t, dir)
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	got := map[string]bool{}
	for _, d := range diags.Sorted() {
		switch d.Code {
		case "multibind_unknown", "data_unreached":
		case "loop":
			got["error loop"] = true
		default:
			got[fmt.Sprint(d.Severity, " ", d.Code, " ", keyIn(d.Message))] = true
		}
	}
	want := w.expected()
	if len(want) > 1 && diags.Failed() { // of what is in conflict, it depends which one is followed
		delete(got, "error loop")
		delete(want, "error loop")
	}
	if !maps.Equal(got, want) {
		t.Errorf("seed %d: reported %v, want %v\n%s", seed, got, want, w)
	}
	if diags.Failed() || t.Failed() {
		return false
	}
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	step := 1 + len(w.requests)/500
	for i := 0; i < len(w.requests) && !t.Failed(); i += step {
		w.ask(t, seed, snap, i)
	}
	if !t.Failed() {
		w.sliced(t, seed, compile.Compile(site, compile.Options{}, &diags), path)
	}
	return true
}

// sliced holds a slice of the site, for what a random request has of one category, to the oracle: requests with that
// value are answered as ever, others are refused. Cut from the snapshot that was built it is the same.
func (w *world) sliced(t *testing.T, seed uint64, content *snapshot.Content, built string) {
	r := rand.New(rand.NewPCG(seed, 12))
	category, request := r.IntN(len(w.categories)), r.IntN(len(w.requests))
	text := func(request int) string { return loader.Fold(w.text(w.categories[category].template, request)) }
	val := text(request)
	if val == "" {
		return // no value: nobody can ask for that
	}
	whole := content.Bindings
	terms := []snapshot.Term{{Dimension: category, Value: val}}
	if err := slice.Cut(content, terms); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "slice.bsnap")
	written, err := snapshot.Write(path, content)
	if err != nil {
		t.Fatal(err)
	}
	if got := cutFrom(t, built, terms); got != written.Digest {
		t.Errorf("seed %d: a slice that is cut from the snapshot is another file than one that is built", seed)
	}
	if content.Bindings == 0 && whole > 0 && len(content.Keys) > 0 || content.Bindings > whole {
		t.Errorf("seed %d: a slice of %d bindings has %d", seed, whole, content.Bindings)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if err := snap.Verify(); err != nil {
		t.Fatal(err)
	}
	for i := range w.requests {
		if text(i) == val {
			w.ask(t, seed, snap, i)
			continue
		}
		f, err := bindings.NewFacts(parseJSON(t, encode(t, w.requests[i])), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var e *bindings.Error
		if _, err := snap.Request(f); !errors.As(err, &e) || e.Code != bindings.CodeFacts {
			t.Errorf("seed %d: a request with %s '%s' asks a slice for '%s': %v", seed, w.categories[category].name,
				text(i),
				val, err)
		}
	}
}

// cutFrom is the digest of a slice of the snapshot at path, which, written without being cut, is the same file.
func cutFrom(t *testing.T, path string, terms []snapshot.Term) snapshot.Digest {
	t.Helper()
	s, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	content, err := s.Content()
	if err != nil {
		t.Fatal(err)
	}
	if written, err := snapshot.WriteTo(io.Discard, content); err != nil || written.Digest != s.Digest() {
		t.Errorf("the content of a snapshot is written as another one: %v", err)
	}
	if err := slice.Cut(content, terms); err != nil {
		t.Fatal(err)
	}
	written, err := snapshot.WriteTo(io.Discard, content)
	if err != nil {
		t.Fatal(err)
	}
	return written.Digest
}

// ask compares what one request answers. Facts are in upper case now and then, as case does not matter.
func (w *world) ask(t *testing.T, seed uint64, snap *bindings.Snapshot, request int) {
	facts := map[string]string{}
	for name, v := range w.requests[request] {
		if v != "" || request%2 == 0 {
			facts[name] = v
		}
		if request%3 == 0 {
			facts[name] = strings.ToUpper(v)
		}
	}
	f, err := bindings.NewFacts(parseJSON(t, encode(t, facts)), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"k", "l", "m"} {
		got := "nothing"
		var e *bindings.Error
		switch v, found, err := r.Lookup(key); {
		case errors.As(err, &e):
			got = string(e.Code)
		case err != nil:
			t.Fatal(err)
		case found:
			got = canonical(t, json.RawMessage(show(t, v)))
		}
		if want := w.answer(t, request, key); got != want {
			t.Errorf("seed %d: %s for %v is %s, want %s\n%s", seed, key, facts, got, want, w)
		}
	}
}

// keyIn is the first word in quotes that is a key.
func keyIn(message string) string {
	for i, word := range strings.Split(message, "'") {
		if i%2 == 1 && strings.Contains("klm", word) {
			return word
		}
	}
	return message
}

// write lays the site out below dir: per layer, a set of bindings and perhaps a Hiera-2 directory.
func (w *world) write(t *testing.T, dir string) {
	for name, v := range w.files() {
		writeFile(t, filepath.Join(dir, name), string(encode(t, v)))
	}
}

func (w *world) files() map[string]any {
	type object = map[string]any
	out := map[string]any{}
	config := object{"version": 1}
	var categories, layers []any
	for _, c := range w.categories {
		categories = append(categories, []string{c.name, c.template})
	}
	for layer := range w.layers {
		name := fmt.Sprint("l", layer)
		include := []string{"confdir:/" + name}
		for _, p := range w.paths {
			if p.layer == layer {
				include = append([]string{"confdir-hiera:/h" + name}, include...)
				entry := []string{p.category, w.template(p.category), "d/" + p.template}
				out["h"+name+"/hiera.yaml"] = object{"version": 2, "hierarchy": [][]string{entry}}
			}
		}
		bind := []any{}
		for _, b := range w.bindings {
			if b.layer != layer {
				continue
			}
			if p := b.alternatives[0].path; p != nil {
				out["h"+name+"/d/"+b.alternatives[0].file+".yaml"] = object{b.key: b.value}
				continue
			}
			bind = append(bind, b.source())
		}
		out["bindings/"+name+".yaml"] = object{"bindings_version": 1, "name": name, "bind": bind}
		layers = append(layers, object{"name": name, "include": include})
	}
	config["categories"], config["layers"] = categories, layers
	out["binder_config.yaml"] = config
	return out
}

func (w *world) template(name string) string {
	for _, c := range w.categories {
		if c.name == name {
			return c.template
		}
	}
	return "true"
}

// source is the binding as a bindings file has it.
func (b *bound) source() any {
	out := map[string]any{}
	if b.key != "" {
		out["name"] = b.key
	}
	switch {
	case b.abstract:
		out["abstract"] = true
	case b.collects != nil:
		out["multibind_id"] = "id"
		options := map[string]any{}
		if out["options"] = options; b.collects.array {
			out["type"] = "Array"
			options["priority_on_named"], options["priority_on_unnamed"] = b.collects.named, b.collects.unnamed
		} else {
			options["conflict_resolution"] = b.collects.resolution
		}
		if b.collects.array || b.collects.resolution == "append" {
			options["flatten"], options["uniq"] = b.collects.flatten, b.collects.uniq
		}
	case b.tried != nil:
		out["to_first_found"] = b.tried
	default:
		out["to"] = b.value
	}
	if b.override {
		out["override"] = true
	}
	if b.contributes {
		out["in"] = "id"
	}
	when := []any{}
	for _, c := range b.alternatives {
		if len(c.values) == 0 {
			when = append(when, map[string]string{"common": "true"})
			continue
		}
		when = append(when, c.values)
	}
	return map[string]any{"when": when, "bind": []any{out}}
}

func (w *world) String() string {
	var b strings.Builder
	files := w.files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, _ := json.Marshal(files[name])
		fmt.Fprintf(&b, "%s: %s\n", name, text)
	}
	return b.String()
}
