package loader

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/envfile"
	"bindc/internal/expr"
	"bindc/internal/fsx"
	"bindc/internal/pattern"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/loader/internal/site"
)

// Environment is one site in a directory of environments.
type Environment struct {
	Name       string
	Dir        string
	ModulePath []string // value for Options.ModulePath
	Bindings   string   // value for Options.Bindings; empty for the default
	Declared   bool     // named in environments.pp, so Dir is a site even if it is empty
	Implied    bool     // not declared anywhere, so Dir may have no bindings
}

// Environments holds the environments below a root directory, and the program that selects one of them for a request.
type Environments struct {
	All     []Environment
	Program *expr.Node
	File    string // the file that declares them, or ""
}

// EnvironmentsFile declares the environments. Without this file, each directory in environmentsDir is an environment.
const (
	EnvironmentsFile = "environments.pp"
	environmentsDir  = "environments"
)

// ReadEnvironments finds the environments below root. It adds errors to diags; after an error, the result must not be
// used.
func ReadEnvironments(d fsx.Disk, root string, diags *diag.List) *Environments {
	r := environmentsReader{Files: site.Files{Disk: d, Diags: diags}, root: root, named: map[string]diag.Pos{},
		out: &Environments{Program: envfile.AgentProgram()}}
	r.path = filepath.Join(root, EnvironmentsFile)
	there, ok := r.IsFile(r.path)
	switch {
	case there: // if path is a directory or device, reading it reports the error
		r.read()
	case ok:
		r.directories(filepath.Join(root, environmentsDir), puppetsName(), nil)
	}
	slices.SortFunc(r.out.All, func(a, b Environment) int { return strings.Compare(a.Name, b.Name) })
	if len(r.out.All) == 0 && !diags.Failed() {
		diags.Errorf(diag.Pos{File: root}, "environments",
			"there are no environments: expected directories in %s, or the file %s",
			filepath.Join(root, environmentsDir), EnvironmentsFile)
	}
	return r.out
}

// Patterns for the names of environment directories. Puppet's rule applies to environmentsDir; in a declared
// directory, any name is valid.
var (
	puppetsName = pattern.Lazy(`^\w+$`)
	anyName     = pattern.Lazy(``)
)

type environmentsReader struct {
	site.Files
	root string
	path string // path of environments.pp
	src  string // text of environments.pp
	file *syntax.Environments

	named map[string]diag.Pos // position of the declaration of each environment found so far
	out   *Environments
}

// directories adds an environment for each directory in dir, unless its name is already declared.
func (r *environmentsReader) directories(dir string, names *regexp.Regexp, given attributes) {
	for _, e := range r.List(dir) {
		at := filepath.Join(dir, e.Name())
		there, err := r.Disk.IsDir(at)
		if errors.Is(err, fsx.ErrDangling) { // as in Puppet, a dangling link is not an environment
			continue
		}
		if err != nil {
			r.Failed(at, err) // if this were ignored, the snapshot of the environment would be removed
			continue
		}
		if !there || e.Name()[0] == '.' {
			continue
		}
		if !envfile.IsName(e.Name()) || !names.MatchString(e.Name()) {
			r.Diags.Warnf(diag.Pos{File: at}, "environments",
				"this directory is ignored: an environment name has only letters, digits and _")
		} else if _, declared := r.named[e.Name()]; !declared {
			r.add(e.Name(), at, diag.Pos{File: at}, given)
		}
	}
}

func (r *environmentsReader) add(name, dir string, at diag.Pos, given attributes) {
	e := Environment{Name: name, Dir: dir}
	if path, ok := given["modulepath"]; ok {
		e.ModulePath = []string{}
		for _, part := range strings.Split(path, ":") {
			part = r.within(dir, part)
			if there, _ := r.IsDir(part); there { // directories in a module path need not exist
				e.ModulePath = append(e.ModulePath, part)
			}
		}
	}
	if sets, ok := given["bindingsdir"]; ok {
		e.Bindings = r.within(dir, sets)
	}
	r.named[name] = at
	r.out.All = append(r.out.All, e)
}

// confdir names the variable whose value is the root directory. As in Puppet's settings, it is also replaced inside
// single quotes.
const confdir = "confdir"

