// Command mutate measures whether tests notice wrong code. It changes packages in many small ways, one at a time,
// and prints every change that no test notices:
//
//	go -C tools/mutate run . ./compile ./snapshot
//
// All mutants of a package are compiled at once with an overlay of the go command, so the source tree does not
// change and each test binary is linked only once. The environment variable MUTANT enables one of the mutants. The
// first run of each test records which mutants it reaches. Each mutant is then tried with the tests that reach it,
// quickest first. A mutant is killed if a test fails or takes far more CPU time than without the mutant.
//
// When interrupted, the command prints the results so far and exits.
//
// The exit status is 1 if less than -score percent of the mutants are killed. Mutants listed as equivalent do not
// count.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"
)

type options struct {
	packages []string
	suites   []string // other packages whose tests are run
	programs []string // main packages whose programs the tests run, in the directory $PROGRAMS
	changed  string   // if set, only mutate lines changed since this commit
	sample   int      // number of mutants per package; 0 means all
	seed     int64
	list     string // file with equivalent mutants
	jobs     int
	only     string
	again    string        // if set, only try the mutants that survived in this report
	time     time.Duration // do not start mutants after this time; 0 means no limit
	score    float64       // required percentage of killed mutants
	stale    bool          // only print listed equivalents that do not exist
}

func main() {
	var o options
	module := flag.String("C", "../..", "`directory` of the module whose packages are changed")
	suites := flag.String("suites", "./conformance", "additional packages whose tests are run, separated by commas")
	programs := flag.String("programs", "./cmd/bindc,./cmd/bindq,./cmd/bindsync",
		"programs that these tests run, separated by commas")
	flag.StringVar(&o.changed, "changed", "", "only mutants on lines that differ from this `commit`")
	flag.IntVar(&o.sample, "sample", 0, "try `n` mutants of each package, chosen by -seed; 0: all")
	flag.Int64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.StringVar(&o.list, "equivalent", "tools/mutate/equivalent.txt", "`file` with the equivalent mutants")
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "number of mutants to try at once")
	flag.StringVar(&o.only, "only", "", "only mutants whose description contains this `text`")
	flag.StringVar(&o.again, "again", "", "only mutants that survived according to this `file`, the output of an earlier run")
	flag.Float64Var(&o.score, "score", 95, "percentage of mutants that must be killed")
	flag.BoolVar(&o.stale, "stale", false, "try no mutants; print the listed mutants that no longer exist")
	flag.DurationVar(&o.time, "for", 0, "stop starting mutants after this `duration`; 0 means no limit")
	flag.Parse()
	if err := os.Chdir(*module); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	o.packages, o.suites, o.programs = flag.Args(), fields(*suites), fields(*programs)
	if len(o.packages) == 0 {
		fmt.Fprintln(os.Stderr, "usage: go -C tools/mutate run . [flags] PACKAGE...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	score, err := mutate(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if score < o.score {
		os.Exit(1)
	}
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// mutate does a complete run. It returns the percentage of killed mutants. Equivalent mutants do
// not count.
func mutate(ctx context.Context, o options, out io.Writer) (float64, error) {
	equivalent, err := readEquivalents(o.list)
	if err != nil {
		return 0, err
	}
	lines, err := changedLines(o.changed)
	if err != nil {
		return 0, err
	}
	living, err := readReport(o.again)
	if err != nil {
		return 0, err
	}
	packages, err := load(o.packages)
	if err != nil {
		return 0, err
	}
	var all []*mutant
	for _, p := range packages {
		if err := p.instrument(len(all)); err != nil {
			return 0, err
		}
		all = append(all, p.mutants...)
	}
	if o.stale {
		return 100, printStale(out, o.list, equivalent, packages)
	}
	chosen := choose(o, packages, lines, living, equivalent)
	if len(chosen) == 0 {
		fmt.Fprintln(out, "no mutants")
		return 100, nil
	}
	packages = slices.DeleteFunc(packages, func(p *pkg) bool {
		return !slices.ContainsFunc(chosen, func(m *mutant) bool { return m.p == p })
	})
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir, o, packages)
	if err != nil {
		return 0, err
	}
	units, err := b.measure(len(all), out)
	if err != nil {
		return 0, err
	}
	if o.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.time)
		defer cancel()
	}
	b.try(ctx, chosen, units, o.jobs)
	return report(out, o, packages, chosen, equivalent), nil
}

