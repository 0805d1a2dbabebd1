package lint

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/fsx"
	"bindc/internal/pattern"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/snapshot"
)

// Lookups is the set of keys that manifests or other programs look up. The zero value is empty.
type Lookups struct {
	Disk fsx.Disk // reads the manifests

	keys     map[string]bool
	patterns map[string]*regexp.Regexp // patterns for keys with interpolations, by the source of the key
}

func (a *Lookups) add(key string) {
	if a.keys == nil {
		a.keys = map[string]bool{}
	}
	key = strings.TrimPrefix(key, "::")
	a.keys[key] = true
	for i := range key {
		if key[i] == '.' { // the rest of the key may dig into the value
			a.keys[key[:i]] = true
		}
	}
}

// Includes reports whether a key is looked up.
func (a *Lookups) Includes(key string) bool {
	if a.keys[key] || key == "lookup_options" || strings.HasPrefix(key, "/") { // keys with '/' describe the catalog
		return true
	}
	for _, p := range a.patterns {
		if p.MatchString(key) {
			return true
		}
	}
	return false
}

// AddKeys adds the keys in a file, which has one key per line, as 'bindq keys' prints them. Lines that begin with # are
// comments. A file without keys is an error, because it would make all data count as unused.
func (a *Lookups) AddKeys(path string) error {
	text, err := a.Disk.ReadFile(path)
	if err != nil {
		return err
	}
	found := false
	for line := range strings.Lines(string(text)) {
		if key := strings.TrimSpace(line); key != "" && key[0] != '#' {
			a.add(key)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("%s: expected the keys that are looked up, one per line; found none", path)
	}
	return nil
}

// manifestExtensions lists the extensions of files from which Puppet looks up keys.
var manifestExtensions = []string{".pp", ".epp", ".erb", ".rb"}

// AddManifests adds the keys that the manifests, templates and functions below dir look up, as Search does. A directory
// without such files is an error.
func (a *Lookups) AddManifests(dir string) error {
	found, err := a.Search(dir)
	if err == nil && !found {
		err = fmt.Errorf("%s: expected manifests, found no file with the extension %s", dir,
			strings.Join(manifestExtensions, ", "))
	}
	return err
}

// Search adds the keys that the manifests, templates and functions at or below path look up: class parameters, and
// every quoted string, because it may be passed to lookup() in a variable. It reports whether it found such files.
func (a *Lookups) Search(path string) (found bool, err error) {
	info, err := a.Disk.Info(path)
	switch {
	case err != nil:
		return false, err
	case info == nil:
		return false, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case info.IsDir():
		return a.searchDir(path)
	}
	return a.searchFile(path)
}

func (a *Lookups) searchDir(dir string) (found bool, err error) {
	entries, err := a.Disk.List(dir)
	for i := 0; err == nil && i < len(entries); i++ {
		search := a.searchFile
		if entries[i].IsDir() {
			search = a.Search
		}
		var any bool
		any, err = search(filepath.Join(dir, entries[i].Name()))
		found = found || any
	}
	return found, err
}

func (a *Lookups) searchFile(path string) (found bool, err error) {
	if !slices.Contains(manifestExtensions, filepath.Ext(path)) {
		return false, nil
	}
	text, err := a.Disk.ReadFile(path)
	if err != nil {
		return false, err
	}
	a.addTexts(string(text))
	if filepath.Ext(path) == ".pp" {
		a.addParameters(string(text))
	}
	return true, nil
}

var (
	quotedText   = pattern.Lazy(`'([^'\n]+)'|"([^"\n]+)"`)
	lookupCall   = pattern.Lazy(`\b(?:lookup|hiera(?:_array|_hash|_include)?)\b`)
	interpolated = pattern.Lazy(`[$#]\{[^}]*\}|\$(?:::)?\w+(?:::\w+)*`)
	keyLike      = pattern.Lazy(`^(?:::)?[\w][\w:.-]*$`)
)

// addTexts adds the quoted strings in text that may be keys. It does not parse the rest of the text.
func (a *Lookups) addTexts(text string) {
	for line := range strings.Lines(text) {
		for _, m := range quotedText().FindAllStringSubmatch(line, -1) {
			switch {
			case keyLike().MatchString(m[1] + m[2]):
				a.add(m[1] + m[2])
			case lookupCall().MatchString(line):
				a.addPattern(m[2])
			}
		}
	}
}

// addPattern adds the keys that a string with interpolations may produce. It ignores a string without constant parts,
// because its pattern would match all keys.
func (a *Lookups) addPattern(text string) {
	parts := interpolated().Split(text, -1)
	if strings.Trim(strings.Join(parts, ""), ":_.-") == "" || a.patterns[text] != nil {
		return
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	if a.patterns == nil {
		a.patterns = map[string]*regexp.Regexp{}
	}
	a.patterns[text] = regexp.MustCompile("^" + strings.TrimPrefix(strings.Join(parts, ".*"), "::") + "$")
}

// classHead matches the beginning of a class with parameters.
var classHead = pattern.Lazy(`(?m)^[ \t]*class[ \t\n]+((?:::)?[a-z]\w*(?:::\w+)*)(?:\s|#.*\n)*\(`)

// addParameters adds the keys of class parameters in a manifest, which Puppet looks up automatically.
func (a *Lookups) addParameters(text string) {
	for _, m := range classHead().FindAllStringSubmatchIndex(text, -1) {
		for _, name := range parameterNames(text[m[1]:]) {
			a.add(text[m[2]:m[3]] + "::" + name)
		}
	}
}

// token matches a token in a list of parameters: a comment, a string, a regular expression, a name, or one character.
var token = pattern.Lazy(`#[^\n]*|(?s:/\*.*?\*/)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` +
	`[\[,]\s*/(?:[^/\\\n]|\\.)+/|\$\w+|(?s:.)`)

// parameterNames returns the names in a parameter list, up to its closing bracket. Types contain no variables, so the
// first variable of each parameter is its name.
func parameterNames(text string) []string {
	var out []string
	depth, named := 0, false
	for len(text) > 0 {
		t := token().FindString(text)
		text = text[len(t):]
		switch t[0] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return out
			}
		case ',':
			named = named && depth > 0
		case '$':
			if depth == 0 && !named {
				out, named = append(out, t[1:]), true
			}
		}
	}
	return out
}

