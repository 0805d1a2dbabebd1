package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader"
)

// A schema rejects exactly the documents that the loader rejects. This is tested with every document of the scenarios
// and the reference cases, and with variations in which a part is changed, removed or added.

// beyond matches messages of the loader about problems that a schema cannot see, because they depend on other files,
// other parts of the document, or the content of a string. All other messages with formCodes are about the form.
var beyond = regexp.MustCompile(strings.Join([]string{
	`^the category '.*' is defined twice`, `^expected 'common' as the last category`, `^expected 'environment' below`,
	`^the site has no category`, `^two layers are named`, `^unknown scheme`, `^the scheme '`, `^unknown backend`,
	`^expected a path inside the site or module`, `^expected '\*' as the whole module`, `^expected a path after`,
	`^expected the name of bindings`, `^expected a URI with`, `^the category '.*' is in this hierarchy twice`,
	`^this hierarchy has`, `^this condition never holds`, `^expected the name '`, `^'append' makes arrays`,
	`^expected 'flatten' and 'uniq' for a hash`, `^expected an Array or a Hash`, `^expected a key type that accepts`,
	`^unknown attribute:? (the string )?'(conflict_resolution|priority_on_named|priority_on_unnamed)'`, `^expected at most`,
	`^expected constant class names`, `^expected 'combinator' with no other`, `^expected a combinator with`,
	`^expected a transformer with`,
	`^expected the (parameters|variables): an expression`,
	`^this is invalid; it may be sensitive`, `^(scheme|backend) .* this extension is a program`,
}, "|"))

// formCodes lists the codes for problems with the form of a file.
var formCodes = []diag.Code{"config", "category", "layer", "uri", "version", "extension", "hiera", "hierarchy",
	"backend", "data_path", "bindings", "attribute", "when", "multibind", "key", "other_hiera"}

// kindOfFile is a kind of file with a schema, and a way to make a site from a document.
type kindOfFile struct {
	schema string
	lay    func(doc any) (file string, others map[string]any)
}

var kindsOfFiles = []kindOfFile{
	{"binder_config", func(any) (string, map[string]any) {
		return "binder_config.yaml", map[string]any{"hiera.yaml": map[string]any{"version": 2}}
	}},
	{"hiera", func(doc any) (string, map[string]any) {
		var names []string
		if h, ok := doc.(map[string]any); ok {
			entries, _ := h["hierarchy"].([]any)
			for _, e := range entries {
				if parts, ok := e.([]any); ok && len(parts) > 0 {
					names = append(names, fmt.Sprint(parts[0]))
				}
			}
		}
		return "hiera.yaml", siteOf("confdir-hiera:/", names)
	}},
	{"bindings", func(doc any) (string, map[string]any) {
		name := "default"
		if h, ok := doc.(map[string]any); ok {
			if text, ok := h["name"].(string); ok && regexp.MustCompile(`^[a-z]\w*(::\w+)*$`).MatchString(text) {
				name = text
			}
		}
		file := path.Join("bindings", strings.ReplaceAll(name, "::", "/")+".yaml")
		return file, siteOf("confdir:/"+name, conditions(doc))
	}},
}

// siteOf returns the configuration of a site with an include and categories.
func siteOf(uri string, names []string) map[string]any {
	categories := []any{}
	seen := map[string]bool{"common": true}
	for _, name := range append(names, "node", "environment") {
		if !seen[name] && regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(name) {
			seen[name] = true
			categories = append(categories, []any{name, "${" + strings.ReplaceAll(name, "-", "_") + "}"})
		}
	}
	return map[string]any{"binder_config.yaml": map[string]any{"version": 1, "categories": categories,
		"layers": []any{map[string]any{"name": "site", "include": uri}}}}
}

