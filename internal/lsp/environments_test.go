package lsp

import (
	"slices"
	"strings"
	"testing"
)

const root = `
-- environments.pp --
site {
  environment { 'a': envdir => '$confdir/sites/a',
modulpath => 'modules' }
}
$environment = $facts['role']
-- sites/a/hiera.yaml --
version: 5
`

func TestEnvironmentsFileIsCheckedAtOnce(t *testing.T) {
	e := start(t, site(t, root), withLints())
	e.open("environments.pp", "")
	e.settle()
	const misspelt = "2:0-2:9 environments: unknown attribute 'modulpath'"
	if got := e.found("environments.pp"); len(got) != 1 || !strings.HasPrefix(got[0], misspelt) {
		t.Errorf("the diagnostics are %q, expected %q", got, misspelt)
	}
	mended, actions := e.act("environments.pp", 2, "Replace by 'modulepath'")
	if mended == "" {
		t.Fatalf("the actions are %q", actions)
	}
	const config = "sites/a/hiera.yaml:0:0"
	if got := e.definition("environments.pp", 1, 18); !slices.Equal(got, []string{config}) {
		t.Errorf("the environment is at %q, expected %q", got, config)
	}
	e.change("environments.pp", mended)
	e.settle()
	if got := e.found("environments.pp"); len(got) != 0 {
		t.Errorf("the diagnostics of the mended file are %q", got)
	}
	if got, want := e.hover("environments.pp", 1, 18), "environment **a** in `sites/a`"; got != want {
		t.Errorf("the hover is %q, expected %q", got, want)
	}
	e.change("environments.pp", "site {\n  environment { 'a': envdir => '/b' \n}\n")
	e.settle()
	if got := e.found("environments.pp"); len(got) != 1 || !strings.Contains(got[0], "expected") {
		t.Errorf("the diagnostics of a broken file are %q", got)
	}
}
