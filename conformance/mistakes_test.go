package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// TestMistakesHaveOneMessageEach builds sites with one mistake each and compares what bindc reports with
// testdata/mistakes.txt: one message, at the place of the mistake, with the fix. With -update it writes the messages
// into that file.
func TestMistakesHaveOneMessageEach(t *testing.T) {
	testmode.SkipUnderRace(t)
	const path = "testdata/mistakes.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split("\n"+string(text), "\n=== ")
	for i, text := range cases[1:] {
		name, rest, _ := strings.Cut(text, "\n")
		source, want, _ := strings.Cut(rest, "-- reported --\n")
		if !*update && !testmode.Chosen(t, i, 6) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			got := reportOn(t, dir, source)
			if got = strings.TrimSuffix(got, "\n"); *update {
				cases[i+1] = name + "\n" + source + "-- reported --\n" + got + "\n"
			} else if got != strings.TrimSuffix(strings.TrimSuffix(want, "\n"), "\n") {
				t.Errorf("reports\n%s\nnot\n%s\n(TestMistakesHaveOneMessageEach with -update writes it down)", got, want)
			}
			checkMessages(t, dir, name, got)
		})
	}
	if *update {
		all := cases[0] + strings.Join(append([]string{""}, cases[1:]...), "\n=== ")
		if err := os.WriteFile(path, []byte(strings.TrimPrefix(all, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var fileHeading = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// reportOn writes the files of source below dir and returns what bindc reports about them.
func reportOn(t *testing.T, dir, source string) string {
	verb := []string{"check", "."}
	if slices.Contains(writeSources(t, dir, source), "environments.pp") {
		verb = []string{"environments", ".", "-o", t.TempDir()}
	}
	cmd := exec.Command("bindc", verb...)
	cmd.Dir = dir
	var out strings.Builder
	cmd.Stderr = &out
	_ = cmd.Run() // the status depends on the severity
	return out.String()
}

// writeSources writes the files of source below dir, and returns their names without directories.
func writeSources(t *testing.T, dir, source string) (names []string) {
	headings := fileHeading.FindAllStringSubmatchIndex(source, -1)
	for i, h := range headings {
		end := len(source)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		file := filepath.Join(dir, filepath.FromSlash(source[h[2]:h[3]]))
		names = append(names, filepath.Base(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(source[h[1]:end]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

var (
	message  = regexp.MustCompile(`(?m)^(\S+?)(?::(\d+):(\d+))?: (?:error|warning): `)
	mistakes = regexp.MustCompile(`\((\d+) mistakes\)$`)
)

// checkMessages checks that there is one message for each mistake, at a place that exists.
func checkMessages(t *testing.T, dir, name, report string) {
	want := 1
	if m := mistakes.FindStringSubmatch(name); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	found := message.FindAllStringSubmatch(report, -1)
	if len(found) != want {
		t.Errorf("%d messages, expected %d", len(found), want)
	}
	for _, m := range found {
		src, err := os.ReadFile(filepath.Join(dir, m[1]))
		if err != nil {
			t.Errorf("the message is not about a file: %s", m[0])
			continue
		}
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
		if line > len(lines) || line > 0 && column > len([]rune(lines[line-1]))+1 {
			t.Errorf("%s has no line %d with column %d", m[1], line, column)
		}
	}
}
