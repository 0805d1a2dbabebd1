//go:build unix

package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/testmode"
	"bindc/loader/internal/site"
)

// writeSite writes files, named by their paths, and returns their directory.
func writeSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, files)
	return dir
}

// reported loads a site and returns its diagnostics as "path: [code] message", with paths relative to the site.
func reported(dir string, opts Options) []string {
	var diags diag.List
	Load(dir, opts, &diags)
	var out []string
	for _, d := range diags.Sorted() {
		rel, _ := filepath.Rel(dir, d.Pos.File)
		out = append(out, filepath.ToSlash(rel)+": ["+string(d.Code)+"] "+d.Message)
	}
	return out
}

var everything = map[string]string{
	"binder_config.yaml": "version: 1\nlayers: [{name: a, include: [" +
		"'confdir-hiera:/', 'confdir:/**', 'confdir:/set',\n" +
		"  'module-hiera:/*', 'module:/*::default']}]",
	"hiera.yaml": "version: 2\nhierarchy: [[node, '${fqdn}', 'data/nodes/${fqdn}'],\n" +
		"  [common, 'true', data/common]]",
	"data/common.yaml":                "a: 1\n",
	"data/nodes/n1.json":              "{\"a\": 2}",
	"data/nodes/n2.yaml":              "-> ../../n2.txt",
	"n2.txt":                          "a: 3\n",
	"bindings/set.yaml":               "{bindings_version: 1, name: set, bind: []}",
	"bindings/below/set.yaml":         "{bindings_version: 1, name: 'below::set', bind: []}",
	"modules/m/hiera.yaml":            "version: 2\n",
	"modules/m/data/common.yaml":      "b: 1\n",
	"modules/m/bindings/default.yaml": "{bindings_version: 1, name: 'm::default', bind: []}",
	"modules/linked":                  "-> ../elsewhere",
	"elsewhere/hiera.yaml":            "version: 2\n",
	"elsewhere/data/common.yaml":      "c: 1\n",
}

// listen creates a socket at path. The full path may exceed the limit for socket names, so it changes to the directory
// first.
func listen(path string) error {
	short := filepath.Join(os.TempDir(), fmt.Sprintf("socket%d", os.Getpid()))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(os.Rename(short, path), l.Close())
}

func toZeros(path string) error { return os.Symlink("/dev/zero", path) }

func toItself(path string) error { return os.Symlink(filepath.Base(path), path) }

func TestReportsDirectoriesAndDevicesAsFiles(t *testing.T) {
	looked := []string{"binder_config.yaml", "hiera.yaml", "data/common.yaml", "data/nodes/n1.json",
		"bindings/set.yaml",
		"modules/m/hiera.yaml"}
	for _, name := range looked {
		replace := map[string]func(path string) error{
			"it is a FIFO: expected a file":      func(path string) error { return syscall.Mkfifo(path, 0o666) },
			"it is a directory: expected a file": func(path string) error { return os.Mkdir(path, 0o777) },
			"it is a socket: expected a file":    listen,
			"it is a device: expected a file":    toZeros,
			"broken symbolic link":               func(path string) error { return os.Symlink("nowhere", path) },
			"too many levels of symbolic links":  toItself,
		}
		for want, put := range replace {
			dir := writeSite(t, everything)
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.Remove(path), put(path)); err != nil {
				t.Fatal(err)
			}
			if found := reported(dir, Options{}); !slices.Contains(found, name+": [read] cannot read this: "+want) {
				t.Errorf("%s: expected %q, found %q", name, want, found)
			}
		}
	}
}

