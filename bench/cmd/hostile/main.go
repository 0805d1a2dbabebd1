// Hostile measures bindc check on sites that repeat something very often, and on sites of twice that
// size. It prints the table "Sites that are too much of something" of docs/limits.md. The exit status
// is 1 if a check takes more than 2.3 times as long for twice the size.
//
//	go run ./cmd/hostile
//	go run ./cmd/hostile -share 10    a tenth of each, for a quick look
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bindc/bench/built"
)

// most is the largest allowed growth of the time when a site becomes twice as large.
const most = 2.3

func main() {
	share := flag.Int("share", 1, "measure one `N`th of each size")
	rounds := flag.Int("rounds", 5, "rounds; the fastest counts")
	flag.Parse()
	if err := run(*share, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// site is a site in which something is repeated n times.
type site struct {
	name  string
	n     int
	text  func(n int) string
	data  bool                          // whether text returns a data file rather than a bindings file
	files func(n int) map[string]string // if not nil, used instead of text
}

var sites = []site{
	{"bindings of one key with equal precedence", 20_000, lines("[k, #]"), false, nil},
	{"bindings of one key under one condition", 20_000, lines("{when: {node: n}, bind: [[k, #]]}"), false, nil},
	{"overrides of nothing", 20_000, lines("{name: 'some::key#', to: 1, override: true}"), false, nil},
	{"contributions to unknown ids, and as many multibindings", 20_000,
		lines("{name: 'm#', multibind_id: 'id#', type: 'Array[Data]'}", "{in: 'other#', to: 1}"), false, nil},
	{"contributions of one name with equal precedence", 20_000,
		func(n int) string {
			return "{name: m, multibind_id: id}\n" + lines("{name: a, in: id, to: #}")(n)
		}, false, nil},
	{"a chain of lookups", 100_000, chain, false, nil},
	{"a chain of lookups, each under another node", 20_000, func(n int) string {
		return chain(n) + lines("{when: {node: 'n#'}, bind: [{name: k0, to_lookup_of: k1}]}")(n)
	}, false, nil},
	{"a loop", 20_000, func(n int) string {
		return strings.Replace(chain(n), fmt.Sprintf("[k%d, 1]", n), fmt.Sprintf("{name: k%d, to_lookup_of: k0}", n), 1)
	}, false, nil},
	{"duplicate keys in a data file", 500_000, func(n int) string {
		return strings.Repeat(lines("k#: 1")(n), 2)
	}, true, nil},
	{"keys of one hash that are not strings", 50_000, func(n int) string {
		return "k: {\n" + lines(" [#]: 1,", " #: 1,")(n) + "}\n"
	}, true, nil},
	{"misspelt facts in one line", 100_000, func(n int) string {
		return "k: '" + strings.Repeat("${osfamilly}", n) + "'\n"
	}, true, nil},
	{"misspelt facts in one text, one per line", 100_000, func(n int) string {
		return "k: |\n" + strings.Repeat("  ${osfamilly}\n", n)
	}, true, nil},
	{"sensitive elements of a list in one line", 100_000, func(n int) string {
		return "{name: k, sensitive: true, to: [" + strings.Repeat("'${x}', ", n) + "]}\n"
	}, false, nil},
	{"categories in one condition", 12_000, nil, false, func(n int) map[string]string {
		return categories(n, "  - {when: {"+strings.ReplaceAll(lines("c#: x,")(n), "\n", " ")+"}, bind: [[k, 1]]}\n")
	}},
	{"categories, with a condition each", 12_000, nil, false, func(n int) map[string]string {
		return categories(n, lines("  - {when: {c#: x}, bind: [[k, 1]]}")(n))
	}},
	{"globs of Hiera 5 over as many files, beyond `maxFoundAgain`", 1_500, nil, false, globs},
}

// categories returns the files of a site with n categories and the given bindings.
func categories(n int, bindings string) map[string]string {
	return map[string]string{
		"binder_config.yaml": "version: 1\ncategories:\n" + lines("  - [c#, '${v#}']")(n) +
			"layers: [{name: site, include: 'confdir:/default'}]\n",
		"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" + bindings,
	}
}

// globs returns the files of a Hiera 5 site with n data files. Each of the n hierarchy entries
// matches all of the files.
func globs(n int) map[string]string {
	files := map[string]string{"hiera.yaml": "version: 5\nhierarchy:\n" + lines("  - {name: e#, glob: '*.yaml'}")(n)}
	for i := range n {
		files[fmt.Sprintf("data/f%d.yaml", i)] = fmt.Sprintf("k%d: 1\n", i)
	}
	return files
}

// lines returns a function that repeats each text n times, on lines of their own. It replaces # by
// the number of the repetition.
func lines(texts ...string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		for _, text := range texts {
			for i := range n {
				b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)) + "\n")
			}
		}
		return b.String()
	}
}

