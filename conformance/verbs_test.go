package conformance

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"bindc/internal/testmode"
)

var (
	helpVerb = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Z]`)
	helpFlag = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z][a-z-]*)`)
	anyFlag  = regexp.MustCompile(`--[a-z][a-z-]*`)
	usage    = regexp.MustCompile("(?m)^## (bind(?:c|q|sync)(?: [a-z-]+)+)\n\n```text\n((?s:.*?))^```$")
	group    = regexp.MustCompile(`(?m)^([A-Z]+): `)
)

// docs/cli.md has a section for every verb, which begins with the flags of the verb.
func TestCommandLineIsDocumented(t *testing.T) {
	t.Parallel()
	verbs := verbsByHelp(t)
	documented := usages(t)
	for verb, flags := range verbs {
		if documented[verb] == nil {
			t.Errorf("docs/cli.md has no section '## %s' that begins with a text block of its flags: %v", verb, flags)
		} else if !slices.Equal(documented[verb], flags) {
			t.Errorf("docs/cli.md, text block below '## %s': it has the flags %v, the help of the verb %v", verb, documented[verb], flags)
		}
	}
	for verb := range documented {
		if verbs[verb] == nil {
			t.Errorf("docs/cli.md has a section on %s, which there is not", verb)
		}
	}
	all := slices.Concat([]string{"--help", "--version", "--render-as", "--json"},
		anyFlag.FindAllString(helpOf(t, "bindc")+helpOf(t, "bindq")+helpOf(t, "bindsync"), -1),
		slices.Concat(slices.Collect(maps.Values(verbs))...))
	for _, name := range []string{"cli", "hiera", "lint", "guide", "guide/write-data",
		"guide/change-data", "guide/find-out-why", "guide/explore", "guide/deploy", "guide/come-from-hiera", "guide/go"} {
		for _, flag := range anyFlag.FindAllString(strings.ReplaceAll(docText(t, name), "facter --json", ""), -1) {
			if !slices.Contains(all, flag) {
				t.Errorf("docs/%s.md mentions %s, which is not a flag", name, flag)
			}
		}
	}
}

// reports lists the verbs of bindc that print a report with --format. The others print diagnostics.
var reports = []string{"blame", "plan", "test"}

// The table of shapes in docs/cli.md has a row for every verb that prints a report as JSON, and a test checks a command
// of the verb.
func TestShapesOfJSONAnswersAreDocumented(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(docText(t, "cli"), "\n## Shapes of JSON answers\n")
	for verb, flags := range verbsByHelp(t) {
		program, name, _ := strings.Cut(verb, " ")
		isShaped := strings.Contains(shaped, "\n"+verb+" ")
		if program == "bindq" {
			verb = name
		}
		diagnostics := program == "bindc" && !slices.Contains(reports, name)
		row := regexp.MustCompile("(?m)^\\|[^|]*`" + verb + "[ `]")
		if slices.Contains(flags, "--format") && !diagnostics && !row.MatchString(table) {
			t.Errorf("docs/cli.md, \"Shapes of JSON answers\", has no row for `%s`: add the members of its answer", verb)
		}
		if slices.Contains(flags, "--format") && !diagnostics && !isShaped {
			t.Errorf("conformance/shapes_test.go checks no answer of `%s`: add a schema and a command to shaped", verb)
		}
	}
}

// ofAll lists the verbs that all programs have. docs/cli.md describes them once.
var ofAll = []string{"completion", "help", "man", "version"}

// notTried lists the verbs whose example is not run, because it needs more than a site: a registry, Puppet, PuppetDB, a
// git repository, or earlier output, or because it serves until a signal. Other tests run them.
var notTried = []string{"bindc adopt", "bindc blame", "bindc explore", "bindc facts", "bindc link", "bindc plan",
	"bindc push", "bindc test", "bindq serve", "bindsync follow", "bindsync activate", "bindsync rollback"}

