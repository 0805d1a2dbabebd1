package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"bindc/internal/value"
)

// hierarchies is a site with every part of Hiera 5, and structured layers above and below them. The key a is merged.
func hierarchies() *Content {
	c := &Content{
		Layers: []string{"site", "global: G", "environment: Nodes", "environment: Common", "module", "default", "modules"},
		Hiera: []HieraPlace{{}, {Part: HieraGlobal, OnlyEntry: true}, {Part: HieraEnvironment, OnlyPath: true},
			{Part: HieraEnvironment, Entry: 300}, {Part: HieraModule, OnlyPath: true, OnlyEntry: true},
			{Part: HieraDefaults}, {}},
		Dimensions: []Dimension{{Name: "node", Category: -1}, {Name: "nodes/%{node}.yaml", Category: -1, Guard: true,
			Exact: true}, {Name: "%{os}.yaml", Category: -1, Guard: true, Exact: true}},
		Keys: []Key{{Name: "\x00\x00lookup_options", Default: -1}, {Name: "\x00\x00merge a", Default: -1},
			{Name: "\x00id", Default: -1}, {Name: "a", Default: 0}},
		Values: append(stored(value.FromInt(1), value.Strings("x")), Stored{Computed: true, Bytes: "recipe"},
			Stored{Computed: true, Bytes: "contributions"}),
		Inputs: []Input{{Path: "data/common.yaml"}},
	}
	at := []Origin{{0, 1, 1}}
	c.Levels = []Level{
		{Layer: 0, Dimensions: []int{0}, Scopes: []Scope{{[]string{"n"}, []Entry{{3, 0}}, at}}},
		{Layer: 2, Dimensions: []int{1}, Scopes: []Scope{{[]string{"nodes/n.yaml"}, []Entry{{1, 1}}, at}}},
		{Layer: 3, Scopes: []Scope{{nil, []Entry{{0, 1}, {1, 0}}, append(at, at...)}}},
		{Layer: 4, Dimensions: []int{1, 2}, Scopes: []Scope{{[]string{"n", "os"}, []Entry{{1, 0}}, at}}},
		{Layer: 6, Scopes: []Scope{{nil, []Entry{{2, 3}}, at}}},
	}
	return c
}

// Open reads the places of layers in the hierarchies of Hiera 5. A file without the feature has no places.
func TestPlacesInHierarchiesAreReadBack(t *testing.T) {
	c := hierarchies()
	s := open(t, c)
	sound(t, s)
	if !slices.Equal(s.Hiera(), c.Hiera) {
		t.Errorf("the layers are %v", s.Hiera())
	}
	other := open(t, everything())
	if other.Hiera() != nil {
		t.Errorf("of a file without hierarchies there are %v", other.Hiera())
	}
	var out strings.Builder
	if err := s.Dump(&out, quotedRecipe, quoted); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"none", "global, its only entry", "environment, its only path",
		"environment", "module, its only path, its only entry", "default_hierarchy", "none"} {
		line := "layer " + string(rune('0'+i)) + ": Hiera 5 part: " + want + "\n"
		if !strings.Contains(out.String(), line) {
			t.Errorf("the dump does not contain %q", line)
		}
	}
	if !strings.Contains(out.String(), "  entry 300\n") || strings.Contains(out.String(), "unreferenced") {
		t.Error("the dump does not know every byte of the layers")
	}
}

