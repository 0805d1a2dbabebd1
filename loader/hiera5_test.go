//go:build unix

package loader_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/fsx"
	"bindc/internal/recipe"
	"bindc/internal/testmode"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// testdata/hiera5.txt has sites with Hiera 5, with their expected diagnostics and layers. A layer is described by its
// part and entry, whether it is the only path or entry, and its files with their conditions and numbers of keys.
func TestSitesWithHiera5GiveExpectedLayers(t *testing.T) {
	text, err := os.ReadFile("testdata/hiera5.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		name, site, _ := strings.Cut(c, "\n")
		t.Run(name, func(t *testing.T) {
			files, opts := map[string]string{}, loader.Options{}
			for _, f := range txtar.Parse([]byte(site)).Files {
				files[f.Name] = strings.TrimSpace(string(f.Data))
			}
			reported, layers := files["reported"], files["layers"]
			delete(files, "reported")
			delete(files, "layers")
			dir := writeSite(t, files)
			if _, ok := files["global/hiera.yaml"]; ok {
				opts.GlobalHiera = filepath.Join(dir, "global/hiera.yaml")
			}
			var diags diag.List
			loaded := loader.Load(dir, opts, &diags)
			if got := strings.Join(reportsOf(dir, &diags), "\n"); got != reported {
				t.Errorf("reported is\n%s\nexpected\n%s", got, reported)
			}
			if got := strings.Join(hieraLayers(dir, loaded), "\n"); got != layers && !diags.Failed() {
				t.Errorf("the layers are\n%s\nexpected\n%s", got, layers)
			}
		})
	}
}

// hieraLayers describes the layers of a site. It leaves out empty layers that belong to no hierarchy.
func hieraLayers(dir string, site *loader.Site) (out []string) {
	parts := map[loader.HieraPart]string{loader.NoHiera: "no part", loader.HieraGlobal: "global",
		loader.HieraEnvironment: "environment",
		loader.HieraModule:      "module", loader.HieraDefaults: "default_hierarchy"}
	for _, l := range site.Layers {
		line := fmt.Sprint(parts[l.Hiera], " ", l.Entry)
		var only []string
		if l.OnlyPath {
			only = append(only, "only path")
		}
		if l.OnlyEntry {
			only = append(only, "only entry")
		}
		if len(only) > 0 {
			line += " " + strings.Join(only, ", ")
		}
		line += ":"
		files := 0
		for _, c := range l.Contributions {
			for _, f := range c.Files {
				rel, _ := filepath.Rel(dir, f.Path)
				line += fmt.Sprintf(" %s%s %d", filepath.ToSlash(rel), terms(site, f.Condition), len(f.Entries))
				files++
			}
		}
		if files > 0 || l.Hiera != loader.NoHiera {
			out = append(out, line)
		}
	}
	return out
}

// Each file system call fails once. The build must give the same layers, or an error that names the path: a failed read
// must not make a configuration look like one of another version.
func TestEveryFaultGivesSameHiera5LayersOrError(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 5\nhierarchy: [{name: A, glob: '*/*.yaml'}]",
		"data/n/a.yaml": "a: 1", "data/n/b.yaml": "-> a.yaml", "modules/m/hiera.yaml": "version: 5",
		"modules/m/data/common.yaml": "m::a: 1", "modules/n/hiera.yaml": "version: 4"})
	read := func(failing testmode.Access) ([]string, []testmode.Access, []diag.Diagnostic) {
		var calls []testmode.Access
		var diags diag.List
		fault := testmode.NumberCalls(func(a testmode.Access) error {
			calls = append(calls, a)
			if a == failing {
				return fs.ErrPermission
			}
			return nil
		})
		site := loader.Load(dir, loader.Options{Jobs: 1, Disk: fsx.Disk{Fault: fault}}, &diags)
		return hieraLayers(dir, site), calls, diags.Sorted()
	}
	want, calls, found := read(testmode.Access{})
	if len(found) > 0 || len(want) < 3 || len(calls) < 30 {
		t.Fatalf("%d calls, found %v: %v", len(calls), want, found)
	}
	for _, call := range calls {
		got, _, found := read(call)
		named := func(d diag.Diagnostic) bool { return d.Code == "read" && d.Pos.File == call.Path }
		if !slices.Equal(got, want) && !slices.ContainsFunc(found, named) {
			t.Errorf("%s %d of %s: the layers are\n%s\nand found is %v", call.Op, call.Nth, call.Path,
				strings.Join(got, "\n"), found)
		}
	}
}

// The value of a path dimension is the whole text of the path. It is case-sensitive and has no effect on precedence.
func TestPathDimensionsAreCaseSensitive(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 5\nhierarchy: [{name: A, path: '%{role}.yaml'}]",
		"data/a.yaml": "a: 1"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	last := site.Dimensions[len(site.Dimensions)-1]
	if last.Name != "%{role}.yaml" || last.Category != -1 || !last.Guard || !last.Exact {
		t.Errorf("the dimension of a path is %+v", last)
	}
}

