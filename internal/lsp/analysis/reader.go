// Package analysis reads a site for an editor, including texts that are not saved, and answers questions about it.
package analysis

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/lint"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/outline"
	"bindc/internal/proof"
	"bindc/internal/proof/params"
	"bindc/internal/yaml"
	"bindc/loader"
	"bindc/snapshot"
)

// Options configures a Reader.
type Options struct {
	Loader loader.Options // Disk, Cache and Context are set by the Reader
	Strict bool           // report unknown variables as errors
	Effort int
	Lints  []diag.Code
	Fence  []string // the directories that may be read
}

// Reader reads a site again and again. It keeps parsed data files for the next time. It is not safe for concurrent use.
type Reader struct {
	opts  Options
	cache *datafile.Cache
	lints *lint.Files
	reads int

	late []diag.Diagnostic       // of the further checks of the last complete read
	then map[string]*buffer.Text // the texts of that read
}

// NewReader returns a Reader.
func NewReader(opts Options) *Reader { return &Reader{opts: opts, lints: &lint.Files{}} }

// freshAfter is the number of reads after which the cache is emptied, because it keeps the values of all earlier texts.
const freshAfter = 1000

// Read reads the site in dir, with texts in place of files. Each function in more makes a further check, lints and then
// proofs, and returns the same site with the added diagnostics. Call them in order; they take most of the time. All
// results are nil if ctx is done.
func (r *Reader) Read(ctx context.Context, dir string, open map[string]*buffer.Text) (s *Site, more []func() *Site) {
	if r.reads++; r.cache == nil || r.reads%freshAfter == 0 {
		r.cache = datafile.NewCache(datafile.Program{})
	}
	r.cache.Begin(time.Now())
	s = &Site{Dir: dir, Open: open, compiled: &compiled{}, manifests: &manifests{}}
	texts, broken := readable(open)
	disk := fsx.Disk{Overlay: fsx.NewOverlay(texts), Fence: fsx.NewFence(append(slices.Clone(r.opts.Fence), dir)...),
		Fault: func(fsx.Op, string) error { return ctx.Err() }}
	opts := r.opts.Loader
	opts.Disk, opts.Cache, opts.Context, opts.IsSite = disk, r.cache, ctx, true
	loaded := diag.List{All: true}
	s.Site = loader.Load(dir, opts, &loaded)
	if ctx.Err() != nil {
		return nil, nil
	}
	r.cache.Reuse()
	composed := diag.List{All: true}
	isParameter := params.Receives(s.Site, disk)
	if !loaded.Incomplete() {
		content := compile.Compile(s.Site, compile.Options{StrictVariables: r.opts.Strict, Effort: r.opts.Effort,
			Context: ctx, IsParameter: isParameter}, &composed)
		if !loaded.Failed() && !composed.Failed() {
			s.compiled.content = content
		}
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	s.disk = fsx.Disk{Fence: disk.Fence}
	s.unsaved = fsx.Disk{Fence: disk.Fence, Overlay: disk.Overlay}
	found := append(loaded.Sorted(), composed.Sorted()...)
	early := len(found)
	s.collect(slices.Concat(found, r.expected(open)), broken)
	content, last := s.compiled.content, *s
	then := func(check func(s *Site) []diag.Diagnostic, isLast bool) func() *Site {
		return func() *Site {
			next := last
			found = append(found, check(&next)...)
			if ctx.Err() != nil {
				return nil
			}
			if isLast {
				r.late, r.then = slices.Clone(found[early:]), open
				next.collect(found, broken)
			} else {
				next.collect(slices.Concat(found, r.expected(open)), broken)
			}
			last = next
			return &next
		}
	}
	return s, []func() *Site{
		then(func(s *Site) []diag.Diagnostic { return r.findLints(s.Site, content, disk, isParameter) }, false),
		then(func(s *Site) []diag.Diagnostic { return r.prove(ctx, s, content, disk, broken) }, true)}
}

// expected returns the diagnostics that the further checks found in the last read, at their current positions. They are
// shown until the checks are done. Otherwise they would disappear and return with each read.
func (r *Reader) expected(open map[string]*buffer.Text) (out []diag.Diagnostic) {
	for _, d := range r.late {
		before, now := r.then[d.Pos.File], open[d.Pos.File]
		if before != nil && now != nil && before.Src != now.Src {
			var ok bool
			if d, ok = follow(d, before, now); !ok {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}

// prove proves the policies of the site, and checks its data against the classes that receive it. If content is nil
// because of errors, or if entries of the site are broken, it only reads the policies: without these entries, other
// values win.
func (r *Reader) prove(ctx context.Context, s *Site, content *snapshot.Content, disk fsx.Disk,
	broken map[string]bool) []diag.Diagnostic {
	for path := range broken {
		if s.Reads(path) || IsConfig(path) {
			content = nil
		}
	}
	diags := diag.List{All: true}
	_, s.Failure = proof.Check(s.Dir, s.Site, content, proof.Options{Disk: disk, Context: ctx,
		Params: params.Options{Lint: slices.Contains(r.opts.Lints, "missing_parameter")}}, &diags)
	return diags.Sorted()
}

// findLints returns the lints. In a site with errors, for which content is nil, only files are checked.
func (r *Reader) findLints(site *loader.Site, content *snapshot.Content, disk fsx.Disk,
	isParameter func(key string) bool) []diag.Diagnostic {
	if len(r.opts.Lints) == 0 || site.InputOf == nil {
		return nil
	}
	diags := diag.List{All: true}
	lint.Check(site, content, lint.Options{Codes: r.opts.Lints, Jobs: r.opts.Loader.Jobs, Disk: disk, Files: r.lints,
		IsParameter: isParameter}, &diags)
	return diags.Sorted()
}

// readable returns the texts to read in place of files. For a YAML file that does not parse, it leaves out the broken
// entries. For a broken configuration, it uses the saved file, because the site would be different without an entry.
func readable(open map[string]*buffer.Text) (texts map[string][]byte, broken map[string]bool) {
	texts, broken = make(map[string][]byte, len(open)), map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(open)) {
		texts[path] = []byte(open[path].Src)
		if !IsYAML(path) {
			continue
		}
		f := outline.Read(path, texts[path], outlineOptions)
		switch {
		case f.Whole():
		case IsConfig(path):
			delete(texts, path)
			broken[path] = true
		case f.Recovered != nil:
			texts[path] = f.Recovered
			broken[path] = true
		}
	}
	return texts, broken
}

// outlineOptions reads files of all kinds as leniently as Hiera 5 data files.
var outlineOptions = yaml.Options{LastKeyWins: true, Hiera5: true}

// Outline reads the entries of a YAML file.
func Outline(path, src string) *outline.File { return outline.Read(path, []byte(src), outlineOptions) }

// IsYAML reports whether a file is YAML, by its name.
func IsYAML(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".eyaml"}, filepath.Ext(path))
}

// configNames lists the names of files that configure a site or a module.
var configNames = []string{"hiera.yaml", "hiera5.yaml", "hiera2.yaml", "binder_config.yaml", "bindings_config.yaml"}

// IsConfig reports whether a file configures a site or a module, by its name.
func IsConfig(path string) bool { return slices.Contains(configNames, filepath.Base(path)) }
