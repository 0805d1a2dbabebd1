package mention

import (
	"slices"

	"bindc/diag"
	"bindc/internal/lsp/outline"
	"bindc/internal/yaml"
)

func pos(n *yaml.Node) diag.Pos { return diag.Pos{Line: int(n.Line), Col: int(n.Col)} }

// bindings finds the mentions in a bindings file in YAML.
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

// statement finds the mentions in a binding, or in a hash with 'when' and 'bind'.
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

// target finds the key in a value of the form NAME or [TYPE, NAME].
func (w *finder) target(n *yaml.Node) {
	if n.Kind == yaml.Sequence && len(n.Kids) == 2 {
		n = &n.Kids[1]
	}
	w.addNode(LooksUp, n)
}

// when finds the categories and values in a condition or in a list of alternative conditions.
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

// config finds the paths and categories in a hiera.yaml or binder_config.yaml.
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

// level finds the mentions in one entry of a hierarchy.
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
