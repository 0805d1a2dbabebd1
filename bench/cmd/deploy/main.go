// Command deploy tests a deployment from a site to lookups on two masters with real programs. It
// builds and signs a snapshot, pushes it to a registry on this machine, follows the registry, and
// compiles a catalog on each master. It also tests rejected releases, a rollback and HTTPS. It runs
// the tests that interrupt pulls: kills at each system call, a full disk, and an hour without the
// registry. Then it measures each step for sites M and L, and compares it with copying the file.
//
// It needs docker-registry, ssh-keygen and, for catalogs, ruby with puppetserver or puppet. It uses
// nginx if installed: apt-get install docker-registry openssh-client puppetserver nginx-light.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

func main() {
	releases := flag.Int("releases", 100, "number of releases to follow")
	switches := flag.Int("switches", 1000, "number of switches under load")
	sizes := flag.String("sizes", "M,L", "sizes of the sites to measure")
	parts := flag.String("parts", "story,https,tests,figures", "parts to run")
	flag.Parse()
	if err := run(strings.Split(*parts, ","), strings.Split(*sizes, ","), *releases, *switches); err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func run(parts, sizes []string, releases, switches int) error {
	w, err := begin()
	if err != nil {
		return err
	}
	defer w.end()
	known := map[string]func() error{"story": w.story, "https": w.https, "tests": tests,
		"figures": func() error { return w.figures(sizes, releases, switches) }}
	for _, name := range parts {
		part, ok := known[name]
		if !ok {
			return fmt.Errorf("expected parts among story, https, tests and figures, found '%s'", name)
		}
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf("* "+format+"\n", args...) }

func round(d time.Duration) string {
	if d > 100*time.Millisecond {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// figure matches a line with measurements in the output of go test.
var figure = regexp.MustCompile(`(?m)^.*figures: (.*)$`)

// tests runs the tests that interrupt pulls, and prints their measurements.
func tests() error {
	for _, t := range [][]string{{"./faults", "TestPullKilledAtEachCall|TestPullOnFullDisk"},
		{"./ship", "TestFollowPollsLessOftenWhileTheSourceIsDown"}} {
		cmd := exec.Command("go", "test", t[0], "-run", "^("+t[1]+")$", "-v", "-count=1")
		cmd.Dir = ".."
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "--- SKIP") || strings.Contains(string(out), "no tests to run") {
			return fmt.Errorf("go test %s: %w: %s", strings.Join(t, " "), err, out)
		}
		for _, m := range figure.FindAllSubmatch(out, -1) {
			say("%s", m[1])
		}
		say("%s: passed", strings.ReplaceAll(t[1], "|", ", "))
	}
	return nil
}