// within replaces a leading $confdir in path by the root directory. If the result is not absolute, it joins dir and
// path.
func (r *environmentsReader) within(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "$"+confdir); ok {
		path = r.root + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

func (r *environmentsReader) read() {
	src, err := r.Disk.ReadFile(r.path)
	if err != nil {
		r.Failed(r.path, err)
		return
	}
	r.src, r.out.File = string(src), r.path
	says, errs := syntax.ParseEnvironments(r.src)
	r.file = says
	if r.report(errs...) {
		r.checkReadable()
		return
	}
	defaults := r.attributes(says.Defaults, attributes{}, "envdir")
	for _, d := range says.Static {
		given := r.attributes(d.Attributes, defaults, "envdir")
		dir := r.within(r.root, cmp.Or(given["envdir"], r.root))
		for _, name := range r.titles(d.Title) {
			r.static(name, dir, d.Title, given)
		}
		if given["bindingsdir"] != defaults["bindingsdir"] {
			r.checkBindings(r.within(dir, given["bindingsdir"]), d.Title)
		}
	}
	for i, d := range says.Dynamic {
		r.dynamic(d, i > 0, r.attributes(d.Attributes, defaults))
	}
	if _, ok := r.named[envfile.Production]; !ok {
		dir := r.within(r.root, cmp.Or(defaults["envdir"], r.root))
		r.add(envfile.Production, dir, diag.Pos{File: r.path}, defaults)
		r.out.All[len(r.out.All)-1].Implied = true
	}
	if len(says.Static)+len(says.Dynamic) == 0 {
		r.warnOfUndeclared()
	}
	r.program()
}

// warnOfUndeclared warns if environments.pp declares no environments although environmentsDir exists.
func (r *environmentsReader) warnOfUndeclared() {
	dir := filepath.Join(r.root, environmentsDir)
	if there, _ := r.IsDir(dir); !there {
		return
	}
	r.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: r.path}, Severity: diag.Warning, Code: "environments",
		Message: "the directories in '" + environmentsDir + "' are not environments: this file declares only production, in " +
			"the root",
		Hint: "write site { dynamic_environments { \"$confdir/" + environmentsDir + "\": } }"})
}

// checkReadable checks the statements that could be parsed, in a file with syntax errors elsewhere.
func (r *environmentsReader) checkReadable() {
	attributes := func(list []syntax.Attribute, more ...string) {
		names := append(more, settings...)
		for _, a := range list {
			if !slices.Contains(names, a.Name) {
				r.unknown(a, names)
			}
			r.checkNames(a.Value)
		}
	}
	attributes(r.file.Defaults, "envdir")
	for _, d := range r.file.Static {
		attributes(d.Attributes, "envdir")
	}
	for _, d := range r.file.Dynamic {
		attributes(d.Attributes)
	}
	for _, n := range r.file.Statements {
		r.checkNames(n)
	}
}

// checkBindings warns if dir, the bindingsdir that a declaration sets, does not exist. A default bindingsdir is not
// checked, because some environments may not have it.
func (r *environmentsReader) checkBindings(dir string, title *expr.Node) {
	if there, _ := r.IsDir(dir); !there {
		r.Diags.Add(diag.Diagnostic{Pos: r.pos(title.Off), Code: "missing", Severity: diag.Warning,
			Message: "the bindingsdir of this environment does not exist: " + dir})
	}
}

// static adds an environment that is declared by its name and directory.
func (r *environmentsReader) static(name, dir string, title *expr.Node, given attributes) {
	first, twice := r.named[name]
	switch {
	case !envfile.IsName(name):
		r.errorf(title.Off, "expected an environment name of letters, digits, _, . and -, found '%s'", name)
	case twice:
		r.Diags.Add(diag.Diagnostic{Pos: r.pos(title.Off), Code: "environments",
			Message: "the environment '" + name + "' is declared twice",
			Notes:   []diag.Note{{Pos: first, Message: "the first"}}})
	default:
		r.add(name, dir, r.pos(title.Off), given)
		r.out.All[len(r.out.All)-1].Declared = true
	}
}

