package conformance

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	helpVerb = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Z]`)
	helpFlag = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z][a-z-]*)`)
	anyFlag  = regexp.MustCompile(`--[a-z][a-z-]*`)
	usage    = regexp.MustCompile("(?m)^## (bind[cq] [a-z-]+)\n\n```text\n((?s:.*?))^```$")
	group    = regexp.MustCompile(`(?m)^([A-Z]+): `)
)

// docs/cli.md has a section for every verb, and its first block the flags of that verb.
func TestCommandLineIsDocumented(t *testing.T) {
	t.Parallel()
	verbs := verbsByHelp(t)
	documented := usages(t)
	for verb, flags := range verbs {
		if documented[verb] == nil {
			t.Errorf("docs/cli.md has no section '## %s' that begins with a text block of its flags: %v", verb, flags)
		} else if !slices.Equal(documented[verb], flags) {
			t.Errorf("docs/cli.md has the flags %v for %s, its help %v", documented[verb], verb, flags)
		}
	}
	for verb := range documented {
		if verbs[verb] == nil {
			t.Errorf("docs/cli.md has a section on %s, which there is not", verb)
		}
	}
	all := slices.Concat([]string{"--help", "--version"}, slices.Concat(slices.Collect(maps.Values(verbs))...))
	for _, name := range []string{"cli", "guide", "hiera"} {
		for _, flag := range anyFlag.FindAllString(strings.ReplaceAll(docText(t, name), "facter --json", ""), -1) {
			if !slices.Contains(all, flag) {
				t.Errorf("docs/%s.md speaks of %s, which is no flag", name, flag)
			}
		}
	}
}

// verbsByHelp is the flags of each verb of both programs, as --help has them.
func verbsByHelp(t *testing.T) map[string][]string {
	t.Helper()
	help := func(args ...string) string {
		out, err := exec.Command(args[0], append(args[1:], "--help")...).Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return string(out)
	}
	verbs := map[string][]string{}
	for _, program := range []string{"bindc", "bindq"} {
		_, list, _ := strings.Cut(help(program), "Available Commands:\n")
		for _, verb := range helpVerb.FindAllStringSubmatch(list, -1) {
			if verb[1] == "help" || verb[1] == "completion" {
				continue
			}
			flags := []string{}
			for _, flag := range helpFlag.FindAllStringSubmatch(help(program, verb[1]), -1) {
				if flag[1] != "--help" {
					flags = append(flags, flag[1])
				}
			}
			slices.Sort(flags)
			verbs[program+" "+verb[1]] = flags
		}
	}
	if len(verbs) < 8 {
		t.Fatalf("the programs have the verbs %v", slices.Sorted(maps.Keys(verbs)))
	}
	return verbs
}

// usages is the flags of each verb as docs/cli.md has them. A word in capitals may stand for a group of flags, which
// some block explains with `WORD: flags` below its usage.
func usages(t *testing.T) map[string][]string {
	t.Helper()
	groups, lines := map[string]string{}, map[string]string{}
	for _, m := range usage.FindAllStringSubmatch(docText(t, "cli"), -1) {
		verb, text := m[1], m[2]
		at := append(group.FindAllStringSubmatchIndex(text, -1), []int{len(text)})
		lines[verb] = text[:at[0][0]]
		for i, g := range at[:len(at)-1] {
			groups[text[g[2]:g[3]]] = text[g[1]:at[i+1][0]]
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
