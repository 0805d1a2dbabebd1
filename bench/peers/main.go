// Peers compares the time of lookups in bindc snapshots with Puppet (Hiera 5) and Hiera 3. It first
// checks that all of them return the same results. The script ./run installs the requirements and
// starts it.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"bindc/bench/built"
	"bindc/bench/gen"
	"bindc/bench/measure"
)

func main() {
	size := flag.String("size", "S", "`size` of the site")
	scripts := flag.String("scripts", "peers", "`directory` of the Ruby scripts")
	nodes := flag.Int("nodes", 16, "number of nodes")
	keys := flag.Int("keys", 300, "number of keys to look up for each node")
	inProcess := measure.Plan{Rounds: 15, Turn: 200 * time.Millisecond}
	commands := measure.Plan{Rounds: 11, Turn: 1} // each turn is one run of the command
	flag.IntVar(&inProcess.Rounds, "rounds", inProcess.Rounds, "rounds of each case within a process")
	flag.IntVar(&commands.Rounds, "runs", commands.Rounds, "runs of each command")
	snapshots := flag.Bool("backend", false, "compare Puppet's own data with snapshots that Puppet queries")
	run := backendRun{}
	flag.BoolVar(&run.large, "large", false, "with -backend: also sites of 500 and 50 000 nodes")
	flag.IntVar(&run.turns, "turns", 8, "with -backend: rounds of each environment; 2 are only enough to test the benchmark")
	flag.IntVar(&run.warm, "warm", 100, "with -backend: `catalogs` that puppetserver compiles in each environment before first lookups count")
	parts := flag.String("parts", "mri,apply,jruby,http", "with -backend: the `parts` to measure")
	flag.StringVar(&run.corpora, "corpora", "", "with -backend: `directory` of control repositories")
	merging := flag.Bool("deep", false, "compare a deep merge with Puppet's")
	flag.Parse()
	if *merging {
		if err := deep(*scripts, inProcess); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(1)
		}
		return
	}
	if *snapshots {
		run.scripts, run.parts = *scripts, strings.Split(*parts, ",")
		if err := backend(run); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(1)
		}
		return
	}
	p, err := prepare(*size, *scripts, *nodes, *keys)
	if err == nil {
		err = p.compare(inProcess, commands)
	}
	if p != nil {
		p.close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// must panics on an error. Errors are not expected, because all lookups have been checked before.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// question lists the lookups to make: every key for every node.
type question struct {
	Nodes []map[string]any `json:"nodes"`
	Keys  []string         `json:"keys"`
}

// peers is one site in the formats of bindc, Hiera 5 and Hiera 3, with the processes that look up
// keys in it.
type peers struct {
	dir            string
	site           *built.Site
	ask            question
	numbers        []int // numbers of the nodes in the generated site
	ours           *own
	hiera3, hiera5 *ruby
}

func prepare(size, scripts string, nodes, keys int) (*peers, error) {
	config, ok := gen.Sizes[size]
	if !ok {
		return nil, fmt.Errorf("sizes are S, M, L and XL, not %q", size)
	}
	site, err := built.Get(config)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bindc-peers")
	if err != nil {
		return nil, err
	}
	p := &peers{dir: dir, site: site}
	p.choose(nodes, keys)
	if err := p.layOut(); err != nil {
		return p, err
	}
	if p.ours, err = open(site.Snapshot, p.ask); err != nil {
		return p, err
	}
	if p.hiera3, err = start(filepath.Join(scripts, "hiera3.rb"), p.path("hiera3")); err != nil {
		return p, err
	}
	if p.hiera5, err = start(filepath.Join(scripts, "hiera5.rb"), p.path("hiera5")); err != nil {
		return p, err
	}
	return p, p.check()
}

func (p *peers) path(name string) string { return filepath.Join(p.dir, name) }

func (p *peers) close() {
	for _, r := range []*ruby{p.hiera3, p.hiera5} {
		if r != nil {
			r.stop()
		}
	}
	os.RemoveAll(p.dir)
}

// choose selects nodes spread over the whole site, and random keys.
func (p *peers) choose(nodes, keys int) {
	for i := range nodes {
		p.numbers = append(p.numbers, i*p.site.Nodes/nodes)
		facts := p.site.Facts(p.numbers[i])
		facts["clientcert"] = facts["fqdn"] // puppet lookup needs clientcert in addition to fqdn
		p.ask.Nodes = append(p.ask.Nodes, facts)
	}
	names := p.site.KeyNames()
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(names))[:min(keys, len(names))] {
		p.ask.Keys = append(p.ask.Keys, names[i])
	}
}

