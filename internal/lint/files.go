package lint

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader"
)

// file is a file of the site with the lints and other results of reading it. The results can be
// reused while the content is the same.
type file struct {
	path string
	kind fileKind
	hash uint64 // hash of the content

	ignored  []commentedLine
	advice   []diag.Diagnostic
	bare     []variable // variables written without braces, as in $name
	braced   []string   // names of variables written with braces, as in ${name}
	termUses []termUse
}

type fileKind uint8

const (
	ofData     fileKind = iota // a Hiera 2 data file
	ofHiera5                   // a Hiera 5 data file
	ofConfig                   // a version 5 hiera.yaml
	ofBindings                 // a bindings file
)

func (f *file) interpolates() bool { return f.kind == ofHiera5 || f.kind == ofConfig }

type variable struct {
	name string
	at   diag.Pos
}

type termUse struct {
	dimensionValue
	at diag.Pos
}

// readFiles reads files again, concurrently, for checks of the source text. The loaded site has no
// comments and no formatting.
func (l *linter) readFiles(files []*file) {
	next := make(chan *file)
	jobs := l.opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var workers sync.WaitGroup
	for range min(jobs, len(files)) {
		workers.Go(func() {
			for f := range next {
				l.readFile(f)
			}
		})
	}
	for i, f := range files {
		if known := l.opts.Files.find(f, l.hash(f.path)); known != nil {
			files[i] = known
			continue
		}
		next <- f
	}
	close(next)
	workers.Wait()
	l.opts.Files.keep(files)
	l.firstUse = map[dimensionValue]diag.Pos{}
	for _, f := range files {
		for _, p := range f.ignored {
			l.ignored[p] = true
		}
		for _, a := range f.termUses {
			if _, ok := l.firstUse[a.dimensionValue]; !ok {
				l.firstUse[a.dimensionValue] = a.at
			}
		}
	}
	for _, f := range files {
		for _, d := range f.advice {
			if l.wants(d.Code) {
				l.add(d)
			}
		}
	}
	l.checkBareVariables(files)
}

