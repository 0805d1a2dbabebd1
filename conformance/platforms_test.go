package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"bindc/internal/testmode"
)

// processor is a processor for which programs can run here, directly or with an emulator.
type processor struct {
	name     string
	emulator []string
}

// processors returns the available processors except that of the tests. On linux/amd64, there is at least 386.
func processors(t *testing.T) []processor {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("only linux/amd64 runs the programs of other processors")
	}
	out := []processor{{name: "amd64"}, {name: "386"}}
	if qemu, err := exec.LookPath("qemu-aarch64-static"); err == nil {
		out = append(out, processor{"arm64", []string{qemu}})
	}
	return out
}

// program builds one of the programs for p.
func (p processor) program(t *testing.T, dir, name string) []string {
	t.Helper()
	path := filepath.Join(dir, name+"."+p.name)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "bindc/cmd/"+name)
	cmd.Env = append(os.Environ(), "GOARCH="+p.name, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build %s for %s: %v\n%s", name, p.name, err, out)
	}
	return append(slices.Clone(p.emulator), path)
}

func output(t *testing.T, program []string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program[0], append(slices.Clone(program[1:]), args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return out
}

// A site compiles to the same bytes on all processors, and each processor reads the snapshots of the others.
func TestAllProcessorsWriteTheSameBytes(t *testing.T) {
	if !testmode.Thorough() {
		t.Skip("builds the programs several times")
	}
	all, dir := processors(t), t.TempDir()
	large := filepath.Join(dir, "large")
	generate := exec.Command("go", "run", "./cmd/gensite", "-o", large, "-size", "S")
	generate.Dir = "../bench"
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("cannot generate a site: %v\n%s", err, out)
	}
	first := map[string][]byte{}
	same := func(what, processor string, got []byte) {
		if want, known := first[what]; known && !bytes.Equal(got, want) {
			t.Errorf("%s: %s gives another one than %s", what, processor, all[0].name)
		} else if !known {
			first[what] = got
		}
	}
	for _, p := range all {
		bindc, bindq := p.program(t, dir, "bindc"), p.program(t, dir, "bindq")
		for site, source := range map[string]string{"example": "../testdata/example", "large": large} {
			snap := filepath.Join(dir, site+"."+p.name)
			output(t, bindc, "build", source, "-o", snap)
			written, err := os.ReadFile(snap)
			if err != nil {
				t.Fatal(err)
			}
			same(site+": snapshot", p.name, written)
			snap = filepath.Join(dir, site+"."+all[0].name) // the others read the snapshot of the first
			output(t, bindq, "verify", snap)
			for _, node := range []string{"web1", "db1"} {
				facts := "../testdata/example-facts/" + node + ".json"
				same(site+": answers for "+node, p.name, output(t, bindq, "dump", "-s", snap, "--facts", facts))
			}
			same(site+": records", p.name, output(t, bindq, "info", snap, "--dump"))
		}
	}
}