// conditions returns the names in a document that may be names of categories.
func conditions(doc any) []string {
	var out []string
	switch x := doc.(type) {
	case []any:
		for _, e := range x {
			out = append(out, conditions(e)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if k != "environment" && k != "node" {
				out = append(out, k)
			}
			out = append(out, conditions(x[k])...)
		}
	}
	return out
}

func TestSchemasAndLoaderAgree(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	rounds, each := 12, 1
	if !testmode.Thorough() {
		rounds, each = 1, 49
	}
	docs := documentsOfSites(t)
	for _, kind := range kindsOfFiles {
		t.Run(kind.schema, func(t *testing.T) {
			t.Parallel()
			s := compiledSchema(t, kind.schema)
			if len(docs[kind.schema]) < 10 {
				t.Fatalf("only %d documents", len(docs[kind.schema]))
			}
			random := rand.New(rand.NewPCG(1, 2))
			dir := t.TempDir()
			counts := map[bool]int{}
			n := 0
			for _, whole := range full[kind.schema] {
				for doc := range everyChange(t, parsedJSON(t, whole)) {
					if n++; n%each == 0 {
						counts[kind.compare(t, s, dir, doc)]++
					}
				}
			}
			for _, src := range testmode.Sample(t, docs[kind.schema], 4) {
				for round := range rounds + 1 {
					doc := parsedJSON(t, src)
					for range min(round, 1+random.IntN(2)) {
						doc = changed(random, doc)
					}
					counts[kind.compare(t, s, dir, doc)]++
				}
			}
			if counts[true] < 20 || counts[false] < 20 {
				t.Errorf("%d valid documents and %d others", counts[true], counts[false])
			}
		})
	}
}

// compare compares schema and loader for a document, and reports whether it is valid.
func (k kindOfFile) compare(t *testing.T, s *jsonschema.Schema, dir string, doc any) bool {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	name, files := k.lay(doc)
	files[name] = doc
	for name, doc := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, asJSON(t, doc), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	form, more := "", ""
	for _, d := range diags.Sorted() {
		other := d.Code == "hiera_version"
		switch {
		case d.Pos.File != filepath.Join(dir, filepath.FromSlash(name)) || d.Severity != diag.Error && !other:
		case other, slices.Contains(formCodes, d.Code) && !beyond.MatchString(d.Message):
			form = d.Message
		default:
			more = d.Message
		}
	}
	err := s.Validate(doc)
	switch {
	case form != "" && err == nil:
		t.Errorf("%s: the schema accepts a document that the loader rejects (%s):\n%s", k.schema, form, asJSON(t, doc))
	case form == "" && more == "" && err != nil:
		t.Errorf("%s: the loader accepts a document that the schema rejects (%v):\n%s", k.schema, err, asJSON(t, doc))
	}
	return err == nil
}

func compiledSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../cmd/bindc/schemas/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, parsedJSON(t, string(text))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// documentsOfSites returns the files of all scenarios and reference cases, and of testdata, as JSON by schema.
func documentsOfSites(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(name string, src []byte) {
		kind := schemaOf(name, src)
		doc, ok := yaml.Parse(name, src, yaml.Options{LastKeyWins: true}, &diag.List{})
		if kind == "" || !ok || doc.Root == nil {
			return
		}
		if text := string(value.AppendJSON(nil, doc.Root.Literal())); !slices.Contains(out[kind], text) {
			out[kind] = append(out[kind], text)
		}
	}
	scripts, err := filepath.Glob("../cmd/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			add(f.Name, f.Data)
		}
	}
	var cases []referenceCase
	readJSON(t, "../testdata/conformance/reference.json", &cases)
	dirs := []string{"../testdata/example"}
	for _, c := range cases {
		dir := t.TempDir()
		c.lay(t, dir)
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				src, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				add(filepath.ToSlash(name), src)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func schemaOf(name string, src []byte) string {
	switch {
	case path.Base(name) == "binder_config.yaml":
		return "binder_config"
	case path.Base(name) == "hiera.yaml":
		return "hiera"
	case path.Ext(name) == ".yaml" && bytes.Contains(src, []byte("bindings_version")):
		return "bindings"
	}
	return ""
}

func parsedJSON(t *testing.T, text string) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return doc
}

func asJSON(t *testing.T, doc any) []byte {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ") // a value per line, because a sensitive value hides its whole line
	if err := e.Encode(doc); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pieces lists the values that replace parts of a document.
var pieces = []string{`null`, `true`, `false`, `0`, `1`, `2`, `-1`, `-2`, `1.5`,
	`"|$x| { $x }"`, `""`, `"x"`, `"true"`, `"/a"`, `"a/"`, `"a/.."`,
	`"a:b"`, `"confdir:/x?optional"`, `"confdir:x"`, `":/x"`, `"module:/m::n?y"`, `"common"`, `"Upper"`, `"String"`,
	`"append"`, `"~>"`, `"A"`, `"A[b]"`, `["A", "B"]`, `[]`, `["a"]`, `["a", "b"]`, `["String", "b"]`, `["a", "true", "data/x"]`, `[["a", 1]]`, `{}`,
	`{"a": 1}`, `{"node": "x"}`, `{"node": ["x", 1]}`, `[{"node": "x"}]`, `{"name": "a", "to": 1}`,
	`{"name": "a", "key": "b"}`,
	`{"when": {"node": "x"}, "bind": []}`, `{"class_name": "x"}`, `{"command": ["x"]}`, `{"flatten": -1, "uniq": true}`}

var words = []string{
	"version", "layers", "categories", "extensions", "name", "include", "exclude", "hierarchy", "backends",
	"hiera_backends", "scheme_handlers", "command", "yaml", "bindings_version", "bind", "when", "type",
	"to", "multibind_id", "in", "options", "transformer", "abstract", "override", "sensitive",
	"to_lookup_of", "to_first_found", "to_hash_lookup", "to_expression", "to_producer", "to_instance",
	"optional", "to_alias_of", "to_renamed", "rebind",
	"conflict_resolution", "flatten", "uniq", "key", "node", "other",
	"parameters", "variables", "map", "dependency", "kind", "combinator",
}

// full lists documents that use every feature except sensitive values, whose messages show nothing. Each part of them
// is replaced by each piece once.
var full = map[string][]string{
	"binder_config": {`{"version": 1, "layers": [{"name": "a", "include": "confdir:/x?optional",
		"exclude": ["confdir:/x"]}], "categories": [["node", "${fqdn}"], ["common", "true"]],
		"extensions": {"hiera_backends": {"x": {"command": ["x", "y"]}}, "scheme_handlers": {}}}`},
	"hiera": {`{"version": 2, "hierarchy": [["node", "${fqdn}", "data/${fqdn}"], ["common", "true", "data/common"]],
		"backends": ["yaml"]}`},
	"bindings": {`{"bindings_version": 1, "name": "default", "bind": [["a", 1],
		{"name": "b", "type": "Integer", "to": 1, "transformer": "|$x| { $x }", "sensitive": false, "override": true},
		{"name": "c", "abstract": true}, {"name": "d", "to_lookup_of": ["Integer", "a"]},
		{"name": "e", "to_first_found": ["x", "a"]}, {"name": "f", "to_expression": "1"},
		{"name": "g", "to_hash_lookup": {"name": "h", "key": "k", "type": "Hash"}},
		{"name": "h", "to_producer": "p", "options": 1}, {"name": "i", "to_instance": {"class_name": "p"}},
		{"name": "j", "multibind_id": "j", "type": "Array", "options": {"flatten": -1, "uniq": true}},
		{"name": "l", "to_lookup_of": "a", "optional": true}, {"name": "m", "to_alias_of": "a"},
		{"name": "n", "to_renamed": "c"}, {"rebind": "a"},
		{"in": "j", "name": "k", "to": 1}, {"when": {"node": ["x", 1]}, "bind": [["a", 2]]},
		{"when": [{"node": "y"}], "bind": []}]}`,
		`{"bindings_version": 1, "name": "default", "bind": [{"include": ["a", "b::c"]}, {"exclude": "d"},
		{"parameters": "a", "to": {"p": 1}, "type": "Integer", "override": true, "sensitive": false},
		{"parameters": "A", "to": ["p"], "abstract": true}, {"parameters": "a", "to_expression": "{ x => 1 }"}]}`,
		`{"bindings_version": 1, "name": "default", "bind": [
		{"parameters": "A[b]", "to": "B[c]", "options": {"map": {"p": "q"}}},
		{"variables": {"v": 1}, "type": "Integer"}, {"variables": ["w"], "abstract": true}]}`,
		`{"bindings_version": 1, "name": "default", "bind": [
		{"map": ["A", "B"], "to": {"p": "q"}}, {"dependency": ["A[b]", ["A[c]"]], "kind": "~>"},
		{"name": "l", "multibind_id": "l", "options": {"combinator": "|$k, $c, $v| { $v }", "uniq": true}}]}`},
}

// everyChange yields doc with one part replaced by a piece, removed, or added.
func everyChange(t *testing.T, doc any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, text := range pieces {
			if !yield(parsedJSON(t, text)) {
				return
			}
		}
		switch x := doc.(type) {
		case []any:
			for i := range x {
				for inner := range everyChange(t, x[i]) {
					y := slices.Clone(x)
					y[i] = inner
					if !yield(y) {
						return
					}
				}
				if !yield(slices.Delete(slices.Clone(x), i, i+1)) {
					return
				}
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(x)) {
				for inner := range everyChange(t, x[key]) {
					y := maps.Clone(x)
					y[key] = inner
					if !yield(y) {
						return
					}
				}
				y := maps.Clone(x)
				delete(y, key)
				if !yield(y) {
					return
				}
			}
			for _, word := range words {
				y := maps.Clone(x)
				y[word] = true
				if !yield(y) {
					return
				}
			}
		}
	}
}

// changed returns doc with a random part changed, removed or added.
func changed(r *rand.Rand, doc any) any {
	piece := func() any {
		out, err := jsonschema.UnmarshalJSON(strings.NewReader(pieces[r.IntN(len(pieces))]))
		if err != nil {
			panic(err) // impossible, unless the table is wrong
		}
		return out
	}
	switch x := doc.(type) {
	case []any:
		if len(x) > 0 && r.IntN(6) > 0 {
			i := r.IntN(len(x))
			x = slices.Clone(x)
			x[i] = changed(r, x[i])
			return x
		}
		switch {
		case len(x) > 0 && r.IntN(2) == 0:
			i := r.IntN(len(x))
			return slices.Delete(slices.Clone(x), i, i+1)
		case r.IntN(2) == 0:
			return append(slices.Clone(x), piece())
		}
	case map[string]any:
		keys := slices.Sorted(maps.Keys(x))
		x = maps.Clone(x)
		if len(keys) > 0 && r.IntN(6) > 0 {
			key := keys[r.IntN(len(keys))]
			x[key] = changed(r, x[key])
			return x
		}
		switch {
		case len(keys) > 0 && r.IntN(2) == 0:
			delete(x, keys[r.IntN(len(keys))])
			return x
		case r.IntN(2) == 0:
			x[words[r.IntN(len(words))]] = piece()
			return x
		}
	}
	return piece()
}
