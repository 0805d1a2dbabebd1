package analysis

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"bindc/internal/lsp/buffer"
	"bindc/internal/pattern"
	"bindc/internal/recipe"
	"bindc/internal/report/decision"
	"bindc/internal/value"
)

// computedCall matches the beginning of a lookup call whose key contains interpolations.
var computedCall = pattern.Lazy(`(?:lookup|hiera\w*|alias)\(\s*\\?['"]?([^'")\\]*[%$]\{[^'"]*)`)

// ComputedLookup returns a key whose value looks up a computed key that may equal key. It returns "" if there is none.
func (s *Site) ComputedLookup(key string) string {
	all, err := s.allTables()
	if err != nil {
		return ""
	}
	computed := s.keysOf(nil, func(value string) bool { return value == "" || value[0] != recipe.CompiledConstant })
	for bound := range s.Snapshot().Keys() {
		if !computed[bound] {
			continue
		}
		t, err := all.Values(bound)
		if err != nil {
			continue
		}
		for _, r := range slices.Concat(t.Rows, t.Contributions) {
			if m := computedCall().FindStringSubmatch(r.Computed); m != nil && mayBe(m[1], key) || dynamic(r.Computed) {
				return bound
			}
		}
	}
	return ""
}

// allTables returns decision tables that are fast if all keys are read.
func (s *Site) allTables() (*decision.Tables, error) {
	if s.Snapshot() == nil {
		return nil, errors.New("the site has errors")
	}
	return decision.NewTables(s.compiled.file, true, nil)
}

// dynamic reports whether the source of a value calls lookup with something other than a constant string.
func dynamic(source string) bool {
	for rest := source; ; {
		i := strings.Index(rest, "lookup(")
		if i < 0 {
			return false
		}
		rest = strings.TrimLeft(rest[i+len("lookup("):], " \\")
		if rest != "" && strings.IndexByte(`'"`, rest[0]) < 0 && !strings.HasPrefix(rest, "{") {
			return true
		}
	}
}

// mayBe reports whether text can evaluate to key if its interpolations have suitable values.
func mayBe(text, key string) bool {
	parts := regexp.MustCompile(`[%$]\{[^}]*\}?`).Split(text, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	re, err := regexp.Compile("^" + strings.Join(parts, ".*") + "$")
	return err != nil || re.MatchString(key)
}

// keysOf returns the keys that are bound in one of the files, or to a value for which holds returns true. It always
// includes keys of multibindings and of bindings with attributes.
func (s *Site) keysOf(files map[string]*buffer.Text, holds func(value string) bool) map[string]bool {
	values := make([]bool, len(s.Site.Values))
	for i, v := range s.Site.Values {
		values[i] = holds(v)
	}
	out := map[string]bool{}
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				changed := files[c.Files[i].Path] != nil
				for _, e := range c.Files[i].Entries {
					if changed || values[e.Value] {
						out[s.Site.Keys[e.Key]] = true
					}
				}
			}
			for _, b := range c.Bindings {
				if b.More != nil || files[b.Pos.File] != nil || values[b.Value] {
					out[b.Key] = true
				}
			}
		}
	}
	return out
}

// concerned returns the keys whose answers a rename can change: those in changed files and those whose values mention
// the old or new name. It returns nil, for all keys, if a configuration file changes or keys are derived from others.
func (s *Site) concerned(changed map[string]*buffer.Text, from, to string) map[string]bool {
	for path := range changed {
		if IsConfig(path) {
			return nil
		}
	}
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			if len(c.Transfers) > 0 {
				return nil
			}
		}
	}
	return s.keysOf(changed, func(value string) bool {
		return strings.Contains(value, from) || strings.Contains(value, to)
	})
}

// DiffersIn returns a key whose decision table differs between s and after, apart from the renamed key itself. It
// returns "" if there is none. changed has the files that the rename changes.
func (s *Site) DiffersIn(after *Site, changed map[string]*buffer.Text, from, to string) (string, error) {
	olds, err := s.allTables()
	if err != nil {
		return "", err
	}
	news, err := after.allTables()
	if err != nil {
		return "", err
	}
	known, some := map[string]bool{}, s.concerned(changed, from, to)
	somewhere := after.concerned(changed, from, to)
	for key := range s.Snapshot().Keys() {
		now := key
		if key == from {
			now = to
		}
		known[now] = true
		if some != nil && !some[key] && !somewhere[now] {
			continue
		}
		a, err := olds.Values(key)
		if err != nil {
			return "", err
		}
		if b, err := news.Values(now); err != nil || !sameTable(a, b, from, to) {
			return key, err
		}
	}
	for key := range after.Snapshot().Keys() {
		if !known[key] {
			return key, nil
		}
	}
	return "", nil
}

// sameTable reports whether two decision tables are equal once from is replaced by to.
func sameTable(a, b *decision.Table, from, to string) bool {
	options := func(t *decision.Table) string { return string(value.AppendText(nil, t.Options)) }
	return a.Merged == b.Merged && a.HasOptions == b.HasOptions &&
		strings.ReplaceAll(options(a), from, to) == options(b) &&
		slices.EqualFunc(a.Rows, b.Rows, func(a, b decision.Row) bool {
			return sameRow(&a, &b, from, to)
		}) && slices.EqualFunc(a.Contributions, b.Contributions, func(a, b decision.Row) bool {
		return sameRow(&a, &b, from, to)
	})
}

func sameRow(a, b *decision.Row, from, to string) bool {
	text := func(r *decision.Row) string {
		source := strings.ReplaceAll(r.Computed, from, to)
		return source + "\x00" + r.Layer + "\x00" + r.Name
	}
	return text(a) == text(b) && slices.Equal(a.When, b.When) && a.Abstract == b.Abstract && a.Erased == b.Erased &&
		a.Sensitive == b.Sensitive && a.SameValue(b)
}
