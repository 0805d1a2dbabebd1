// Package lint gives advice about a valid site: bindings without effect, and bindings that mean something else than it
// seems. Each kind of advice has a code, and misses cases rather than being wrong; docs/lint.md, "Codes", lists what
// each does not find.
package lint

import (
	"slices"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/fsx"
	"bindc/internal/recipe"
	"bindc/loader"
	"bindc/snapshot"
)

// checks are the kinds of advice, by code.
var checks = [...]diag.Code{"attributes_as_value", "bare_variable", "ignored_code", "legacy_fact", "module_key", "near_key", "near_value", "never_wins", "same_value",
	"untyped", "unused_key", "yaml_core"}

// Codes are those of all advice there is.
func Codes() []diag.Code { return slices.Clone(checks[:]) }

// Options say what to look for.
type Options struct {
	Codes []diag.Code // those that are wanted
	Asked *Asked      // the keys that somebody asks for; nil: they are not known, and unused_key is not looked for
	Jobs  int         // files read at a time; default: one per processor

	disk fsx.Disk // what is read from; tests make it fail
}

// Check adds advice on site to diags. content is what it compiles to, nil if it does not: then what takes the whole
// site to see is not looked for.
func Check(site *loader.Site, content *snapshot.Content, opts Options, diags *diag.List) {
	l := &linter{site: site, opts: opts, diags: diags, ignored: map[commentedLine]bool{}, paths: pathsOf(site)}
	l.readFiles(l.files())
	l.checkModuleKeys()
	l.checkNearKeys()
	l.checkTypes()
	l.checkAttributesAsValues()
	l.checkCategoryValues()
	if content != nil {
		l.checkComposed(content)
		l.checkUnused(content)
	}
}

// linter is one run of Check.
type linter struct {
	site  *loader.Site
	opts  Options
	diags *diag.List
	paths []string // of the inputs, by number, as positions name them

	ignored map[commentedLine]bool // by comments
	asked   map[term]diag.Pos      // where structured bindings ask a category for a value, first
}

// commentedLine is a line that a comment is about; the line 0 is the whole file.
type commentedLine struct {
	file string
	line int
	code diag.Code
}

func pathsOf(site *loader.Site) []string {
	paths := make([]string, len(site.Inputs))
	for path, i := range site.InputOf {
		if paths[i] == "" || path < paths[i] {
			paths[i] = path
		}
	}
	return paths
}

func (l *linter) wants(code diag.Code) bool { return slices.Contains(l.opts.Codes, code) }

// add adds advice, unless a comment says that it is known.
func (l *linter) add(d diag.Diagnostic) {
	if !l.ignored[commentedLine{d.Pos.File, d.Pos.Line, d.Code}] {
		d.Severity = diag.Lint
		l.diags.Add(d)
	}
}

// pos is the place of an origin in a content.
func (l *linter) pos(o snapshot.Origin) diag.Pos {
	return diag.Pos{File: l.paths[o.Input], Line: int(o.Line), Col: int(o.Col)}
}

// written is a key that is bound somewhere, and as what.
type written struct {
	key   string
	at    diag.Pos
	value uint32                 // in the values of the site
	more  *bindingsfile.Compiled // of a structured binding in the long form
	data  bool                   // it stands in a data file
}

// contributions ranges over the structured bindings that contribute to multibindings.
func (l *linter) contributions(yield func(loader.Binding) bool) {
	for _, layer := range l.site.Layers {
		for _, c := range layer.Contributions {
			for _, b := range c.Bindings {
				if b.More != nil && b.More.In != nil && !yield(b) {
					return
				}
			}
		}
	}
}

// bindings ranges over what is bound in the site: not over contributions, and not over lookup_options of Hiera 5.
func (l *linter) bindings(yield func(written) bool) {
	for _, layer := range l.site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				for j, e := range c.Files[i].Entries {
					key := l.site.Keys[e.Key]
					if !recipe.IsInternal(key) && !yield(written{key, c.Files[i].Pos(j), e.Value, nil, true}) {
						return
					}
				}
			}
			for _, b := range c.Bindings {
				contributes := b.More != nil && b.More.In != nil
				if !contributes && !yield(written{b.Key, b.Pos, b.Value, b.More, false}) {
					return
				}
			}
		}
	}
}
