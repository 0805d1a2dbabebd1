package adopt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	original = "# Puppet's own\nversion: 5\nhierarchy: [{name: Common, path: common.yaml}]\n"
	asking   = "version: 5\nhierarchy: [{name: bindc, lookup_key: 'bindc::lookup_key', options: {snapshot: /s}}]\n"
)

// environment creates an environment from files by name.
func environment(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "production")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func inspect(t *testing.T, dir string) *Environment {
	t.Helper()
	e, err := Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkFile checks the text of a file, or that the file is missing if text is "".
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("%s is %q (%v), want %q", path, got, err, want)
	}
}

func written() error { return nil }

func TestInspectDeterminesStateOfAdoption(t *testing.T) {
	for _, c := range []struct {
		what, own, copied string
		want              State
		source            string
	}{
		{"not adopted", original, "", Native, hieraFile},
		{"killed before the switch", original, original, Begun, hieraFile},
		{"adopted", asking, original, Adopted, hiera5File},
		{"hiera.yaml was renamed by hand", "", original, Broken, hiera5File},
		{"hiera.yaml is empty", " \n", original, Broken, hiera5File},
	} {
		files := map[string]string{}
		if c.own != "" {
			files[hieraFile] = c.own
		}
		if c.copied != "" {
			files[hiera5File] = c.copied
		}
		e := inspect(t, environment(t, files))
		if e.State != c.want || e.Source() != filepath.Join(e.Dir, c.source) {
			t.Errorf("%s: got state %d and %s, want %d and %s", c.what, e.State, e.Source(), c.want, c.source)
		}
		if asked := e.Asks.Snapshot("production") == "/s"; asked != (c.want == Adopted) {
			t.Errorf("%s: the options of hiera.yaml are read: %v", c.what, asked)
		}
		if src := e.Original(); string(src) != original {
			t.Errorf("%s: the original is %q", c.what, src)
		}
	}
}

func TestInspectRejectsUnsuitableEnvironments(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"a": ""}, "hiera.yaml is not there"},
		{map[string]string{hieraFile: ""}, "hiera.yaml is empty"},
		{map[string]string{hieraFile: ":backends: [yaml]\n"}, "expected a hiera.yaml with 'version: 5'"},
		{map[string]string{hieraFile: "a: ["}, "hiera.yaml: not valid YAML"},
		{map[string]string{hieraFile: asking}, "uses a snapshot, but hiera5.yaml is missing"},
		{map[string]string{hieraFile: asking, hiera5File: asking}, "hiera5.yaml uses a snapshot itself"},
		{map[string]string{hieraFile: asking, hiera5File: "version: 3"}, "hiera5.yaml: expected a hiera.yaml with 'version: 5'"},
		{map[string]string{hieraFile: original, hiera5File: original + "#"}, "hiera.yaml and hiera5.yaml differ"},
		{map[string]string{hiera5File: ""}, "hiera5.yaml: not valid YAML"},
	} {
		_, err := Inspect(environment(t, c.files))
		var refusal *Obstacle
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, c.want) || refusal.Hint == "" {
			t.Errorf("%q: got %v, want a refusal with a hint: %s", c.files, err, c.want)
		}
	}
}

func TestUndoRestoresFilesAfterSwitch(t *testing.T) {
	dir := environment(t, map[string]string{hieraFile: original})
	own, copied := filepath.Join(dir, hieraFile), filepath.Join(dir, hiera5File)
	if err := os.Chmod(own, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := inspect(t, dir).Switch([]byte(asking), written); err != nil {
		t.Fatal(err)
	}
	checkFile(t, own, asking)
	checkFile(t, copied, original)
	for _, path := range []string{own, copied} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o604 {
			t.Errorf("%s has mode %v (%v), want that of the original", path, info.Mode(), err)
		}
	}
	if err := inspect(t, dir).Switch([]byte(asking), written); err != nil {
		t.Errorf("again: %v", err)
	}
	if changed, err := inspect(t, dir).Undo(); !changed || err != nil {
		t.Errorf("undo: %v, %v", changed, err)
	}
	checkFile(t, own, original)
	checkFile(t, copied, "")
	if info, err := os.Stat(own); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o604 {
		t.Errorf("undo leaves mode %v (%v)", info.Mode(), err)
	}
	if changed, err := inspect(t, dir).Undo(); changed || err != nil {
		t.Errorf("undo of nothing: %v, %v", changed, err)
	}
}

