// Package migrate rewrites a Hiera 5 site as Hiera-2 data and structured bindings. A key moves with all of its bindings
// or stays in Hiera 5 with all of them, and then migrate reports why. So the result gives the same answers as the site.
package migrate

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader"
)

// File is one that is written, below the directory of the new site.
type File struct {
	Path string // with slashes
	Text []byte
}

// Options say what to migrate. The zero value migrates all that can be.
type Options struct {
	ModulePathGiven bool              // the site was loaded with another module path than that of environment.conf
	Stay            map[string]string // keys that stay in Hiera 5, and why
}

// Result is a migrated site.
type Result struct {
	Files      []File          // sorted
	Moved      map[string]bool // by key: false of those that stay in Hiera 5
	WithModule map[string]bool // keys that stay because something else in their module does
	Foreign    map[string]bool // keys that stay because they depend on what only Puppet reads
}

// Site migrates the site in dir, which was loaded without errors. What stays in Hiera 5 goes to diags, as a note; an
// error is one of the file system. Without a result diags has an error.
func Site(dir string, site *loader.Site, opts Options, diags *diag.List) (*Result, error) {
	m := &migration{dir: dir, opts: opts, site: site, diags: diags, sources: map[string]*source{},
		bound: map[string][]*binding{}, stays: map[string]bool{}, touched: map[string]bool{}, secret: map[string]bool{},
		merged: map[string]mergedKey{}, withModule: map[string]bool{}, foreign: map[string]bool{}}
	if !m.isAlone() {
		return nil, nil
	}
	if err := m.read(); err != nil {
		return nil, err
	}
	m.categorize()
	m.decide()
	files, err := m.write()
	if err != nil {
		return nil, err
	}
	out := &Result{files, map[string]bool{}, m.withModule, m.foreign}
	for _, key := range m.keys {
		out.Moved[key] = !m.stays[key]
	}
	return out, nil
}

// migration is one run.
type migration struct {
	dir   string
	opts  Options
	site  *loader.Site
	diags *diag.List

	hierarchies []*hierarchy // that of the site, if there is one, and those of modules
	sources     map[string]*source
	bound       map[string][]*binding // by key, the highest first
	keys        []string              // sorted
	options     []*binding            // lookup_options
	categories  []*category           // highest first

	stays      map[string]bool      // keys that stay in Hiera 5
	withModule map[string]bool      // of these, those that stay because something else in their module does
	foreign    map[string]bool      // of these, those that depend on what only Puppet reads
	touched    map[string]bool      // keys that lookup_options say something of
	secret     map[string]bool      // those that may be converted to Sensitive
	merged     map[string]mergedKey // those that move, and are more than their highest value
}

// mergedKey is what lookup_options make of a key.
type mergedKey struct {
	strategy  string // "first": none
	sensitive bool
}

// hierarchy is a configuration of Hiera 5.
type hierarchy struct {
	config string // its file
	root   string // its directory
	module string // "" of the site
	global bool   // it is no part of the site: it stays where it is, and what it binds stays in Hiera 5
	levels []*level
	stays  bool // a module's, of which nothing moves
}

// binding is a key in a file, on a level.
type binding struct {
	key   string
	level *level
	file  *levelFile
	at    diag.Pos
	value value.Value
}

// isAlone tells whether the site has nothing but Hiera 5.
func (m *migration) isAlone() bool {
	some := false
	for _, l := range m.site.Layers {
		if l.Hiera != loader.NoHiera {
			some = true
			continue
		}
		for _, c := range l.Contributions {
			if len(c.Files)+len(c.Bindings) > 0 {
				m.diags.Errorf(diag.Pos{File: m.dir}, "migrate", "expected a site of Hiera 5 alone, found %s in the layer "+
					"'%s': migrate a copy without it, and add it to what is written", c.URI, l.Name)
				return false
			}
		}
	}
	if !some {
		m.diags.Errorf(diag.Pos{File: m.dir}, "migrate", "expected a site with a hiera.yaml of version 5, and data that it finds")
	}
	return some
}

// read reads the files of all levels once more, as they are written.
func (m *migration) read() error {
	byConfig := map[string]*hierarchy{}
	for i, l := range m.site.Layers {
		for _, c := range l.Contributions {
			if l.Hiera == loader.NoHiera {
				continue
			}
			h := byConfig[c.Config]
			if h == nil {
				h = &hierarchy{config: c.Config, root: filepath.Dir(c.Config), global: l.Hiera == loader.HieraGlobal,
					module: strings.TrimPrefix(c.URI, "module-hiera5:/")}
				if !strings.HasPrefix(c.URI, "module-hiera5:/") {
					h.module = ""
				}
				byConfig[c.Config] = h
				m.hierarchies = append(m.hierarchies, h)
			}
			if err := m.readLevel(h, i, c); err != nil {
				return err
			}
		}
	}
	for key := range m.bound {
		m.keys = append(m.keys, key)
	}
	slices.Sort(m.keys)
	return nil
}

