package lsp

import (
	"path/filepath"
	"testing"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/buffer"
)

// times returns how often the server has sent the diagnostics of a file.
func (e *editor) times(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sent[name]
}

// Diagnostics that do not change are not sent again when the site is read again: no check makes them disappear for a
// moment.
func TestUnchangedDiagnosticsAreSentOnce(t *testing.T) {
	const data, other = "data/os/Debian.yaml", "data/nodes/web1.yaml"
	e := start(t, site(t, control+"-- manifests/site.pp --\ninclude app\n"), withLints())
	e.open(data, "app::port: 'http'\n")
	e.open(other, "")
	e.settle()
	wantDiagnostics(t, e, data, "0:11-0:17 parameter_type: 'app::port': expected Integer, found String, for nodes with "+
		"os/%{facts.os.family}.yaml = os/Debian.yaml (such as os.family=Debian)")
	before := e.times(data)
	for _, text := range []string{"app::port: 8082\n", "app::port: 8083\n"} {
		e.change(other, text)
		e.settle()
	}
	if got := e.times(data); got != before {
		t.Errorf("the diagnostics were sent %d more times, expected 0", got-before)
	}
}

// A file that was empty when the site was read gets no errors of bindings files.
func TestNewDataFileIsNotReadAsBindings(t *testing.T) {
	const data = "data/nodes/new.yaml"
	dir := site(t, control+"-- "+data+" --\n")
	e := start(t, dir, withLints())
	e.open(data, "")
	e.settle()
	path := filepath.Join(dir, data)
	text := "app::port: 80\n"
	found := analysis.Check(e.inside.projectOf(path).latest(), path, buffer.New(text), analysis.Outline(path, text))
	if len(found) > 0 {
		t.Errorf("before the site is read again, the file has %v, expected nothing", found)
	}
}
