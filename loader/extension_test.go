package loader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/internal/value"
	"bindc/loader"
)

// writeSite writes the files of a site, given by their paths, and returns its directory.
func writeSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, files)
	return dir
}

// load loads a site that must be free of errors. It returns the site and its bindings, each as "layer key = value
// [conditions]", in order.
func load(t *testing.T, dir string, opts loader.Options) (*loader.Site, []string) {
	t.Helper()
	var diags diag.List
	site := loader.Load(dir, opts, &diags)
	for _, d := range diags.Sorted() {
		t.Fatalf("%s: %s [%s]", d.Pos, d.Message, d.Code)
	}
	var out []string
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			for _, f := range c.Files {
				for _, e := range f.Entries {
					v, _, err := value.View(site.Values[e.Value][1:])
					if err != nil {
						t.Fatal(err)
					}
					line := layer.Name + " " + site.Keys[e.Key] + " = " + v.Text() + terms(site, f.Condition)
					if f.Hidden {
						line += " hidden"
					}
					out = append(out, line)
				}
			}
			for _, b := range c.Bindings {
				v, _, err := value.View(site.Values[b.Value][1:])
				if err != nil {
					t.Fatal(err)
				}
				line := layer.Name + " " + b.Key + " = " + v.Text()
				for _, when := range b.When {
					line += terms(site, when)
				}
				out = append(out, line)
			}
		}
	}
	return site, out
}

func terms(site *loader.Site, condition int) string {
	out := ""
	for _, term := range site.Conditions[condition] {
		out += " [" + site.Dimensions[term.Dimension].Name + " " + term.Value + "]"
	}
	return out
}

