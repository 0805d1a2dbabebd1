package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// control is a control repository of Hiera 5.
const control = `
-- hiera.yaml --
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: os
    path: "os/%{facts.os.family}.yaml"
  - name: common
    path: common.yaml
-- data/common.yaml --
app::port: 80
app::host: "%{lookup('app::name')}.example.org"
app::name: web
app::password: secret-of-common
app::token: ENC[PKCS7,abc]
lookup_options:
  app::password: {convert_to: Sensitive}
-- data/os/Debian.yaml --
app::port: 8080
-- data/nodes/web1.yaml --
app::port: 8081
-- modules/app/manifests/init.pp --
class app (
  Integer $port,
  String $host = lookup('app::name'),
  Sensitive[String] $password = Sensitive('x'),
  String $token = 'x',
) { }
`

func wantDiagnostics(t *testing.T, e *editor, name string, want ...string) {
	t.Helper()
	if got := e.found(name); !slices.Equal(got, want) {
		t.Errorf("%s has the diagnostics %q, expected %q", name, got, want)
	}
}

func TestDiagnosticsFollowTyping(t *testing.T) {
	e := start(t, site(t, control), withLints())
	e.open("data/common.yaml", "")
	e.settle()
	wantDiagnostics(t, e, "data/common.yaml", "4:12-4:15 eyaml: this is encrypted for hiera-eyaml, but an entry of the "+
		"hierarchy reads this file without decrypting it: lookups return ENC[...] from that entry, as in Puppet")

	typo := "app::port: 80\napp::host: \"🙂 %{lookup('app::nmae')}\"\napp::name: web\n"
	e.change("data/common.yaml", typo)
	e.settle()
	wantDiagnostics(t, e, "data/common.yaml",
		"1:25-1:34 key_unbound: this looks up 'app::nmae', which nothing binds")

	e.change("data/common.yaml", "app::port: \"80\napp::name: web\n")
	e.settle()
	if got := e.found("data/common.yaml"); len(got) != 1 || !strings.Contains(got[0], "yaml_syntax") ||
		!strings.HasPrefix(got[0], "0:") {
		t.Errorf("the broken file has %q, expected one syntax error in the first line", got)
	}
	e.change("data/common.yaml", "app::port: 80\napp::name: web\n")
	e.settle()
	wantDiagnostics(t, e, "data/common.yaml")
}

func TestHoverShowsWhoWins(t *testing.T) {
	e := start(t, site(t, control), withLints())
	e.open("data/common.yaml", "")
	for _, test := range []struct {
		name      string
		line, col int
		want      []string
		never     string
	}{
		{"key", 0, 3, []string{"web1", "`8081`", "Debian", "`8080`", "| all |", "`80`", "data/common.yaml:1:1"}, ""},
		{"lookup in a value", 1, 24, []string{"**app::name**", `web`}, ""},
		{"sensitive key", 3, 3, []string{"*sensitive*"}, "secret-of-common"},
		{"encrypted value", 4, 3, []string{"*encrypted*"}, "PKCS7"},
		{"lookup_options", 6, 6, []string{"*sensitive*"}, "secret-of-common"},
	} {
		got := e.hover("data/common.yaml", test.line, test.col)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the hover is\n%s\nexpected %q", test.name, got, want)
			}
		}
		if test.never != "" && strings.Contains(got, test.never) {
			t.Errorf("%s: the hover shows %q:\n%s", test.name, test.never, got)
		}
	}
	e.open("modules/app/manifests/init.pp", "")
	if got := e.hover("modules/app/manifests/init.pp", 1, 12); !strings.Contains(got, "8081") {
		t.Errorf("the hover of a class parameter is\n%s\nexpected the table of its key", got)
	}
	e.open("hiera.yaml", "")
	if got := e.hover("hiera.yaml", 5, 24); !strings.Contains(got, "`Debian`") {
		t.Errorf("the hover of a fact is\n%s\nexpected its values in the hierarchy", got)
	}
}

func TestDefinitionsAreHighestFirst(t *testing.T) {
	e := start(t, site(t, control), withLints())
	all := []string{"data/nodes/web1.yaml:0:0", "data/os/Debian.yaml:0:0", "data/common.yaml:0:0"}
	for _, test := range []struct {
		name, file string
		line, col  int
		want       []string
	}{
		{"key, without its own place", "data/os/Debian.yaml", 0, 4,
			[]string{all[0], all[2], "modules/app/manifests/init.pp:1:10"}},
		{"class parameter", "modules/app/manifests/init.pp", 1, 13, all},
		{"lookup in a manifest", "modules/app/manifests/init.pp", 2, 28, []string{"data/common.yaml:2:0"}},
		{"lookup in data", "data/common.yaml", 1, 24, []string{"data/common.yaml:2:0"}},
		{"path", "hiera.yaml", 3, 14, []string{"data/nodes/web1.yaml:0:0"}},
		{"constant path", "hiera.yaml", 7, 14, []string{"data/common.yaml:0:0"}},
		{"lookup_options", "data/common.yaml", 6, 6,
			[]string{"data/common.yaml:3:0", "modules/app/manifests/init.pp:3:20"}},
		{"position without a key", "data/common.yaml", 2, 13, nil},
	} {
		e.open(test.file, "")
		if got := e.definition(test.file, test.line, test.col); !slices.Equal(got, test.want) {
			t.Errorf("%s: the definitions are %q, expected %q", test.name, got, test.want)
		}
	}
}

