// Table measures lookups beside their yardsticks and prints the table of bench/README.md.
//
//	go run ./cmd/table
//	go run ./cmd/table -small S -large S -rounds 5    a quick look
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"bindc/bench/gen"
	"bindc/bench/measure"
	"bindc/bench/rows"
)

func main() {
	small := flag.String("small", "S", "`size` of the small site")
	large := flag.String("large", "L", "`size` of the large site")
	plan := measure.Plan{Rounds: 101, Turn: 5 * time.Millisecond} // short turns: a busy machine spoils few of them
	flag.IntVar(&plan.Rounds, "rounds", plan.Rounds, "turns of each case")
	flag.DurationVar(&plan.Turn, "turn", plan.Turn, "length of a turn")
	flag.Parse()
	if err := run(*small, *large, plan); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(small, large string, plan measure.Plan) error {
	configs, err := sizes(small, large)
	if err != nil {
		return err
	}
	worlds := make([]*rows.World, len(configs))
	for i, config := range configs {
		if worlds[i], err = open(config); err != nil {
			return err
		}
		defer worlds[i].Close()
	}
	table, err := rows.Table(worlds[0], worlds[1], worlds[2])
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d processors, commit %s, %d rounds of %v, medians\n\n", runtime.Version(), runtime.NumCPU(), commit(), plan.Rounds, plan.Turn)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out, "| what\t| ns\t| against\t| ns\t| ratio\t| target\t|\n|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, row := range table {
		fmt.Fprintln(out, line(row, measure.Run(plan, []measure.Case{row.Case, row.Yardstick})))
	}
	return out.Flush()
}

// sizes are the small site, the large one with few nodes, and the large one.
func sizes(small, large string) ([]gen.Config, error) {
	s, ok1 := gen.Sizes[small]
	l, ok2 := gen.Sizes[large]
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("sizes are S, M, L and XL, not %q and %q", small, large)
	}
	return []gen.Config{s, rows.Few(l), l}, nil
}

// open prepares a site and tells what building its snapshot took, if it had to be built.
func open(config gen.Config) (*rows.World, error) {
	w, err := rows.Open(config)
	if err != nil {
		return nil, fmt.Errorf("site of %d nodes: %w", config.Nodes, err)
	}
	if took := w.Site().Took; took != nil {
		fmt.Fprintf(os.Stderr, "%s: bindc build took %v, %v of processor time, %d MB at its peak\n",
			w.Size(), took.Wall.Round(10*time.Millisecond), took.CPU.Round(10*time.Millisecond), took.Peak/1e6)
	}
	return w, nil
}

func line(row rows.Row, results []measure.Result) string {
	own, other := results[0].Median, results[1].Median
	target, ratio := "", own/other
	if row.Target > 0 {
		target = fmt.Sprintf("≤ %.3g", row.Target)
		if ratio > row.Target {
			target += ", missed"
		}
	}
	return fmt.Sprintf("| %s\t| %s\t| %s\t| %s\t| %.3g\t| %s\t|",
		row.Name, nanoseconds(own, row.Per), row.Yardstick.Name, nanoseconds(other, row.Per), ratio, target)
}

func nanoseconds(operation float64, per int) string {
	ns := operation / float64(per)
	if ns < 100 {
		return fmt.Sprintf("%.1f", ns)
	}
	return fmt.Sprintf("%.0f", ns)
}

// commit names the tree that is measured; a + says that it has been changed since.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(hash))
	if changes, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", ":/").Output(); err != nil || len(changes) > 0 {
		name += "+"
	}
	return name
}