// dynamic adds an environment for each directory below the directory that d declares. second means that an earlier
// declaration has declared one.
func (r *environmentsReader) dynamic(d syntax.Declared, second bool, given attributes) {
	titles := r.titles(d.Title)
	if len(titles) == 0 {
		return
	}
	dir := titles[0]
	if rest, ok := strings.CutPrefix(dir, "$"+confdir); ok {
		dir = r.root + rest
	}
	there, ok := r.IsDir(dir)
	switch {
	case !ok:
	case second || len(titles) > 1:
		r.errorf(d.Title.Off, "expected only one directory as dynamic_environments, found a second one")
	case !filepath.IsAbs(dir):
		r.errorf(d.Title.Off, "expected an absolute path as dynamic_environments, found '%s'; write \"$confdir/%s\"", dir,
			dir)
	case !there:
		r.errorf(d.Title.Off, "there is no directory %s: expected a directory with environments", dir)
	default:
		r.directories(filepath.Clean(dir), anyName(), given)
	}
}

// titles evaluates the title of a declaration, which is a string or an array of strings.
func (r *environmentsReader) titles(n *expr.Node) []string {
	v, ok := r.evaluate(n)
	if !ok {
		return nil
	}
	all := []value.Value{v}
	if v.Kind() == value.Array {
		all = v.Slice()
	}
	var out []string
	for _, v := range all {
		if v.Kind() != value.String {
			r.errorf(n.Off, "expected a string as title, found %s", value.Describe(v))
			continue
		}
		out = append(out, v.Text())
	}
	return out
}

// attributes maps the attribute names of a declaration to their values.
type attributes map[string]string

// settings lists the attributes whose values are paths relative to an environment. bindc only checks manifestdir,
// manifest and templatedir, because they are for Puppet.
var settings = []string{"modulepath", "manifestdir", "manifest", "templatedir", "bindingsdir"}

// attributes evaluates the attributes of a declaration, and adds the defaults. more lists other valid attributes.
func (r *environmentsReader) attributes(list []syntax.Attribute, defaults attributes, more ...string) attributes {
	out := maps.Clone(defaults)
	names := append(more, settings...)
	seen := map[string]bool{}
	for _, a := range list {
		if !slices.Contains(names, a.Name) {
			r.unknown(a, names)
			continue
		}
		if seen[a.Name] {
			r.errorf(a.Off, "the attribute '%s' is given twice", a.Name)
		}
		seen[a.Name] = true
		v, ok := r.evaluate(a.Value)
		switch {
		case !ok:
		case v.Kind() != value.String || v.Text() == "":
			r.errorf(a.Value.Off, "expected a path for '%s', found %s", a.Name, value.Describe(v))
		case a.Name == "envdir" && !filepath.IsAbs(v.Text()) && !strings.HasPrefix(v.Text(), "$"+confdir):
			r.errorf(a.Value.Off, "expected an absolute path for 'envdir', found '%s'; write \"$confdir/%s\"", v.Text(),
				v.Text())
		default:
			out[a.Name] = v.Text()
		}
	}
	return out
}

func (r *environmentsReader) unknown(a syntax.Attribute, names []string) {
	d := diag.Diagnostic{Pos: r.pos(a.Off), Code: "environments", Fix: diag.Correct(a.Name, names),
		Message: "unknown attribute '" + a.Name + "'; expected " + diag.Quoted(names)}
	if a.Name == "envdir" {
		d.Message = "the 'envdir' of a dynamic environment is its directory, and cannot be set to another"
	}
	r.Diags.Add(d)
}

func (r *environmentsReader) report(errs ...syntax.SyntaxError) bool {
	for _, e := range errs {
		r.Diags.Add(diag.Diagnostic{Pos: r.pos(e.Off), Code: cmp.Or(e.Code, "environments"), Message: e.Message,
			Hint: e.Hint, Fix: e.Fix})
	}
	return len(errs) > 0
}

func (r *environmentsReader) errorf(off int, format string, args ...any) {
	r.Diags.Add(diag.Diagnostic{Pos: r.pos(off), Code: "environments", Message: fmt.Sprintf(format, args...)})
}

func (r *environmentsReader) pos(off int) diag.Pos {
	before := r.src[:min(off, len(r.src))]
	line := 1 + strings.Count(before, "\n")
	return diag.Pos{File: r.path, Line: line,
		Col: 1 + utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):])}
}
