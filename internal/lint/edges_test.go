package lint

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/secret/seal"
	"bindc/loader"
)

// Unreadable manifests and lists of keys are errors. Otherwise, the keys in them would be reported as unused.
func TestUnreadableKeysAndManifestsAreErrors(t *testing.T) {
	dir := t.TempDir()
	site{"m/a.pp": "'a::a'", "m/b/b.pp": "'a::b'"}.write(t, dir)
	manifests := filepath.Join(dir, "m")
	var asked Lookups
	if err := asked.AddKeys(filepath.Join(dir, "nowhere.txt")); err == nil {
		t.Error("a missing file of keys is not an error")
	}
	empty := filepath.Join(dir, "empty.txt")
	if err := os.WriteFile(empty, []byte("\n# no key\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := asked.AddKeys(empty); err == nil || !strings.Contains(err.Error(), "found none") {
		t.Errorf("a list without keys: %v", err)
	}
	if err := asked.AddManifests(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a missing directory is not an error")
	}
	if err := asked.AddManifests(t.TempDir()); err == nil || !strings.Contains(err.Error(), "expected manifests") {
		t.Errorf("a directory without manifests: %v", err)
	}
	if err := asked.AddManifests(manifests); err != nil || !asked.Includes("a::a") || !asked.Includes("a::b") ||
		asked.Includes("a") {
		t.Errorf("manifests: %v, %v", asked.keys, err)
	}
	unlisted := Lookups{Disk: fsx.Disk{Fault: func(fsx.Op, string) error { return errors.New("gone") }}}
	if err := unlisted.AddManifests(t.TempDir()); err == nil {
		t.Error("a directory that cannot be listed is not an error")
	}
	failing := Lookups{Disk: fsx.Disk{Fault: func(_ fsx.Op, path string) error {
		if filepath.Base(path) == "a.pp" {
			return errors.New("gone")
		}
		return nil
	}}}
	if err := failing.AddManifests(manifests); err == nil || !strings.Contains(err.Error(), "a.pp") {
		t.Errorf("a manifest that cannot be read: %v", err)
	}
	removing := Lookups{Disk: fsx.Disk{Fault: func(_ fsx.Op, path string) error {
		if filepath.Base(path) == "a.pp" {
			return os.RemoveAll(filepath.Join(manifests, "b"))
		}
		return nil
	}}}
	if err := removing.AddManifests(manifests); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is removed meanwhile: %v", err)
	}
}

// Search reads a directory behind a symbolic link, texts in place of files, and records what it reads.
func TestSearchReadsWithItsDisk(t *testing.T) {
	dir := t.TempDir()
	site{"real/a.pp": "'a::a'"}.write(t, dir)
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	seen := &fsx.Seen{}
	unsaved := fsx.NewOverlay(map[string][]byte{filepath.Join(link, "b.pp"): []byte("'b::b'")})
	asked := Lookups{Disk: fsx.Disk{Seen: seen, Overlay: unsaved}}
	found, err := asked.Search(link)
	if !found || err != nil || !asked.Includes("a::a") || !asked.Includes("b::b") {
		t.Errorf("Search = %t, %v; the keys are %v, expected a::a and b::b", found, err, asked.keys)
	}
	if !slices.ContainsFunc(seen.Looks(), func(l fsx.Look) bool {
		return l.Op == fsx.Read && l.Path == filepath.Join(link, "a.pp")
	}) {
		t.Errorf("reading a.pp is not recorded: %v", seen.Looks())
	}
}

// A looked-up key with interpolations matches every key that it may result in.
func TestInterpolatedKeyMatchesAllKeysThatFit(t *testing.T) {
	var asked Lookups
	asked.addTexts("lookup(\"web.${a}::port\")\nlookup(\"::mail::${b}\")\nlookup(\"::${c}\")\nlookup(\"${d}_${e}\")\n" +
		"lookup('f::${g}')\n")
	for key, want := range map[string]bool{"web.x::port": true, "webxx::port": false, "web.x::host": false,
		"mail::x": true, "x::mail::x": false, "c": false, "d_e": false, "f::g": false, "/Web[x]/port": true} {
		if asked.Includes(key) != want {
			t.Errorf("%s: asked for is %v, expected %v", key, !want, want)
		}
	}
}

// A file may be replaced between the build and the lints. No lint is reported for a file that is no longer a data file.
func TestIgnoresFilesReplacedDuringTheRun(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "a: [\n", "bindings default {\n  bind 'a' to\n", "'"} {
		dir := t.TempDir()
		site{"hiera.yaml": "version: 2\n", "data/common.yaml": "b: '$remote_addr'\n",
			"bindings/default.pp": "bindings default {\n  bind 'a' to \"$remote_addr\"\n}\n",
			"binder_config.yaml":  "version: 1\nlayers: [{name: s, include: ['confdir-hiera:/', 'confdir:/default']}]\n",
		}.write(t, dir)
		var diags diag.List
		loaded := loader.Load(dir, loader.Options{}, &diags)
		content := compile.Compile(loaded, compile.Options{}, &diags)
		Check(loaded, content, Options{Codes: Codes()}, &diags)
		if n := len(diags.Sorted()); n != 2 {
			t.Fatalf("before: %v", diags.Sorted())
		}
		site{"data/common.yaml": text, "bindings/default.pp": text}.write(t, dir)
		var after diag.List
		if Check(loaded, content, Options{Codes: Codes()}, &after); len(after.Sorted()) > 0 {
			t.Errorf("%q: %v", text, after.Sorted())
		}
	}
}

