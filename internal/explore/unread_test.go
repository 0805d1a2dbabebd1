package explore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/testsite"
	"bindc/loader"
)

// openWithUnread opens a site that has a data file without an entry of the hierarchy.
func openWithUnread(t *testing.T, nodes string) *Data {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"hiera.yaml":                "version: 2\nhierarchy:\n  - [osfamily, '${osfamily}', 'data/osfamily/${osfamily}']\n",
		"data/osfamily/debian.yaml": "a: web\n",
		"data/osfamily/redhat.yaml": "a: mail\n",
		"data/family/suse.yaml":     "a: suse\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	list := diags.Sorted()
	unread := UnreadFiles(list, dir)
	var text strings.Builder
	if err := diag.Render(&text, "text", list, dir, false); err != nil {
		t.Fatal(err)
	}
	d, err := Open(Source{Path: build(t, dir), Unread: unread, Warnings: text.String(), Nodes: nodesOf(t, nodes)})
	if err != nil {
		t.Fatal(err)
	}
	d.count(func() {})
	return d
}

func TestFilesThatAreNeverReadAreDead(t *testing.T) {
	const suse = "data/family/suse.yaml"
	const reason = "no hierarchy entry matches this file; its data is never used"
	d := openWithUnread(t, `{"fqdn": "web1", "osfamily": "Debian"}`)
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/", `<dt>Files that reach no node</dt><dd><a href="/s/`+d.ID+`/f?dead=1">2</a>`,
		`/f/`+suse+`">`+suse+`</a> <span class="note">`+reason, `<a href="/s/`+d.ID+`/f/`+suse+`">`+suse+`</a>: warning: `)
	shows(t, to, "/index.json", `{"path":"`+suse+`","bindings":0,"reaching":0,"unread":"`+reason+`"}`)
	shows(t, to, "/problems", `<a href="/s/`+d.ID+`/f/`+suse+`">`+suse+`</a>: warning: `)
	shows(t, to, "/f", suse, "One more is never read", "never read: "+reason, "1 file that was read reaches no node at all")
	shows(t, to, "/f?dead=1", suse, "data/osfamily/redhat.yaml", "!data/osfamily/debian.yaml")
	shows(t, to, "/f?dead=partly", "!"+suse)
	shows(t, to, "/f/"+suse, "It reaches no node: "+reason, "add an entry with its path to the hierarchy")
	shows(t, to, "/f/"+suse+".json", `{"file":"`+suse+`","bindings":[],"unread":"`+reason+`"}`)
	shows(t, to, "/q?q=suse", `<a class="place" href="/s/`+d.ID+`/f/`+suse)

	d = openWithUnread(t, "")
	to = served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/", "<dt>Files that are never read</dt>", ">1</a>", suse, "!reach no node</dt>")
	shows(t, to, "/f", suse, "never read: "+reason)
}

func TestConfigurationHasNoTableOfBindings(t *testing.T) {
	d := openWithUnread(t, `{"fqdn": "web1", "osfamily": "Debian"}`)
	shows(t, served(t, Access{}, d)+"/s/"+d.ID, "/f/hiera.yaml", "This file has no bindings.", "!0 bindings", "!<table")
}

func TestOnlyKnownFilesOfDiagnosticsAreLinks(t *testing.T) {
	v := &view{d: openWithUnread(t, ""), links: links{"/s/0"}}
	var found []string
	for _, part := range v.Linked("data/osfamily/debian.yaml:1:4: error: <b>\n     1 | x: error: y\n" +
		"  data/osfamily/redhat.yaml:1:1: note: there\nother.yaml:1:1: warning: a\tb\u202e\n") {
		found = append(found, part.Text+"@"+part.Address)
	}
	expected := []string{"@", "data/osfamily/debian.yaml:1:4@/s/0/f/data/osfamily/debian.yaml#L1",
		": error: <b>\n     1 | x: error: y\n  @", "data/osfamily/redhat.yaml:1:1@/s/0/f/data/osfamily/redhat.yaml#L1",
		": note: there\nother.yaml:1:1: warning: a    b" + diag.Visible("\u202e") + "\n@"}
	if strings.Join(found, "|") != strings.Join(expected, "|") {
		t.Errorf("found %q, expected %q", found, expected)
	}
}

func nodesOf(t *testing.T, text string) []facts.Node {
	t.Helper()
	if text == "" {
		return nil
	}
	nodes, err := facts.Parse("web1", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].Name = "web1"
	return nodes
}

func build(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.Build(t, dir, path)
	return path
}
