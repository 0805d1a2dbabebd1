package params

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lint"
	"bindc/internal/recipe"
)

// meant is the parameter that a misspelt key was probably meant for.
type meant struct {
	param *param
	why   string // why Puppet does not look up the misspelt key
}

// reportMisspelt reports keys of classes that do not exist if a class with a similar name has such a parameter. These
// are only warnings, because the class may exist in another module path.
func (c *Checker) reportMisspelt() {
	found := c.findMeant()
	if !slices.ContainsFunc(found, func(m *meant) bool { return m != nil }) {
		return // usually, so that most builds do not visit all bindings again
	}
	places := map[uint32][]diag.Pos{}
	for b := range c.bindings {
		if found[b.number] == nil {
			continue
		}
		if at := b.at(); !slices.Contains(places[b.number], at) {
			places[b.number] = append(places[b.number], at)
		}
	}
	looked, ofSite := c.lookups(), lint.LookupsOf(c.content)
	for number, list := range places {
		key := c.site.Keys[number]
		c.misspelt[key] = true
		if looked.Includes(key) || ofSite.Includes(key) {
			continue
		}
		slices.SortFunc(list, diag.Pos.Compare)
		c.reportMeant(key, found[number], list)
	}
}

// findMeant returns the parameter that each bound key was probably meant for, by number of the key. It is nil for keys
// that are not misspelt.
func (c *Checker) findMeant() []*meant {
	found := make([]*meant, len(c.keys))
	for i, key := range c.site.Keys {
		if c.isBound[i] && c.keys[i].param == nil && !recipe.IsInternal(key) && !recipe.IsReserved(key) {
			found[i] = c.meant(key, c.keys[i].class)
		}
	}
	return found
}

// maxPlaces limits the number of further positions listed in a warning.
const maxPlaces = 8

func (c *Checker) reportMeant(key string, m *meant, places []diag.Pos) {
	fix := diag.MeantAs(key, m.param.key())
	fix.Notes = true
	d := diag.Diagnostic{Pos: places[0], Severity: diag.Warning, Code: "unknown_class", Fix: fix,
		Message: "'" + key + "': " + m.why + ", and nothing else looks this key up",
		Notes:   []diag.Note{{Pos: m.param.At, Message: "the parameter '" + m.param.key() + "'"}}}
	for _, at := range places[1:min(len(places), 1+maxPlaces)] {
		d.Notes = append(d.Notes, diag.Note{Pos: at, Message: "also bound here"})
	}
	if more := len(places) - 1 - maxPlaces; more > 0 {
		d.Notes[len(d.Notes)-1].Message += ", and in " + diag.Count(more, "other place")
	}
	c.diags.Add(d)
}

// meant returns the parameter that key was probably meant for, or nil. class is the class with the name before the last
// '::', or nil.
func (c *Checker) meant(key string, class *class) *meant {
	words := strings.FieldsFunc(key, func(r rune) bool { return r == ':' })
	joined := strings.Join(words, "::")
	if p := c.classes.receiver(strings.ToLower(joined)); p != nil {
		why := "Puppet only looks up parameters in lower case"
		if joined != key {
			why = "Puppet looks up parameters with '::' between the names"
		}
		return &meant{p, why}
	}
	if class != nil || len(words) < 2 || joined != key {
		return nil
	}
	why := "there is no class " + strings.Join(words[:len(words)-1], "::")
	for _, name := range c.classes.similar(words[:len(words)-1]) {
		if p := c.classes.receiver(name + "::" + words[len(words)-1]); p != nil {
			return &meant{p, why}
		}
	}
	return nil
}

// similar returns the names that differ from words by a typo. Their modules exist, but the classes may not.
func (c *classes) similar(words []string) []string {
	name := strings.Join(words, "::")
	out, known := c.alike[name]
	if !known {
		out = c.findSimilar(words)
		c.alike[name] = out
	}
	return out
}

func (c *classes) findSimilar(words []string) (out []string) {
	for name := range c.own {
		if differsInTypo(words, strings.Split(name, "::")) {
			out = append(out, name)
		}
	}
	if dir, ok := c.modules[words[0]]; ok {
		for _, names := range c.namesIn(dir) {
			if differsInTypo(words[1:], names) {
				out = append(out, words[0]+"::"+strings.Join(names, "::"))
			}
		}
	} else {
		for _, m := range c.site.Modules {
			if isTypoOfModule(words[0], m.Name) {
				out = append(out, strings.Join(append([]string{m.Name}, words[1:]...), "::"))
			}
		}
	}
	slices.Sort(out)
	return out
}

// namesIn returns the class names in a manifest directory, each split into words. It takes them from the names of the
// files and omits the module.
func (c *classes) namesIn(dir string) [][]string {
	names, known := c.names[dir]
	if !known {
		for _, path := range c.manifestsIn(dir) {
			if rel, err := filepath.Rel(dir, path); err == nil {
				names = append(names, strings.Split(strings.TrimSuffix(filepath.ToSlash(rel), ".pp"), "/"))
			}
		}
		c.names[dir] = names
	}
	return names
}

// differsInTypo reports whether two names are equal except for a typo in one word.
func differsInTypo(words, others []string) bool {
	differ := -1
	for i := range words {
		if len(words) != len(others) || words[i] != others[i] && differ >= 0 {
			return false
		}
		if words[i] != others[i] {
			differ = i
		}
	}
	return differ >= 0 && isTypo(words[differ], others[differ])
}

// isTypo reports whether word is probably a typo of other. It rejects short words that differ in a single letter,
// because these may well be different names, such as dev and deb.
func isTypo(word, other string) bool {
	replaced := len(word) == len(other) && !sameLetters(word, other)
	return diag.IsNear(word, other) && min(len(word), len(other)) >= 3 && (!replaced || len(word) >= 5)
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// isTypoOfModule reports whether word is probably a typo of a module's name rather than the name of another module. In
// short names, it only accepts swapped and doubled letters.
func isTypoOfModule(word, module string) bool {
	n, m := len(word), len(module)
	if min(n, m) < 3 || !diag.IsNear(word, module) {
		return false
	}
	return min(n, m) >= 5 && word[0] == module[0] && word[n-1] == module[m-1] || sameLetters(word, module) ||
		slices.Equal(slices.Compact([]byte(word)), slices.Compact([]byte(module)))
}
