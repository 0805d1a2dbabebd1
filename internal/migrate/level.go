package migrate

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/pattern"
	"bindc/loader"
)

// level is a path in a Hiera 5 hierarchy, or a glob with the files that it matches.
type level struct {
	hierarchy *hierarchy
	layer     int
	part      loader.HieraPart
	entry     int // number of the entry in its hierarchy
	files     []*levelFile
	pathText  string   // the path in Hiera 5 syntax; "" if it has no variables or is in the global hierarchy
	prefix    string   // text before the variable, if the path has only one
	suffix    string   // text after the variable, if the path has only one
	variables []string // the last segment of each variable's name
	value     string   // expression for the value of the category, in Hiera 2 syntax
	path      string   // the path in Hiera 2 syntax
	glob      bool
	problem   string // why none of its keys can move, or ""
	category  *category
	moves     bool // whether the new site has a data file for the level
}

type levelFile struct {
	*source
	rel     string // relative to the directory of the hierarchy
	value   string // value of the category for which the file is used; "" if the level has no variables
	problem string
}

type category struct {
	name, value string
	used        bool
}

func (l *level) constant() bool { return l.pathText == "" }

// newLevel returns the level for a contribution. It does not add the files.
func (m *migration) newLevel(h *hierarchy, layer int, c loader.Contribution) *level {
	l := &level{hierarchy: h, layer: layer, part: m.site.Layers[layer].Hiera,
		entry: m.site.Layers[layer].Entry, glob: len(c.Files) > 1}
	switch l.part {
	case loader.HieraDefaults:
		l.problem = "default_hierarchy is used only for keys without other bindings, which a layer cannot " +
			"express"
	case loader.HieraGlobal:
		l.problem = "the global hierarchy binds it, which is not part of the site"
		return l
	}
	condition := m.site.Conditions[c.Files[0].Condition]
	if len(condition) == 0 {
		l.value = "true"
		return l
	}
	l.pathText = m.site.Dimensions[condition[0].Dimension].Name
	l.glob = strings.ContainsAny(interpolation().ReplaceAllString(l.pathText, ""), "*?[{")
	ext := filepath.Ext(l.pathText)
	if mapped := len(condition) > 1 || isMapped(m.site.Dimensions[condition[0].Dimension].Value); mapped {
		l.problem = "mapped_paths has no equivalent in Hiera 2"
	} else if strings.ContainsAny(ext, "%{}") || !l.glob && ext == "" || strings.Contains(l.pathText, "//") ||
		strings.Contains("/"+l.pathText, "/.") || strings.ContainsAny(l.pathText, `$\`) {
		l.problem = "the path '" + l.pathText + "' has no equivalent in Hiera 2"
	} else {
		m.parsePath(l, ext)
	}
	return l
}

// isMapped reports whether mapped_paths determine the value of a dimension.
func isMapped(n *expr.Node) bool {
	return slices.ContainsFunc(n.Kids, func(k *expr.Node) bool { return k.Lambda != nil })
}

// parsePath sets the fields of l that depend on the variables in the path. If the path cannot be
// expressed in Hiera 2, it sets l.problem.
func (m *migration) parsePath(l *level, ext string) {
	n, _ := expr.ParseHiera(l.pathText)
	refs, reference := 0, ""
	for _, k := range n.Kids {
		if v, ok := k.Constant(); ok {
			l.path += v.Text()
			if l.suffix += v.Text(); refs == 0 {
				l.prefix += v.Text()
			}
			continue
		}
		source, problem := variableSource(k)
		if problem != "" || k.Name != expr.HieraScope {
			l.problem = "the path '" + l.pathText + "' has an interpolation without an equivalent in Hiera 2"
			return
		}
		refs, reference, l.suffix = refs+1, "${"+source+"}", ""
		l.path += reference
		l.variables = append(l.variables, categoryName(source))
	}
	l.path = strings.TrimSuffix(l.path, ext)
	switch {
	case refs == 0:
		l.problem = "the path '" + l.pathText + "' has no variable"
	case refs == 1:
		l.value = reference
	default:
		l.value = l.path
	}
}

// categoryName returns the name of a category whose value is a variable. source is the variable in
// Hiera 2 syntax.
func categoryName(source string) string {
	switch source {
	case "trusted['certname']", "fqdn", "clientcert", "facts['networking']['fqdn']":
		return "node"
	case "facts['os']['family']", "os['family']":
		return "osfamily"
	}
	words := wordsOf(source)
	return words[len(words)-1]
}

var word = pattern.Lazy(`[a-z0-9_]+`)

func wordsOf(text string) []string {
	return append([]string{"level"}, word().FindAllString(strings.ToLower(text), -1)...)
}

// relative returns the path relative to dir, with slashes. It begins with ../ if path is not in
// dir.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil { // one of the paths is absolute, the other is not
		dir, _ = filepath.Abs(dir)
		path, _ = filepath.Abs(path)
		if rel, err = filepath.Rel(dir, path); err != nil { // dir and path are on different volumes
			rel = "../" + path
		}
	}
	return filepath.ToSlash(rel)
}

// file adds src to the files of the level. condition selects the requests that use the file.
func (l *level) file(src *source, condition loader.Condition) *levelFile {
	f := &levelFile{source: src, rel: relative(l.hierarchy.root, src.path)}
	l.files = append(l.files, f)
	if strings.HasPrefix(f.rel, "../") {
		f.problem = "its file is outside the directory of hiera.yaml"
	}
	if !l.constant() && l.problem == "" && len(condition) == 1 {
		f.value = l.valueOf(condition[0].Value)
		if f.value == "" {
			f.problem = "its file is for an unset variable, which is in no category"
		}
	}
	for _, other := range l.files[:len(l.files)-1] {
		if other.value != f.value && loader.Fold(other.value) == loader.Fold(f.value) {
			f.problem = "the names of two files differ only in case, which categories ignore"
			other.problem = f.problem
		}
	}
	if hidden := strings.Contains("/"+f.rel, "/."); hidden && !l.glob && f.problem == "" {
		f.problem = "its file is hidden"
	}
	return f
}

// valueOf returns the value of the category for which the level's path is text. It returns "" if
// there is none.
func (l *level) valueOf(text string) string {
	if l.value == l.path && len(l.variables) != 1 {
		return strings.TrimSuffix(text, filepath.Ext(l.pathText))
	}
	value, ok := strings.CutPrefix(text, l.prefix)
	value, ends := strings.CutSuffix(value, l.suffix)
	if !ok || !ends || strings.HasPrefix(value, "/") || strings.HasSuffix(value, "/") {
		return ""
	}
	return value
}

// structured reports whether the level's data must be written as bindings. That is so if a request
// may use several files of the level.
func (l *level) structured() bool { return l.glob }

// categorize sets the category of each level whose keys can move. The site's levels determine the
// order of the categories. The modules' levels use the same categories where the order allows it;
// others are inserted in between.
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
					at = 1 // the category node remains the first
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

// unused returns a name for a level's category that no other category has. The category will be
// inserted at index at.
func (m *migration) unused(l *level, at int) string {
	name := strings.Join(l.variables, "_")
	if l.constant() {
		words := wordsOf(strings.TrimSuffix(l.label(), filepath.Ext(l.label())))
		name = words[len(words)-1]
	}
	if name == "node" && at > 0 {
		name = "certname"
	}
	if name[0] < 'a' { // the name begins with '_' or a digit
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

// label returns the path of the level's file. If the level has several files, it returns their
// directory.
func (l *level) label() string {
	if len(l.files) > 1 {
		return filepath.Dir(l.files[0].rel)
	}
	return l.files[0].rel
}
