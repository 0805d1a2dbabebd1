package migrate

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/fsx"
)

// remains is the directory of what stays in Hiera 5.
const remains = "hiera5"

// output is the files of the new site.
type output struct {
	*migration
	files    map[string][]byte
	bindings map[string]*bindingsFile  // by path
	byFile   map[*levelFile][]*binding // by key
}

func (m *migration) write() ([]File, error) {
	o := &output{m, map[string][]byte{}, map[string]*bindingsFile{}, map[*levelFile][]*binding{}}
	for _, key := range m.keys {
		for _, b := range m.bound[key] {
			o.byFile[b.file] = append(o.byFile[b.file], b)
		}
	}
	// Also where nothing stays: keys dig, and callers merge, where a site has a hierarchy of Hiera 5.
	o.files[remains+"/hiera.yaml"] = []byte("version: 5\n")
	for _, h := range m.hierarchies {
		if err := o.hierarchy(h); err != nil {
			return nil, err
		}
	}
	for _, key := range m.keys {
		if k := m.merged[key]; !m.stays[key] && k.strategy != "" && k.strategy != "first" {
			o.declare(key, k)
		}
	}
	if err := o.writeBindings(); err != nil {
		return nil, err
	}
	if err := o.configuration(); err != nil {
		return nil, err
	}
	var out []File
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		out = append(out, File{name, o.files[name]})
	}
	return out, nil
}

// below is the place of a file of a hierarchy in the new site.
func (o *output) below(h *hierarchy, rel string) string {
	at, err := filepath.Rel(o.dir, h.root)
	if err != nil || strings.HasPrefix(at, "..") {
		at = path.Join("modules", h.module)
	}
	return path.Join(filepath.ToSlash(at), rel)
}

// hierarchy writes one: what moves as Hiera-2 and bindings, and what stays as it is.
func (o *output) hierarchy(h *hierarchy) error {
	if h.global { // the new site is built with it
		return nil
	}
	if err := o.remaining(h); err != nil || h.stays {
		return err
	}
	moves := false
	for _, l := range h.levels {
		for _, f := range l.files {
			some, err := o.file(l, f)
			if err != nil {
				return err
			}
			moves = moves || some
		}
	}
	if moves {
		o.hiera2(h)
	}
	return nil
}

// file writes what of a file moves. It tells whether something is left for the hierarchy.
func (o *output) file(l *level, f *levelFile) (bool, error) {
	structured := map[string]bool{}
	for _, b := range o.byFile[f] {
		if !o.stays[b.key] && (l.structured() || o.isStructured(b)) {
			structured[b.key] = true
			o.bind(b)
		}
	}
	if l.problem != "" || f.problem != "" || l.structured() {
		return false, nil
	}
	keep := func(key string) bool {
		bound := slices.ContainsFunc(o.bound[key], func(b *binding) bool { return b.file == f })
		return bound && !o.stays[key] && !structured[key]
	}
	text, err := f.kept(keep, func(text string) []edit {
		edits, _ := o.translate(text)
		return edits
	})
	if err != nil || text == nil {
		return false, err
	}
	o.files[o.below(l.hierarchy, f.data()+".yaml")] = text
	l.moves, l.category.used = true, true
	return true, nil
}

// data is where a file is in the new site, without its extension. What is no YAML of Hiera 5 has a directory of its
// own, as paths of Hiera-2 have no extension.
func (f *levelFile) data() string { return dataPath(f.rel, filepath.Ext(f.rel)) }

func dataPath(rel, ext string) string {
	dir, rest, below := strings.Cut(strings.TrimSuffix(rel, ext), "/")
	if !below {
		dir, rest = "data", dir
	}
	if ext != ".yaml" {
		dir += "-" + strings.TrimPrefix(ext, ".")
	}
	return dir + "/" + rest
}

// hiera2 writes the configuration of a hierarchy.
func (o *output) hiera2(h *hierarchy) {
	text := "version: 2\nhierarchy:\n"
	for _, l := range h.levels {
		if !l.moves {
			continue
		}
		path := dataPath(l.files[0].rel, filepath.Ext(l.files[0].rel))
		if !l.constant() {
			path = o.pathOf(l, filepath.Ext(l.text))
		}
		text += listed(l.category.name, l.value, path)
	}
	o.files[o.below(h, "hiera2.yaml")] = []byte(text)
}

// listed is a list of texts as an element of a list.
func listed(texts ...string) string {
	for i, t := range texts[1:] {
		texts[i+1] = `"` + t + `"`
	}
	return "  - [" + strings.Join(texts, ", ") + "]\n"
}

// pathOf is the path of a level as Hiera-2 has it: from the directory of its configuration on.
func (o *output) pathOf(l *level, ext string) string {
	dir := ""
	for _, f := range l.files {
		if f.problem == "" {
			text := l.before + f.value + l.after
			if l.value == l.path {
				text = f.value + ext
			}
			dir = strings.TrimSuffix(f.rel, text)
			break
		}
	}
	return dataPath(dir+l.path+ext, ext)
}

// remaining writes what of a hierarchy stays in Hiera 5.
func (o *output) remaining(h *hierarchy) error {
	place := func(rel string) string { return path.Join(remains, rel) }
	if h.module != "" {
		if !h.stays {
			return nil
		}
		place = func(rel string) string { return o.below(h, rel) }
	}
	some := false
	for _, l := range h.levels {
		for _, f := range l.files {
			text, err := o.remainingIn(h, f)
			if err != nil {
				return err
			}
			if text != nil && !strings.HasPrefix(f.rel, "../") {
				o.files[place(f.rel)] = text
			}
			some = some || text != nil
		}
	}
	if !some {
		return nil
	}
	text, err := fsx.Disk{}.ReadFile(h.config)
	o.files[place("hiera.yaml")] = text
	return err
}

// remainingIn is what of a file stays in Hiera 5; nil for nothing.
func (o *output) remainingIn(h *hierarchy, f *levelFile) ([]byte, error) {
	if h.stays {
		return f.text, nil
	}
	return f.kept(func(key string) bool {
		if key == "lookup_options" {
			return len(o.stays) > 0
		}
		return o.stays[quoted(key)]
	}, nil)
}

// configuration writes binder_config.yaml, and the module path.
func (o *output) configuration() error {
	var site []string
	if o.files["hiera2.yaml"] != nil {
		site = append(site, "confdir-hiera:/")
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(o.files)), func(name string) bool {
		return strings.HasPrefix(name, "bindings/")
	}) {
		site = append(site, "confdir:/**")
	}
	hiera := []string{"hiera:/" + remains}
	if slices.ContainsFunc(o.hierarchies, func(h *hierarchy) bool { return h.stays }) {
		hiera = append(hiera, "module-hiera5:/*")
	}
	text := "version: 1\nlayers:\n"
	layer := func(name string, include ...string) {
		if len(include) > 0 {
			text += "  - {name: " + name + ", include: ['" + strings.Join(include, "', '") + "']}\n"
		}
	}
	layer("site", site...)
	layer("hiera", hiera...)
	layer("modules", "module-hiera:/*/", "module:/*::default")
	text += "categories:\n"
	for _, c := range o.categories {
		if c.used {
			text += listed(c.name, c.value)
		}
	}
	o.files["binder_config.yaml"] = []byte(text)
	return o.modulePath()
}
