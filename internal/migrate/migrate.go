// Package migrate rewrites a Hiera 5 site as Hiera 2 data and structured bindings. A key moves with
// all of its bindings, or stays in Hiera 5 with all of them. For each key that stays, migrate
// reports the reason. Package proof verifies that lookups in the new site return the same values.
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

type File struct {
	Path string // relative to the directory of the new site, with slashes
	Text []byte
}

type Options struct {
	ModulePathGiven bool              // a flag overrides the module path in environment.conf
	Stay            map[string]string // keys that must stay in Hiera 5, with the reason
}

// Result is a migrated site that has not been written to disk.
type Result struct {
	Files      []File          // sorted by path
	Moved      map[string]bool // for each key, true if it has moved and false if it stays in Hiera 5
	WithModule map[string]bool // keys that stay because another key of the same module stays
	Foreign    map[string]bool // keys that stay because they depend on an entry that only Puppet can read
}

// Site migrates the site in dir, which must have been loaded without errors. It adds a note to
// diags for each key that stays in Hiera 5. It returns nil without an error if it has added an
// error to diags. Otherwise, errors are from the file system.
func Site(dir string, site *loader.Site, opts Options, diags *diag.List) (*Result, error) {
	m := &migration{dir: dir, opts: opts, site: site, diags: diags, sources: map[string]*source{},
		bound: map[string][]*binding{}, stays: map[string]bool{}, hasOptions: map[string]bool{},
		maybeSensitive: map[string]bool{},
		merged:         map[string]mergedKey{}, withModule: map[string]bool{}, foreign: map[string]bool{}}
	if !m.isOnlyHiera5() {
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

type migration struct {
	dir   string
	opts  Options
	site  *loader.Site
	diags *diag.List

	hierarchies []*hierarchy // the global hierarchy, the site's and then the modules'
	sources     map[string]*source
	bound       map[string][]*binding // bindings of each key, highest precedence first
	keys        []string              // sorted
	options     []*binding            // bindings of lookup_options
	categories  []*category           // highest precedence first

	stays          map[string]bool      // keys that stay in Hiera 5
	withModule     map[string]bool      // keys that stay because another key of the same module stays
	foreign        map[string]bool      // keys that depend on an entry that only Puppet can read
	hasOptions     map[string]bool      // whether lookup_options may apply to a key
	maybeSensitive map[string]bool      // keys whose values lookup_options may convert to Sensitive
	merged         map[string]mergedKey // keys whose lookup_options a multibinding can express
}

type mergedKey struct {
	strategy  string // "first" means that values are not merged
	sensitive bool
}

type hierarchy struct {
	config string // path of hiera.yaml
	root   string // directory of hiera.yaml
	module string // "" if it is not a module's
	global bool   // whether it is the global hierarchy; its keys stay in Hiera 5, because it is not part of the site
	levels []*level
	stays  bool // whether all keys of the module stay in Hiera 5
}

type binding struct {
	key   string
	level *level
	file  *levelFile
	at    diag.Pos
	value value.Value
}

// isOnlyHiera5 reports whether all data of the site is in Hiera 5. If not, it adds an error to
// diags.
func (m *migration) isOnlyHiera5() bool {
	found := false
	for _, l := range m.site.Layers {
		if l.Hiera != loader.NoHiera {
			found = true
			continue
		}
		for _, c := range l.Contributions {
			if len(c.Files)+len(c.Bindings) > 0 {
				m.diags.Errorf(diag.Pos{File: m.dir}, "migrate",
					"expected a site with only Hiera 5, found %s in the layer "+
						"'%s': migrate a copy without it, and add it to the new site", c.URI, l.Name)
				return false
			}
		}
	}
	if !found {
		m.diags.Errorf(diag.Pos{File: m.dir}, "migrate",
			"expected a site with a version 5 hiera.yaml and its data files")
	}
	return found
}

// read reads the data files of all levels. The loaded site does not contain their source text.
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
			_, v := src.pairAt(e.Line, e.Col)
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

// stay keeps a key in Hiera 5. It adds a note with the reason, unless the key already stays.
func (m *migration) stay(b *binding, format string, args ...any) {
	if m.stays[b.key] {
		return
	}
	m.stays[b.key] = true
	at := b.at
	if m.maybeSensitive[b.key] {
		at = diag.Pos{File: at.File} // without a line, because the value may be sensitive
	}
	m.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Info, Code: "migrate",
		Message: "'" + b.key + "' stays in Hiera 5: " + fmt.Sprintf(format, args...)})
}

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

// decideModules keeps all keys of some modules in Hiera 5. These are modules with a key that stays,
// with a default_hierarchy, or with lookup_options that may apply to a key that stays.
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
				m.stay(m.bound[key][0], "another key in the data of the module '%s' stays", h.module)
			}
		}
	}
}

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
		m.stay(b, "in Hiera 5, a dot in a key digs into a value; in Hiera 2, it is an ordinary character")
	case containsAny(b.value, "ENC["):
		m.stay(b, "it is encrypted with hiera-eyaml")
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
		m.stay(b, "its merge includes an alias")
	} else if _, problem := m.expression(b.value); hasAlias && problem != "" {
		m.stay(b, "%s", problem)
	}
}

// decideLoops keeps a key in Hiera 5 if its value may look up the key itself. In Hiera 2, that
// would be a build error.
func (m *migration) decideLoops() {
	for _, key := range m.keys {
		if !m.stays[key] && m.mayLookUp(key, key, map[string]bool{}) {
			m.stay(m.bound[key][0], "it may look up itself")
		}
	}
}

func (m *migration) mayLookUp(from, to string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, b := range m.bound[from] {
		for text := range texts(b.value) {
			for _, key := range keysLookedUpBy(text) {
				if key == to || m.mayLookUp(key, to, seen) {
					return true
				}
			}
		}
	}
	return false
}
