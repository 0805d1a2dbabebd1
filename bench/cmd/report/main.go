// Report runs the commands in a document and replaces their output in the document.
//
//	go run ./cmd/report                        all sections of README.md
//	go run ./cmd/report -only cmd/table        those whose command matches
//	go run ./cmd/report -n DOCUMENT          print the commands only
//
// A section begins with a line <!-- made by: COMMAND --> and ends with <!-- end -->. The command
// runs in the directory bench, and its output replaces what is between these lines. A line below it
// says when, on which commit and on which machine the command ran.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "a regular `expression`: run only commands that match")
	list := flag.Bool("n", false, "print the commands, do not run them")
	flag.Parse()
	path := "README.md"
	if flag.NArg() > 0 {
		path = flag.Arg(0)
	}
	if err := run(path, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// section matches a section of the document with its command and its text.
var section = regexp.MustCompile(`(?s)(<!-- made by: ([^\n]*) -->\n)(.*?)(<!-- end -->)`)

func run(path, only string, list bool) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, found := range section.FindAllStringSubmatch(string(text), -1) {
		command := found[2]
		if !chosen.MatchString(command) {
			continue
		}
		fmt.Fprintln(os.Stderr, command)
		if list {
			continue
		}
		made, err := output(command)
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		if err := replace(path, command, made); err != nil {
			return err
		}
	}
	return nil
}

// replace writes the text of a section. It reads the document again, because the command may have
// run for a long time and the document may have changed.
func replace(path, command, made string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	written := section.ReplaceAllStringFunc(string(text), func(old string) string {
		parts := section.FindStringSubmatch(old)
		if parts[2] != command {
			return old
		}
		return parts[1] + made + parts[4]
	})
	return os.WriteFile(path, []byte(written), 0o644)
}

// output runs a command and returns its output, followed by a line about the commit and the
// machine.
func output(command string) (string, error) {
	before := load()
	cmd := exec.Command("sh", "-c", command)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\nMeasured %s on commit `%s`:\n%d processors, %s, load %s before and %s after.\n",
		strings.TrimRight(string(out), "\n")+"\n", time.Now().UTC().Format("2 January 2006, 15:04 UTC"), commit(),
		runtime.NumCPU(), runtime.Version(), before, load()), nil
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// commit returns the short hash of the current commit. It appends a + if a file other than
// bench/*.md has uncommitted changes.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(hash))
	changed := exec.Command("git", "diff", "--quiet", "HEAD", "--", ":/", ":(exclude,top)bench/*.md")
	if changed.Run() != nil {
		name += "+"
	}
	return name
}