// The help of every verb fits a terminal of 80 columns, has the exit statuses, and an example that works.
func TestHelpFitsAndItsExampleWorks(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	verbs := [][]string{{"bindc"}, {"bindq"}, {"bindsync"}, {"bindc", "eyaml"}}
	for _, verb := range slices.Sorted(maps.Keys(verbsByHelp(t))) {
		verbs = append(verbs, strings.Fields(verb))
	}
	for _, verb := range ofAll {
		verbs = append(verbs, []string{"bindc", verb}, []string{"bindq", verb}, []string{"bindsync", verb})
	}
	for i, verb := range verbs {
		text, err := exec.Command(verb[0], append(verb[1:], "--help")...).Output()
		if err != nil {
			t.Fatal(verb, err)
		}
		for line := range strings.Lines(string(text)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 || strings.Contains(line, "\t") {
				t.Errorf("%v --help has a line of %d columns, or with a tab: %s", verb, n, line)
			}
		}
		if !strings.Contains(string(text), "\n\nExit status: ") {
			t.Errorf("%v --help does not say how it exits", verb)
		}
		_, after, _ := strings.Cut(string(text), "\nExamples:\n")
		example, _, _ := strings.Cut(after, "\n\n")
		if !strings.Contains(example, strings.Join(verb, " ")) {
			t.Errorf("%v --help has no example of it: %q", verb, example)
		} else if !slices.Contains(notTried, strings.Join(verb, " ")) && testmode.Chosen(t, i, 4) {
			tryExample(t, example)
		}
	}
}

// A program that is called with a verb of another program names that program.
func TestVerbErrorNamesProgramThatHasIt(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	for _, verb := range testmode.Sample(t, slices.Sorted(maps.Keys(verbsByHelp(t))), 4) {
		words := strings.Fields(verb)
		for _, program := range []string{"bindc", "bindq", "bindsync"} {
			out, err := exec.Command(program, words[1]).CombinedOutput()
			want := fmt.Sprintf("'%s' is a verb of %s: run '%s %s'", words[1], words[0], words[0], words[1])
			if program != words[0] && (err == nil || !strings.Contains(string(out), want)) {
				t.Errorf("%s %s: %v, %s; expected %s (the verb belongs in programOf, internal/cli/verb_errors.go)",
					program, words[1], err, out, want)
			}
		}
	}
}