// refused loads a site that must have exactly one error, in file, and returns its message.
func refused(t *testing.T, dir, file string, opts loader.Options) string {
	t.Helper()
	var diags diag.List
	loader.Load(dir, opts, &diags)
	found := diags.Sorted()
	if len(found) != 1 || !diags.Failed() {
		t.Fatalf("expected one error, found %v", found)
	}
	if found[0].Code != "extension" {
		t.Errorf("the code is %s, expected extension", found[0].Code)
	}
	if want := filepath.Join(dir, filepath.FromSlash(file)); found[0].Pos.File != want || found[0].Pos.Line == 0 {
		t.Errorf("the error is at %s, expected a line of %s", found[0].Pos, want)
	}
	return found[0].Message
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found\n\t%s\nexpected\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// hieraWith is a site with a Hiera 2 directory that uses the backends yaml and echo, in this order.
var hieraWith = map[string]string{
	"binder_config.yaml": "version: 1\nlayers: [{name: site, include: 'confdir-hiera:/'}]\n",
	"hiera.yaml": `version: 2
hierarchy: [[node, '${fqdn}', 'data/node/${fqdn}'], [common, 'true', data/common]]
backends: [yaml, echo]
`,
	"data/common.yaml":  "both: yaml\n",
	"data/node/n1.yaml": "a: of n1\n",
	"data/node/n2.echo": "",
	"data/node/sub/x":   "", // not a node: only files are
	"data/other":        "",
}

func TestGoBackendIsCalledForEachPath(t *testing.T) {
	dir := writeSite(t, hieraWith)
	backends := map[string]loader.Backend{"echo": func(in, name string) ([]byte, error) {
		if in != dir {
			return nil, fmt.Errorf("asked in %s", in)
		}
		return fmt.Appendf(nil, `{"echo::%s": %q, "both": "echo"}`, filepath.Base(name), name), nil
	}}
	_, got := load(t, dir, loader.Options{Backends: backends})
	found := map[string]bool{}
	for _, line := range got {
		found[line] = true
	}
	for _, want := range []string{
		"site echo::common = data/common",
		"site echo::n1 = data/node/n1 [node n1]",
		"site echo::n2 = data/node/n2 [node n2]",
		"site both = yaml",
		"site both = echo hidden",
		"site both = echo [node n1]",
		"site both = echo [node n2]",
		"site a = of n1 [node n1]",
	} {
		if !found[want] {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if len(got) != 8 {
		t.Errorf("found %q: more is asked for, or the later backend is heard where the earlier one has the key", got)
	}
}

// If the path of an entry is only a variable, the backend is called only for the paths of existing files.
func TestBackendIsNotAskedForEmptyPath(t *testing.T) {
	dir := writeSite(t, map[string]string{"binder_config.yaml": hieraWith["binder_config.yaml"],
		"hiera.yaml": "version: 2\nbackends: [echo, echo]\nhierarchy: [[common, 'true', '${role}']]\n",
		"web.a":      "", "web.b": ""})
	var asked []string
	backends := map[string]loader.Backend{"echo": func(_, name string) ([]byte, error) {
		asked = append(asked, name)
		return []byte("{}"), nil
	}}
	load(t, dir, loader.Options{Backends: backends, Jobs: 1})
	expect(t, asked, "web")
}

func TestBackendMayHaveNoData(t *testing.T) {
	dir := writeSite(t, hieraWith)
	backends := map[string]loader.Backend{"echo": func(string, string) ([]byte, error) { return nil, nil }}
	site, got := load(t, dir, loader.Options{Backends: backends})
	expect(t, got, "site a = of n1 [node n1]", "site both = yaml")
	for _, in := range site.Inputs {
		if in.Path == "" || in.Made {
			t.Errorf("what nobody has said is the input %+v", in)
		}
	}
}

func TestBackendErrorIsReportedInHieraYaml(t *testing.T) {
	files := map[string]string{"binder_config.yaml": hieraWith["binder_config.yaml"],
		"hiera.yaml": hieraWith["hiera.yaml"]}
	dir := writeSite(t, files)
	message := refused(t, dir, "hiera.yaml", loader.Options{Backends: map[string]loader.Backend{
		"echo": func(string, string) ([]byte, error) { return nil, errors.New("out of order") }}})
	if !strings.Contains(message, "out of order") || !strings.Contains(message, "echo") {
		t.Errorf("the message is %q", message)
	}
	for _, json := range []string{`[1]`, `"text"`, `{"a": `, `{"a": 1} more`, `{1: 2}`} {
		var diags diag.List
		loader.Load(dir, loader.Options{Backends: map[string]loader.Backend{
			"echo": func(string, string) ([]byte, error) { return []byte(json), nil }}}, &diags)
		if !diags.Failed() {
			t.Errorf("a backend may answer %s", json)
		}
	}
}

// echoScheme handles URIs as in the example of ARM-9: it binds the path, with double colons, to its words.
func echoScheme(uri string) ([]byte, error) {
	path, ok := strings.CutPrefix(uri, "echo:")
	if !ok {
		return nil, fmt.Errorf("cannot handle %s", uri)
	}
	words := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", " ")
	return fmt.Appendf(nil, `{"bindings_version": 1, "name": "echo", "bind": [[%q, %q],
		{"when": {"osfamily": "Debian"}, "bind": [["more", "on Debian"]]}]}`,
		strings.ReplaceAll(path, "/", "::"), "echo: "+words), nil
}

var echoLayers = map[string]string{
	"binder_config.yaml": "version: 1\nlayers:\n  - {name: high, include: 'echo:/quick/brown/fox'}\n  - {name: low, include: ['echo:/a', 'echo:/b'], exclude: 'echo:/b'}\n",
}

func TestGoSchemeHandlerReturnsBindings(t *testing.T) {
	handlers := map[string]loader.SchemeHandler{"echo": echoScheme}
	_, got := load(t, writeSite(t, echoLayers), loader.Options{SchemeHandlers: handlers})
	expect(t, got,
		"high ::quick::brown::fox = echo: quick brown fox",
		"high more = on Debian [osfamily debian]",
		"low ::a = echo: a",
		"low more = on Debian [osfamily debian]")
}

func TestSchemeHandlerErrorIsReportedInLayer(t *testing.T) {
	dir := writeSite(t, map[string]string{"binder_config.yaml": "version: 1\nlayers: [{name: a, include: 'echo:/a'}]\n"})
	message := refused(t, dir, "binder_config.yaml", loader.Options{SchemeHandlers: map[string]loader.SchemeHandler{
		"echo": func(string) ([]byte, error) { return nil, errors.New("no such animal") }}})
	if !strings.Contains(message, "no such animal") || !strings.Contains(message, "echo:/a") {
		t.Errorf("the message is %q", message)
	}
}

// Extensions cannot have built-in names, and a command must have at least one word.
func TestRejectsInvalidExtensions(t *testing.T) {
	dir := writeSite(t, map[string]string{"binder_config.yaml": "version: 1\nextensions:\n  hiera_backends:\n" +
		"    yaml: {command: [x]}\n    json: {command: [x]}\n    a: {cmd: [x]}\n    b: {command: [x]}\n" +
		"  scheme_handlers:\n    hiera: {command: [x]}\n    yaml2: {command: [x]}\n"})
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	var lines []string
	for _, d := range diags.Sorted() {
		lines = append(lines, fmt.Sprint(d.Pos.Line, " ", d.Code))
	}
	expect(t, lines, "4 extension", "5 extension", "6 extension", "9 extension")
}

func TestRegisteredExtensionWinsOverProgram(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"binder_config.yaml": `version: 1
layers: [{name: site, include: 'echo:/a'}]
extensions: {scheme_handlers: {echo: {command: [sh, -c, 'exit 1']}}}
`})
	handlers := map[string]loader.SchemeHandler{"echo": echoScheme}
	_, got := load(t, dir, loader.Options{SchemeHandlers: handlers})
	expect(t, got, "site ::a = echo: a", "site more = on Debian [osfamily debian]")
}

func programSite(t *testing.T, script string) string {
	t.Helper()
	return writeSite(t, map[string]string{
		"binder_config.yaml": "version: 1\nlayers: [{name: site, include: 'prog:/a'}]\nextensions: {scheme_handlers: {prog: {command: [sh, prog.sh]}}}\n",
		"prog.sh":            script,
	})
}

func TestExtensionRunsInSiteDirectoryWithoutShell(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"binder_config.yaml": `version: 1
layers: [{name: site, include: 'prog:/$(touch ran);a'}]
extensions: {scheme_handlers: {prog: {command: [sh, prog.sh, '$HOME', 'a b']}}}
`,
		"prog.sh": `[ "$1" = '$HOME' ] && [ "$2" = 'a b' ] && [ "$3" = 'prog:/$(touch ran);a' ] || exit 1
echo '{"bindings_version": 1, "name": "x", "bind": [["args", "'$#'"]]}'
`,
	})
	_, got := load(t, dir, loader.Options{AllowExtensions: true})
	expect(t, got, "site args = 3")
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a shell has seen the URI")
	}
}

