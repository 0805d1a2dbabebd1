package mention

import (
	"regexp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lsp/outline"
	"bindc/internal/yaml"
)

func pos(n *yaml.Node) diag.Pos { return diag.Pos{Line: int(n.Line), Col: int(n.Col)} }

// bindings finds the names in a bindings file.
func (w *finder) bindings(f *outline.File) {
	if f == nil {
		return
	}
	for i := range f.Entries {
		if e := &f.Entries[i]; e.InBind && e.Value != nil {
			w.statement(e.Value)
		}
	}
}

// statement finds the names in a binding or a conditional.
func (w *finder) statement(n *yaml.Node) {
	if n.Kind == yaml.Sequence {
		if len(n.Kids) == 2 {
			w.addNode(Binds, &n.Kids[0])
		}
		return
	}
	_, _, joins := n.Lookup("in")
	for key, val := range n.Pairs() {
		switch name, _ := key.Text(); name {
		case "name":
			if !joins {
				w.addNode(Binds, val)
			}
		case "rebind":
			w.addNode(Binds, val)
		case "to_lookup_of", "to_alias_of", "to_renamed":
			w.target(val)
		case "to_first_found":
			for i := range val.Kids {
				w.target(&val.Kids[i])
			}
		case "to_hash_lookup":
			if _, target, ok := val.Lookup("name"); ok {
				w.target(target)
			}
		case "in":
			w.addNode(Joins, val)
		case "multibind_id":
			w.addNode(Collects, val)
		case "when":
			w.when(val)
		case "bind":
			for i := range val.Kids {
				w.statement(&val.Kids[i])
			}
		}
	}
}

// target finds the key in NAME or [TYPE, NAME].
func (w *finder) target(n *yaml.Node) {
	if n.Kind == yaml.Sequence && len(n.Kids) == 2 {
		n = &n.Kids[1]
	}
	w.addNode(LooksUp, n)
}

// when finds the categories and values in a condition, or a list of alternatives.
func (w *finder) when(n *yaml.Node) {
	if n.Kind == yaml.Sequence {
		for i := range n.Kids {
			w.when(&n.Kids[i])
		}
		return
	}
	for key, val := range n.Pairs() {
		w.addNode(Category, key)
		category, _ := key.Text()
		values := []*yaml.Node{val}
		if val.Kind == yaml.Sequence {
			values = nil
			for i := range val.Kids {
				values = append(values, &val.Kids[i])
			}
		}
		for _, v := range values {
			before := len(w.out)
			if w.addNode(Value, v); len(w.out) > before {
				w.out[before].Of = category
			}
		}
	}
}

// config finds the paths and categories in hiera.yaml and binder_config.yaml.
func (w *finder) config(f *outline.File) {
	if f == nil {
		return
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		switch {
		case e.Value == nil:
		case slices.Contains([]string{"hierarchy", "default_hierarchy"}, e.Key):
			for j := range e.Value.Kids {
				w.level(&e.Value.Kids[j])
			}
		case e.Key == "categories":
			for j := range e.Value.Kids {
				if pair := &e.Value.Kids[j]; len(pair.Kids) == 2 {
					w.addNode(Category, &pair.Kids[0])
				}
			}
		}
	}
}

// level finds the names in an entry of a hierarchy.
func (w *finder) level(n *yaml.Node) {
	if n.Kind == yaml.Sequence && len(n.Kids) == 3 {
		w.addNode(Category, &n.Kids[0])
		w.addNode(Path, &n.Kids[2])
		return
	}
	for key, val := range n.Pairs() {
		switch name, _ := key.Text(); name {
		case "path", "glob":
			w.addNode(Path, val)
		case "paths", "globs":
			for i := range val.Kids {
				w.addNode(Path, &val.Kids[i])
			}
		}
	}
}

var (
	boundInSet = regexp.MustCompile(`(?m)^\s*(?:abstract\s+|override\s+)*(?:bind|rebind|multibind)\b[^'"\n]*?` +
		`(?:\s(alias|renamed)\s+['"]([^'"\n]+)['"]\s+as\s*)?['"]([^'"\n]+)['"]`)
	targetInSet = regexp.MustCompile(`\bto_(?:lookup_of|alias_of|renamed|first_found)\s*=>\s*\[?\s*([^\]\n}]+)`)
	quoted      = regexp.MustCompile(`['"]([^'"\n]+)['"]`)
	idInSet     = regexp.MustCompile(`\b(in|multibind_id)\s*(?:=>)?\s*['"]([^'"\n]+)['"]`)
)

// set finds the names in a bindings file in Puppet syntax.
func (w *finder) set() {
	src := w.text.Src
	for _, m := range boundInSet.FindAllStringSubmatchIndex(src, -1) {
		if m[4] >= 0 {
			w.add(LooksUp, src[m[4]:m[5]], m[4], m[5])
		}
		w.add(Binds, src[m[6]:m[7]], m[6], m[7])
	}
	for _, m := range targetInSet.FindAllStringSubmatchIndex(src, -1) {
		for _, q := range quoted.FindAllStringSubmatchIndex(src[m[2]:m[3]], -1) {
			w.add(LooksUp, src[m[2]+q[2]:m[2]+q[3]], m[2]+q[2], m[2]+q[3])
		}
	}
	for _, m := range idInSet.FindAllStringSubmatchIndex(src, -1) {
		role := Joins
		if src[m[2]:m[3]] == "multibind_id" {
			role = Collects
		}
		w.add(role, src[m[4]:m[5]], m[4], m[5])
	}
}

var (
	classHead = regexp.MustCompile(`(?m)^[ \t]*class[ \t\n]+(?:::)?([a-z]\w*(?:::\w+)*)(?:\s|#.*\n)*\(`)
	parameter = regexp.MustCompile(`#[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\$\w+|(?s:.)`)
)

// manifest finds the parameters of classes.
func (w *finder) manifest() {
	src := w.text.Src
	for _, head := range classHead.FindAllStringSubmatchIndex(src, -1) {
		class, depth, named := src[head[2]:head[3]], 0, false
		for _, m := range parameter.FindAllStringIndex(src[head[1]:], -1) {
			from, to := head[1]+m[0], head[1]+m[1]
			switch c := src[from]; {
			case strings.IndexByte("([{", c) >= 0:
				depth++
			case strings.IndexByte(")]}", c) >= 0:
				depth--
			case c == ',' && depth == 0:
				named = false
			case c == '$' && depth == 0 && !named:
				w.add(Parameter, class+"::"+src[from+1:to], from+1, to)
				named = true
			}
			if depth < 0 {
				break
			}
		}
	}
}