// chain returns the bindings of a chain of n lookups. The last key is bound to 1.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{name: k%d, to_lookup_of: k%d}\n", i, i+1)
	}
	fmt.Fprintf(&b, "[k%d, 1]\n", n)
	return b.String()
}

func run(share, rounds int) error {
	dir, err := os.MkdirTemp("", "bindc-hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bindc := filepath.Join(dir, "bindc")
	if err := built.Bindc(bindc); err != nil {
		return err
	}
	fmt.Println("| site with | count | time | memory | time for twice as many | ratio | lines of output |")
	fmt.Println("|---|---|---|---|---|---|---|")
	slow := false
	for i, s := range sites {
		n := s.n / share
		once, err := s.check(bindc, filepath.Join(dir, fmt.Sprint(i)), n, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		twice, err := s.check(bindc, filepath.Join(dir, fmt.Sprint(i, "twice")), 2*n, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		ratio := twice.CPU.Seconds() / once.CPU.Seconds()
		slow = slow || ratio > most
		fmt.Printf("| %s | %d | %.2f s | %d MB | %.2f s | %.2f | %d |\n", s.name, n, once.CPU.Seconds(),
			once.Peak>>20, twice.CPU.Seconds(), ratio, once.lines)
	}
	if slow {
		return fmt.Errorf("twice as much takes more than %.1f times as long", most)
	}
	return nil
}

type cost struct {
	*built.Cost
	lines int
}

// check writes a site with n repetitions and checks it rounds times. It returns the cost of the
// fastest check, because other load on the machine only makes checks slower.
func (s *site) check(bindc, dir string, n, rounds int) (cost, error) {
	if err := s.write(dir, n); err != nil {
		return cost{}, err
	}
	var costs []cost
	for range rounds {
		cmd := exec.Command(bindc, "check", dir)
		out, err := cmd.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			return cost{}, fmt.Errorf("%w\n%s", err, out)
		}
		if over := regexp.MustCompile(`\[(effort|read)\]`).Find(out); over != nil {
			return cost{}, fmt.Errorf("the site was not checked: %s", over)
		}
		costs = append(costs, cost{built.CostOf(cmd.ProcessState), strings.Count(string(out), "\n")})
	}
	return slices.MinFunc(costs, func(a, b cost) int { return cmp.Compare(a.CPU, b.CPU) }), nil
}

func (s *site) write(dir string, n int) error {
	var files map[string]string
	switch {
	case s.files != nil:
		files = s.files(n)
	case s.data:
		files = map[string]string{"hiera.yaml": "version: 2\n", "data/common.yaml": s.text(n)}
	default:
		files = map[string]string{
			"binder_config.yaml": "version: 1\ncategories: [[node, '${fqdn}']]\n" +
				"layers: [{name: site, include: 'confdir:/default'}]\n",
			"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" +
				"- " + strings.ReplaceAll(strings.TrimSpace(s.text(n)), "\n", "\n- ") + "\n",
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
