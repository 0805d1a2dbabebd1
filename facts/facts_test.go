package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/value"
	bindings "bindc/runtime"
)

func TestParsesCommonFormats(t *testing.T) {
	const db = `, facts {"os":{"family":"Debian"}}`
	for name, c := range map[string]struct{ src, want string }{
		"facter --json":        {`{"os": {"family": "Debian"}}`, db},
		"YAML":                 {"---\nos:\n  family: Debian\n", db},
		"a fact called name":   {`{"name": "x", "os": 1}`, `, facts {"name":"x","os":1}`},
		"no facts, explicitly": {`{}`, `, facts {}`},
		"puppet facts find": {`{"name": "db1", "values": {"os": {"family": "Debian"}}, "timestamp": "2026-01-01"}`,
			"db1" + db},
		"Puppet's names, PuppetDB's entry": {`{"name": "db1", "facts": {"os": {"family": "Debian"}}}`, "db1" + db},
		"PuppetDB's names, Puppet's entry": {`{"certname": "db1", "values": {"os": {"family": "Debian"}}}`, "db1" + db},
		"a node without a name":            {`{"facts": {"os": {"family": "Debian"}}}`, db},
		"a fact called values":             {`{"values": {"os": 1}}`, `, facts {"values":{"os":1}}`},
		"Puppet's YAML": {"--- !ruby/object:Puppet::Node::Facts\nname: db1\nvalues:\n  os: {family: Debian}\n" +
			"  !ruby/sym _timestamp: 2026-01-01 00:00:00.000000000 +00:00\n" +
			"timestamp: 2026-01-01 00:00:00.000000000 +00:00\n",
			`db1, facts {"os":{"family":"Debian"},":_timestamp":"2026-01-01 00:00:00.000000000 +00:00"}`},
		"facts of PuppetDB": {`[{"certname": "db1", "name": "a", "value": 1, "environment": "production"},
			{"certname": "db2", "name": "a", "value": 2}, {"certname": "db1", "name": "b", "value": [3]}]`,
			`db1, facts {"a":1,"b":[3]}; db2, facts {"a":2}`},
		"a fact set of PuppetDB": {`{"certname": "db1", "facts": {"href": "/x", "data": [{"name": "a", "value": 1}]}}`,
			`db1, facts {"a":1}`},
		"fact sets of PuppetDB": {`[{"certname": "db1", "facts": {"data": [{"name": "a", "value": 1}]}},
			{"certname": "db2", "facts": [{"name": "a", "value": 2}]}]`, `db1, facts {"a":1}; db2, facts {"a":2}`},
		"inventory of PuppetDB": {`[{"certname": "db1", "facts": {"a": 1}, "trusted": {"certname": "db1"}}]`,
			`db1, facts {"a":1}, trusted {"certname":"db1"}`},
		"a node named by its trusted facts": {`{"facts": {"a": 1}, "trusted": {"certname": "db1"}}`,
			`db1, facts {"a":1}, trusted {"certname":"db1"}`},
		"variables that are no facts": {"certname: web1\nfacts: {a: 1}\nvars: {role: web}\n",
			`web1, facts {"a":1}, vars {"role":"web"}`},
	} {
		nodes, err := Parse("f", []byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, n := range nodes {
			text := n.Name + ", facts " + string(value.AppendJSON(nil, content(n.Facts)))
			if !n.Trusted.IsUndef() {
				text += ", trusted " + string(value.AppendJSON(nil, content(n.Trusted)))
			}
			if !n.Vars.IsUndef() {
				text += ", vars " + string(value.AppendJSON(nil, content(n.Vars)))
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: found %s, want %s", name, text, c.want)
		}
	}
}

func TestRejectsOtherFormats(t *testing.T) {
	for src, want := range map[string]string{
		"":                                "expected facts, found nothing",
		"---\n":                           "expected facts, found nothing",
		"null":                            "expected facts, found nothing",
		"[]":                              "found an empty list",
		"web1":                            "expected facts as a hash",
		"42":                              "expected facts as a hash",
		`["web1"]`:                        `expected {"certname", "name", "value"}`,
		`[{"os": "Debian"}]`:              `expected {"certname", "name", "value"}`,
		`[{"certname": "db1"}]`:           "expected the facts of 'db1', found none",
		`{"certname": "d", "facts": 1}`:   "expected a hash whose keys are fact names, found the integer 1 in the facts of 'd'",
		`{"certname": "d", "facts": [1]}`: `expected {"name", "value"}`,
		`{"a": `:                          "f:1:7",
		"1: x":                            "expected fact names",
		"--- !ruby/object:Other\na: 1\n":  "!ruby/object:Other",
	} {
		nodes, err := Parse("f", []byte(src))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v and the error %v, want one with %q", src, nodes, err, want)
		}
	}
}

// The name of a file is used as the certname, unless the facts identify another node.
func TestFileNameIsTheCertname(t *testing.T) {
	for text, want := range map[string]string{
		`{"role": "web"}`:              "web1.example.org",
		`{"fqdn": "web1.example.org"}`: "web1.example.org",
		`{"fqdn": "WEB1.example.org"}`: "web1.example.org",
		`{"networking": {"fqdn": "web1.example.org"}, "hostname": "web1"}`: "web1.example.org",
		`{"fqdn": "web2.example.org"}`:                                     "",
		`{"hostname": "web1"}`:                                             "",
		`{"networking": {"fqdn": "web1.lan"}}`:                             "",
		`{"fqdn": "web1.lan", "clientcert": "web1.example.org"}`:           "web1.example.org",
		`{"fqdn": "web1.example.org", "clientcert": "web1"}`:               "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "web1.example.org.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		nodes, err := ReadDir(dir)
		if err != nil || len(nodes) != 1 {
			t.Fatal(nodes, err)
		}
		got, _ := nodes[0].withCertname().Get(value.FromString("certname"))
		if got.Text() != want {
			t.Errorf("%s: certname '%s', expected '%s'", text, got.Text(), want)
		}
	}
}

// A node without a name is named after its file. That is also its certname unless a fact identifies the node.
func TestFileNameIsTheNodeName(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json":        `{"os": "x"}`,
		"b.example.yml": "fqdn: real.example.com\n",
		"c.yaml":        "--- !ruby/object:Puppet::Node::Facts\nname: cert\nvalues: {fqdn: c.example.com}\n",
		"README":        "no facts",
		".hidden.json":  "no facts",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	nodes, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range nodes {
		if _, err := Variables(n, bindings.FactsOptions{}); err != nil {
			t.Error(err)
		}
		got = append(got, n.Name)
	}
	if text := strings.Join(got, " "); text != "a b.example cert" {
		t.Errorf("found %s", text)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	twice := []byte(`{"name": "cert", "values": {}}`)
	if err := os.WriteFile(filepath.Join(dir, "twice.json"), twice, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = ReadDir(dir)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "broken.json") ||
		!strings.Contains(err.Error(), "'cert' twice") {
		t.Errorf("expected both files in the error, found %v", err)
	}
}

// A file that cannot be read fails only the lookup of a node that no other file names.
func TestUnreadableFileFailsOnlyNodesWithoutAnotherFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "web1.json"), []byte(`{"role": "web"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := NewFleet(dir).Node("web1"); err != nil || n.Name != "web1" {
		t.Fatalf("found %v, %v", n, err)
	}
	for _, name := range []string{"db1.json", "db2.yaml"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	fleet := NewFleet(dir)
	if n, err := fleet.Node("web1"); err != nil || n.Name != "web1" {
		t.Errorf("found %v, %v", n, err)
	}
	wrong := fleet.Wrong()
	const directory = "expected a facts file, found a directory"
	if len(wrong) != 2 || !strings.Contains(wrong[0].Error(), "db1.json: "+directory) ||
		!strings.Contains(wrong[1].Error(), "db2.yaml: expected") {
		t.Errorf("expected the errors of both directories, found %v", wrong)
	}
	_, err := fleet.Node("web2")
	more := "2 files cannot be read and may have them: " + filepath.Join(dir, "db1.json")
	if err == nil || !strings.Contains(err.Error(), more) {
		t.Errorf("expected both directories in the error, found %v", err)
	}
}

// ReadGood returns the nodes of valid files and the errors of the others. It omits a node that is in two files.
func TestReadGoodReturnsValidNodesAndErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"web1.json": `{"role": "web"}`, "broken.yaml": "a: [",
		"one.json": `{"certname": "db1", "facts": {}}`, "two.json": `{"certname": "db1", "facts": {}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	nodes, wrong, err := ReadGood(dir)
	if err != nil || len(nodes) != 1 || nodes[0].Name != "web1" || len(wrong) != 2 {
		t.Errorf("found %v, %v, %v", nodes, wrong, err)
	}
	names, err := Names(dir)
	if want := "broken one two web1"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("found %v (%v), expected %s", names, err, want)
	}
}