// Internal keys of Hiera 5 accept constants and recipes. Internal keys of multibindings only accept contributions. A
// site without hierarchies must not have internal keys of Hiera 5.
func TestVerifyChecksInternalKeys(t *testing.T) {
	const merged, options, id, a = 1, 0, 2, 3
	for _, c := range []struct {
		name             string
		key, value       uint32
		hiera            bool
		section, damaged string
	}{
		{"constants", merged, 1, true, "", ""},
		{"recipes", merged, 2, true, "", ""},
		{"contributions to a merged key", merged, 3, true, "keys", "a recipe that this key may have"},
		{"contributions as lookup_options", options, 3, true, "keys", "a recipe that this key may have"},
		{"contributions to a multibinding", id, 3, true, "", ""},
		{"a constant in a multibinding", id, 1, true, "keys", "contributions in an internal key"},
		{"another recipe in a multibinding", id, 2, true, "keys", "a recipe that this key may have"},
		{"constants without hierarchies", merged, 1, false, "keys", "no internal key of Hiera 5"},
		{"lookup_options without hierarchies", options, 1, false, "keys", "no internal key of Hiera 5"},
	} {
		content := hierarchies()
		if !c.hiera {
			content.Hiera = nil
		}
		content.Levels = []Level{{Scopes: []Scope{{nil, []Entry{{c.key, c.value}}, []Origin{{0, 1, 1}}}}}}
		content.Keys[a].Default = -1
		s, err := OpenBytes(fileOf(t, content))
		if err != nil {
			t.Fatal(c.name, err)
		}
		refuses(t, c.name, s, c.section, c.damaged)
	}
}

func TestForgedHierarchiesReportDamage(t *testing.T) {
	c := hierarchies()
	for name, change := range map[string]func(meta []byte, last int) []byte{
		"":                           func(meta []byte, _ int) []byte { return meta },
		"a part that does not exist": func(meta []byte, last int) []byte { meta[last] = byte(hieraParts); return meta },
		"an unknown flag":            func(meta []byte, last int) []byte { meta[last] = 1 << 6; return meta },
		"half a place":               func(meta []byte, last int) []byte { return meta[:last+1] },
		"one place less":             func(meta []byte, last int) []byte { return meta[:last] },
		"one place more":             func(meta []byte, last int) []byte { return append(meta, 0, 0) },
		"no places":                  func(meta []byte, last int) []byte { return meta[:last-2*len(c.Hiera)+1] },
	} {
		w := newWriter(c, 1)
		if err := cmp.Or(w.index(), w.store()); err != nil {
			t.Fatal(err)
		}
		w.out[secMeta] = change(w.out[secMeta], len(w.out[secMeta])-2)
		_, err := OpenBytes(w.file())
		if name == "" && err != nil {
			t.Error(err)
		} else if name != "" {
			damagedAs(t, name, err, "meta", "layers, dimensions and levels")
		}
	}
}

func TestWriteOfReadContentGivesSameFile(t *testing.T) {
	full := everything()
	full.Slice = []Term{{0, "n01"}}
	full.ARM8 = true
	full.Hiera = []HieraPlace{{}, {Part: HieraEnvironment, Entry: 2, OnlyPath: true}}
	unplaced := &Content{Layers: []string{"l"}, Values: stored(value.FromInt(1)),
		Keys: []Key{{Name: "k", Default: 0, Cold: []Cold{{}, {Terms: nil}}}}}
	for name, c := range map[string]*Content{"everything": full, "hierarchies": hierarchies(), "a fleet": fleet(10),
		"nothing": {}, "bindings without origin": unplaced} {
		s := open(t, c)
		if again := rewritten(t, s); again.data != s.data {
			t.Errorf("%s: the file differs", name)
		}
	}
}

// Content returns the value of the unconditional binding and of the bindings that it hides.
func TestContentReturnsValuesOfHiddenBindings(t *testing.T) {
	c, err := open(t, everything()).Content()
	if err != nil {
		t.Fatal(err)
	}
	k := c.Keys[2]
	if k.Name != "a" || len(k.Cold) != 3 {
		t.Fatalf("%+v", k)
	}
	for i, want := range []int{1, 7, 8} {
		if got := c.Values[k.Cold[i].Value]; got != everything().Values[want] {
			t.Errorf("binding %d of a has %q, expected %q", i, got.Bytes, everything().Values[want].Bytes)
		}
	}
}

// A single Hiera 5 layer is enough to allow internal keys of Hiera 5.
func TestVerifyAcceptsInternalKeysWithOneHieraLayer(t *testing.T) {
	sound(t, open(t, &Content{Layers: []string{"l"}, Hiera: []HieraPlace{{Part: HieraGlobal}},
		Keys: []Key{{Name: "\x00\x00merge a", Default: 0}}, Values: stored(value.FromInt(1))}))
}
