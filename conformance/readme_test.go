package conformance

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// indentedBlock returns the indented block of a document that begins with the given words.
func indentedBlock(t *testing.T, document, begin string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", document))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?m)^    ` + regexp.QuoteMeta(begin) + `.*\n(    .*\n)*`).Find(text)
	if block == nil {
		t.Fatalf("%s has no block that begins with %s", document, begin)
	}
	return string(block)
}

// newModuleEnv returns the environment for go commands that add bindc to a new module, without the network. It keeps
// the flags of the environment, so that Go does not compile everything again.
func newModuleEnv() []string {
	flags := os.Getenv("GOFLAGS") + " -mod=mod"
	return append(os.Environ(), "GOPROXY=off", "GOFLAGS="+flags, "GOWORK=off", "GONOSUMDB=*")
}

// TestReadmeProgramWorks builds the program of README.md in a module of its own, with the lines of the guide.
func TestReadmeProgramWorks(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("builds a program with lines for a shell")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.Mkdir(program, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(program, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(dir, line string) string {
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir, cmd.Env = dir, newModuleEnv()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	write("go.mod", "module example.org/program\n\ngo 1.26.0\n")
	write("main.go", `package main

import (
	"fmt"
	"os"

	"bindc/facts"
	bindings "bindc/runtime"
)

func main() {
	factsJSON, err := os.ReadFile(os.Args[1])
	_ = err
`+indentedBlock(t, "README.md", "snap, err := bindings.Open")+"}\n")
	run(root, "bindc build testdata/example -o "+program+"/example.snap")
	// In another directory than root, Go would compile all packages once more.
	run(program, strings.ReplaceAll(indentedBlock(t, "docs/guide/go.md", "go mod edit"), "../bindc", root))
	got := run(program, "./program "+root+"/testdata/example-facts/web1.json")
	if want := "true https://wiki.example.org:443/\n"; got != want {
		t.Errorf("the program prints %q, expected %q", got, want)
	}
}

// TestGuideWatcherCompiles compiles the program in docs/guide/go.md that follows a file.
func TestGuideWatcherCompiles(t *testing.T) {
	dir := t.TempDir()
	text := "package guide\n\nimport (\n\t\"log\"\n\n\tbindings \"bindc/runtime\"\n)\n\n" +
		"func use(node *bindings.Facts) {\n" +
		indentedBlock(t, "docs/guide/go.md", "w, err := bindings.Watch") + "\t_ = err\n}\n"
	path := filepath.Join(dir, "guide.go")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", path).CombinedOutput(); err != nil {
		t.Error(strings.ReplaceAll(string(out), dir, ""))
	}
}

// bindqBytes is the most that bindq may have, stripped, on linux/amd64. The goal is 9 MB: bench/deploy.md says what
// the parts take.
const bindqBytes = 10_300_000

// A use of text/template makes the linker keep all exported methods, which are 1.9 MB; net.Dial brings the resolver.
func TestBindqIsSmall(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || os.Getenv("BINDC_EMULATED") != "" {
		t.Skip("the limit is for linux/amd64")
	}
	path, err := exec.LookPath("bindq")
	if err != nil {
		t.Fatal(err)
	}
	if size := strippedSize(t, path); size > bindqBytes {
		t.Errorf("bindq has %d bytes, expected at most %d", size, bindqBytes)
	}
}

// strippedSize returns the size in bytes that a program would have without tables for debuggers.
func strippedSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	size := info.Size()
	for _, s := range program.Sections {
		if s.Name == ".symtab" || s.Name == ".strtab" || strings.HasPrefix(s.Name, ".debug_") {
			size -= int64(s.FileSize)
		}
	}
	return size
}
