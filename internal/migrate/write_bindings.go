package migrate

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/value"
	"bindc/internal/yaml"
)

// isStructured reports whether a binding cannot be written to a data file and must become a
// structured binding.
func (o *output) isStructured(b *binding) bool {
	k := o.merged[b.key]
	return k.sensitive || k.strategy != "" && k.strategy != "first" || hasAlias(b.value)
}

func hash(pairs ...any) value.Value {
	var b value.Builder
	for i := 0; i < len(pairs); i += 2 {
		v, ok := pairs[i+1].(value.Value)
		if text, isText := pairs[i+1].(string); isText && !ok {
			v = value.FromString(text)
		}
		b.Set(value.FromString(pairs[i].(string)), v)
	}
	return b.Hash()
}

func (o *output) writeBinding(b *binding) {
	var out []value.Value
	switch k := o.merged[b.key]; k.strategy {
	case "unique":
		out = append(out, hash("in", b.key, "to", o.translateAll(b.value)))
	case "hash", "deep":
		for name, v := range b.value.Pairs() {
			out = append(out, hash("in", b.key, "name", name, "to", o.translateAll(v)))
		}
	default:
		attributes := []any{"name", b.key}
		if o.isStructured(b) && !k.sensitive || hasAlias(b.value) {
			source, _ := o.expression(b.value)
			attributes = append(attributes, "to_expression", source)
		} else {
			attributes = append(attributes, "to", o.translateAll(b.value))
		}
		if k.sensitive {
			attributes = append(attributes, "sensitive", value.FromBool(true))
		}
		out = append(out, hash(attributes...))
	}
	f := o.bindingsFor(b)
	b.level.category.used = true
	if !b.level.constant() || b.level.category.name != "common" {
		when := hash(b.level.category.name, cmp.Or(b.file.value, "true"))
		if last := len(f.bind) - 1; last >= 0 {
			if given, ok := f.bind[last].Get(value.FromString("when")); ok && value.Identical(given, when) {
				list, _ := f.bind[last].Get(value.FromString("bind"))
				f.bind[last] = hash("when", when, "bind", value.FromSlice(slices.AppendSeq(slices.Collect(list.Elems()),
					slices.Values(out))))
				return
			}
		}
		out = []value.Value{hash("when", when, "bind", value.FromSlice(out))}
	}
	f.bind = append(f.bind, out...)
}

func hasAlias(v value.Value) bool {
	for text := range texts(v) {
		if _, ok := isAlias(text); ok {
			return true
		}
	}
	return false
}

// bindingsFor returns the bindings file for a binding. In a module, that is the default file.
// Otherwise, each data file has its own bindings file.
func (o *output) bindingsFor(b *binding) *bindingsFile {
	if h := b.level.hierarchy; h.module != "" {
		return o.bindingsAt(o.newPath(h, "bindings/default.yaml"), h.module+"::default")
	}
	words := wordsOf(strings.TrimSuffix(b.file.rel, filepath.Ext(b.file.rel)))[1:]
	if len(words) == 0 {
		words = []string{"level"}
	}
	return o.bindingsAt("bindings/"+strings.Join(words, "/")+".yaml", strings.Join(words, "::"))
}

func (o *output) bindingsAt(at, name string) *bindingsFile {
	f := o.bindings[at]
	if f == nil {
		f = &bindingsFile{name: name}
		o.bindings[at] = f
	}
	return f
}

// declareMultibinding writes the multibinding of a key. It is bound only where the key has
// contributions.
func (o *output) declareMultibinding(key string, k mergedKey) {
	attributes := []any{"name", key, "multibind_id", key}
	if k.strategy == "unique" {
		attributes = append(attributes, "type", "Array[Data]", "options",
			hash("flatten", value.FromBool(true), "uniq", value.FromBool(true)))
	} else {
		attributes = append(attributes, "type", "Hash[String, Data]")
	}
	if k.sensitive {
		attributes = append(attributes, "sensitive", value.FromBool(true))
	}
	b := hash(attributes...)
	if when, always := o.whenBound(key); !always {
		b = hash("when", when, "bind", value.FromSlice([]value.Value{b}))
	}
	at, name := "bindings/merged.yaml", "merged"
	if h := o.bound[key][0].level.hierarchy; h.module != "" &&
		!slices.ContainsFunc(o.bound[key], func(b *binding) bool { return b.level.hierarchy != h }) {
		at, name = o.newPath(h, "bindings/default.yaml"), h.module+"::default"
	}
	f := o.bindingsAt(at, name)
	f.bind = slices.Insert(f.bind, 0, b)
}

// whenBound returns the conditions under which a key is bound. always reports whether it is bound
// without a condition.
func (o *output) whenBound(key string) (when value.Value, always bool) {
	var out []value.Value
	for _, b := range o.bound[key] {
		if b.level.constant() {
			return value.Value{}, true
		}
		if w := hash(b.level.category.name, b.file.value); !slices.ContainsFunc(out, func(v value.Value) bool {
			return value.Identical(v, w)
		}) {
			out = append(out, w)
		}
	}
	return value.FromSlice(out), false
}

func (o *output) writeBindings() error {
	for at, f := range o.bindings {
		text, err := yaml.Write(hash("bindings_version", value.FromInt(1), "name", f.name, "bind",
			value.FromSlice(f.bind)))
		if err != nil {
			return err
		}
		o.files[at] = text
	}
	return nil
}

type bindingsFile struct {
	name string
	bind []value.Value
}