func TestExtensionProgramNeedsPermission(t *testing.T) {
	dir := programSite(t, "touch ran\n")
	message := refused(t, dir, "binder_config.yaml", loader.Options{})
	if !strings.Contains(message, "--allow-extensions") {
		t.Errorf("the message is %q", message)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the program was run")
	}
}

func TestErrorIncludesStandardErrorOfFailedExtension(t *testing.T) {
	message := refused(t, programSite(t, "echo out of order >&2\nexit 3\n"), "binder_config.yaml",
		loader.Options{AllowExtensions: true})
	if !strings.Contains(message, "out of order") || !strings.Contains(message, "sh") || !strings.Contains(message,
		"3") {
		t.Errorf("the message is %q", message)
	}
}

func TestIgnoresStandardErrorOfSuccessfulExtension(t *testing.T) {
	script := "echo chatter >&2\necho '{\"bindings_version\": 1, \"name\": \"x\", \"bind\": [[\"a\", \"b\"]]}'\n"
	_, got := load(t, programSite(t, script), loader.Options{AllowExtensions: true})
	expect(t, got, "site a = b")
}

func TestLongStandardErrorIsTruncated(t *testing.T) {
	script := "i=0\nwhile [ $i -lt 2000 ]; do echo a line that nobody reads >&2; i=$((i+1)); done\nexit 1\n"
	message := refused(t, programSite(t, script), "binder_config.yaml", loader.Options{AllowExtensions: true})
	if !strings.Contains(message, "a line that nobody reads") || len(message) > 8<<10 {
		t.Errorf("the message has %d bytes", len(message))
	}
}

// The program's child keeps the standard output open. The build stops both after the timeout.
func TestStopsExtensionAfterTimeout(t *testing.T) {
	start := time.Now()
	dir := programSite(t, "echo still here >&2\nsleep 600 & sleep 600\n")
	message := refused(t, dir, "binder_config.yaml", loader.Options{AllowExtensions: true,
		ExtensionTimeout: 200 * time.Millisecond})
	if !strings.Contains(message, "stopped after 200ms") || !strings.Contains(message, "still here") {
		t.Errorf("the message is %q", message)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// Child processes of an extension end when it exits, when it is stopped, and when the build ends.
func TestChildrenOfExtensionEndWithIt(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("there is no flock to tell a process by that it has ended")
	}
	const child = "exec 9>held && flock 9 && { sleep 600 >/dev/null 2>&1 & }\n"
	soon, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer stop()
	tests := map[string]struct {
		script string
		opts   loader.Options
		want   string
	}{
		"done":     {"echo '{\"bindings_version\": 1, \"name\": \"x\", \"bind\": []}'", loader.Options{}, ""},
		"failed":   {"exit 3", loader.Options{}, "exit status 3"},
		"too late": {"sleep 600", loader.Options{ExtensionTimeout: 200 * time.Millisecond}, "stopped after 200ms"},
		"stopped":  {"sleep 600", loader.Options{Context: soon}, "was stopped"},
	}
	for name, test := range tests {
		dir := programSite(t, child+test.script)
		test.opts.AllowExtensions = true
		if test.want == "" {
			load(t, dir, test.opts)
		} else if message := refused(t, dir, "binder_config.yaml", test.opts); !strings.Contains(message, test.want) {
			t.Errorf("%s: the message is %q", name, message)
		}
		if err := exec.Command("flock", "-w", "60", filepath.Join(dir, "held"), "true").Run(); err != nil {
			t.Errorf("%s: a child goes on running: %v", name, err)
		}
	}
}

func TestRejectsExtensionWithoutOutput(t *testing.T) {
	for _, script := range []string{"", "exit 0", "echo"} {
		message := refused(t, programSite(t, script), "binder_config.yaml", loader.Options{AllowExtensions: true})
		if !strings.Contains(message, "it returned nothing: expected JSON") {
			t.Errorf("%q: the message is %q", script, message)
		}
	}
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2\nbackends: [silent]\n",
		"binder_config.yaml": "{version: 1, extensions: {hiera_backends: {silent: {command: ['true']}}}}"})
	message := refused(t, dir, "hiera.yaml", loader.Options{AllowExtensions: true})
	if !strings.Contains(message, "{} if a backend has no data") {
		t.Errorf("the message is %q", message)
	}
}

