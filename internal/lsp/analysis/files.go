package analysis

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/mention"
)

// File is a file of the site with its text.
type File struct {
	Path string
	Text *buffer.Text
}

// FilesWith yields the files of the site, and the manifests in it, whose text contains name. It ends early if ctx is
// done.
func (s *Site) FilesWith(ctx context.Context, name string) iter.Seq[File] {
	return func(yield func(File) bool) {
		paths := slices.Collect(maps.Keys(s.Site.InputOf))
		paths = append(paths, s.Manifests()...)
		for path := range s.Open {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		for _, path := range slices.Compact(paths) {
			if ctx.Err() != nil {
				return
			}
			text := s.Open[path]
			if text == nil {
				src, err := s.disk.ReadFile(path)
				if err != nil || !strings.Contains(string(src), lastWord(name)) {
					continue
				}
				text = buffer.New(string(src))
			}
			if !yield(File{path, text}) {
				return
			}
		}
	}
}

// lastWord returns the last part of a key. In a manifest, the key of a class parameter only has that.
func lastWord(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// maxManifests limits the manifests in a site.
const maxManifests = 20_000

// Manifests returns the manifests below the site, without those of hidden directories and of specs. It does not follow
// links.
func (s *Site) Manifests() (out []string) {
	if s.Dir == "" {
		return nil
	}
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := s.disk.List(dir)
		if err != nil || depth > 12 {
			return
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), ".") || len(out) >= maxManifests:
			case e.IsDir() && e.Name() != "spec":
				walk(path, depth+1)
			case e.Type().IsRegular() && filepath.Ext(path) == ".pp":
				out = append(out, path)
			}
		}
	}
	walk(s.Dir, 0)
	return out
}

// Parameter is a parameter of a class, which Puppet looks up.
type Parameter struct {
	Key string
	At  diag.Pos
}

// Parameters returns the parameters of all classes in the manifests of the site, as they were saved.
func (s *Site) Parameters() []Parameter {
	s.readManifests.Do(func() {
		for _, path := range s.Manifests() {
			src, err := s.disk.ReadFile(path)
			if err != nil || !bytes.Contains(src, []byte("class")) {
				continue
			}
			text := buffer.New(string(src))
			for _, m := range mention.Find(mention.Manifest, text, nil) {
				if m.Role == mention.Parameter {
					s.parameters = append(s.parameters, Parameter{m.Name, text.Pos(path, m.From)})
				}
			}
		}
	})
	return s.parameters
}
