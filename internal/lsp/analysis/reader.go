// Package analysis reads a site for an editor and answers questions about it. Unsaved texts replace the saved files.
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
	Loader loader.Options // the Reader sets Disk, Cache and Context
	Strict bool           // unknown variables are errors
	Effort int
	Lints  []diag.Code
	Fence  []string // only files in these directories may be read
}

// Reader reads a site repeatedly and caches parsed data files. It is not safe for concurrent use.
type Reader struct {
	opts  Options
	cache *datafile.Cache
	lints *lint.Files
	reads int

	late []diag.Diagnostic       // diagnostics that later checks found in the last complete read
	then map[string]*buffer.Text // texts that were open during that read
}

func NewReader(opts Options) *Reader { return &Reader{opts: opts, lints: &lint.Files{}} }

// freshAfter is the number of reads after which the cache is emptied. The cache would otherwise keep the values of all
// earlier texts.
const freshAfter = 1000

// Read reads the site in dir, using the texts in open instead of saved files. It returns a Site without lints and
// proofs, which take most of the time. The functions in more add these; call them in order. Each returns the same site
// with more diagnostics. All results are nil if ctx is done.
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

// expected returns the diagnostics that the later checks found in the last read, moved to their current positions. The
// editor shows them until the checks have run again, so that they do not disappear in the meantime.
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

// prove checks the site's policies and class parameters. If content is nil because the site has errors, it only reads
// the policies. It does the same if entries of the site are broken, because other values win without these entries.
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

// findLints returns the site's lints. If content is nil because the site has errors, it only covers lints about single
// files.
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

// readable returns the texts to read instead of the saved files. Broken entries of YAML files are left out. For a
// broken configuration file, the saved file is read instead, because leaving out an entry would change the whole site.
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

// outlineOptions accepts everything that some kind of YAML file allows.
var outlineOptions = yaml.Options{LastKeyWins: true, Hiera5: true}

// Outline reads the entries of a YAML file, which may have syntax errors.
func Outline(path, src string) *outline.File { return outline.Read(path, []byte(src), outlineOptions) }

// IsYAML reports whether path has the extension of a YAML file.
func IsYAML(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".eyaml"}, filepath.Ext(path))
}

var configNames = []string{"hiera.yaml", "hiera5.yaml", "hiera2.yaml", "binder_config.yaml", "bindings_config.yaml"}

// IsConfig reports whether path is the name of a file that configures a site or module.
func IsConfig(path string) bool { return slices.Contains(configNames, filepath.Base(path)) }
