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

// Relative formats a position for messages, with a path relative to the site's directory.
func (s *Site) Relative(at diag.Pos) string {
	if rel, err := filepath.Rel(s.Dir, at.File); err == nil && !strings.HasPrefix(rel, "..") {
		at.File = filepath.ToSlash(rel)
	}
	return at.String()
}

// IsSecret reports whether values of the key may be sensitive: its lookup_options convert them to Sensitive, or depend
// on the node.
func (s *Site) IsSecret(t *decision.Table) bool {
	if !t.HasOptions {
		return false
	}
	return t.Options.IsUndef() || strings.Contains(string(value.AppendJSON(nil, t.Options)), "Sensitive")
}

// Compared maps the names of facts and categories to the values that conditions compare them with. If the site has
// errors, it covers only categories.
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
			if !d.Guard {
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

// CategoryPlaces returns where a category is defined.
func (s *Site) CategoryPlaces(name string) (out []diag.Pos) {
	for _, d := range s.Site.Dimensions {
		if !d.Guard && d.Name == name && d.Pos.Line > 0 {
			out = append(out, d.Pos)
		}
	}
	return out
}

var interpolated = pattern.Lazy(`[%$]\\\{[^}]*\\\}`)

// FilesOf returns the data files to which path can refer. path is a path or glob in the configuration file config.
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

// String returns a summary of the site, for logs.
func (s *Site) String() string { return fmt.Sprintf("%s: %d files", s.Dir, len(s.Site.Inputs)) }