// Switch does not write a configuration that is already in place, and replaces any other one.
func TestSwitchReplacesOnlyAnotherConfiguration(t *testing.T) {
	dir := environment(t, map[string]string{hieraFile: asking, hiera5File: original})
	before, err := os.Stat(filepath.Join(dir, hieraFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{asking, asking + "# new\n"} {
		if err := inspect(t, dir).Switch([]byte(text), written); err != nil {
			t.Fatal(err)
		}
		checkFile(t, filepath.Join(dir, hieraFile), text)
		checkFile(t, filepath.Join(dir, hiera5File), original)
		after, err := os.Stat(filepath.Join(dir, hieraFile))
		if err != nil || os.SameFile(before, after) != (text == asking) {
			t.Errorf("hiera.yaml was written: %v (%v)", !os.SameFile(before, after), err)
		}
	}
}

// Switch does not follow a link, because its target may belong to other environments.
func TestSwitchAndUndoReplaceOnlyTheLink(t *testing.T) {
	dir := environment(t, map[string]string{"shared/hiera.yaml": original})
	own, copied := filepath.Join(dir, hieraFile), filepath.Join(dir, hiera5File)
	if err := os.Symlink("shared/hiera.yaml", own); err != nil {
		t.Skipf("this system has no links: %v", err)
	}
	if plan := inspect(t, dir).Plan("/s", nil); !strings.Contains(plan[1], "link") {
		t.Errorf("the plan is %q", plan)
	}
	if err := inspect(t, dir).Switch([]byte(asking), written); err != nil {
		t.Fatal(err)
	}
	checkFile(t, own, asking)
	checkFile(t, copied, original)
	checkFile(t, filepath.Join(dir, "shared/hiera.yaml"), original)
	if isLink(own) || !isLink(copied) {
		t.Error("hiera.yaml is a link, or hiera5.yaml is not")
	}
	if changed, err := inspect(t, dir).Undo(); !changed || err != nil || !isLink(own) {
		t.Errorf("undo: %v, %v; hiera.yaml is a link: %v", changed, err, isLink(own))
	}
	checkFile(t, own, original)
	if err := os.Remove(filepath.Join(dir, "shared/hiera.yaml")); err != nil {
		t.Fatal(err)
	}
	_, err := Inspect(dir)
	if err == nil || !strings.Contains(err.Error(), "is a symbolic link to a missing file") {
		t.Errorf("a link to nothing: %v", err)
	}
}

// killed is the panic that ends the program at a step.
type killed struct{}

// until runs do, and ends it with a panic at a step. It reports whether do reached that step.
func until(step string, do func()) (came bool) {
	beforeStep = func(at string) {
		if at == step {
			panic(killed{})
		}
	}
	defer func() {
		beforeStep = func(string) {}
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			came = true
		}
	}()
	do()
	return false
}

// In every state of the environment, the program is killed at each step. hiera.yaml is then either the old file or the
// new one, and the new one has all it needs. A second run completes the work, and Undo restores the original.
func TestEnvironmentWorksIfKilledAtAnyStep(t *testing.T) {
	states := map[string]map[string]string{
		"native":  {hieraFile: original},
		"begun":   {hieraFile: original, hiera5File: original},
		"broken":  {hiera5File: original},
		"adopted": {hieraFile: asking, hiera5File: original},
	}
	const next = asking + "# another one\n"
	kills := 0
	for name, files := range states {
		for _, step := range []string{"snapshot", "copy", "switch", "never"} {
			dir := environment(t, files)
			snapshot := filepath.Join(dir, "snapshot")
			adopt := func() {
				err := inspect(t, dir).Switch([]byte(next), func() error { return os.WriteFile(snapshot, nil, 0o600) })
				if err != nil {
					t.Errorf("%s, %s: %v", name, step, err)
				}
			}
			came := until(step, adopt)
			got, _ := os.ReadFile(filepath.Join(dir, hieraFile))
			if came {
				kills++
				checkFile(t, filepath.Join(dir, hieraFile), files[hieraFile])
			} else if string(got) != next {
				t.Errorf("%s, %s: hiera.yaml is %q", name, step, got)
			}
			if _, err := os.Stat(snapshot); err != nil && string(got) == next {
				t.Errorf("%s, %s: the switch is made without a snapshot", name, step)
			}
			adopt()
			checkFile(t, filepath.Join(dir, hieraFile), next)
			checkFile(t, filepath.Join(dir, hiera5File), original)
			until("undo", func() { inspect(t, dir).Undo() })
			checkFile(t, filepath.Join(dir, hieraFile), next)
			if _, err := inspect(t, dir).Undo(); err != nil {
				t.Error(err)
			}
			checkFile(t, filepath.Join(dir, hieraFile), original)
			checkFile(t, filepath.Join(dir, hiera5File), "")
		}
	}
	if kills < 9 {
		t.Errorf("%d kills, expected one for each step", kills)
	}
}

// Undo removes the copy that a killed adoption left, and keeps Puppet's file.
func TestUndoRemovesCopyOfKilledAdoption(t *testing.T) {
	for _, files := range []map[string]string{{hieraFile: original, hiera5File: original}, {hiera5File: original}} {
		dir := environment(t, files)
		if changed, err := inspect(t, dir).Undo(); !changed || err != nil {
			t.Errorf("undo: %v, %v", changed, err)
		}
		checkFile(t, filepath.Join(dir, hieraFile), original)
		checkFile(t, filepath.Join(dir, hiera5File), "")
	}
}

func TestFailedSnapshotChangesNothing(t *testing.T) {
	dir := environment(t, map[string]string{hieraFile: original})
	full := errors.New("no room")
	if err := inspect(t, dir).Switch([]byte(asking), func() error { return full }); err != full {
		t.Errorf("got %v", err)
	}
	checkFile(t, filepath.Join(dir, hieraFile), original)
	checkFile(t, filepath.Join(dir, hiera5File), "")
}

func TestPlanListsStepsOfSwitch(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		text  string
		want  string
	}{
		{map[string]string{hieraFile: original}, "a\nb\n",
			"write the snapshot /s|copy hiera.yaml to hiera5.yaml, which bindc compiles from then on|" +
				"replace hiera.yaml, in one step, with:\n       a\n       b"},
		{map[string]string{hieraFile: original, hiera5File: original}, "a\n",
			"write the snapshot /s|replace hiera.yaml, in one step, with:\n       a"},
		{map[string]string{hiera5File: original}, "a\n",
			"write the snapshot /s|keep hiera5.yaml, which is already there|replace hiera.yaml, in one step, with:\n       a"},
		{map[string]string{hieraFile: asking, hiera5File: original}, asking,
			"write the snapshot /s|keep hiera.yaml, which already uses the snapshot"},
	} {
		if got := strings.Join(inspect(t, environment(t, c.files)).Plan("/s", []byte(c.text)), "|"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// The shadow contains everything in the environment except the configuration of Hiera.
func TestShadowHasAllFilesButHieraConfiguration(t *testing.T) {
	e := inspect(t, environment(t, map[string]string{hieraFile: asking, hiera5File: original,
		"data/common.yaml": "a: 1\n"}))
	dir, err := e.Shadow(t.TempDir(), "production", []byte("other"))
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, filepath.Join(dir, "production", hieraFile), "other")
	checkFile(t, filepath.Join(dir, "production", hiera5File), "")
	checkFile(t, filepath.Join(dir, "production/data/common.yaml"), "a: 1\n")
	checkFile(t, filepath.Join(e.Dir, hieraFile), asking)
}

func TestDerivesModulePathWithoutPuppet(t *testing.T) {
	dir := environment(t, map[string]string{hieraFile: original})
	e := inspect(t, dir)
	base := filepath.Dir(filepath.Dir(dir)) + "/modules"
	want := strings.Join(append([]string{dir + "/modules", base}, standardModules...), " ")
	if got := strings.Join(e.ModulePath(), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	write(t, filepath.Join(dir, "environment.conf"), "# modulepath\nmodulepath = site:/abs:$basemodulepath\n")
	want = strings.Join(append([]string{dir + "/site", "/abs", base}, standardModules...), " ")
	if got := strings.Join(e.ModulePath(), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if at := Module(e.ModulePath()[:1]); at != "" {
		t.Errorf("the module is found in %s", at)
	}
	write(t, filepath.Join(dir, "site/bindc/lib/puppet/functions/bindc/lookup_key.rb"), "")
	if at := Module(e.ModulePath()[:1]); at != filepath.Join(dir, "site/bindc") {
		t.Errorf("the module is found in %q", at)
	}
}

func TestDeployedFindsR10kEnvironments(t *testing.T) {
	dir := environment(t, map[string]string{hieraFile: original})
	if inspect(t, dir).Deployed() {
		t.Error("nothing deploys it")
	}
	write(t, filepath.Join(dir, ".r10k-deploy.json"), "{}")
	if !inspect(t, dir).Deployed() {
		t.Error("r10k deploys it")
	}
}

// Puppet is run by the Ruby next to it, or by the one in its first line.
func TestFindsRubyThatRunsPuppet(t *testing.T) {
	dir := t.TempDir()
	command := filepath.Join(dir, "puppet")
	for first, want := range map[string]string{"#!/usr/bin/ruby3.1\n": "/usr/bin/ruby3.1", "#!/bin/sh\n": "ruby",
		"#!/usr/bin/env ruby\n": "ruby", "": "ruby"} {
		write(t, command, first)
		if got := rubyOf(command); got != want {
			t.Errorf("%q: got %s, want %s", first, got, want)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	beside := filepath.Join(dir, "ruby")
	write(t, beside, "")
	if err := os.Chmod(beside, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := rubyOf(command); got != beside {
		t.Errorf("got %s, want %s", got, beside)
	}
}

// Two programs adopt an environment at once. The second one must not use the new hiera.yaml as the original.
func TestRejectsEnvironmentChangedByAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	original := []byte("version: 5\nhierarchy: [{name: a, path: a.yaml}]\n")
	if err := os.WriteFile(filepath.Join(dir, "hiera.yaml"), original, 0o644); err != nil {
		t.Fatal(err)
	}
	inspect := func() *Environment {
		e, err := Inspect(dir)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	nothing := func() error { return nil }
	asks := []byte("version: 5\nhierarchy: [{name: b, lookup_key: 'bindc::lookup_key', options: {snapshot: /s.snap}}]\n")
	early, late, undoing := inspect(), inspect(), inspect()
	if err := early.Switch(asks, nothing); err != nil {
		t.Fatal(err)
	}
	var refusal *Obstacle
	err := late.Switch(asks, func() error { t.Error("the snapshot is written"); return nil })
	if !errors.As(err, &refusal) ||
		!strings.Contains(refusal.Reason, "was changed by another program in the meantime") {
		t.Errorf("a second adoption: %v", err)
	}
	if _, err := undoing.Undo(); !errors.As(err, &refusal) {
		t.Errorf("undoing from an old state: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "hiera5.yaml")); err != nil || string(got) != string(original) {
		t.Errorf("the original is %q, %v", got, err)
	}
	again := inspect()
	if err := os.WriteFile(filepath.Join(dir, "hiera5.yaml"), append(original, '#'), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := again.Switch(asks, nothing); !errors.As(err, &refusal) {
		t.Errorf("a hierarchy that changed after it was compiled: %v", err)
	}
}

// A snapshot must not overwrite a configuration of Hiera in the environment.
func TestRejectsSnapshotPathOfAConfiguration(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hiera.yaml"), []byte("version: 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *Obstacle
	for _, name := range []string{"hiera.yaml", "hiera5.yaml"} {
		if err := e.Check(filepath.Join(dir, name)); !errors.As(err, &refusal) {
			t.Errorf("%s as the snapshot: %v", name, err)
		}
	}
}

// Comparing an environment does not run its config_version.
func TestShadowOmitsConfigVersion(t *testing.T) {
	dir, shadows := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"hiera.yaml": "version: 5\n",
		"environment.conf": "modulepath = site:modules\nconfig_version = '/bin/false'\nmanifest = m"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e, err := Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Shadow(shadows, "production", e.Original()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(shadows, "production", "environment.conf"))
	if err != nil || string(got) != "modulepath = site:modules\nmanifest = m" {
		t.Errorf("the settings are %q, %v", got, err)
	}
}

// A file with broken YAML gets no hint about the version of Hiera.
func TestHintMatchesTheProblemOfTheConfiguration(t *testing.T) {
	for content, hint := range map[string]string{"a: [": "correct the file", "version: 3": "version 5"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, hieraFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Inspect(dir)
		var refusal *Obstacle
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, hint) {
			t.Errorf("%s: got %+v, expected a hint with %q", content, err, hint)
		}
	}
}
