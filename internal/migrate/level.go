package migrate

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/loader"
)

// level is a path of a hierarchy, or one of the files that a glob finds.
type level struct {
	hierarchy *hierarchy
	layer     int
	part      loader.HieraPart
	entry     int // number in its hierarchy
	files     []*levelFile
	text      string   // the path as it is written, "" of a constant one
	before    string   // of a path of one variable, what is in front of it
	after     string   // and behind
	names     []string // of its variables
	value     string   // the expression of its category
	path      string   // the path in a hierarchy of Hiera-2
	glob      bool
	problem   string // why nothing of it moves
	category  *category
	moves     bool // a data file of it is written
}

// levelFile is a file of a level.
type levelFile struct {
	*source
	rel     string // from the directory of the hierarchy
	value   string // of the category; "" of a constant level
	problem string
}

// category is one of the new site.
type category struct {
	name, value string
	used        bool
}

func (l *level) constant() bool { return l.text == "" }

// newLevel takes the path of a level apart. Files are added afterwards.
func (m *migration) newLevel(h *hierarchy, layer int, c loader.Contribution) *level {
	l := &level{hierarchy: h, layer: layer, part: m.site.Layers[layer].Hiera,
		entry: m.site.Layers[layer].Entry, glob: len(c.Files) > 1}
	switch l.part {
	case loader.HieraDefaults:
		l.problem = "default_hierarchy counts where nothing else is bound, which no layer does"
	case loader.HieraGlobal:
		l.problem = "the global hierarchy binds it, which is no part of the site"
		return l
	}
	condition := m.site.Conditions[c.Files[0].Condition]
	if len(condition) == 0 {
		l.value = "true"
		return l
	}
	l.text = m.site.Dimensions[condition[0].Dimension].Name
	l.glob = strings.ContainsAny(interpolation.ReplaceAllString(l.text, ""), "*?[{")
	ext := filepath.Ext(l.text)
	if mapped := len(condition) > 1 || isMapped(m.site.Dimensions[condition[0].Dimension].Value); mapped {
		l.problem = "mapped_paths has no form in Hiera-2"
	} else if strings.ContainsAny(ext, "%{}") || !l.glob && ext == "" || strings.Contains(l.text, "//") ||
		strings.Contains("/"+l.text, "/.") || strings.ContainsAny(l.text, `$\`) {
		l.problem = "the path '" + l.text + "' has no form in Hiera-2"
	} else {
		m.takeApart(l, ext)
	}
	return l
}

// isMapped tells whether a dimension is one of mapped_paths.
func isMapped(n *expr.Node) bool {
	return slices.ContainsFunc(n.Kids, func(k *expr.Node) bool { return k.Lambda != nil })
}

// takeApart says the path of a level as Hiera-2 does.
func (m *migration) takeApart(l *level, ext string) {
	n, _ := expr.ParseHiera(l.text)
	refs, sole := 0, ""
	for _, k := range n.Kids {
		if v, ok := k.Constant(); ok {
			l.path += v.Text()
			if l.after += v.Text(); refs == 0 {
				l.before += v.Text()
			}
			continue
		}
		source, problem := variable(k)
		if problem != "" || k.Name != expr.HieraScope {
			l.problem = "the path '" + l.text + "' has an interpolation without a form in Hiera-2"
			return
		}
		refs, sole, l.after = refs+1, "${"+source+"}", ""
		l.path += sole
		l.names = append(l.names, nameOf(source))
	}
	l.path = strings.TrimSuffix(l.path, ext)
	switch {
	case refs == 0:
		l.problem = "the path '" + l.text + "' has no variable"
	case refs == 1:
		l.value = sole
	default:
		l.value = l.path
	}
}

// nameOf is what a category is called that is a variable.
func nameOf(source string) string {
	switch source {
	case "trusted['certname']", "fqdn", "clientcert", "facts['networking']['fqdn']":
		return "node"
	case "facts['os']['family']", "os['family']":
		return "osfamily"
	}
	words := wordsOf(source)
	return words[len(words)-1]
}

var word = regexp.MustCompile(`[a-z0-9_]+`)

func wordsOf(text string) []string {
	return append([]string{"level"}, word.FindAllString(strings.ToLower(text), -1)...)
}

// relative returns a path relative to a directory, with slashes. It begins with ../ if the path is outside.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil { // one of the two is absolute
		dir, _ = filepath.Abs(dir)
		path, _ = filepath.Abs(path)
		if rel, err = filepath.Rel(dir, path); err != nil { // on another volume
			rel = "../" + path
		}
	}
	return filepath.ToSlash(rel)
}

// file adds a file to a level, under a condition.
func (l *level) file(src *source, condition loader.Condition) *levelFile {
	f := &levelFile{source: src, rel: relative(l.hierarchy.root, src.path)}
	l.files = append(l.files, f)
	if strings.HasPrefix(f.rel, "../") {
		f.problem = "its file is outside of the directory of hiera.yaml"
	}
	if !l.constant() && l.problem == "" && len(condition) == 1 {
		f.value = l.valueOf(condition[0].Value)
		if f.value == "" {
			f.problem = "its file is for a variable that is nothing, which is in no category"
		}
	}
	for _, other := range l.files[:len(l.files)-1] {
		if other.value != f.value && loader.Fold(other.value) == loader.Fold(f.value) {
			f.problem = "the names of two files differ in case only, which categories do not tell apart"
			other.problem = f.problem
		}
	}
	if hidden := strings.Contains("/"+f.rel, "/."); hidden && !l.glob && f.problem == "" {
		f.problem = "its file is a hidden one"
	}
	return f
}

// valueOf is the value of the category under which the path is text; "" if there is none.
func (l *level) valueOf(text string) string {
	if l.value == l.path && len(l.names) != 1 {
		return strings.TrimSuffix(text, filepath.Ext(l.text))
	}
	value, ok := strings.CutPrefix(text, l.before)
	value, ends := strings.CutSuffix(value, l.after)
	if !ok || !ends || strings.HasPrefix(value, "/") || strings.HasSuffix(value, "/") {
		return ""
	}
	return value
}

// structured tells whether the data of a level are written as bindings: several files count in one request.
func (l *level) structured() bool { return l.glob }

// categorize gives each level a category: those of the site in their order, those of modules as far as they follow
// that, and others between them.
func (m *migration) categorize() {
	m.categories = nil
	common := &category{"common", "true", true}
	for _, h := range m.hierarchies {
		at := 0
		for i, l := range h.levels {
			switch {
			case l.problem != "":
				continue
			case l.constant() && i == len(h.levels)-1:
				l.category = common
				continue
			}
			found := -1
			if h.module != "" {
				found = slices.IndexFunc(m.categories[at:], func(c *category) bool { return c.value == l.value })
			}
			if found < 0 {
				if at == 0 && len(m.categories) > 0 && m.categories[0].name == "node" {
					at = 1 // nothing stands above it
				}
				found = 0
				c := &category{name: m.unused(l, at), value: l.value}
				m.categories = slices.Insert(m.categories, at, c)
			}
			at += found + 1
			l.category = m.categories[at-1]
		}
	}
	m.categories = append(m.categories, common)
}

// unused is a name for the category of a level that is to be at a place.
func (m *migration) unused(l *level, at int) string {
	name := strings.Join(l.names, "_")
	if l.constant() {
		words := wordsOf(strings.TrimSuffix(l.label(), filepath.Ext(l.label())))
		name = words[len(words)-1]
	}
	if name == "node" && at > 0 {
		name = "certname"
	}
	if name[0] < 'a' { // a digit or '_': names have no other characters here
		name = "level_" + name
	}
	taken := func(name string) bool {
		return name == "common" || slices.ContainsFunc(m.categories, func(c *category) bool { return c.name == name })
	}
	out := name
	for i := 2; taken(out); i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	return out
}

// label is what a constant level is called by: its file, or the directory of several.
func (l *level) label() string {
	if len(l.files) > 1 {
		return filepath.Dir(l.files[0].rel)
	}
	return l.files[0].rel
}