// tryExample runs an example in a directory with the files that the examples use.
func tryExample(t *testing.T, example string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // the examples need a shell
	}
	dir := t.TempDir()
	keys := "../internal/secret/eyaml/testdata"
	for from, to := range map[string]string{"../testdata/example": "site", "../testdata/example-facts": "facts", keys: "keys"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-ec", `
facter() { cat facts/web1.json; }
cp facts/web1.json .
bindc build site -o site.snap >&2
cp site.snap old.snap
bindsync pull file:old.snap --name production >&2
mkdir -p control/data && echo 'version: 5' >control/hiera.yaml && echo 'ntp::port: 123' >control/data/common.yaml
mkdir -p root/environments && cp -r site root/environments/production
mkdir -p site/modules/ntp/manifests
echo 'class ntp($servers, $restrict, $package, $config_file, $enabled, $max_drift_ms) {}' \
	>site/modules/ntp/manifests/init.pp
cp keys/2048.cert.pem keys/public_key.pkcs7.pem && echo hunter2 >password.txt
echo web1.example.org >nodes.txt && echo 'echo "classes: [ntp]"' >node.sh
`+example)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "MANPAGER=cat", "BINDQ_SNAPSHOT=", "BINDSYNC_STORE="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the example%s\nends with %v:\n%s", example, err, out)
	}
}

// verbsByHelp returns the flags of each verb of the programs according to --help.
func verbsByHelp(t *testing.T) map[string][]string {
	t.Helper()
	verbs, err := helpOfAllVerbs()
	if err != nil {
		t.Fatal(err)
	}
	return verbs
}

// helpOfAllVerbs asks the programs once, because several tests need the answer.
var helpOfAllVerbs = sync.OnceValues(func() (map[string][]string, error) {
	verbs := map[string][]string{}
	var failed error
	var add func(command ...string)
	add = func(command ...string) {
		out, err := exec.Command(command[0], append(command[1:], "--help")...).Output()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%v: %w", command, err))
			return
		}
		_, list, isGroup := strings.Cut(string(out), "Available Commands:\n")
		for _, verb := range helpVerb.FindAllStringSubmatch(list, -1) {
			if !slices.Contains(ofAll, verb[1]) {
				add(append(slices.Clone(command), verb[1])...)
			}
		}
		if !isGroup {
			verbs[strings.Join(command, " ")] = flagsOf(string(out))
		}
	}
	add("bindc")
	add("bindq")
	add("bindsync")
	if len(verbs) < 8 {
		failed = errors.Join(failed, fmt.Errorf("the programs have the verbs %v", slices.Sorted(maps.Keys(verbs))))
	}
	return verbs, failed
})

// globals matches the part of a help that describes or lists the flags of all verbs.
var globals = regexp.MustCompile(`(?s)\nGlobal flags.*`)

// Every program describes its global flags in its own help. The help of each verb lists them, and docs/cli.md has them.
func TestGlobalFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(docText(t, "cli"), "\n## Global flags\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for program, verb := range map[string]string{"bindc": "schema", "bindq": "keys", "bindsync": "gc"} {
		described := anyFlag.FindAllString(globals.FindString(helpOf(t, program)), -1)
		slices.Sort(described)
		described = slices.DeleteFunc(slices.Compact(described), func(f string) bool { return f == "--help" })
		_, documented, _ := strings.Cut(section, "\n"+program+" VERB")
		documented, _, _ = strings.Cut(documented, "\nbind")
		for where, text := range map[string]string{"docs/cli.md": documented, "the help of " + verb: globals.FindString(
			helpOf(t, program, verb))} {
			got := slices.DeleteFunc(anyFlag.FindAllString(text, -1), func(f string) bool { return f == "--help" })
			slices.Sort(got)
			if len(described) == 0 || !slices.Equal(slices.Compact(got), described) {
				t.Errorf("%s has the global flags %v of %s, its help %v", where, got, program, described)
			}
		}
	}
}

// helpOf returns the help of a program or a verb.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command(words[0], append(words[1:], "--help")...).Output()
	if err != nil {
		t.Fatal(words, err)
	}
	return string(out)
}

// flagsOf returns the flags in a help text except global flags, sorted.
func flagsOf(help string) []string {
	help = globals.ReplaceAllString(help, "")
	flags := []string{}
	for _, flag := range helpFlag.FindAllStringSubmatch(help, -1) {
		if flag[1] != "--help" {
			flags = append(flags, flag[1])
		}
	}
	slices.Sort(flags)
	return flags
}

// usages returns the flags of each verb according to docs/cli.md. A word in capitals may represent a group of flags,
// which a block defines with `WORD: flags` below its usage.
func usages(t *testing.T) map[string][]string {
	t.Helper()
	groups, lines := map[string]string{}, map[string]string{}
	for _, m := range usage.FindAllStringSubmatch(docText(t, "cli"), -1) {
		verb, text := m[1], m[2]
		at := append(group.FindAllStringSubmatchIndex(text, -1), []int{len(text)})
		lines[verb] = text[:at[0][0]]
		for i, g := range at[:len(at)-1] {
			name, members := text[g[2]:g[3]], strings.Join(strings.Fields(text[g[1]:at[i+1][0]]), " ")
			if before := groups[name]; before != "" && before != members {
				t.Errorf("docs/cli.md: '## %s' defines %s as %s, another section as %s", verb, name, members, before)
			}
			groups[name] = members
		}
	}
	flags := map[string][]string{}
	for verb, text := range lines {
		for name, members := range groups {
			if regexp.MustCompile(`\b` + name + `\b`).MatchString(text) {
				text += members
			}
		}
		flags[verb] = append([]string{}, anyFlag.FindAllString(text, -1)...)
		slices.Sort(flags[verb])
		flags[verb] = slices.Compact(flags[verb])
	}
	return flags
}

func docText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