// In Hiera 5, a directory in place of a data file fails every lookup that reaches it, and a dangling link counts as a
// missing file, as in Puppet. Warnings say so. A directory that matches a glob is not reported. A dangling link that
// matches one is an error, because Puppet fails every lookup that reaches it.
func TestWarnsAboutDirectoriesInPlaceOfHiera5Files(t *testing.T) {
	config := "{version: 5, hierarchy: [{name: a, paths: [constant.yaml, 'n/%{x}.yaml']}, {name: b, glob: 'g/*'}]}"
	for name, want := range map[string][]string{
		"constant.yaml": {"data/constant.yaml: [read] cannot read this: it is a directory: expected a file; " +
			"every lookup that reaches this file fails"},
		"n/x.yaml": {"data/n/x.yaml: [read] cannot read this: it is a directory: expected a file; " +
			"every lookup that reaches this file fails"},
		"g/x.yaml": nil,
	} {
		files := map[string]string{"hiera.yaml": config, "data/" + name + "/README": ""}
		if found := reported(writeSite(t, files), Options{}); !slices.Equal(found, want) {
			t.Errorf("directory %s: found %q, expected %q", name, found, want)
		}
		link := map[string]string{"hiera.yaml": config, "data/" + name: "-> nowhere"}
		want := []string{"data/" + name + ": [data_unreached] broken symbolic link; Hiera 5 finds no file"}
		if strings.HasPrefix(name, "g/") {
			want = []string{"data/" + name + ": [read] broken symbolic link: Puppet fails every lookup that reaches the glob"}
		}
		if found := reported(writeSite(t, link), Options{}); !slices.Equal(found, want) {
			t.Errorf("link %s: found %q, expected %q", name, found, want)
		}
	}
}

func TestRejectsGivenConfigurationThatIsNotAFile(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"fifo": "it is a FIFO: expected a file", "gone": "file does not exist"} {
		found := reported(dir, Options{BinderConfig: filepath.Join(dir, name)})
		if !slices.Equal(found, []string{name + ": [read] cannot read this: " + want}) {
			t.Errorf("%s: found %q, expected %q", name, found, want)
		}
	}
}

// Excluded files are not read, so their errors are not reported.
func TestExcludedFilesAreNotRead(t *testing.T) {
	dir := writeSite(t, map[string]string{"modules/good/hiera.yaml": "version: 2\n", "modules/good/data/x": "",
		"modules/bad/hiera.yaml": "-> nowhere",
		"binder_config.yaml":     "{version: 1, layers: [{include: 'module-hiera:/*', exclude: 'module-hiera:/bad'}]}"})
	if found := reported(dir, Options{}); len(found) > 0 {
		t.Errorf("found %q, expected nothing", found)
	}
}

// A missing optional file is not an error. Neither is a path below a plain file.
func TestMissingOptionalFilesAreAccepted(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2\n", "data": "a file", "modules": "-> gone"})
	want := []string{
		"hiera.yaml: [data_directory] there is no directory 'data' next to this file; this entry never finds data",
		"modules: [read] cannot read this: broken symbolic link"}
	if found := reported(dir, Options{}); !slices.Equal(found, want) {
		t.Errorf("found %q, expected %q", found, want)
	}
}

func TestRereadsFilesThatChangeDuringReading(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2\n", "data/common.yaml": "a: 1\n"})
	path := filepath.Join(dir, "data/common.yaml")
	for _, test := range []struct {
		times int
		want  []string
	}{{2, nil}, {100, []string{"data/common.yaml: [read] cannot read this: it changed while it was read"}}} {
		left, text := test.times, "a: 1\n"
		change := func(op fsx.Op, p string) error {
			if op != fsx.Read || p != path || left == 0 {
				return nil
			}
			left--
			text += "# longer\n"
			return os.WriteFile(path, []byte(text), 0o666)
		}
		if found := reported(dir, Options{Disk: fsx.Disk{Fault: change}}); !slices.Equal(found, test.want) {
			t.Errorf("found %q, expected %q", found, test.want)
		}
	}
}

// A directory that cannot be resolved is reported once, and its contents are not checked.
func TestUnresolvableDirectoryIsReportedOnce(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2\n", "data/common.yaml": "a: 1\n"})
	fail := func(op fsx.Op, path string) error {
		if op == fsx.Resolve && path == dir {
			return fs.ErrPermission
		}
		return nil
	}
	want := []string{".: [read] cannot read this: permission denied"}
	if found := reported(dir, Options{Disk: fsx.Disk{Fault: fail}}); !slices.Equal(found, want) {
		t.Errorf("found %q, expected %q", found, want)
	}
}