// A program exits while its child keeps standard output open: the output may be incomplete, so this is an error.
func TestRejectsOutputWhileChildStillRuns(t *testing.T) {
	t.Parallel() // it mostly waits
	message := refused(t, programSite(t, "sleep 600 &\n"), "binder_config.yaml", loader.Options{AllowExtensions: true})
	if !strings.Contains(message, "left a process that keeps its output open") {
		t.Errorf("the message is %q", message)
	}
}

func TestRejectsTooMuchExtensionOutput(t *testing.T) {
	message := refused(t, programSite(t, "exec cat /dev/zero\n"), "binder_config.yaml",
		loader.Options{AllowExtensions: true})
	if !strings.Contains(message, "printed more than") {
		t.Errorf("the message is %q", message)
	}
}

func TestReportsMissingExtensionProgram(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"binder_config.yaml": "version: 1\nlayers: [{name: site, include: 'prog:/a'}]\nextensions: {scheme_handlers: {prog: {command: [./no-such-program]}}}\n",
	})
	message := refused(t, dir, "binder_config.yaml", loader.Options{AllowExtensions: true})
	if !strings.Contains(message, "no-such-program") {
		t.Errorf("the message is %q", message)
	}
}

// The result does not depend on the number of parallel jobs, on timing, or on the directory of the site.
func TestExtensionResultsAreDeterministic(t *testing.T) {
	files := map[string]string{
		"binder_config.yaml": `version: 1
layers: [{name: site, include: ['confdir-hiera:/', 'echo:/z', 'echo:/y', 'prog:/x', 'prog:/w']}]
extensions: {scheme_handlers: {prog: {command: [sh, prog.sh]}}}
`,
		"prog.sh": `printf '{"bindings_version": 1, "name": "x", "bind": [["%s", "p"]]}' "$1"` + "\n",
		"hiera.yaml": `version: 2
hierarchy: [[node, '${fqdn}', 'data/node/${fqdn}'], [common, 'true', data/common]]
backends: [echo, yaml]
`,
		"data/common.yaml": "a: 1\n",
	}
	for i := range 20 {
		files[fmt.Sprintf("data/node/n%d.yaml", i)] = "a: of a node\n"
	}
	opts := loader.Options{
		AllowExtensions: true,
		Backends: map[string]loader.Backend{"echo": func(_, name string) ([]byte, error) {
			return fmt.Appendf(nil, `{"echo::%s": %q}`, filepath.Base(name), name), nil
		}},
		SchemeHandlers: map[string]loader.SchemeHandler{"echo": func(uri string) ([]byte, error) {
			return fmt.Appendf(nil, `{"bindings_version": 1, "name": "echo", "bind": [[%q, "handled"]]}`, uri), nil
		}},
	}
	var first []string
	var inputs []loader.Input
	for i := range 8 {
		opts.Jobs = 1 + i%4
		site, got := load(t, writeSite(t, files), opts)
		if first == nil {
			first, inputs = got, site.Inputs
			if len(got) != 2*21+4 {
				t.Errorf("found %d bindings, expected %d: %q", len(got), 2*21+4, got)
			}
			continue
		}
		if !reflect.DeepEqual(got, first) {
			t.Fatalf("with %d jobs found\n\t%s\nbefore\n\t%s", opts.Jobs, strings.Join(got, "\n\t"),
				strings.Join(first, "\n\t"))
		}
		if !reflect.DeepEqual(site.Inputs, inputs) {
			t.Fatalf("with %d jobs the inputs are\n\t%v\nbefore\n\t%v", opts.Jobs, site.Inputs, inputs)
		}
	}
}
