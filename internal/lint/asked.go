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
	Disk fsx.Disk // used to read the manifests

	keys     map[string]bool
	patterns map[string]*regexp.Regexp // patterns for keys with variables, by the text of the key
}

func (a *Lookups) add(key string) {
	if a.keys == nil {
		a.keys = map[string]bool{}
	}
	key = strings.TrimPrefix(key, "::")
	a.keys[key] = true
	for i := range key {
		if key[i] == '.' { // a dotted key looks up the key before each dot
			a.keys[key[:i]] = true
		}
	}
}

// Includes reports whether key is in the set, or is always used.
func (a *Lookups) Includes(key string) bool {
	if a.keys[key] || key == "lookup_options" || strings.HasPrefix(key, "/") { // '/' begins keys of the catalog
		return true
	}
	for _, p := range a.patterns {
		if p.MatchString(key) {
			return true
		}
	}
	return false
}

// AddKeys adds the keys in a file, one per line, as 'bindq keys' prints them. Lines that begin with
// # are comments. A file without keys is an error, because all data would then count as unused.
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

var manifestExtensions = []string{".pp", ".epp", ".erb", ".rb"}

// AddManifests is like Search, but returns an error if it finds no manifests in dir.
func (a *Lookups) AddManifests(dir string) error {
	found, err := a.Search(dir)
	if err == nil && !found {
		err = fmt.Errorf("%s: expected manifests, found no file with the extension %s", dir,
			strings.Join(manifestExtensions, ", "))
	}
	return err
}

// Search adds the keys that manifests, templates and functions in path look up. path may be a file
// or a directory. The keys are all class parameters, and all quoted strings that may be keys, since
// a variable may pass them to lookup(). Search reports whether it found such files.
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

// addTexts adds all quoted strings that may be keys.
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

// addPattern adds a pattern for a key with variables. It ignores a key that consists only of
// variables, because its pattern would match everything.
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

// classHead matches a class definition up to the bracket that opens its parameter list.
var classHead = pattern.Lazy(`(?m)^[ \t]*class[ \t\n]+((?:::)?[a-z]\w*(?:::\w+)*)(?:\s|#.*\n)*\(`)

// addParameters adds the keys of all class parameters in a manifest. Puppet looks them up
// automatically.
func (a *Lookups) addParameters(text string) {
	for _, m := range classHead().FindAllStringSubmatchIndex(text, -1) {
		for _, name := range parameterNames(text[m[1]:]) {
			a.add(text[m[2]:m[3]] + "::" + name)
		}
	}
}

// token matches a comment, a string, a regular expression, a variable, or any single character.
var token = pattern.Lazy(`#[^\n]*|(?s:/\*.*?\*/)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` +
	`[\[,]\s*/(?:[^/\\\n]|\\.)+/|\$\w+|(?s:.)`)

// parameterNames returns the names in a parameter list. text begins after the bracket that opens
// the list. Types contain no variables, so the first variable of a parameter is its name.
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

// checkUnused reports keys that nothing looks up.
func (l *linter) checkUnused(content *snapshot.Content) {
	if l.opts.Lookups == nil || !l.wants("unused_key") {
		return
	}
	lookupsOfSite := LookupsOf(content)
	type unused struct {
		at diag.Pos
		// Positions already counted. The same Hiera 5 file is bound once per level whose path
		// matches it.
		places map[diag.Pos]bool
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

// unbound returns, sorted, the keys that are looked up but not bound. It leaves out keys without
// '::', because many of them are only quoted strings.
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

// LookupsOf returns the keys that values in the compiled site look up.
func LookupsOf(content *snapshot.Content) *Lookups {
	a := &Lookups{}
	for _, v := range content.Values {
		if !v.Computed {
			continue
		}
		r, err := recipe.Decode(v.Bytes)
		if err != nil {
			continue // the recipe is encrypted
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
