package mention

import (
	"fmt"
	"slices"
	"testing"

	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/outline"
	"bindc/internal/yaml"
)

var roles = []string{"binds", "looks up", "options", "parameter", "collects", "joins", "variable", "category", "value",
	"path", "environment"}

// found lists the names in a text with their roles. It checks that names are at their offsets.
func found(t *testing.T, kind Kind, src string) (out []string) {
	t.Helper()
	text := buffer.New(src)
	for _, m := range Find(kind, text, outline.Read("f.yaml", []byte(src), yaml.Options{})) {
		text := roles[m.Role] + " " + m.Name
		if m.Of != "" {
			text += " of " + m.Of
		}
		out = append(out, text)
		if at := src[m.From:m.To]; at != m.Name && dotted(at) != m.Name && Root(at) != m.Name && m.Role != Parameter {
			t.Errorf("the name %q is at %q", m.Name, at)
		}
	}
	return out
}

func TestFindReturnsNamesWithRoles(t *testing.T) {
	for _, test := range []struct {
		name string
		kind Kind
		src  string
		want []string
	}{
		{"data", Data, "'a::b': \"%{lookup('c.d')} %{facts.os.family} %{alias(\\\"e\\\")}\"\n# %{lookup('no')}\n" +
			"lookup_options:\n  f: {merge: hash}\n  '^g': {merge: first}\n",
			[]string{"binds a::b", "looks up c", "variable os.family", "looks up e", "binds lookup_options", "options f",
				"options ^g"}},
		{"data with a syntax error", Data, "a: \"%{lookup('b')\nc: 1\n", []string{"binds a", "looks up b", "binds c"}},
		{"bindings", Bindings, "bind:\n- [a, 1]\n- {name: b, to_lookup_of: [String, c]}\n- {name: x, in: d, to: 1}\n" +
			"- {name: e, multibind_id: f}\n- {rebind: g}\n- {name: h, to_first_found: [i, [Any, j]]}\n" +
			"- {name: k, to_hash_lookup: {name: l, key: m}}\n" +
			"- when: {role: [web, db]}\n  bind:\n  - [n, \"${lookup('o')}\"]\n",
			[]string{"binds a", "binds b", "looks up c", "joins d", "binds e", "collects f", "binds g", "binds h",
				"looks up i", "looks up j", "binds k", "looks up l", "category role", "value web of role",
				"value db of role", "binds n", "looks up o"}},
		{"hiera.yaml", Config, "version: 5\nhierarchy:\n- name: x\n  path: 'nodes/%{trusted.certname}.yaml'\n" +
			"- name: y\n  globs: [a/*.yaml]\n- [osfamily, '${osfamily}', 'data/${osfamily}']\n",
			[]string{"path nodes/%{trusted.certname}.yaml", "variable trusted.certname", "path a/*.yaml",
				"category osfamily", "variable osfamily", "path data/${osfamily}", "variable osfamily"}},
		{"categories", Config, "categories:\n- [role, '${role}']\n", []string{"category role", "variable role"}},
		{"set", Set, "bindings x {\n  bind 'a' to 1\n  bind Integer, 'b' to 2 in 'c'\n" +
			"  multibind 'd' { multibind_id => 'e' }\n  bind alias 'f' as 'g'\n  bind 'h' { to_lookup_of => 'i' }\n}\n",
			[]string{"binds a", "joins c", "binds d", "collects e", "looks up f", "binds g", "binds h",
				"looks up i"}},
		{"manifest", Manifest, "class a::b (\n  Hash[String, Integer] $c = {}, # $no\n  String $d = $c['x'],\n) {\n" +
			"  $e = lookup('f.g', String)\n  notify { \"${e}\": }\n}\n",
			[]string{"parameter a::b::c", "parameter a::b::d", "looks up f"}},
		{"set without comments and texts", Set, "bindings x { # bind 'no' to 1\n  bind 'a' to 'in \"no\" lookup(\"no\")'\n" +
			"  bind\n    'b' to lookup('c.d')\n  when role ['web', db] {\n    bind 'e' to \"${osfamily}\"\n  }\n" +
			"  bind 'f' to [1].map |$n| { $n + $facts['os']['family'] }\n  multibind 'g'\n}\n",
			[]string{"binds a", "binds b", "looks up c", "category role", "value web of role", "value db of role",
				"binds e", "variable osfamily", "binds f", "variable os.family", "binds g"}},
		{"set with a broken statement", Set, "bindings x {\n  bind 'a' to 'in \"no\"'\n  bind 'b' to to lookup('c')\n" +
			"  bind 'd' to lookup('e')\n}\n", []string{"binds a", "binds b", "looks up c", "binds d", "looks up e"}},
		{"environments", Environments, "site {\n  environment { ['a', 'b']: envdir => '/x' }\n  environment { 'c': }\n}\n" +
			"$environment = $facts['role']\n", []string{"environment a", "environment b", "environment c",
			"variable role"}},
		{"manifest without comments and texts", Manifest, "class a {\n  class b ($c) { } # lookup('no')\n" +
			"  /* lookup('no') */\n  $d = 'lookup(\"no\")'\n  lookup(\n    'e')\n  lookup(['f', 'g'])\n" +
			"  lookup({name => 'h'})\n  'i'.lookup\n  \"${lookup('j')}\"\n  lookup('k'", []string{"parameter a::b::c",
			"looks up e", "looks up f", "looks up g", "looks up h", "looks up j", "looks up k"}},
	} {
		if got := found(t, test.kind, test.src); !slices.Equal(got, test.want) {
			t.Errorf("%s: the names are\n%q, expected\n%q", test.name, got, test.want)
		}
	}
}

// At returns the narrowest name around an offset.
func TestAtReturnsNarrowestName(t *testing.T) {
	src := "hierarchy:\n- path: 'nodes/%{node}.yaml'\n"
	list := Find(Config, buffer.New(src), outline.Read("hiera.yaml", []byte(src), yaml.Options{}))
	for off, want := range map[int]string{20: "nodes/%{node}.yaml", 29: "node", 2: ""} {
		got := ""
		if m := At(list, off); m != nil {
			got = m.Name
		}
		if got != want {
			t.Errorf("at %d the name is %q, expected %q", off, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(uint8(0), "a: \"%{lookup('b')}\"\n")
	f.Add(uint8(1), "bind:\n- {name: a, when: {b: [c]}, to_first_found: [[d, e]]}\n")
	f.Add(uint8(4), "class a (Hash $b) {")
	f.Fuzz(func(t *testing.T, kind uint8, src string) {
		for _, m := range Find(Kind(kind%6), buffer.New(src), outline.Read("f", []byte(src), yaml.Options{})) {
			if m.From < 0 || m.From > m.To || m.To > len(src) {
				t.Fatalf("a name is from %d to %d in %d bytes", m.From, m.To, len(src))
			}
			_ = fmt.Sprint(m)
		}
	})
}
