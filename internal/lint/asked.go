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
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/snapshot"
)

// Asked is the keys that somebody looks up. The zero value is none.
type Asked struct {
	keys     map[string]bool
	patterns map[string]*regexp.Regexp // of keys that are put together, by their texts
	disk     fsx.Disk
}

func (a *Asked) add(key string) {
	if a.keys == nil {
		a.keys = map[string]bool{}
	}
	key = strings.TrimPrefix(key, "::")
	a.keys[key] = true
	for i := range key {
		if key[i] == '.' { // what is behind a dot leads into the value
			a.keys[key[:i]] = true
		}
	}
}

// has tells whether somebody looks a key up.
func (a *Asked) has(key string) bool {
	if a.keys[key] || key == "lookup_options" || strings.HasPrefix(key, "/") { // what a catalog is made of
		return true
	}
	for _, p := range a.patterns {
		if p.MatchString(key) {
			return true
		}
	}
	return false
}

// AddKeys adds the keys of a file: one a line, as bindq keys prints them. Lines that begin with # are comments. A file
// without keys is an error, as all data of the site would be called unused.
func (a *Asked) AddKeys(path string) error {
	text, err := a.disk.ReadFile(path)
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
		return fmt.Errorf("%s: expected the keys that are looked up, one a line; found none", path)
	}
	return nil
}

// manifests are the extensions of files from which Puppet looks keys up.
var manifests = []string{".pp", ".epp", ".erb", ".rb"}

// AddManifests adds the keys that the manifests, templates and functions below dir ask for: the parameters of classes,
// and every text in quotes, as a key may come to lookup() by way of a variable. A directory without any is an error.
func (a *Asked) AddManifests(dir string) error {
	if _, err := a.disk.List(dir); err != nil {
		return err
	}
	found := false
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains(manifests, filepath.Ext(path)) {
			return err
		}
		text, err := a.disk.ReadFile(path)
		if err != nil {
			return err
		}
		found = true
		a.addTexts(string(text))
		if filepath.Ext(path) == ".pp" {
			a.addParameters(string(text))
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: expected manifests, found no file with the extension %s", dir, strings.Join(manifests, ", "))
	}
	return err
}

var (
	inQuotes     = regexp.MustCompile(`'([^'\n]+)'|"([^"\n]+)"`)
	looksUp      = regexp.MustCompile(`\b(?:lookup|hiera(?:_array|_hash|_include)?)\b`)
	interpolated = regexp.MustCompile(`[$#]\{[^}]*\}|\$(?:::)?\w+(?:::\w+)*`)
	keyLike      = regexp.MustCompile(`^(?:::)?[\w][\w:.-]*$`)
)

// addTexts adds what stands in quotes. What stands in front of them on the line is no matter: that of a manifest need
// not be understood for it.
func (a *Asked) addTexts(text string) {
	for line := range strings.Lines(text) {
		for _, m := range inQuotes.FindAllStringSubmatch(line, -1) {
			switch {
			case keyLike.MatchString(m[1] + m[2]):
				a.add(m[1] + m[2])
			case looksUp.MatchString(line):
				a.addPattern(m[2])
			}
		}
	}
}

// addPattern adds the keys that a text with interpolations can be. One that says nothing of its own would be all.
func (a *Asked) addPattern(text string) {
	parts := interpolated.Split(text, -1)
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

// class is the head of a class.
var class = regexp.MustCompile(`(?m)^[ \t]*class[ \t\n]+((?:::)?[a-z]\w*(?:::\w+)*)(?:\s|#.*\n)*\(`)

// addParameters adds the parameters of the classes of a manifest, which Puppet looks up by itself.
func (a *Asked) addParameters(text string) {
	for _, m := range class.FindAllStringSubmatchIndex(text, -1) {
		for _, name := range parameters(text[m[1]:]) {
			a.add(text[m[2]:m[3]] + "::" + name)
		}
	}
}

// token is what there is in a list of parameters: a comment, a text, a regular expression, a name, or one character.
var token = regexp.MustCompile(`#[^\n]*|(?s:/\*.*?\*/)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|` +
	`[\[,]\s*/(?:[^/\\\n]|\\.)+/|\$\w+|(?s:.)`)

// parameters are the names in a list of parameters, up to the bracket that closes it: of each the first variable there
// is, as types have none.
func parameters(text string) []string {
	var out []string
	depth, named := 0, false
	for len(text) > 0 {
		t := token.FindString(text)
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

// checkUnused advises on keys that nobody looks up.
func (l *linter) checkUnused(content *snapshot.Content) {
	if l.opts.Asked == nil || !l.wants("unused_key") {
		return
	}
	inSite := askedBy(content)
	type unused struct {
		at     diag.Pos
		places map[diag.Pos]bool // a file of Hiera 5 is bound in as many levels as have its path
	}
	found := map[string]*unused{}
	judged := map[string]bool{}
	for b := range l.bindings {
		asked, known := judged[b.key]
		if !known {
			asked = l.opts.Asked.has(b.key) || inSite.has(b.key)
			judged[b.key] = asked
		}
		if asked {
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
		message := "nobody looks '" + key + "' up"
		if len(u.places) > 1 {
			message += ", which is bound in " + strconv.Itoa(len(u.places)) + " places"
		}
		l.add(diag.Diagnostic{Pos: u.at, Code: "unused_key", Message: message, Hint: l.diags.DidYouMean(key, unbound)})
	}
}

// unbound are the keys that somebody looks up and nothing binds, in order: with their module's name in front, as few
// texts in quotes have one that are no keys.
func (l *linter) unbound() []string {
	bound := map[string]bool{}
	for b := range l.bindings {
		bound[b.key] = true
	}
	var out []string
	for key := range l.opts.Asked.keys {
		if strings.Contains(key, "::") && !bound[key] {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// askedBy is the keys that the values of a site look up.
func askedBy(content *snapshot.Content) *Asked {
	a := &Asked{}
	for _, v := range content.Values {
		if !v.Computed {
			continue
		}
		r, err := recipe.Decode(v.Bytes)
		if err != nil {
			continue // sealed, and then nothing is known of it
		}
		a.addRecipe(r)
	}
	return a
}

func (a *Asked) addRecipe(r *recipe.Recipe) {
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