func (m *migration) readLevel(h *hierarchy, layer int, c loader.Contribution) error {
	lv := m.newLevel(h, layer, c)
	h.levels = append(h.levels, lv)
	for _, f := range c.Files {
		src, err := m.source(f.Path)
		if err != nil {
			return err
		}
		file := lv.file(src, m.site.Conditions[f.Condition])
		for i, e := range f.Entries {
			b := &binding{key: m.site.Keys[e.Key], level: lv, file: file, at: f.Pos(i)}
			_, v := src.at(e.Line, e.Col)
			if v == nil {
				return fmt.Errorf("%s changed while it was read", f.Path)
			}
			if b.value = v.Literal(); strings.HasPrefix(b.key, recipe.LookupOptionsKey) {
				m.options = append(m.options, b)
				continue
			}
			m.bound[b.key] = append(m.bound[b.key], b)
		}
	}
	return nil
}

func (m *migration) source(path string) (*source, error) {
	if s := m.sources[path]; s != nil {
		return s, nil
	}
	text, err := fsx.Disk{}.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, text: text, json: bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))}
	parse := yaml.Parse
	if strings.HasSuffix(path, ".json") {
		parse = yaml.ParseJSON
	}
	doc, ok := parse(path, slices.Clone(text), yaml.Options{LastKeyWins: true}, &diag.List{})
	if !ok {
		return nil, fmt.Errorf("%s changed while it was read", path)
	}
	s.doc = doc
	m.sources[path] = s
	return s, nil
}

// stay notes that a key stays in Hiera 5, and why.
func (m *migration) stay(b *binding, format string, args ...any) {
	if m.stays[b.key] {
		return
	}
	m.stays[b.key] = true
	at := b.at
	if m.secret[b.key] {
		at = diag.Pos{File: at.File} // its line is not shown
	}
	m.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Info, Code: "migrate",
		Message: "'" + b.key + "' stays in Hiera 5: " + fmt.Sprintf(format, args...)})
}

// decide decides of each key whether it moves.
func (m *migration) decide() {
	m.decideMerges()
	for _, key := range m.keys {
		for _, b := range m.bound[key] {
			m.decideBinding(b)
		}
	}
	m.decideForeign()
	m.decideLoops()
	m.decideModules()
}

// decideModules lets a module stay as a whole where something of it does, or where its lookup_options count for a key
// that stays.
func (m *migration) decideModules() {
	for _, h := range m.hierarchies {
		if h.module == "" {
			continue
		}
		h.stays = slices.ContainsFunc(m.keys, func(key string) bool {
			return m.stays[key] && (h.binds(m.bound[key]) || m.hasOptionsFor(h, key))
		}) || slices.ContainsFunc(h.levels, func(l *level) bool { return l.part == loader.HieraDefaults })
		if !h.stays {
			continue
		}
		for _, key := range m.keys {
			if h.binds(m.bound[key]) {
				m.withModule[key] = !m.stays[key]
				m.stay(m.bound[key][0], "so does something else in the data of the module '%s'", h.module)
			}
		}
	}
}

// hasOptionsFor reports whether the lookup_options of a module may count for a key.
func (m *migration) hasOptionsFor(h *hierarchy, key string) bool {
	return lookupkey.Module(key) == h.module &&
		slices.ContainsFunc(m.options, func(o *binding) bool { return o.level.hierarchy == h })
}

func (h *hierarchy) binds(all []*binding) bool {
	return slices.ContainsFunc(all, func(b *binding) bool { return b.level.hierarchy == h })
}

func (m *migration) decideBinding(b *binding) {
	why, forced := m.opts.Stay[b.key]
	switch {
	case b.level.problem != "":
		m.stay(b, "%s", b.level.problem)
	case b.file.problem != "":
		m.stay(b, "%s", b.file.problem)
	case strings.ContainsAny(b.key, `'".`):
		m.stay(b, "there a dot digs, in Hiera-2 it is a character as any other")
	case hasInterpolation(b.value, "ENC["):
		m.stay(b, "it is encrypted for hiera-eyaml")
	case forced:
		m.stay(b, "%s", why)
	}
	hasAlias := false
	for text := range texts(b.value) {
		if _, ok := isAlias(text); ok {
			hasAlias = true
		} else if _, problem := m.translate(text); problem != "" {
			m.stay(b, "%s", problem)
		}
	}
	if hasAlias && m.merged[b.key].strategy != "" && m.merged[b.key].strategy != "first" {
		m.stay(b, "an alias is merged")
	} else if _, problem := m.expression(b.value); hasAlias && problem != "" {
		m.stay(b, "%s", problem)
	}
}

// decideLoops lets keys stay that may need themselves, which Hiera-2 refuses when it is built.
func (m *migration) decideLoops() {
	for _, key := range m.keys {
		if !m.stays[key] && m.reaches(key, key, map[string]bool{}) {
			m.stay(m.bound[key][0], "it may need itself")
		}
	}
}

func (m *migration) reaches(from, to string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, b := range m.bound[from] {
		for text := range texts(b.value) {
			for _, key := range asked(text) {
				if key == to || m.reaches(key, to, seen) {
					return true
				}
			}
		}
	}
	return false
}