// While a file is broken, the other entries are known, and their places are those of the open text.
func TestBrokenFileStillAnswers(t *testing.T) {
	e := start(t, site(t, control), withLints())
	e.open("data/common.yaml", "")
	e.open("data/os/Debian.yaml", "")
	e.settle()
	e.change("data/common.yaml", "\n\napp::port: 80\napp::host: \"open\napp::name: web\n")
	e.settle()
	if got, want := e.definition("data/os/Debian.yaml", 0, 3), []string{"data/nodes/web1.yaml:0:0",
		"data/common.yaml:2:0", "modules/app/manifests/init.pp:1:10"}; !slices.Equal(got, want) {
		t.Errorf("the definitions are %q, expected %q", got, want)
	}
	if got := e.hover("data/common.yaml", 2, 3); !strings.Contains(got, "8081") {
		t.Errorf("the hover in a broken file is\n%s", got)
	}
}

// Nothing outside of the folders of the editor is read, and the log says so.
func TestNothingOutsideIsRead(t *testing.T) {
	secrets := site(t, "-- common.yaml --\napp::stolen: secret\n")
	dir := site(t, "-- hiera.yaml --\nversion: 5\nhierarchy:\n- name: a\n  datadir: "+secrets+"\n  path: common.yaml\n"+
		"- name: b\n  path: link.yaml\n-- data/common.yaml --\napp::port: 80\n")
	if err := os.Symlink(filepath.Join(secrets, "common.yaml"), filepath.Join(dir, "data", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	e := start(t, dir, withLints())
	e.open("hiera.yaml", "")
	e.settle()
	s := e.inside.projects[dir].latest()
	if keys := s.Keys(); slices.Contains(keys, "app::stolen") {
		t.Errorf("the keys are %q: a file outside was read", keys)
	}
	logged := slices.ContainsFunc(e.logs, func(m string) bool { return strings.Contains(m, secrets) })
	if len(s.Refused) == 0 || !logged {
		t.Errorf("the log does not name %s: %q", secrets, e.logs)
	}
}

// An extension program of a site never runs.
func TestNoProgramRuns(t *testing.T) {
	dir := site(t, "-- binder_config.yaml --\nversion: 1\nlayers:\n- {name: site, include: ['run:/x']}\n"+
		"extensions:\n  scheme_handlers: {run: ['touch', 'ran']}\n")
	e := start(t, dir, withLints())
	e.open("binder_config.yaml", "")
	e.settle()
	if _, err := os.Lstat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the program has run")
	}
	if got := e.found("binder_config.yaml"); len(got) == 0 {
		t.Error("there are no diagnostics, expected one about the program")
	}
}

// With facts, a hover counts nodes, and shows the value of the pinned node.
func TestHoverCountsNodes(t *testing.T) {
	fleet := site(t, `-- web1.json --
{"os": {"family": "Debian"}}
-- web2.json --
{"os": {"family": "Debian"}}
-- db1.json --
{"os": {"family": "RedHat"}}
`)
	options := withLints()
	options.FactsDir = fleet
	e := start(t, site(t, control), options)
	e.inside.settings.Node = "web2"
	e.open("data/common.yaml", "")
	e.open("hiera.yaml", "")
	got := e.hover("data/common.yaml", 0, 3)
	for _, want := range []string{"wins for, of 3 nodes", "`data/nodes/web1.yaml:1:1` | 1 |",
		"`data/os/Debian.yaml:1:1` | 1 |", "`data/common.yaml:1:1` | 1 |", "Node `web2`: `8080`, from `data/os/Debian.yaml:1:1`"} {
		if !strings.Contains(got, want) {
			t.Errorf("the hover is\n%s\nexpected %q", got, want)
		}
	}
	if got := e.hover("hiera.yaml", 5, 24); !strings.Contains(got, "* `Debian`: 2 nodes\n* `RedHat`: 1 node") {
		t.Errorf("the hover of a fact is\n%s\nexpected the values of the nodes", got)
	}
	if got := e.hover("data/common.yaml", 3, 3); strings.Contains(got, "secret-of-common") {
		t.Errorf("the hover shows a sensitive value:\n%s", got)
	}
}
