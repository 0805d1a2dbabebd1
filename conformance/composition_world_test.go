package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// world is a site with all its distinct requests.
type world struct {
	categories []category // by decreasing precedence
	layers     int
	bindings   []*bound
	paths      []dataPath
	requests   []map[string]string // by variable; "" if the variable is not set
	texts      map[string][]string // strings of each template, by request
	variables  []*strings.Replacer // replacers of variables in templates, one per request

	keys, collected map[string]bool          // see names; nil before the first call
	candidates      map[string][]alternative // candidates of each key
}

type category struct{ name, template string }

// bound is a binding of a key, or a contribution.
type bound struct {
	key, pos           string // pos identifies the binding
	layer, place       int
	alternatives       []condition
	value              any
	abstract, override bool
	collects           *collects // nil unless it is a multibinding
	contributes        bool      // whether it contributes to the multibinding 'id', with the name key
	tried              []string  // its value is the first of these keys that is found and not undef
	optional           bool      // whether it declines if the value is undef
	alias, renamed     string    // the key that it is an alias or a new name of
	rebind             bool      // whether it takes the value of its key below it
	class              string    // include or exclude the class named key; usually empty
}

// old returns the key that b renames, or b's own key if b has the value below it.
func (b *bound) old() string {
	if b.rebind {
		return b.key
	}
	return b.alias + b.renamed
}

// final reports whether a lookup that reaches b always ends there.
func (b *bound) final() bool { return b.abstract || !b.optional && b.old() == "" }

type condition struct {
	values map[string]string // required values, by category
	path   *dataPath         // for a data file: its path, and a category that must have a value
	file   string
	holds  []bool // whether it holds, by request
}

type collects struct {
	array      bool
	resolution string
	flatten    int
	uniq       bool
	named      bool
	unnamed    bool
	combines   bool // whether it has a combinator, which makes a list of its arguments
}

// dataPath is the only entry of a Hiera 2 directory.
type dataPath struct {
	layer    int
	category string // a category, or common
	value    string // expression of the entry for its category; may differ from the site's expression
	template string
	files    []string
}

// joined is a template from whose text a build cannot derive the value of c. No other template uses c.
const joined = "${join([$c])}"

func randomWorld(r *rand.Rand) *world {
	templates := []string{"${a}", "${b}", "${::a}", "${a}-${b}", "${b}${a}", "x${a}", joined, "${a}",
		joined + "-${a}", joined}
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	w := &world{layers: 1 + r.IntN(2), texts: map[string][]string{}}
	for _, name := range []string{"node", "one", "two", "three"} {
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
	if r.IntN(4) == 0 {
		*multibind = collects{array: multibind.array, resolution: "append", uniq: multibind.uniq, combines: true}
	}
	for layer := range w.layers {
		for range r.IntN(3) {
			add(&bound{key: pick("p", "q"), class: pick("include", "include", "exclude"), layer: layer,
				alternatives: when()})
		}
		if r.IntN(2) == 0 {
			cat := w.categories[r.IntN(len(w.categories))]
			p := dataPath{layer: layer, category: cat.name}
			p.template = pick(cat.template, cat.template+"/${b}", "${a}/${b}", "${b}")
			if p.value = cat.template; r.IntN(3) == 0 {
				p.value = pick(append(templates, p.template, "x")...)
			}
			if r.IntN(4) == 0 {
				p.category, p.value = "common", "true"
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
			b.optional = r.IntN(4) == 0 && (b.value == nil || b.tried != nil)
			switch r.IntN(8) {
			case 0:
				b.abstract, b.value, b.tried, b.optional = true, nil, nil, false
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
				b.optional = r.IntN(2) == 0
			} else if r.IntN(6) == 0 {
				b.alias = pick("k", "l", "m")
			}
			add(b)
		}
	}
	for range r.IntN(5) {
		layer, names := r.IntN(w.layers), []string{"k", "l", "m", "n", "o"}
		if r.IntN(4) > 0 { // otherwise many aliases would have no target
			names = nil
			for _, b := range w.bindings {
				if slices.Contains(compositionKeys, b.key) {
					names = append(names, b.key)
				}
			}
			names = append(names, "k")
		}
		b := &bound{key: pick("k", "l", "l", "n", "o"), layer: layer, alternatives: when()}
		switch r.IntN(4) {
		case 0:
			b.rebind, b.key = true, pick(names...)
		case 1:
			b.alias = pick(names...)
		default:
			b.renamed = pick(names...)
		}
		flag := r.IntN(12)
		b.abstract, b.override = flag == 0, flag == 1
		if b.rebind || b.old() != b.key {
			add(b)
		}
	}
	if !w.findRequests() {
		return randomWorld(r)
	}
	return w
}

// write writes the site below dir: per layer, a bindings file and possibly a Hiera 2 directory.
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
				entry := []string{p.category, p.value, "d/" + p.template}
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

// source returns the binding in the form of a bindings file.
func (b *bound) source() any {
	out := map[string]any{}
	if b.key != "" && !b.rebind && b.class == "" {
		out["name"] = b.key
	}
	if b.abstract {
		out["abstract"] = true
	}
	if b.optional {
		out["optional"] = true
	}
	switch {
	case b.class != "" && b.place%2 == 0:
		out["to"], out["in"] = []string{b.key}, b.class+"d_classes"
	case b.class != "":
		out[b.class] = b.key
	case b.rebind:
		out["rebind"] = b.key
	case b.alias != "":
		out["to_alias_of"] = b.alias
	case b.renamed != "":
		out["to_renamed"] = b.renamed
	case b.abstract:
	case b.collects != nil:
		out["multibind_id"] = "id"
		options := map[string]any{}
		if b.collects.array {
			out["type"] = "Array"
		}
		switch out["options"] = options; {
		case b.collects.combines && b.collects.array:
			options["combinator"], options["uniq"] = "|$memo, $x| { [$memo, $x] }", b.collects.uniq
		case b.collects.combines:
			options["combinator"] = "|$key, $current, $value| { [$key, $current, $value] }"
			options["uniq"] = b.collects.uniq
		case b.collects.array:
			options["priority_on_named"], options["priority_on_unnamed"] = b.collects.named, b.collects.unnamed
		default:
			options["conflict_resolution"] = b.collects.resolution
		}
		if !b.collects.combines && (b.collects.array || b.collects.resolution == "append") {
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
