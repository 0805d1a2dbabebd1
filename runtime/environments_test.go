package runtime_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bindc/internal/envfile"
	"bindc/internal/syntax"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// writeProgram compiles the source of an environments.pp and writes DIR/.environments with it and the names.
func writeProgram(t testing.TB, dir, src string, names ...string) {
	t.Helper()
	says, errs := syntax.ParseEnvironments(src)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	c := envfile.Choice{Program: envfile.ProgramOf(says.Statements)}
	for _, name := range names {
		c.Environments = append(c.Environments, envfile.Environment{Name: name})
	}
	replace(t, filepath.Join(dir, envfile.File), envfile.Encode(&c))
}

// environment builds the snapshot of an environment in which one key is bound to says.
func environment(t testing.TB, dir, name, says string) {
	t.Helper()
	build(t, filepath.Join(dir, name+".snap"), "bindings_version: 1\nname: default\nbind:\n  - [is, '"+says+" ${environment}']")
}

// openEnvironments opens the environments until the end of the test.
func openEnvironments(t testing.TB, dir string, opts bindings.WatchOptions) *bindings.Environments {
	t.Helper()
	all, err := bindings.OpenEnvironments(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { all.Close() })
	return all
}

func asking(t testing.TB, agent string, facts string) *bindings.Facts {
	t.Helper()
	f, err := parseFacts([]byte(facts), bindings.FactsOptions{Node: "n1", Environment: agent})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// environmentOf returns the value that identifies the environment of facts, or the code of the error.
func environmentOf(t testing.TB, all *bindings.Environments, facts *bindings.Facts) string {
	t.Helper()
	lease, err := all.Request(facts)
	var known *bindings.Error
	if errors.As(err, &known) {
		return string(known.Code)
	}
	if err != nil {
		return err.Error()
	}
	defer lease.Close()
	v, _, err := lease.Lookup("is")
	if err != nil {
		t.Error(err)
	}
	return textOf(v)
}

func TestRequestUsesChosenEnvironment(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"production", "test", "special"} {
		environment(t, dir, name, name)
	}
	writeProgram(t, dir, "if $role == 'db' { $environment = 'special' } elsif $role == 'broken' { $environment = 1 / 0 } elsif $agent_environment != 'wild' "+
		"{ $environment = $agent_environment }", "production", "test", "special", "never")
	all := openEnvironments(t, dir, byHand)
	for _, test := range []struct{ agent, facts, want string }{
		{"", `{}`, "production production"},
		{"", `{"environment": "test"}`, "test test"},
		{"test", `{}`, "test test"},
		{"test", `{"role": "db"}`, "special special"},
		{"test", `{"role": "broken"}`, "environment"},
		{"wild", `{}`, "production production"},
		{"tst", `{}`, "environment"},
		{"never", `{}`, "environment"},
		{"../test", `{}`, "environment"},
	} {
		if got := environmentOf(t, all, asking(t, test.agent, test.facts)); got != test.want {
			t.Errorf("asked for %q with %s: %s, expected %s", test.agent, test.facts, got, test.want)
		}
	}
	environment(t, filepath.Dir(dir), "outside", "outside")
	if got := environmentOf(t, all, asking(t, "../outside", `{}`)); got != "environment" {
		t.Errorf("an invalid name of an environment gives %s", got)
	}
	for agent, want := range map[string]string{
		"tst":   "there is no environment 'tst'; there is 'production', 'special' and 'test'; did you mean 'test'?",
		"never": "the environment 'never' has no snapshot: it was never built without an error; there is",
	} {
		if _, err := all.Request(asking(t, agent, `{}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("asked for %s: %v", agent, err)
		}
	}
	_, err := all.Request(asking(t, "", `{"role": "broken"}`))
	if err == nil || !strings.HasPrefix(err.Error(), "cannot choose an environment: ") {
		t.Errorf("a choice that fails: %v", err)
	}
	if got := fmt.Sprint(all.Variables()); got != "[role]" {
		t.Errorf("the choice depends on %s", got)
	}
	var failed *bindings.Error
	if _, err := all.Request(nil); !errors.As(err, &failed) || failed.Code != bindings.CodeFacts {
		t.Errorf("without a requested environment: %v", err)
	}
}

// If the facts have no $server_facts, that variable names the chosen environment, not the requested one.
func TestServerFactsNameChosenEnvironment(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "b.snap"), `bindings_version: 1
name: default
bind: [{name: server, to_expression: '$server_facts'}]
`)
	writeProgram(t, dir, "$environment = 'b'")
	all := openEnvironments(t, dir, byHand)
	for variables, want := range map[string]string{
		`{}`: `{"environment":"b"}`,
		`{"server_facts": {"environment": "a", "serverip": "::1"}}`: `{"environment":"a","serverip":"::1"}`,
	} {
		given, err := parseJSON([]byte(variables))
		if err != nil {
			t.Fatal(err)
		}
		facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Environment: "a", Variables: given})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := all.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Close()
		if got := outcomeOf(lease.Lookup("server")); got != want {
			t.Errorf("with the variables %s the server facts are %s, expected %s", variables, got, want)
		}
	}
}

// Errors of a request in the chosen environment are reported like those of a single snapshot.
func TestFailingCategoryFailsRequestInEnvironment(t *testing.T) {
	dir := t.TempDir()
	buildSite(t, filepath.Join(dir, "production.snap"), map[string]string{
		"binder_config.yaml":    "version: 1\ncategories: [[checked, '${Integer($number)}']]\n",
		"bindings/default.yaml": "{bindings_version: 1, name: default, bind: [{when: {checked: 5}, bind: [[a, 5]]}]}",
	})
	lease, err := openEnvironments(t, dir, byHand).Request(asking(t, "", `{"number": "five"}`))
	var failed *bindings.Error
	if !errors.As(err, &failed) || failed.Code != bindings.CodeEvaluation || lease != nil {
		t.Errorf("%v, %v", lease, err)
	}
}

func TestAgentEnvironmentIsTheDefault(t *testing.T) {
	dir := t.TempDir()
	environment(t, dir, "production", "a")
	environment(t, dir, "test", "b")
	all := openEnvironments(t, dir, byHand)
	for agent, want := range map[string]string{"": "a production", "test": "b test", "other": "environment"} {
		if got := environmentOf(t, all, asking(t, agent, `{}`)); got != want {
			t.Errorf("asked for %q: %s, expected %s", agent, got, want)
		}
	}
	if switched, err := all.Check(); switched || err != nil {
		t.Errorf("where nothing is new: %v, %v", switched, err)
	}
	for _, other := range []string{"notes", "no name.snap", ".snap"} {
		replace(t, filepath.Join(dir, other), nil)
	}
	if names, err := all.Names(); fmt.Sprint(names) != "[production test]" || err != nil {
		t.Errorf("the environments are %q, %v", names, err)
	}
}

func TestEnvironmentsAreAddedAndRemoved(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, dir, "$environment = $agent_environment")
	environment(t, dir, "a", "first")
	all := openEnvironments(t, dir, byHand)
	check := func(want bool) {
		t.Helper()
		if switched, err := all.Check(); switched != want || err != nil {
			t.Errorf("Check: %v, %v; expected %v", switched, err, want)
		}
	}
	expect := func(agent, want string) {
		t.Helper()
		if got := environmentOf(t, all, asking(t, agent, `{}`)); got != want {
			t.Errorf("%s is %s, expected %s", agent, got, want)
		}
	}
	expect("a", "first a")
	expect("b", "environment")
	check(false)
	environment(t, dir, "b", "new")
	expect("b", "new b")

	before, err := all.Request(asking(t, "a", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	environment(t, dir, "a", "second")
	check(true)
	check(false)
	expect("a", "second a")
	last, err := all.Request(asking(t, "a", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a.snap")); err != nil {
		t.Fatal(err)
	}
	check(true)
	expect("a", "environment")
	if v, _, err := before.Lookup("is"); err != nil || textOf(v) != "first a" {
		t.Errorf("a request that had begun finds %v, %v", v, err)
	}
	if last.Close(); last.Snapshot().Verify() != fs.ErrClosed {
		t.Error("the file of an environment that is gone outlives the last request of it")
	}

	writeProgram(t, dir, "$environment = 'b'")
	check(true)
	expect("a", "new b")
	replace(t, filepath.Join(dir, envfile.File), []byte("no program"))
	for range 2 {
		if switched, err := all.Check(); switched || !errors.Is(err, snapshot.ErrFormat) {
			t.Errorf("an invalid program: %v, %v", switched, err)
		}
	}
	expect("a", "new b")
	if err := os.Remove(filepath.Join(dir, envfile.File)); err != nil {
		t.Fatal(err)
	}
	if switched, err := all.Check(); switched || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no program any more: %v, %v", switched, err)
	}
	expect("a", "new b")

	replace(t, filepath.Join(dir, "b.snap"), []byte("no snapshot"))
	writeProgram(t, dir, "$environment = $agent_environment")
	if switched, err := all.Check(); !switched || !errors.Is(err, snapshot.ErrFormat) {
		t.Errorf("an invalid snapshot: %v, %v", switched, err)
	}
	expect("b", "new b")
}

func TestEnvironmentsRequestAfterClose(t *testing.T) {
	dir := t.TempDir()
	environment(t, dir, "production", "x")
	all := openEnvironments(t, dir, bindings.WatchOptions{})
	lease, err := all.Request(asking(t, "", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close()
	for range 2 {
		if err := all.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := all.Request(asking(t, "", `{}`)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Request: %v", err)
	}
	if switched, err := all.Check(); switched || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Check: %v, %v", switched, err)
	}
	if names := all.Variables(); names != nil {
		t.Errorf("Variables: %q", names)
	}
	if v, _, err := lease.Lookup("is"); err != nil || textOf(v) != "x production" {
		t.Errorf("a request that had begun finds %v, %v", v, err)
	}
}

// The error for a directory without environments names the missing file.
func TestRequestInDirectoryWithoutEnvironmentsFails(t *testing.T) {
	dir := t.TempDir()
	all := openEnvironments(t, dir, byHand)
	_, err := all.Request(asking(t, "a", `{}`))
	var failed *bindings.Error
	if !errors.As(err, &failed) || failed.Code != bindings.CodeEnvironment ||
		failed.Message != "there is no environment 'a'; there is no file "+filepath.Join(dir, "a.snap") {
		t.Errorf("%v", err)
	}
	if names, err := all.Names(); names != nil || err != nil {
		t.Errorf("the environments are %q, %v", names, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if names, err := all.Names(); names != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a directory that is gone the environments are %q, %v", names, err)
	}
}

func TestOpenEnvironmentsReportsErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := bindings.OpenEnvironments(filepath.Join(dir, "none"), byHand); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no directory: %v", err)
	}
	program := filepath.Join(dir, envfile.File)
	replace(t, program, []byte("no program"))
	if _, err := bindings.OpenEnvironments(dir, byHand); !errors.Is(err, snapshot.ErrFormat) ||
		!strings.Contains(err.Error(), program) {
		t.Errorf("of no program: %v", err)
	}
	writeProgram(t, dir, "$environment = 'a'")
	errNo := errors.New("unsigned")
	opts := byHand
	opts.Accept = func(path string, _ [32]byte) error { return errNo }
	if _, err := bindings.OpenEnvironments(dir, opts); !errors.Is(err, errNo) {
		t.Errorf("of a program that is not accepted: %v", err)
	}

	environment(t, dir, "a", "a")
	environment(t, dir, "b", "b")
	var accepted error
	opts.Accept = func(string, [32]byte) error { return accepted }
	all := openEnvironments(t, dir, opts)
	writeProgram(t, dir, "$environment = 'b'")
	accepted = errNo
	if switched, err := all.Check(); switched || !errors.Is(err, errNo) {
		t.Errorf("another program that is not accepted: %v, %v", switched, err)
	}
	accepted = nil // the signature was written after the file
	if switched, err := all.Check(); !switched || err != nil {
		t.Errorf("one that is accepted now: %v, %v", switched, err)
	}
	if got := environmentOf(t, all, asking(t, "", `{}`)); got != "b b" {
		t.Errorf("found %s", got)
	}

	writeProgram(t, dir, "$environment = 'c'")
	replace(t, filepath.Join(dir, "c.snap"), []byte("no snapshot"))
	if switched, err := all.Check(); !switched || err != nil {
		t.Errorf("a program that chooses a missing environment: %v, %v", switched, err)
	}
	if _, err := all.Request(asking(t, "", `{}`)); !errors.Is(err, snapshot.ErrFormat) {
		t.Errorf("of no snapshot: %v", err)
	}
	if switched, err := all.Check(); switched || err != nil {
		t.Errorf("an environment that is not followed: %v, %v", switched, err)
	}
	environment(t, dir, "c", "c")
	if got := environmentOf(t, all, asking(t, "", `{}`)); got != "c c" {
		t.Errorf("of the repaired snapshot: %s", got)
	}
}

// An invalid program is read only once, like an invalid snapshot.
func TestInvalidProgramIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, dir, "$environment = 'a'")
	asked := 0
	opts := byHand
	opts.Accept = func(string, [32]byte) error { asked++; return nil }
	all := openEnvironments(t, dir, opts)
	replace(t, filepath.Join(dir, envfile.File), []byte("no program"))
	for range 3 {
		if switched, err := all.Check(); switched || !errors.Is(err, snapshot.ErrFormat) {
			t.Errorf("%v, %v", switched, err)
		}
	}
	if asked != 2 {
		t.Errorf("two files were read %d times", asked)
	}
}

// While snapshots and programs are replaced, and environments come and go, each request has the values of one
// snapshot.
func TestRequestsDuringReplacementOfEnvironmentsUseOneSnapshot(t *testing.T) {
	const readers, rounds = 3, 50
	dir := t.TempDir()
	environment(t, dir, "a", "0")
	writeProgram(t, dir, "$environment = 'a'")
	all := openEnvironments(t, dir, bindings.WatchOptions{Interval: time.Millisecond, Notify: func(error) {}})
	stop := make(chan struct{})
	var running sync.WaitGroup
	for i := range readers {
		facts := asking(t, fmt.Sprint("agent", i), `{}`)
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got := environmentOf(t, all, facts)
				if !strings.HasSuffix(got, " a") && got != "0 b" && got != "environment" {
					t.Errorf("found %q", got)
					return
				}
			}
		})
	}
	for n := range rounds {
		environment(t, dir, "a", fmt.Sprint(n))
		environment(t, dir, "b", "0")
		writeProgram(t, dir, fmt.Sprintf("$environment = '%c'", 'a'+n%2))
		if _, err := all.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if err := os.Remove(filepath.Join(dir, "b.snap")); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	running.Wait()
}

func TestCategoryMayCallFunctions(t *testing.T) {
	snap := openSite(t, map[string]string{
		"binder_config.yaml":    "version: 1\ncategories: [[shout, '${upcase($name)}']]\n",
		"bindings/default.yaml": "{bindings_version: 1, name: default, bind: [{when: {shout: EVE}, bind: [[a, 5]]}]}",
	})
	req, err := snap.Request(asking(t, "", `{"name": "eve"}`))
	if err != nil {
		t.Fatal(err)
	}
	if v, found, err := req.Lookup("a"); err != nil || !found || fmt.Sprint(v) != "5" {
		t.Errorf("%v, %v, %v; expected 5", v, found, err)
	}
}
