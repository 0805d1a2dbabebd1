package hieraconfig

import (
	"strings"
	"testing"
)

func parsedConfig(t *testing.T, text string) Config {
	t.Helper()
	c, err := Parse("hiera.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parsedOptions(t *testing.T, given ...string) Options {
	t.Helper()
	o, err := ParseOptions(given)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantText(t *testing.T, got []byte, err error, want string) {
	t.Helper()
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestOptionsHaveTypesThatModuleExpects(t *testing.T) {
	o := parsedOptions(t, "command=[bindq, --identity, /etc/key]", "timeout=2.5", "compare=true", "snapshot=12", "x=[y]")
	got, err := Entry{Name: "bindc", Options: o}.Write(2)
	wantText(t, got, err, `version: 5
hierarchy:
  - name: bindc
    data_hash: bindc::data_hash
    uris:
      - bindc:0
      - bindc:1
    options:
      command:
        - bindq
        - --identity
        - /etc/key
      timeout: 2.5
      compare: true
      snapshot: "12"
      x: '[y]'
`)
	if got := parsedOptions(t, "command=/opt/bin/bindq").Command(); strings.Join(got, "|") != "/opt/bin/bindq" {
		t.Errorf("a command of one word is %q", got)
	}
}

func TestRejectsInvalidOptions(t *testing.T) {
	for given, want := range map[string]string{
		"socket":       "expected NAME=TEXT, found 'socket'",
		"=x":           "expected NAME=TEXT, found '=x'",
		"command=[a":   "the value of command is not YAML: '[a'",
		"timeout=":     "the value of timeout is not YAML: ''",
		"command={a: ": "the value of command is not YAML: '{a: '",
	} {
		if _, err := ParseOptions([]string{given}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", given, err, want)
		}
	}
}

// The snapshot is added unless other options determine the source of answers. Keys are added unless the command names
// some.
func TestAddsSnapshotAndKeys(t *testing.T) {
	keys := []string{"/k1", "/k2"}
	for _, c := range []struct {
		given []string
		want  string
	}{
		{nil, "snapshot: /s, command: bindq --eyaml-key /k1 --eyaml-key /k2"},
		{[]string{"snapshot=/other", "command=/bin/bindq"},
			"snapshot: /other, command: /bin/bindq --eyaml-key /k1 --eyaml-key /k2"},
		{[]string{"socket=/run/s"}, "socket: /run/s"},
		{[]string{"command=[bindq, --eyaml-key, /mine]"}, "command: bindq --eyaml-key /mine, snapshot: /s"},
		{[]string{"command=[bindq, --eyaml-key=/mine]"}, "command: bindq --eyaml-key=/mine, snapshot: /s"},
	} {
		o := parsedOptions(t, c.given...).WithSnapshot("/s").WithKeys(keys)
		var got []string
		for k := range o.Pairs() {
			v, _ := get(o.Value, text(k))
			words := text(v)
			if text(k) == "command" {
				words = strings.Join(o.Command(), " ")
			}
			got = append(got, text(k)+": "+words)
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%q: got %s, want %s", c.given, all, c.want)
		}
	}
	if o := parsedOptions(t, "a=b").WithKeys(nil); o.Has("command") {
		t.Error("a command is written where there is no key")
	}
	if o := parsedOptions(t, "a=b", "c=d").Without("a"); o.Has("a") || !o.Has("c") {
		t.Error("an option that is removed is there, or another one is not")
	}
}

func TestRejectsUnsupportedHieraYAMLVersions(t *testing.T) {
	for src, want := range map[string]string{
		"":                "h: not valid YAML; 'bindc check' shows where",
		"a: [":            "h: not valid YAML; 'bindc check' shows where",
		"version: 3":      "h: expected a hiera.yaml with 'version: 5'",
		"version: '5'":    "h: expected a hiera.yaml with 'version: 5'",
		":backends: yaml": "h: expected a hiera.yaml with 'version: 5'",
		"[version, 5]":    "h: expected a hiera.yaml with 'version: 5'",
	} {
		if _, err := Parse("h", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

func TestEntriesLeftToPuppetKeepTheirPlace(t *testing.T) {
	c := parsedConfig(t, `version: 5
defaults: {data_hash: yaml_data}
hierarchy:
  - {name: One, path: one.yaml}
  - {name: Vault, lookup_key: vault}
  - {name: Old, lookup_key: 'bindc::lookup_key'}
  - {name: Two, path: two.yaml}
`)
	got, err := c.WithForeign(Entry{Name: "data", Options: parsedOptions(t, "snapshot=/s")})
	wantText(t, got, err, `version: 5
defaults:
  data_hash: yaml_data
hierarchy:
  - name: data
    data_hash: bindc::data_hash
    options:
      snapshot: /s
      entries: 0-0
  - name: Vault
    lookup_key: vault
  - name: data 2
    data_hash: bindc::data_hash
    options:
      snapshot: /s
      entries: 3-
`)
}

// Puppet still reads the files of plan_hierarchy itself, with the defaults of the original file.
func TestPlanHierarchyIsKept(t *testing.T) {
	c := parsedConfig(t, `version: 5
defaults: {datadir: hieradata}
hierarchy: [{name: One, path: one.yaml}]
plan_hierarchy: [{name: Plans, path: plans.yaml}]
`)
	got, err := c.WithForeign(Entry{Name: "bindc", Options: parsedOptions(t, "snapshot=/s")})
	wantText(t, got, err, `version: 5
defaults:
  datadir: hieradata
hierarchy:
  - name: bindc
    data_hash: bindc::data_hash
    options:
      snapshot: /s
plan_hierarchy:
  - name: Plans
    path: plans.yaml
`)
}

func TestDefaultHierarchyBecomesOneEntry(t *testing.T) {
	entry := Entry{Name: "bindc", Options: parsedOptions(t, "snapshot=/s")}
	got, err := parsedConfig(t, "version: 5").WithForeign(entry)
	wantText(t, got, err, `version: 5
hierarchy:
  - name: bindc
    data_hash: bindc::data_hash
    options:
      snapshot: /s
`)
}

// As in Puppet, an entry without options uses those in defaults. Keys of entries that do not use eyaml are ignored.
func TestFindsPrivateKeysOfEyamlEntries(t *testing.T) {
	c := parsedConfig(t, `version: 5
defaults:
  lookup_key: eyaml_lookup_key
  options: {pkcs7_private_key: /default}
hierarchy:
  - {name: Plain, data_hash: yaml_data, path: p.yaml, options: {pkcs7_private_key: /plain}}
  - {name: Secrets, path: s.yaml, options: {pkcs7_private_key: /secrets, pkcs7_public_key: /public}}
  - {name: Same, path: t.yaml, options: {pkcs7_private_key: /secrets}}
  - {name: Default, path: d.yaml}
  - {name: None, path: n.yaml, options: {gpg_gnupghome: /gpg}}
`)
	if got := strings.Join(c.EyamlKeys(), " "); got != "/secrets /default" {
		t.Errorf("got %s", got)
	}
}

func TestAsksFindsEntryThatAsksBindc(t *testing.T) {
	options, ok := parsedConfig(t, `version: 5
hierarchy:
  - {name: Vault, lookup_key: vault, options: {a: b}}
  - {name: bindc, lookup_key: 'bindc::lookup_key', options: {snapshot: /s}}
`).Asks()
	if snapshot, _ := get(options.Value, "snapshot"); !ok || text(snapshot) != "/s" {
		t.Errorf("got %v, %v", text(options.Value), ok)
	}
	for _, other := range []string{"version: 5", "version: 5\nhierarchy: [{name: a, path: b}, text]"} {
		if _, ok := parsedConfig(t, other).Asks(); ok {
			t.Errorf("%s does not ask bindc", other)
		}
	}
}
