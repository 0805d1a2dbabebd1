// Command flagslots counts the verbs of programs and the flags in their help. A flag of several verbs counts once per
// verb, and a global flag once per program. --help, --version and verbs that every program has are not counted.
// CHANGELOG.md contains the counts:
//
//	go build -o /tmp/bin/ ./cmd/... && go run ./tools/flagslots /tmp/bin/bindc /tmp/bin/bindq /tmp/bin/bindsync
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	verbLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Z]`)
	flagLine = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z][a-z-]*)`)
	listed   = regexp.MustCompile(`(?s)\nGlobal flags \(see .*`) // the list of global flags in a verb's help
)

// ofAll lists verbs and flags that are not counted, because every program has them.
var ofAll = []string{"completion", "help", "man", "version"}

func main() {
	verbs, slots := 0, 0
	for _, program := range os.Args[1:] {
		v, s := count(program)
		fmt.Printf("%s: %d verbs, %d flag slots\n", filepath.Base(program), v, s)
		verbs, slots = verbs+v, slots+s
	}
	fmt.Printf("together: %d verbs, %d flag slots\n", verbs, slots)
}

// count returns the numbers of verbs and flags of a command and its subcommands.
func count(command ...string) (verbs, slots int) {
	help, err := exec.Command(command[0], append(command[1:], "--help")...).Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "flagslots: %s --help: %v\n", strings.Join(command, " "), err)
		os.Exit(1)
	}
	text := listed.ReplaceAllString(string(help), "")
	for _, flag := range flagLine.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(ofAll, flag[1]) {
			slots++
		}
	}
	_, list, isGroup := strings.Cut(text, "Available Commands:\n")
	if !isGroup {
		return 1, slots
	}
	for _, verb := range verbLine.FindAllStringSubmatch(list, -1) {
		if !slices.Contains(ofAll, verb[1]) {
			v, s := count(append(slices.Clone(command), verb[1])...)
			verbs, slots = verbs+v, slots+s
		}
	}
	return verbs, slots
}
