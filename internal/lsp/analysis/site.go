package analysis

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/lsp/buffer"
	"bindc/internal/recipe"
	"bindc/internal/report/decision"
	"bindc/loader"
	"bindc/snapshot"
)

// Site is the result of reading a site once. It does not change, and is safe for concurrent use.
type Site struct {
	Dir     string
	Site    *loader.Site
	Open    map[string]*buffer.Text      // unsaved texts that were read in place of files
	Diags   map[string][]diag.Diagnostic // diagnostics by file
	Refused []string                     // paths that were not read because they are outside the fence
	Failure error                        // why a check was not possible

	disk      fsx.Disk // reads files as they were saved
	unsaved   fsx.Disk // reads the texts in Open in place of files
	compiled  *compiled
	manifests *manifests
}

// compiled is the compiled site.
type compiled struct {
	content *snapshot.Content // nil if the site has errors, or after open has set the other fields

	once   sync.Once
	file   *snapshot.Snapshot // the snapshot in memory; may be nil
	snap   *lookup.Snapshot   // the same snapshot, opened for lookups
	mu     sync.Mutex         // guards tables
	tables *decision.Tables
}

// manifests holds data that is read from manifests on demand.
type manifests struct {
	once       sync.Once
	parameters []Parameter
}

// absence lists the codes of diagnostics that may only be true because an entry is missing.
var absence = []diag.Code{"key_unbound", "rebind", "multibind_unknown", "override", "abstract", "hiera_options",
	"map_required", "same_value", "never_wins", "near_key", "empty", "facts_missing", "data_unreached"}

// collect groups the diagnostics by file. A diagnostic without a file is about the site's directory. Lints are kept for
// open files only. While entries are broken, collect omits diagnostics that a missing entry may cause, and those in
// broken configurations.
func (s *Site) collect(found []diag.Diagnostic, broken map[string]bool) {
	s.Diags = map[string][]diag.Diagnostic{}
	s.Refused = s.disk.Fence.Refused()
	for _, d := range found {
		if len(broken) > 0 && slices.Contains(absence, d.Code) || broken[d.Pos.File] && IsConfig(d.Pos.File) {
			continue
		}
		if d.Pos.File == "" {
			d.Pos.File = s.Dir
		}
		_, open := s.Open[d.Pos.File]
		if d.Severity != diag.Lint || open {
			s.Diags[d.Pos.File] = append(s.Diags[d.Pos.File], d)
		}
	}
}

// open opens the compiled site as a snapshot in memory, once.
func (c *compiled) open() {
	c.once.Do(func() {
		if c.content == nil {
			return
		}
		var b bytes.Buffer
		if _, err := snapshot.WriteTo(&b, c.content); err != nil {
			return
		}
		c.content = nil // the snapshot contains the same data
		file, err := snapshot.OpenBytes(b.Bytes())
		if err != nil {
			return
		}
		if c.tables, err = decision.NewTables(file, false, nil); err != nil {
			return
		}
		c.file = file
		c.snap, _ = lookup.New(file, lookup.Options{})
	})
}

// Prepare does work in advance that the first question would otherwise wait for.
func (s *Site) Prepare() { s.compiled.open() }

// Snapshot returns the compiled site, or nil if it has errors.
func (s *Site) Snapshot() *lookup.Snapshot {
	s.compiled.open()
	return s.compiled.snap
}

// Table returns the decision table of a key. It returns nil if the site has errors.
func (s *Site) Table(key string) *decision.Table {
	c := s.compiled
	if c.open(); c.tables == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.tables.Values(key)
	if err != nil {
		return nil
	}
	return t
}

// Format returns the format of a data file. ok is false if the site does not read the file as data.
func (s *Site) Format(path string) (f datafile.Format, ok bool) {
	json := len(path) > 5 && path[len(path)-5:] == ".json"
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				if c.Files[i].Path != path {
					continue
				}
				switch {
				case strings.HasPrefix(c.URI, "enc:"):
					return 0, false
				case layer.Hiera != loader.NoHiera && json:
					return datafile.Hiera5JSON, true
				case layer.Hiera != loader.NoHiera:
					return datafile.Hiera5YAML, true
				case json:
					return datafile.JSON, true
				}
				return datafile.YAML, true
			}
		}
	}
	return 0, false
}

// Reads reports whether the site reads a file.
func (s *Site) Reads(path string) bool {
	_, ok := s.Site.InputOf[path]
	return ok
}

// Path returns the path of the file called label in snapshots.
func (s *Site) Path(label string) (string, bool) {
	for path, i := range s.Site.InputOf {
		if s.Site.Inputs[i].Path == label {
			return path, true
		}
	}
	return "", false
}

// Label returns the name of a file in snapshots, or "" if the site does not read the file.
func (s *Site) Label(path string) string {
	if i, ok := s.Site.InputOf[path]; ok {
		return s.Site.Inputs[i].Path
	}
	return ""
}

// Text returns the text of the open buffer, or otherwise of the saved file. It returns nil if the file cannot be read.
func (s *Site) Text(path string) *buffer.Text {
	if t := s.Open[path]; t != nil {
		return t
	}
	if src, err := s.disk.ReadFile(path); err == nil {
		return buffer.New(string(src))
	}
	return nil
}

// ReadFile returns the content of a saved file. Files outside the fence count as missing.
func (s *Site) ReadFile(path string) ([]byte, error) { return s.disk.ReadFile(path) }

// Keys returns the bound keys, in no particular order.
func (s *Site) Keys() []string {
	bound := make([]bool, len(s.Site.Keys))
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				for _, e := range c.Files[i].Entries {
					bound[e.Key] = true
				}
			}
			for _, b := range c.Bindings {
				if int(b.Number) < len(bound) && b.Key != "" && (b.More == nil || b.More.In == nil) {
					bound[b.Number] = true
				}
			}
		}
	}
	var out []string
	for n, key := range s.Site.Keys {
		if bound[n] && !recipe.IsInternal(key) {
			out = append(out, key)
		}
	}
	return out
}