// layOut writes the site in all formats, writes the facts of the first node, and compiles bindq.
func (p *peers) layOut() error {
	if err := write(p.path("hiera3"), hiera3(p.site.Site, p.path("hiera3")), p.ask); err != nil {
		return err
	}
	if err := write(p.path("hiera5"), hiera5(p.site.Site), p.ask); err != nil {
		return err
	}
	if err := environments(p.path("hiera5"), "staging", "testing"); err != nil {
		return err
	}
	facts, err := json.Marshal(p.ask.Nodes[0])
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.path("facts.json"), facts, 0o644); err != nil {
		return err
	}
	source, err := output("go", "list", "-m", "-f", "{{.Dir}}", "bindc")
	if err == nil {
		_, err = output("go", "build", "-C", source, "-trimpath", "-o", p.path("bindq"), "./cmd/bindq")
	}
	return err
}

// output runs a command and returns its standard output without surrounding white space.
func output(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// lookups returns the commands that look up key for the first node, in the order bindq, Hiera 5,
// Hiera 3.
func (p *peers) lookups(key string) [][]string {
	facts, node := p.path("facts.json"), p.ask.Nodes[0]
	dir := p.path("hiera5")
	return [][]string{
		{p.path("bindq"), "lookup", key, "-s", p.site.Snapshot, "--facts", facts, "--render-as", "json"},
		{"puppet", "lookup", key, "--node", node["fqdn"].(string), "--facts", facts, "--environment",
			node["environment"].(string),
			"--render-as", "json", "--confdir", dir, "--vardir", dir + "/var", "--codedir", dir + "/code",
			"--log_level", "err"},
		{"hiera", "--config", p.path("hiera3") + "/hiera.yaml", "--json", facts, "--format", "json", key},
	}
}

func (p *peers) compare(inProcess, commands measure.Plan) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out, "| what\t| bindc\t| Hiera 5\t| ratio\t| Hiera 3\t| ratio\t|\n|---\t|---\t|---\t|---\t|---\t|---\t|")
	each := func(what string) []measure.Case {
		return []measure.Case{{Run: p.ours.do(what)}, {Run: p.hiera5.do(what)}, {Run: p.hiera3.do(what)}}
	}
	keys := len(p.ask.Keys)
	for _, row := range []struct {
		name, what string
		per        int
	}{
		{"lookup, request at hand", "lookup", 1},
		{fmt.Sprintf("new request, %d lookups: each", keys), "visit", keys},
		{"new request, 1 lookup", "glance", 1},
	} {
		fmt.Fprintln(out, line(row.name, measure.Run(inProcess, each(row.what)), row.per))
	}
	var runs []measure.Case
	for _, args := range p.lookups(p.ask.Keys[0]) {
		runs = append(runs, measure.Case{Run: func(n int) {
			for range n {
				_, err := output(args[0], args[1:]...)
				must(err)
			}
		}})
	}
	fmt.Fprintln(out, line("command, 1 lookup", measure.Run(commands, runs), 1))
	return out.Flush()
}

// line returns a row of the table. The first result is ours; for the others, the row also has the
// ratio to ours. Each operation of a case made per lookups.
func line(name string, results []measure.Result, per int) string {
	own := results[0].Median
	text := fmt.Sprintf("| %s\t| %s\t", name, duration(own/float64(per)))
	for _, r := range results[1:] {
		text += fmt.Sprintf("| %s\t| %s\t", duration(r.Median/float64(per)), digits(r.Median/own))
	}
	return text + "|"
}

// duration formats a time in nanoseconds with at least three digits, in a suitable unit.
func duration(ns float64) string {
	for _, unit := range []string{"ns", "µs", "ms"} {
		if ns < 1000 {
			return digits(ns) + " " + unit
		}
		ns /= 1000
	}
	return digits(ns) + " s"
}

// digits formats x with at least three significant digits.
func digits(x float64) string {
	return strconv.FormatFloat(x, 'f', max(0, 2-int(math.Log10(max(1, x)))), 64)
}

// check compares every result with the generator's prediction. The slower commands are checked with
// one key of each kind.
func (p *peers) check() error {
	for name, from := range map[string]func() ([][]json.RawMessage, error){
		"bindc": p.ours.answers, "Hiera 5": p.hiera5.answers, "Hiera 3": p.hiera3.answers,
	} {
		got, err := from()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i := range p.ask.Nodes {
			for k, key := range p.ask.Keys {
				if err := p.expect(i, key, string(got[i][k])); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return p.checkCommands()
}

func (p *peers) checkCommands() error {
	checked := map[gen.Kind]bool{}
	for i, key := range p.site.KeyNames() {
		if checked[p.site.KindOf(i)] {
			continue
		}
		checked[p.site.KindOf(i)] = true
		for _, args := range p.lookups(key) {
			got, err := output(args[0], args[1:]...)
			if err == nil {
				err = p.expect(0, key, got)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
			}
		}
	}
	return nil
}

// expect compares a result for node i of ask with the generator's prediction.
func (p *peers) expect(i int, key, got string) error {
	want, err := p.site.Expected(p.numbers[i], key)
	if err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(got)); err != nil || compact.String() != want.JSON {
		return fmt.Errorf("%s for node %d is %q, expected %s", key, p.numbers[i], got, want.JSON)
	}
	return nil
}
