// Package lint reports lints: valid but suspicious parts of a site, such as bindings without effect or with a
// surprising meaning. Each kind of lint has a code. A check may miss a case, but should never report a wrong one;
// docs/lint.md, "Codes", lists what each check misses.
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

// checks lists the codes of all lints. Package proof/params reports missing_parameter.
var checks = [...]diag.Code{"attributes_as_value", "bare_variable", "ignored_code", "legacy_fact",
	"missing_parameter", "module_key", "near_key", "near_value", "never_wins", "same_value", "untyped", "unused_key",
	"yaml_core"}

// Codes returns the codes of all lints.
func Codes() []diag.Code { return slices.Clone(checks[:]) }

// Options selects the checks.
type Options struct {
	Codes   []diag.Code // codes of the checks to run
	Lookups *Lookups    // keys that are looked up; if nil, Check skips unused_key
	Jobs    int         // number of files to read at a time; default: one per processor

	IsParameter func(key string) bool // reports whether a class has a parameter with this key; may be nil

	Disk  fsx.Disk // reads files
	Files *Files   // results of the last Check, so that unchanged files need not be read; may be nil
}

// Check adds the lints of site to diags. content is the compiled site. If content is nil, because the site has errors,
// Check skips the checks of the whole site.
func Check(site *loader.Site, content *snapshot.Content, opts Options, diags *diag.List) {
	l := &linter{site: site, opts: opts, diags: diags, ignored: map[commentedLine]bool{}, paths: pathsOf(site),
		isComposed: content != nil}
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

// linter holds the state of Check.
type linter struct {
	site  *loader.Site
	opts  Options
	diags *diag.List
	paths []string // by input number: the input's path in positions

	isComposed bool // the site has no errors, so its data is checked against the classes that receive it

	ignored  map[commentedLine]bool      // lines and files with a comment that silences lints
	firstUse map[dimensionValue]diag.Pos // first use of a term in a structured binding
}

// commentedLine is a line for which a comment silences a code. Line 0 means the whole file.
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

// add adds a lint, unless a comment silences it.
func (l *linter) add(d diag.Diagnostic) {
	if !l.ignored[commentedLine{d.Pos.File, d.Pos.Line, d.Code}] {
		d.Severity = diag.Lint
		l.diags.Add(d)
	}
}

// pos returns the position of an origin.
func (l *linter) pos(o snapshot.Origin) diag.Pos {
	return diag.Pos{File: l.paths[o.Input], Line: int(o.Line), Col: int(o.Col)}
}

// boundValue is a key with its value in one binding.
type boundValue struct {
	key   string
	id    uint32 // key number in the site
	at    diag.Pos
	value uint32                 // index in the values of the site
	more  *bindingsfile.Compiled // for a structured binding in the long form
	data  bool                   // the binding is in a data file
}

// contributions yields the structured bindings that contribute to multibindings.
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

// bindings yields the bindings of the site, without contributions and without Hiera 5 lookup_options.
func (l *linter) bindings(yield func(boundValue) bool) {
	for _, layer := range l.site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				for j, e := range c.Files[i].Entries {
					key := l.site.Keys[e.Key]
					b := boundValue{key, e.Key, c.Files[i].Pos(j), e.Value, nil, true}
					if !recipe.IsInternal(key) && !yield(b) {
						return
					}
				}
			}
			for _, b := range c.Bindings {
				contributes := b.More != nil && b.More.In != nil
				if !contributes && !yield(boundValue{b.Key, b.Number, b.Pos, b.Value, b.More, false}) {
					return
				}
			}
		}
	}
}