// files returns the files to read, sorted by path: data files, bindings files that bind something,
// and hiera.yaml files. It leaves out generated files.
func (l *linter) files() []*file {
	kinds := map[string]fileKind{}
	for _, layer := range l.site.Layers {
		for _, c := range layer.Contributions {
			kind := ofData
			if layer.Hiera != loader.NoHiera {
				kind = ofHiera5
			}
			if _, read := l.site.InputOf[c.Config]; read {
				kinds[c.Config] = ofConfig
			}
			for i := range c.Files {
				kinds[c.Files[i].Path] = kind
			}
			for i := range c.Bindings {
				kinds[c.Bindings[i].Pos.File] = ofBindings
			}
		}
	}
	var out []*file
	for path, kind := range kinds {
		if !l.site.Inputs[l.site.InputOf[path]].Made {
			out = append(out, &file{path: path, kind: kind})
		}
	}
	slices.SortFunc(out, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return out
}

func (l *linter) readFile(f *file) {
	src, err := l.opts.Disk.ReadFile(f.path)
	if err != nil {
		l.diags.Errorf(diag.Pos{File: f.path}, "read", "cannot be read: %v", err)
		return
	}
	f.hash = xxhash.Sum64(src)
	f.findIgnored(src)
	if strings.HasSuffix(f.path, ".pp") {
		f.readPuppet(src, l.wants("bare_variable"))
		return
	}
	parse := yaml.Parse
	if strings.HasSuffix(f.path, ".json") {
		parse = yaml.ParseJSON
	}
	var reported diag.List // the loader has reported these errors
	doc, ok := parse(f.path, src, yaml.Options{LastKeyWins: true}, &reported)
	if !ok || doc.Root == nil {
		return
	}
	data := f.kind != ofConfig
	r := reader{file: f, doc: doc, core: data && l.wants("yaml_core") && !strings.HasSuffix(f.path, ".json"),
		bare:   data && l.wants("bare_variable") && doc.Mentions("$"),
		legacy: f.interpolates() && l.wants("legacy_fact") && doc.Mentions("%{")}
	r.node(doc.Root)
}

// comment matches a comment for bindc. '# bindc: ignore CODE' silences lints about the next line
// and about the whole file.
var comment = pattern.Lazy(`^[ \t]*#[ \t]*bindc:[ \t]*(.*?)[ \t\r]*$`)

// findIgnored collects the comments for bindc in a file. It reports those without effect.
func (f *file) findIgnored(src []byte) {
	if !bytes.Contains(src, []byte("bindc:")) {
		return
	}
	for i, line := range bytes.Split(src, []byte("\n")) {
		m := comment().FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		at := diag.Pos{File: f.path, Line: i + 1, Col: m[2] + 1}
		words := strings.Fields(strings.ReplaceAll(string(line[m[2]:m[3]]), ",", " "))
		if len(words) < 2 || words[0] != "ignore" {
			f.advise(at, "this comment has no effect: expected '# bindc: ignore CODE'", diag.Fix{})
			continue
		}
		for _, code := range words[1:] {
			f.ignored = append(f.ignored, commentedLine{f.path, 0, diag.Code(code)},
				commentedLine{f.path, i + 2, diag.Code(code)})
			if !slices.Contains(ignorable, code) {
				f.advise(at, "this comment has no effect: unknown lint code '"+code+"'",
					diag.Correct(code, ignorable))
			}
		}
	}
}

var ignorable = func() []string {
	out := []string{"no_node"}
	for _, code := range checks {
		out = append(out, string(code))
	}
	return out
}()

// advise adds a lint about a comment for bindc.
func (f *file) advise(at diag.Pos, message string, fix diag.Fix) {
	f.advice = append(f.advice, diag.Diagnostic{Pos: at, Code: "ignored_code", Message: message, Fix: fix})
}

// reader visits the nodes of a YAML or JSON file. The flags select the checks to make.
type reader struct {
	*file
	doc                *yaml.Document
	core, bare, legacy bool
}

var expressionAttributes = []string{"to_expression", "transformer", "combinator"}

func (r *reader) node(n *yaml.Node) {
	if n.Kind == yaml.Scalar {
		r.scalar(n)
		return
	}
	for i := range n.Kids {
		if n.Kind == yaml.Mapping && r.kind == ofBindings && i%2 == 1 {
			switch name, _ := n.Kids[i-1].Text(); {
			case name == "when":
				r.when(&n.Kids[i])
			case slices.Contains(expressionAttributes, name):
				continue
			}
		}
		r.node(&n.Kids[i])
	}
}

func (r *reader) scalar(n *yaml.Node) {
	if r.core {
		if written, other, differs := r.doc.InCore(n); differs {
			hint := unambiguous(n.Value)
			fix := diag.Fix{}
			if n.Value.Kind() == value.String {
				fix = diag.Fix{Old: written, New: hint, Syntax: true}
			}
			r.advice = append(r.advice, diag.Diagnostic{Pos: r.doc.Pos(n), Code: "yaml_core", Fix: fix,
				Message: written + " is " + value.Describe(n.Value) + " in Puppet and here, but " +
					value.Describe(other) + " in YAML 1.2",
				Hint: "write " + hint})
		}
	}
	if text, _ := n.Text(); r.legacy && strings.Contains(text, "%{") {
		r.legacyFacts(n, text)
	}
	if text, _ := n.Text(); r.bare && strings.IndexByte(text, '$') >= 0 {
		bare, braced := syntax.Variables(text)
		for _, v := range bare {
			r.file.bare = append(r.file.bare, variable{strings.TrimPrefix(v.Name, "::"), r.doc.PosIn(n, v.Off)})
		}
		r.braced = append(r.braced, braced...)
	}
}

// unambiguous returns v in a form that has the same meaning in all versions of YAML.
func unambiguous(v value.Value) string {
	if v.Kind() == value.String {
		return "'" + v.Text() + "'"
	}
	return string(value.AppendText(nil, v)) + ", or quote it if you mean the text"
}

func (r *reader) when(n *yaml.Node) {
	if n.Kind == yaml.Sequence {
		for i := range n.Kids {
			r.when(&n.Kids[i])
		}
		return
	}
	for key, val := range n.Pairs() {
		name, _ := key.Text()
		values := []yaml.Node{*val}
		if val.Kind == yaml.Sequence {
			values = val.Kids
		}
		for i := range values {
			if text, ok := values[i].Text(); ok {
				r.termUses = append(r.termUses, termUse{dimensionValue{name, loader.Fold(text)}, r.doc.Pos(&values[i])})
			}
		}
	}
}

// checkBareVariables reports variables without braces, such as $name, which are often meant as
// text. It leaves out well-known facts, and variables that the site also uses in braces, in
// categories or in paths.
func (l *linter) checkBareVariables(files []*file) {
	known := map[string]bool{}
	for _, f := range files {
		for _, name := range f.braced {
			known[name] = true
		}
	}
	for _, d := range l.site.Dimensions {
		if d.Value != nil {
			for name := range syntax.VariablesIn(d.Value) {
				known[name] = true
			}
		}
	}
	for _, f := range files {
		for _, v := range f.bare {
			if !known[v.name] && !syntax.WellKnown(v.name) {
				l.add(diag.Diagnostic{Pos: v.at, Code: "bare_variable",
					Message: "$" + v.name + " is a variable here, but no well-known fact has this name; " +
						"it is empty on nodes without the variable",
					Hint: `write \$` + v.name + " if you mean the text, or ${" + v.name + "} for the variable"})
			}
		}
	}
}