// A key bound at more than maxLevels levels is not checked, because that would take too long.
func TestSkipsKeysBoundAtTooManyLevels(t *testing.T) {
	for levels, want := range map[int]int{maxLevels: maxLevels, maxLevels + 1: 0} {
		config, sets := "version: 1\ncategories:\n", strings.Builder{}
		for i := range 7 {
			config += fmt.Sprintf("  - [c%d, '${c%d}']\n", i, i)
		}
		for i := range levels { // each level uses other categories
			var when []string
			for c := range bits.Len(uint(i + 1)) {
				if (i+1)>>c&1 == 1 {
					when = append(when, fmt.Sprintf("c%d: x", c))
				}
			}
			fmt.Fprintf(&sets, "  - {when: {%s}, bind: [[k, 1]]}\n", strings.Join(when, ", "))
		}
		got := site{"binder_config.yaml": config + "layers: [{name: s, include: 'confdir:/default'}]\n",
			"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" + sets.String() + "  - [k, 1]\n",
		}.advice(t, Options{})
		if len(got["same_value"]) != want || len(got["never_wins"]) > 0 {
			t.Errorf("%d levels: advises on %d bindings, expected %d", levels, len(got["same_value"]), want)
		}
	}
}

// Checks of the whole site need a compiled site.
func TestSkipsChecksOfTheWholeSiteIfItDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	site{"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n  - [k, 1]\n  - [k, 1]\n" +
		"  - {when: {osfamily: debain}, bind: [[k, '$remote_addr']]}\n"}.write(t, dir)
	var diags diag.List
	loaded := loader.Load(dir, loader.Options{}, &diags)
	Check(loaded, nil, Options{Codes: Codes(), Lookups: &Lookups{}}, &diags)
	var got []string
	for _, d := range diags.Sorted() {
		got = append(got, string(d.Code))
	}
	if strings.Join(got, " ") != "near_value bare_variable" {
		t.Error("advises on", got)
	}
}

// Contributions to a multibinding in two layers do not hide each other.
func TestContributionsOfTwoLayersAreNotHidden(t *testing.T) {
	got := site{"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
		"{name: low, include: 'confdir:/low'}]\n",
		"bindings/top.yaml": "bindings_version: 1\nname: top\nbind:\n" +
			"  - {name: l, multibind_id: l, type: 'Array[Data]'}\n" +
			"  - {when: {environment: x}, bind: [{in: l, to: 1}]}\n  - {in: l, to: 2}\n",
		"bindings/low.yaml": "bindings_version: 1\nname: low\nbind:\n  - {when: {environment: x}, bind: [{in: l, to: 1}]}\n" +
			"  - {in: l, to: 2}\n"}.advice(t, Options{})
	if len(got) > 0 {
		t.Error(got)
	}
}

// Keys of a module begin with its name. Reserved keys are exempt.
func TestReportsModuleKeysWithoutModuleName(t *testing.T) {
	got := site{"modules/m/bindings/default.yaml": "bindings_version: 1\nname: m::default\nbind:\n  - [m, 1]\n" +
		"  - [m::x, 1]\n  - {parameters: 'Web[one]', to: {port: 1}}\n  - [other, 1]\n"}.advice(t, Options{})["module_key"]
	if strings.Join(got, " ") != "modules/m/bindings/default.yaml:7:6" {
		t.Error("advises at", got)
	}
}

// The keys that sealed values look up are unknown, unlike the keys that other values look up.
func TestLookupsOfSealedValuesAreUnknown(t *testing.T) {
	dir := t.TempDir()
	site{"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" +
		"  - {name: a, to_lookup_of: x, sensitive: true}\n  - {name: b, to_lookup_of: y}\n  - [x, 1]\n  - [y, 1]\n" +
		"  - {name: c, to_expression: \"upcase('z')\"}\n  - [z, 1]\n"}.write(t, dir)
	loaded, content, diags := sound(t, dir)
	if err := compile.Seal(content, seal.NewKey(), []byte("wrapped")); err != nil {
		t.Fatal(err)
	}
	asked := &Lookups{}
	for _, key := range []string{"a", "b", "c", "other::y"} {
		asked.add(key)
	}
	Check(loaded, content, Options{Codes: []diag.Code{"unused_key"}, Lookups: asked}, diags)
	var got []string
	for _, d := range diags.Sorted() {
		got = append(got, d.Message)
	}
	if strings.Join(got, ", ") != "'x' is never looked up, 'z' is never looked up" {
		t.Error("advises on", got)
	}
}

// A value may be a typo of another, or the other without its domain. A different number is not a typo.
func TestIsTypoComparesNodeValues(t *testing.T) {
	checkPairs(t, "is a typo", isTypo, []pair{
		{"web1", "web1.example.org", true},
		{"n1", "n1.example.org", true},
		{"web1", "web12", false},
		{"web-1", "web1", true},
		{"web.another.domain", "web.example.org", false},
		{"wbe1.example.org", "web1.example.org", true},
		{"web1.exmaple.org", "web1.example.org", true},
		{"web2.example.org", "web1.example.org", false},
		{"web0", "web9", false},
		{"mail.example.org", "web.example.org", false},
		{"frankfrt", "frankfurt", true},
		{"frankfrt2", "frankfurt1", true},
		{"production", "staging", false},
	})
}

// A dimension is identified by the letters of its name or expression.
func TestWellKnownValuesMatchDimension(t *testing.T) {
	for dimension, want := range map[string]string{"osfamily": "redhat", `"${osfamily}"`: "redhat",
		"$::kernel": "linux", `"${facts['os']['name']}"`: "ubuntu", `"${facts['osfamily']}"`: "debian", "role": ""} {
		if got := wellKnownValues(dimension); want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("of %s known are %v", dimension, got)
		}
	}
}
