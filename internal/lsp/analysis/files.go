package analysis

import (
	"context"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/mention"
	"bindc/internal/proof/params"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// File is a file with its current text, saved or not.
type File struct {
	Path string
	Text *buffer.Text
}

// FilesWith returns an iterator over the files of the site, including manifests, that may mention name. The iteration
// stops when ctx is done.
func (s *Site) FilesWith(ctx context.Context, name string) iter.Seq[File] {
	return func(yield func(File) bool) {
		for _, path := range s.candidates(name) {
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

// candidates returns the files that may mention name, sorted. It omits data files in which no key or value contains the
// name.
func (s *Site) candidates(name string) []string {
	number := slices.Index(s.Site.Keys, name)
	values := make([]bool, len(s.Site.Values))
	for i, v := range s.Site.Values {
		values[i] = strings.Contains(v, name)
	}
	data, found := map[string]bool{}, map[string]bool{}
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				f := &c.Files[i]
				data[f.Path] = true
				has := func(e datafile.Entry) bool {
					return int(e.Key) == number || int(e.Value) < len(values) && values[e.Value]
				}
				if slices.ContainsFunc(f.Entries, has) || slices.ContainsFunc(f.Options, has) {
					found[f.Path] = true
				}
			}
		}
	}
	for path := range s.Site.InputOf {
		if !data[path] {
			found[path] = true
		}
	}
	for path := range s.Open {
		found[path] = true
	}
	for _, path := range s.Manifests() {
		found[path] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// lastWord returns the last segment of a key. For a class parameter, that is its name in the manifest.
func lastWord(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// maxManifests limits the number of manifests read in a site.
const maxManifests = 20_000

// Manifests returns the manifests below the site's directory. It skips hidden directories, directories called spec, and
// symbolic links.
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

// Parameter is a class parameter. Key is the key that Puppet looks up for it.
type Parameter struct {
	Key string
	At  diag.Pos
}

// Receiver returns the position of the class parameter that receives the value of key. ok is false if there is none.
func (s *Site) Receiver(key string) (at diag.Pos, ok bool) {
	return params.Receiver(s.Site, s.unsaved, key)
}

// Choices returns the values that a class parameter's type lists, as YAML to insert. key is the parameter's key. If
// inQuotes is set, the values are not quoted again.
func (s *Site) Choices(key string, inQuotes bool) (out []string) {
	texts, boolean := params.Choices(s.Site, s.unsaved, key)
	for _, text := range texts {
		if !inQuotes {
			line, err := yaml.Write(value.FromString(text))
			if err != nil {
				continue
			}
			text = strings.TrimSuffix(string(line), "\n")
		}
		out = append(out, text)
	}
	if boolean && !inQuotes {
		out = append(out, "true", "false")
	}
	return out
}

// Parameters returns the parameters of all classes in the site's manifests.
func (s *Site) Parameters() []Parameter {
	s.manifests.once.Do(func() {
		for _, path := range s.Manifests() {
			text := s.Text(path)
			if text == nil || !strings.Contains(text.Src, "class") {
				continue
			}
			for _, m := range mention.Find(mention.Manifest, text, nil) {
				if m.Role == mention.Parameter {
					s.manifests.parameters = append(s.manifests.parameters, Parameter{m.Name, text.Pos(path, m.From)})
				}
			}
		}
	})
	return s.manifests.parameters
}