// checkUnused reports keys that are never looked up.
func (l *linter) checkUnused(content *snapshot.Content) {
	if l.opts.Lookups == nil || !l.wants("unused_key") {
		return
	}
	lookupsOfSite := LookupsOf(content)
	type unused struct {
		at     diag.Pos
		places map[diag.Pos]bool // distinct, because a Hiera 5 file is bound once per level whose path matches it
	}
	found := map[string]*unused{}
	lookedUp := map[string]bool{}
	for b := range l.bindings {
		isLookedUp, known := lookedUp[b.key]
		if !known {
			isLookedUp = l.opts.Lookups.Includes(b.key) || lookupsOfSite.Includes(b.key)
			lookedUp[b.key] = isLookedUp
		}
		if isLookedUp {
			continue
		}
		u := found[b.key]
		if u == nil {
			u = &unused{at: b.at, places: map[diag.Pos]bool{}}
			found[b.key] = u
		}
		if u.places[b.at] = true; b.at.Compare(u.at) < 0 {
			u.at = b.at
		}
	}
	unbound := l.unbound()
	for _, key := range slices.Sorted(maps.Keys(found)) {
		u := found[key]
		message := "'" + key + "' is never looked up"
		if len(u.places) > 1 {
			message += "; it is bound in " + strconv.Itoa(len(u.places)) + " places"
		}
		l.add(diag.Diagnostic{Pos: u.at, Code: "unused_key", Message: message, Fix: l.diags.Correct(key, unbound)})
	}
}

// unbound returns the keys that are looked up but not bound, sorted. It omits keys without ::, because many quoted
// strings without :: are not keys.
func (l *linter) unbound() []string {
	bound := map[string]bool{}
	for b := range l.bindings {
		bound[b.key] = true
	}
	var out []string
	for key := range l.opts.Lookups.keys {
		if strings.Contains(key, "::") && !bound[key] {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// LookupsOf returns the keys that the values of a site look up.
func LookupsOf(content *snapshot.Content) *Lookups {
	a := &Lookups{}
	for _, v := range content.Values {
		if !v.Computed {
			continue
		}
		r, err := recipe.Decode(v.Bytes)
		if err != nil {
			continue // the recipe is sealed
		}
		a.addRecipe(r)
	}
	return a
}

func (a *Lookups) addRecipe(r *recipe.Recipe) {
	for _, t := range r.Targets {
		a.add(t.Key)
	}
	if r.Expr != nil {
		expr.HieraKeys(r.Expr, a.add)
	}
	for _, n := range r.Expressions() {
		for key, written := range syntax.Lookups(n) {
			if written {
				a.add(key)
			}
		}
	}
	for _, p := range r.Parts {
		a.addRecipe(p.Recipe)
	}
}