// A lookup fails if a path of the hierarchy cannot be computed, even if no file has that path. For this check, the
// loader records all paths with variables, by module.
func TestRecordsPathsWithVariablesByModule(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"hiera.yaml": "version: 5\nhierarchy: [{name: A, paths: ['%{role}.yaml', c.yaml]}, {name: B, glob: '%{os}/*'},\n" +
			"{name: C, mapped_paths: [teams, t, 't/%{t}.yaml']}]",
		"modules/m/hiera.yaml": "version: 5",
		"modules/n/hiera.yaml": "version: 5\ndefault_hierarchy: [{name: D, path: '%{x}.yaml'}]"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	got := map[string]string{}
	for module, dims := range site.Paths {
		for _, d := range dims {
			got[module] += " " + site.Dimensions[d].Name
		}
		if len(dims) == 0 {
			t.Errorf("the module '%s' has a list of no paths", module)
		}
	}
	want := map[string]string{"": " %{role}.yaml %{os}/*" + strings.Repeat(" t/%{t}.yaml", 17), "n": " %{x}.yaml"}
	if !maps.Equal(got, want) || diags.Failed() {
		t.Errorf("the paths are %q, expected %q", got, want)
	}
}

// If several spellings of a path lead to the same file, the file applies for each of them.
func TestSpellingsOfPathNameSameFile(t *testing.T) {
	dir := writeSite(t, map[string]string{"data/x": "", "hiera.yaml": "version: 5\nhierarchy:\n" +
		"- {name: A, paths: ['%{teams.0}.yaml', '%{teams.1}', '%{teams.0}/%{teams.1}', 'x/%{teams.1}']}\n"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	var got []string
	for _, dim := range site.Paths[""] {
		v, err := expr.Eval(site.Dimensions[dim].Value, teams{"./a//b", "c/../d.yaml"}, expr.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Text())
	}
	expect(t, got, "a/b.yaml", "d.yaml", "a/b/d.yaml", "x/d.yaml")
}

// A layer has the name of its entry, unless modules that share the layer have different names for it. The
// lookup_options of a module apply only to that module.
func TestModuleLayersHaveNamesAndLookupOptions(t *testing.T) {
	const hiera = "version: 5\nhierarchy: [{name: Same, path: a.yaml}, {name: %s, path: b.yaml}]"
	dir := writeSite(t, map[string]string{
		"modules/m/hiera.yaml":  fmt.Sprintf(hiera, "Mine"),
		"modules/m/data/a.yaml": "m::a: 1\nlookup_options: {m::a: {merge: unique}}", "modules/m/data/b.yaml": "m::b: 1",
		"modules/n/hiera.yaml":  fmt.Sprintf(hiera, "Yours"),
		"modules/n/data/a.yaml": "n::a: 1", "modules/n/data/b.yaml": "n::b: 1"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	var got []string
	for _, l := range site.Layers {
		line := l.Name + " -"
		for _, c := range l.Contributions {
			for _, f := range c.Files {
				for _, e := range f.Entries {
					line += " " + strings.TrimLeft(site.Keys[e.Key], "\x00") // without the leading NUL byte
				}
			}
		}
		got = append(got, line)
	}
	expect(t, got, "site -", "module: Same - m::a lookup_options m n::a", "module - m::b n::b", "modules -")
}

// Hiera 5 data may be in a directory above the site. Other files there do not belong to the site.
func TestDataAboveSiteDoesNotAddOtherFiles(t *testing.T) {
	dir := writeSite(t, map[string]string{"a.yaml": "a: 1", "b.yaml": "a: 1",
		"site/hiera.yaml": "version: 5\nhierarchy: [{name: A, path: a.yaml, datadir: ..}]"})
	var diags diag.List
	site := loader.Load(filepath.Join(dir, "site"), loader.Options{}, &diags)
	expect(t, reportsOf(dir, &diags))
	expect(t, hieraLayers(dir, site), "environment 0 only path, only entry: a.yaml 1")
}

// How a value is read depends on the backend: Hiera 5 interpolates %{...}, and eyaml decrypts ENC[...].
func TestBackendDeterminesInterpolationAndDecryption(t *testing.T) {
	const plain, encrypted = "${a}", "ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQIBADAFMAACAQEw]"
	for _, c := range []struct {
		hiera, file string
		computed    string // the keys whose values differ from the text in the file
	}{
		{"hierarchy: [{name: A, path: a.yaml}]", "data/a.yaml", "percent"},
		{"hierarchy: [{name: A, path: a.json, data_hash: json_data}]", "data/a.json", "percent"},
		{"hierarchy: [{name: A, path: a.yaml, lookup_key: eyaml_lookup_key}]", "data/a.yaml", "percent encrypted"},
		{"defaults: {lookup_key: eyaml_lookup_key}\nhierarchy: [{name: A, path: a.yaml}]", "data/a.yaml",
			"percent encrypted"},
	} {
		dir := writeSite(t, map[string]string{"hiera.yaml": "version: 5\n" + c.hiera, c.file: fmt.Sprintf(
			`{"percent": "%%{x}", "plain": %q, "encrypted": %q}`, plain, encrypted)})
		var diags diag.List
		site := loader.Load(dir, loader.Options{}, &diags)
		var computed []string
		for _, e := range site.Layers[1].Contributions[0].Files[0].Entries { // the layer with the data
			if site.Values[e.Value][0] != recipe.CompiledConstant {
				computed = append(computed, site.Keys[e.Key])
			}
		}
		if got := strings.Join(computed, " "); got != c.computed {
			t.Errorf("%s: computed is %s, expected %s; %v", c.hiera, got, c.computed, diags.Sorted())
		}
	}
}

// The data directory may be outside the site.
func TestHiera5DataOutsideSite(t *testing.T) {
	data := writeSite(t, map[string]string{"a.yaml": "a: 1", "b.yaml": "a: 1"})
	dir := writeSite(t, map[string]string{
		"hiera.yaml": "version: 5\nhierarchy: [{name: A, path: a.yaml, datadir: '" + data + "'}]"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	expect(t, reportsOf(data, &diags), "b.yaml warning data_unreached; "+addEntry)
	expect(t, hieraLayers(data, site), "environment 0 only path, only entry: a.yaml 1")
}

// For a version in quotes or with a decimal point, the message suggests the integer.
func TestSuggestsIntegerForVersionInQuotes(t *testing.T) {
	for version, want := range map[string]string{"'5'": "the integer 5", "'2'": "the integer 2", "'4'": "the integer 2",
		"5.0": "the integer 5"} {
		dir := writeSite(t, map[string]string{"hiera.yaml": "version: " + version})
		var diags diag.List
		loader.Load(dir, loader.Options{}, &diags)
		if found := diags.Sorted(); len(found) != 1 || !strings.Contains(found[0].Message, "expected "+want+" for") {
			t.Errorf("%s: found %v, expected %s", version, found, want)
		}
	}
}

// teams is a scope with a single variable, whose value is a list.
type teams []string

func (n teams) Variable(name string) (value.Value, bool) {
	elems := make([]value.Value, len(n))
	for i, text := range n {
		elems[i] = value.FromString(text)
	}
	return value.FromSlice(elems), name == "teams"
}

func (teams) Lookup(string, *types.Type) (value.Value, bool, error) { return value.Value{}, false, nil }

// mapped_paths has one layer per element, in order. The first layer is for requests whose variable has a single
// element.
func TestMappedPathsHaveOneLayerPerElement(t *testing.T) {
	dir := writeSite(t, map[string]string{"data/t/a.yaml": "a: 1",
		"hiera.yaml": "version: 5\nhierarchy: [{name: A, mapped_paths: [teams, t, 't/%{t}.yaml']}]"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	all := strings.Fields("a b c d e f g h i j k l m n o p") // the largest number of elements
	for _, c := range []struct{ teams, want []string }{
		{all[:1], []string{"t/a.yaml"}},
		{all[:2], []string{"", "t/a.yaml", "t/b.yaml"}},
		{all, []string{"", "t/a.yaml", "t/b.yaml", "t/c.yaml", "t/d.yaml", "t/e.yaml", "t/f.yaml", "t/g.yaml",
			"t/h.yaml", "t/i.yaml", "t/j.yaml", "t/k.yaml", "t/l.yaml", "t/m.yaml", "t/n.yaml", "t/o.yaml", "t/p.yaml"}},
	} {
		got := make([]string, 0, len(c.want))
		for i, dim := range site.Paths[""] {
			v, err := expr.Eval(site.Dimensions[dim].Value, teams(c.teams), expr.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if i < len(c.want) || v.Text() != "" {
				got = append(got, v.Text())
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of %q the paths are %q, expected %q", c.teams, got, c.want)
		}
	}
}

// Matching g globs against f files takes g×f steps. So each repeated match of a file counts towards the limit. The
// error is at the glob that exceeds it.
func TestOverlappingGlobsAreLimited(t *testing.T) {
	const entries, files = 6, 5
	config := "version: 5\nhierarchy:\n"
	for i := range entries {
		config += fmt.Sprintf("  - {name: e%d, globs: ['n/*', '%%{a}*.yaml']}\n", i)
	}
	all := map[string]string{"hiera.yaml": config}
	for i := range files {
		all[fmt.Sprintf("data/%d.yaml", i)] = fmt.Sprintf("k%d: 1", i)
	}
	dir := writeSite(t, all)
	const again = (entries - 1) * files
	for limit, want := range map[int][]string{again: nil, again - 1: {"8:31 hierarchy"}, files: {"5:31 hierarchy"}} {
		var diags diag.List
		loader.Load(dir, loader.Options{}.FindingAgain(limit), &diags)
		var got []string
		for _, d := range diags.Sorted() {
			if d.Code == "hierarchy" {
				got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Code))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("with a limit of %d, reported are %q, want %q", limit, got, want)
		}
	}
}
