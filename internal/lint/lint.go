// Package lint reports lints: parts of a site that are valid but suspicious, such as bindings
// without effect. Each kind of lint has a code. A check may miss cases, but should never report a
// false one. docs/lint.md lists what each check misses.
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

// checks lists the codes of all lints. All but missing_parameter are reported by this package.
var checks = [...]diag.Code{"attributes_as_value", "bare_variable", "ignored_code", "legacy_fact",
	"missing_parameter", "module_key", "near_key", "near_value", "never_wins", "same_value", "untyped", "unused_key",
	"yaml_core"}

func Codes() []diag.Code { return slices.Clone(checks[:]) }

// Options selects the checks and their inputs.
type Options struct {
	Codes   []diag.Code // codes of the checks to run
	Lookups *Lookups    // keys that are looked up; if nil, unused_key is not checked
	Jobs    int         // number of files to read concurrently; 0 means GOMAXPROCS

	IsParameter func(key string) bool // whether key belongs to a class parameter; may be nil

	Disk  fsx.Disk // used to read files
	Files *Files   // results of the last Check, which are reused for unchanged files; may be nil
}

// Check adds the lints of a site to diags. content is the compiled site. If the site has errors,
// content is nil, and Check skips the checks that need it.
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

// linter contains the state of Check.
type linter struct {
	site  *loader.Site
	opts  Options
	diags *diag.List
	paths []string // for each input, its path in positions

	isComposed bool // whether content is not nil; bindings of class parameters are then checked elsewhere

	ignored  map[commentedLine]bool      // silenced lints
	firstUse map[dimensionValue]diag.Pos // first use of each term in a structured binding
}

// commentedLine is a line for which a comment silences lints with a code. Line 0 stands for the
// whole file.
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

// add adds a lint unless a comment silences it.
func (l *linter) add(d diag.Diagnostic) {
	if !l.ignored[commentedLine{d.Pos.File, d.Pos.Line, d.Code}] {
		d.Severity = diag.Lint
		l.diags.Add(d)
	}
}

func (l *linter) pos(o snapshot.Origin) diag.Pos {
	return diag.Pos{File: l.paths[o.Input], Line: int(o.Line), Col: int(o.Col)}
}

type boundValue struct {
	key   string
	id    uint32 // index in the keys of the site
	at    diag.Pos
	value uint32                 // index in the values of the site
	more  *bindingsfile.Compiled // nil unless it is a structured binding in the long form
	data  bool                   // whether the binding is in a data file
}

// contributions is an iterator over the structured bindings that contribute to multibindings.
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

// bindings is an iterator over all bindings except contributions to multibindings and Hiera 5
// lookup_options.
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
