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

// Site is the result of reading a site once. It is immutable and safe for concurrent use.
type Site struct {
	Dir     string
	Site    *loader.Site
	Open    map[string]*buffer.Text      // unsaved texts that replaced saved files
	Diags   map[string][]diag.Diagnostic // diagnostics by path
	Refused []string                     // paths that were not read because they are outside Options.Fence
	Failure error                        // why a check could not run, or nil

	disk      fsx.Disk // reads saved files
	unsaved   fsx.Disk // reads the texts in Open instead of saved files
	compiled  *compiled
	manifests *manifests
}

// compiled is the compiled site. The method open turns it into a snapshot when it is first needed.
type compiled struct {
	content *snapshot.Content // nil after open, or if the site has errors

	once   sync.Once
	file   *snapshot.Snapshot // snapshot in memory, or nil
	snap   *lookup.Snapshot   // the same snapshot, for lookups
	mu     sync.Mutex         // guards tables
	tables *decision.Tables
}

// manifests caches what was found in manifests.
type manifests struct {
	once       sync.Once
	parameters []Parameter
}

// absence lists the codes of diagnostics that may be wrong because an entry is missing.
var absence = []diag.Code{"key_unbound", "rebind", "multibind_unknown", "override", "abstract", "hiera_options",
	"map_required", "same_value", "never_wins", "near_key", "empty", "facts_missing", "data_unreached"}

// collect sets s.Diags and s.Refused. Diagnostics without a file are assigned to the site's directory. Lints are only
// kept for open files. If broken entries were left out, collect drops the diagnostics that this can cause.
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

// open converts the compiled site to a snapshot in memory, once.
func (c *compiled) open() {
	c.once.Do(func() {
		if c.content == nil {
			return
		}
		var b bytes.Buffer
		if _, err := snapshot.WriteTo(&b, c.content); err != nil {
			return
		}
		c.content = nil // the snapshot has the same data
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

// Prepare opens the compiled site in advance, so that the first question does not wait for it.
func (s *Site) Prepare() { s.compiled.open() }

// Snapshot returns the compiled site for lookups, or nil if the site has errors.
func (s *Site) Snapshot() *lookup.Snapshot {
	s.compiled.open()
	return s.compiled.snap
}

// Table returns the decision table of a key, or nil if the site has errors.
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

// Format returns the format in which the site reads a data file. ok is false for other files.
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

func (s *Site) Reads(path string) bool {
	_, ok := s.Site.InputOf[path]
	return ok
}

// Path returns the path of the file that snapshots call label.
func (s *Site) Path(label string) (string, bool) {
	for path, i := range s.Site.InputOf {
		if s.Site.Inputs[i].Path == label {
			return path, true
		}
	}
	return "", false
}

// Label returns the name of the file in snapshots, or "" if the site does not read it.
func (s *Site) Label(path string) string {
	if i, ok := s.Site.InputOf[path]; ok {
		return s.Site.Inputs[i].Path
	}
	return ""
}

// Text returns the current text of a file: the unsaved text if there is one, and otherwise the saved file. It returns
// nil if the file cannot be read.
func (s *Site) Text(path string) *buffer.Text {
	if t := s.Open[path]; t != nil {
		return t
	}
	if src, err := s.disk.ReadFile(path); err == nil {
		return buffer.New(string(src))
	}
	return nil
}

// ReadFile returns the contents of the saved file at path. Files outside Options.Fence do not exist for it.
func (s *Site) ReadFile(path string) ([]byte, error) { return s.disk.ReadFile(path) }

// Keys returns all bound keys in no particular order.
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
