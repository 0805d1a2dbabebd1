package analysis

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/report/decision"
	"bindc/internal/value"
)

// Relative returns a position with its path relative to the site, for messages.
func (s *Site) Relative(at diag.Pos) string {
	if rel, err := filepath.Rel(s.Dir, at.File); err == nil && !strings.HasPrefix(rel, "..") {
		at.File = filepath.ToSlash(rel)
	}
	return at.String()
}

// IsSecret reports whether the values of a key must not be shown, because its lookup_options make them Sensitive or may
// do so for some nodes.
func (s *Site) IsSecret(t *decision.Table) bool {
	if !t.HasOptions {
		return false
	}
	return t.Options.IsUndef() || strings.Contains(string(value.AppendJSON(nil, t.Options)), "Sensitive")
}

// Compared returns, by name, the values that conditions compare facts and categories with. If the site is not compiled,
// it only knows those of categories.
func (s *Site) Compared() map[string][]string {
	if snap := s.Snapshot(); snap != nil {
		if out, err := snap.Compared(); err == nil {
			return out
		}
	}
	out := map[string][]string{}
	for _, condition := range s.Site.Conditions {
		for _, t := range condition {
			d := &s.Site.Dimensions[t.Dimension]
			if !d.Guard && len(out[d.Name]) < 10_000 {
				out[d.Name] = append(out[d.Name], t.Value)
			}
		}
	}
	for name, values := range out {
		slices.Sort(values)
		out[name] = slices.Compact(values)
	}
	return out
}

// CategoryPlaces returns the place where a category is defined.
func (s *Site) CategoryPlaces(name string) (out []diag.Pos) {
	for _, d := range s.Site.Dimensions {
		if !d.Guard && d.Name == name && d.Pos.Line > 0 {
			out = append(out, d.Pos)
		}
	}
	return out
}

var interpolated = pattern.Lazy(`[%$]\\\{[^}]*\\\}`)

// FilesOf returns the data files that a path or glob in the hierarchy file config refers to.
func (s *Site) FilesOf(config, path string) []string {
	pattern := interpolated().ReplaceAllString(regexp.QuoteMeta(path), `.+?`)
	pattern = strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(pattern)
	end := `$`
	if filepath.Ext(path) == "" || strings.HasSuffix(path, "}") {
		end = `(?:\.(?:yaml|yml|json|eyaml))?$`
	}
	re, err := regexp.Compile(`(?:^|/)` + pattern + end)
	if err != nil {
		return nil
	}
	dir := filepath.Dir(config)
	var out []string
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				file := c.Files[i].Path
				rel, err := filepath.Rel(dir, file)
				if err == nil && !strings.HasPrefix(rel, "..") && re.MatchString(filepath.ToSlash(rel)) {
					out = append(out, file)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// String describes the site for logs.
func (s *Site) String() string { return fmt.Sprintf("%s: %d files", s.Dir, len(s.Site.Inputs)) }