// printStale prints the listed mutants that do not exist. It returns an error if there are any.
func printStale(out io.Writer, list string, equivalent *equivalents, packages []*pkg) error {
	stale := equivalent.unused(packages)
	for _, key := range stale {
		fmt.Fprintf(out, "%s: no such mutant: %s\n", list, key)
	}
	if len(stale) > 0 {
		return fmt.Errorf("%s lists %d mutants that do not exist: correct or remove them", list, len(stale))
	}
	return nil
}

// choose returns the mutants to try, in random order. So the mutants tried before an interrupt are
// a random sample.
func choose(o options, packages []*pkg, lines map[string][]span, living map[string]bool,
	equivalent *equivalents) []*mutant {
	var chosen []*mutant
	for _, p := range packages {
		var of []*mutant
		for _, m := range p.mutants {
			m.listed = equivalent.names(m.key)
			if (o.changed == "" || within(lines[m.file], m.line)) && (o.again == "" || living[m.key]) &&
				strings.Contains(m.key, o.only) {
				of = append(of, m)
			}
		}
		shuffle(of, o.seed)
		if o.sample > 0 && len(of) > o.sample {
			of = of[:o.sample]
		}
		chosen = append(chosen, of...)
	}
	shuffle(chosen, o.seed)
	return chosen
}

func shuffle(mutants []*mutant, seed int64) {
	rand.New(rand.NewSource(seed)).Shuffle(len(mutants), func(i, j int) {
		mutants[i], mutants[j] = mutants[j], mutants[i]
	})
}

// report prints the mutants that survived and the counts of each package. It returns the percentage
// of killed mutants in all packages.
func report(out io.Writer, o options, packages []*pkg, chosen []*mutant, equivalent *equivalents) float64 {
	slices.SortStableFunc(chosen, func(a, b *mutant) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line)
	})
	for _, m := range chosen {
		switch {
		case m.lives():
			fmt.Fprintln(out, m)
		case m.fate == killed && m.listed:
			fmt.Fprintf(out, "%s:%d: listed as equivalent, but killed by %s: %s\n", m.file, m.line, m.by, m.key)
		}
	}
	if o.changed == "" && o.only == "" && o.again == "" {
		for _, key := range equivalent.unused(packages) {
			fmt.Fprintf(out, "%s: no such mutant: %s\n", o.list, key)
		}
	}
	fmt.Fprintln(out, "\npackage          mutants  tried  killed equivalent  survived   score")
	var all tally
	for _, p := range packages {
		var t tally
		for _, m := range p.mutants {
			t.count(m)
		}
		fmt.Fprintf(out, "%-16s %v\n", p.path, t)
		all.add(t)
	}
	fmt.Fprintf(out, "%-16s %v\n", "all", all)
	return all.score()
}

// readReport returns the keys of the mutants that survived in a report. If path is "", it returns
// nil.
func readReport(path string) (map[string]bool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	living := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		for _, fate := range []string{": survived: ", ": no test reaches: "} {
			if _, key, ok := strings.Cut(line, fate); ok {
				living[strings.TrimSpace(key)] = true
			}
		}
	}
	return living, nil
}

// A tally counts mutants. Mutants that were not tried are only in mutants.
type tally struct{ mutants, killed, listed, left int }

func (t *tally) count(m *mutant) {
	t.mutants++
	switch {
	case m.fate == killed:
		t.killed++
	case m.fate == untried:
	case m.listed:
		t.listed++
	default:
		t.left++
	}
}

func (t *tally) add(u tally) {
	t.mutants, t.killed, t.listed, t.left = t.mutants+u.mutants, t.killed+u.killed, t.listed+u.listed, t.left+u.left
}

func (t tally) score() float64 {
	if t.killed+t.left == 0 {
		return 100
	}
	return 100 * float64(t.killed) / float64(t.killed+t.left)
}

func (t tally) String() string {
	tried := t.killed + t.listed + t.left
	return fmt.Sprintf("%7d %6d %7d %10d %9d %5.1f %%", t.mutants, tried, t.killed, t.listed, t.left, t.score())
}