// If the loader cannot determine whether a file exists, it reports an error and does not treat it as missing.
func TestReportsConfigurationWhoseExistenceIsUnknown(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "[", "data/common.yaml": "a: 1\n",
		"binder_config.yaml": "{version: 1, layers: [{include: 'confdir-hiera:/'}]}"})
	failed := false
	fail := func(op fsx.Op, path string) error {
		if failed || op != fsx.Stat || path != filepath.Join(dir, "hiera.yaml") {
			return nil
		}
		failed = true // the file can still be opened
		return fs.ErrPermission
	}
	want := []string{"hiera.yaml: [read] cannot read this: permission denied"}
	if found := reported(dir, Options{Disk: fsx.Disk{Fault: fail}}); !slices.Equal(found, want) {
		t.Errorf("found %q, expected %q", found, want)
	}
}

// A module path that cannot be read is an error. The default is not used instead.
func TestReportsUnreadableModulePath(t *testing.T) {
	dir := writeSite(t, map[string]string{"environment.conf": "modulepath = mine", "mine/m/bindings/default.yaml": "x",
		"modules/n/bindings/y.yaml": ""})
	fail := func(op fsx.Op, path string) error {
		if op == fsx.Open && strings.HasSuffix(path, "environment.conf") {
			return fs.ErrPermission
		}
		return nil
	}
	want := []string{"environment.conf: [read] cannot read this: permission denied"}
	if found := reported(dir, Options{Disk: fsx.Disk{Fault: fail}}); !slices.Equal(found, want) {
		t.Errorf("found %q, expected %q", found, want)
	}
}

// An environments.pp that exists but cannot be read is an error.
func TestReportsUnreadableEnvironmentsFile(t *testing.T) {
	dir := writeSite(t, map[string]string{EnvironmentsFile: "site { }"})
	fail := func(op fsx.Op, path string) error {
		if op == fsx.Open {
			return fs.ErrPermission
		}
		return nil
	}
	var diags diag.List
	r := environmentsReader{Files: site.Files{Disk: fsx.Disk{Fault: fail}, Diags: &diags},
		path: filepath.Join(dir, EnvironmentsFile), out: &Environments{}}
	r.read()
	if found := diags.Sorted(); len(found) != 1 || found[0].Code != "read" || found[0].Pos.File != r.path ||
		len(r.out.All) > 0 {
		t.Errorf("found %v, and %v", found, r.out.All)
	}
}

// Each file system call fails once. The result must be an error or the same environments with the same modules: a build
// deletes the snapshot of an environment that it does not find.
func TestFailedCallNeverLosesEnvironments(t *testing.T) {
	for _, files := range []map[string]string{
		{"environments/a/x": "", "environments/b/x": "", "environments/lost": "-> nowhere"},
		{EnvironmentsFile: "site { Environment { modulepath => 'm:n' }\n environment { 'a': } }",
			"m/x": "", "n/x": ""},
	} {
		root := writeSite(t, files)
		calls := 0
		read := func(failing int) (string, bool) {
			calls = 0
			fault := func(fsx.Op, string) error {
				if calls++; calls == failing {
					return fs.ErrPermission
				}
				return nil
			}
			var diags diag.List
			out := ReadEnvironments(fsx.Disk{Fault: fault}, root, &diags)
			return fmt.Sprint(out.All), diags.Failed()
		}
		want, failed := read(0)
		all := calls
		if failed || all < 5 || strings.Count(want, root) < 2 {
			t.Fatalf("%d calls, found %s", all, want)
		}
		for call := range all {
			if got, failed := read(call + 1); got != want && !failed {
				t.Errorf("where call %d fails there is %s, and no error", call+1, got)
			}
		}
	}
}

// Failed reads are reported with a cache, too.
func TestReportsFailedReadsWithCache(t *testing.T) {
	dir := writeSite(t, everything)
	cache, err := datafile.OpenCache(t.TempDir(), dir, datafile.Program{})
	if err != nil {
		t.Fatal(err)
	}
	fail := func(op fsx.Op, path string) error {
		if op == fsx.Open && strings.HasSuffix(path, "common.yaml") {
			return fs.ErrPermission
		}
		return nil
	}
	want := "data/common.yaml: [read] cannot read this: permission denied"
	if found := reported(dir, Options{Cache: cache, Disk: fsx.Disk{Fault: fail}}); !slices.Contains(found, want) {
		t.Errorf("found %q, expected %q", found, want)
	}
}
