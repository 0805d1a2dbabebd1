package migrate

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/fsx"
)

// hiera5Dir is the directory in the new site for data that stays in Hiera 5.
const hiera5Dir = "hiera5"

// output collects the files of the new site by their paths.
type output struct {
	*migration
	files    map[string][]byte
	bindings map[string]*bindingsFile  // bindings files, by path
	byFile   map[*levelFile][]*binding // sorted by key
}

func (m *migration) write() ([]File, error) {
	o := &output{m, map[string][]byte{}, map[string]*bindingsFile{}, map[*levelFile][]*binding{}}
	for _, key := range m.keys {
		for _, b := range m.bound[key] {
			o.byFile[b.file] = append(o.byFile[b.file], b)
		}
	}
	// This file must exist even if no key stays. Otherwise dotted keys and merges requested by
	// callers would not work.
	o.files[hiera5Dir+"/hiera.yaml"] = []byte("version: 5\n")
	for _, h := range m.hierarchies {
		if err := o.writeHierarchy(h); err != nil {
			return nil, err
		}
	}
	for _, key := range m.keys {
		if k := m.merged[key]; !m.stays[key] && k.strategy != "" && k.strategy != "first" {
			o.declareMultibinding(key, k)
		}
	}
	if err := o.writeBindings(); err != nil {
		return nil, err
	}
	if err := o.writeConfiguration(); err != nil {
		return nil, err
	}
	var out []File
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		out = append(out, File{name, o.files[name]})
	}
	return out, nil
}

// newPath returns the path in the new site of a file in a hierarchy.
func (o *output) newPath(h *hierarchy, rel string) string {
	at, err := filepath.Rel(o.dir, h.root)
	if err != nil || strings.HasPrefix(at, "..") {
		at = path.Join("modules", h.module)
	}
	return path.Join(filepath.ToSlash(at), rel)
}

// writeHierarchy writes the data of a hierarchy: keys that move as Hiera 2 data or bindings, and
// all others as they are.
func (o *output) writeHierarchy(h *hierarchy) error {
	if h.global { // the new site uses the same global hierarchy
		return nil
	}
	if err := o.writeRemaining(h); err != nil || h.stays {
		return err
	}
	moves := false
	for _, l := range h.levels {
		for _, f := range l.files {
			moved, err := o.writeFile(l, f)
			if err != nil {
				return err
			}
			moves = moves || moved
		}
	}
	if moves {
		o.writeHiera2(h)
	}
	return nil
}

// writeFile writes the keys of a file that move. It reports whether some of them became Hiera 2
// data.
func (o *output) writeFile(l *level, f *levelFile) (bool, error) {
	structured := map[string]bool{}
	for _, b := range o.byFile[f] {
		if !o.stays[b.key] && (l.structured() || o.isStructured(b)) {
			structured[b.key] = true
			o.writeBinding(b)
		}
	}
	if l.problem != "" || f.problem != "" || l.structured() {
		return false, nil
	}
	keep := func(key string) bool {
		bound := slices.ContainsFunc(o.bound[key], func(b *binding) bool { return b.file == f })
		return bound && !o.stays[key] && !structured[key]
	}
	text, err := f.filtered(keep, func(text string) []edit {
		edits, _ := o.translate(text)
		return edits
	})
	if err != nil || text == nil {
		return false, err
	}
	o.files[o.newPath(l.hierarchy, f.newPath()+".yaml")] = text
	l.moves, l.category.used = true, true
	return true, nil
}

// newPath returns the path of a data file in the new site, without the extension. Since Hiera 2
// paths have no extension, files with an extension other than .yaml go to a separate directory.
func (f *levelFile) newPath() string { return dataPath(f.rel, filepath.Ext(f.rel)) }

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

func (o *output) writeHiera2(h *hierarchy) {
	text := "version: 2\nhierarchy:\n"
	for _, l := range h.levels {
		if !l.moves {
			continue
		}
		path := dataPath(l.files[0].rel, filepath.Ext(l.files[0].rel))
		if !l.constant() {
			path = o.hiera2Path(l, filepath.Ext(l.pathText))
		}
		text += listItem(l.category.name, l.value, path)
	}
	o.files[o.newPath(h, "hiera2.yaml")] = []byte(text)
}

// listItem returns strings as an element of a YAML list. The element is itself a list.
func listItem(texts ...string) string {
	for i, t := range texts[1:] {
		texts[i+1] = `"` + t + `"`
	}
	return "  - [" + strings.Join(texts, ", ") + "]\n"
}

// hiera2Path returns the path of a level relative to the directory of hiera2.yaml.
func (o *output) hiera2Path(l *level, ext string) string {
	dir := ""
	for _, f := range l.files {
		if f.problem == "" {
			text := l.prefix + f.value + l.suffix
			if l.value == l.path {
				text = f.value + ext
			}
			dir = strings.TrimSuffix(f.rel, text)
			break
		}
	}
	return dataPath(dir+l.path+ext, ext)
}

func (o *output) writeRemaining(h *hierarchy) error {
	target := func(rel string) string { return path.Join(hiera5Dir, rel) }
	if h.module != "" {
		if !h.stays {
			return nil
		}
		target = func(rel string) string { return o.newPath(h, rel) }
	}
	found := false
	for _, l := range h.levels {
		for _, f := range l.files {
			text, err := o.remainingText(h, f)
			if err != nil {
				return err
			}
			if text != nil && !strings.HasPrefix(f.rel, "../") {
				o.files[target(f.rel)] = text
			}
			found = found || text != nil
		}
	}
	if !found {
		return nil
	}
	text, err := fsx.Disk{}.ReadFile(h.config)
	o.files[target("hiera.yaml")] = text
	return err
}

// remainingText returns the text of a file without the keys that move, or nil if no key remains.
func (o *output) remainingText(h *hierarchy, f *levelFile) ([]byte, error) {
	if h.stays {
		return f.text, nil
	}
	return f.filtered(func(key string) bool {
		if key == "lookup_options" {
			return len(o.stays) > 0
		}
		return o.stays[quoted(key)]
	}, nil)
}

func (o *output) writeConfiguration() error {
	var site []string
	if o.files["hiera2.yaml"] != nil {
		site = append(site, "confdir-hiera:/")
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(o.files)), func(name string) bool {
		return strings.HasPrefix(name, "bindings/")
	}) {
		site = append(site, "confdir:/**")
	}
	hiera := []string{"hiera:/" + hiera5Dir}
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
			text += listItem(c.name, c.value)
		}
	}
	o.files["binder_config.yaml"] = []byte(text)
	return o.writeModulePath()
}
