package analysis

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/outline"
	"bindc/internal/proof/policy"
	"bindc/internal/yaml"
	"bindc/loader"
)

// Finding is a diagnostic with byte offsets in the text.
type Finding struct {
	diag.Diagnostic
	From, To int // range to underline
	At       int // offset of the diagnostic's position, which may be before From
}

// Empty returns a Site without content, for files that belong to no site.
func Empty(dir string) *Site {
	return &Site{Dir: dir, Site: &loader.Site{}, compiled: &compiled{}, manifests: &manifests{}}
}

// HasYAMLLines reports whether positions in the file count lines as YAML does. See buffer.Text.At.
func HasYAMLLines(path string) bool { return filepath.Ext(path) != ".pp" }

// Check returns the findings in the current text of a file: those from checking the text alone, and those from reading
// the site, unless the text has changed there since. site is nil before the first read. f is the outline of text, or
// nil if the file has none.
func Check(site *Site, path string, text *buffer.Text, f *outline.File) []Finding {
	if site == nil {
		return nil
	}
	var list []diag.Diagnostic
	if f != nil && IsYAML(path) && (site.Reads(path) || IsConfig(path) || site.hasPolicies(path, text)) {
		list = append(list, f.Broken...)
	}
	old := site.Open[path]
	if old != nil && old.Src == text.Src {
		return Locate(site, path, text, append(list, site.Diags[path]...))
	}
	src := text.Src
	if f != nil && f.Recovered != nil {
		src = string(f.Recovered)
	}
	list = append(list, site.alone(path, src)...)
	if old == nil {
		old = site.Text(path)
	}
	return Locate(site, path, text, append(list, site.remaining(path, old, text)...))
}

// hasPolicies reports whether the text is a policy file of the site.
func (s *Site) hasPolicies(path string, text *buffer.Text) bool {
	return filepath.Dir(path) == filepath.Join(s.Dir, policy.Policies.Name) &&
		strings.Contains(text.Src, policy.Policies.Version)
}

// remaining returns the diagnostics from reading the site that checking the text alone cannot find, moved to their
// positions in the text now. old is the text that was read.
func (s *Site) remaining(path string, old, now *buffer.Text) (out []diag.Diagnostic) {
	if old == nil {
		return nil
	}
	src := old.Src
	if f := Outline(path, src); IsYAML(path) && f.Recovered != nil {
		src = string(f.Recovered)
	}
	alone := s.alone(path, src)
	for _, d := range s.Diags[path] {
		if slices.ContainsFunc(alone, func(o diag.Diagnostic) bool { return same(o, d) }) {
			continue
		}
		if d, ok := follow(d, old, now); ok {
			out = append(out, d)
		}
	}
	return out
}

// follow moves a diagnostic from the text old to the text now. ok is false if the token at its position has changed.
func follow(d diag.Diagnostic, old, now *buffer.Text) (out diag.Diagnostic, ok bool) {
	from := old.At(d.Pos, HasYAMLLines(d.Pos.File))
	begin, ok := now.Follow(old, from)
	if _, same := now.Follow(old, old.TokenEnd(from)); !ok || !same {
		return d, false
	}
	if d.Pos.Line > 0 {
		d.Pos = now.Pos(d.Pos.File, begin)
	}
	return d, true
}

// Locate converts diagnostics of the file at path to findings, and removes duplicates.
func Locate(site *Site, path string, t *buffer.Text, list []diag.Diagnostic) []Finding {
	list = slices.Clone(list)
	diag.Locate(list, func(file string) ([]byte, error) {
		if file == path {
			return []byte(t.Src), nil
		}
		if other := site.Text(file); other != nil {
			return []byte(other.Src), nil
		}
		return nil, fs.ErrNotExist
	})
	out := make([]Finding, 0, len(list))
	type finding struct {
		diag.Pos
		diag.Code
		string
	}
	seen := map[finding]bool{}
	for _, d := range list {
		key := finding{d.Pos, d.Code, d.Message}
		if seen[key] {
			continue
		}
		seen[key] = true
		at := t.At(d.Pos, HasYAMLLines(path))
		from, to := at, at
		switch {
		case d.End.Line > 0:
			to = max(from, t.At(d.End, HasYAMLLines(path)))
		case d.Pos.Line > 0:
			to = t.TokenEnd(from)
		}
		if v := d.Value; v.Pos.Line > 0 {
			from, to = t.At(v.Pos, HasYAMLLines(path)), t.At(v.End, HasYAMLLines(path))
		}
		if e := d.Edits; len(e) > 0 && e[0].Pos.File == path && e[0].Pos != e[0].End {
			from, to = t.At(e[0].Pos, HasYAMLLines(path)), t.At(e[0].End, HasYAMLLines(path))
		}
		out = append(out, Finding{d, from, to, at})
	}
	return out
}

func same(a, b diag.Diagnostic) bool {
	return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
}

// bindingsVersion is a key that every bindings file has. A file without it may be a data file that was empty when the
// site was read.
const bindingsVersion = "bindings_version"

// alone returns the diagnostics from checking the text of one file without the rest of the site.
func (s *Site) alone(path, src string) []diag.Diagnostic {
	if !s.Reads(path) || IsConfig(path) {
		return nil
	}
	diags := diag.List{All: true}
	if format, ok := s.Format(path); ok {
		datafile.NewReader(nil, fsx.Disk{}).Source(path, []byte(src), format, &diags)
		return slices.DeleteFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.Code == "eyaml" })
	}
	switch {
	case strings.HasSuffix(path, ".pp"):
		if p := bindingsfile.ParsePuppet(path, []byte(src), &diags); p != nil {
			p.Read(nil, &diags)
		}
	case IsYAML(path) && strings.Contains(src, bindingsVersion):
		if doc, ok := yaml.Parse(path, []byte(src), yaml.Options{}, &diags); ok {
			bindingsfile.YAML{Document: doc}.Read(nil, &diags)
		}
	}
	return diags.Sorted()
}
