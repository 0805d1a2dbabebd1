// Table measures lookups and what they are compared with, determines sizes, and prints the table "Lookups" of
// bench/README.md. Times are medians of turns.
//
//	go run ./cmd/table
//	go run ./cmd/table -small S -large S -huge S -rounds 5    a quick look
//	go run ./cmd/table -only absent                           some rows
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"

	"bindc/bench/gen"
	"bindc/bench/measure"
	"bindc/bench/rows"
)

func main() {
	names := [3]string{"M", "L", "XL"}
	flag.StringVar(&names[0], "small", names[0], "`size` of the small site")
	flag.StringVar(&names[1], "large", names[1], "`size` of the large site")
	flag.StringVar(&names[2], "huge", names[2], "`size` of the huge site")
	// The turns are short, so that other load on the machine affects only a few of them.
	plan := measure.Plan{Rounds: 101, Turn: 5 * time.Millisecond}
	flag.IntVar(&plan.Rounds, "rounds", plan.Rounds, "turns of each case")
	flag.DurationVar(&plan.Turn, "turn", plan.Turn, "length of a turn")
	only := flag.String("only", "", "a regular `expression`: measure only rows whose name matches")
	flag.Parse()
	if err := run(names, plan, *only); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(names [3]string, plan measure.Plan, only string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var worlds [3]*rows.World
	for i, name := range names {
		config, ok := gen.Sizes[name]
		if !ok {
			return fmt.Errorf("sizes are S, M, L and XL, not %q", name)
		}
		w, err := open(config)
		if err != nil {
			return err
		}
		defer w.Close()
		worlds[i] = w
	}
	small, large, huge := worlds[0], worlds[1], worlds[2]
	hiera5, err := rows.OpenHiera5(small.Site().Config)
	if err != nil {
		return err
	}
	defer hiera5.Close()
	measured, err := lookups(small, large, huge, hiera5, chosen)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out, "| what\t| \t| against\t| \t| ratio\t| target\t|\n|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, row := range measured {
		fmt.Fprintln(out, line(row, measure.Run(plan, []measure.Case{row.Case, row.Yardstick})))
	}
	if only == "" {
		counted, err := facts(large, huge)
		if err != nil {
			return err
		}
		for _, f := range counted {
			fmt.Fprintln(out, factLine(f))
		}
	}
	return out.Flush()
}

// lookups returns all rows with lookup times. It builds the sites with multibindings or classes
// only if their rows are chosen.
func lookups(small, large, huge, hiera5 *rows.World, chosen *regexp.Regexp) ([]rows.Row, error) {
	out, err := rows.Lookups(large)
	if err != nil {
		return nil, err
	}
	out = slices.Concat(out, rows.Hiera5(hiera5), rows.Growth(large, huge), rows.Crowd(huge), rows.Opening(small, huge))
	if chosen.MatchString("multibinding") {
		more, err := rows.Multibindings(500, 50_000)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if chosen.MatchString("classes") {
		more, err := rows.Classes(2000, 50_000)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return slices.DeleteFunc(out, func(r rows.Row) bool { return !chosen.MatchString(r.Name) }), nil
}

func facts(large, huge *rows.World) ([]rows.Fact, error) {
	allocations, err := rows.Allocations(large)
	if err != nil {
		return nil, err
	}
	process, err := rows.Process(large, 60)
	if err != nil {
		return nil, err
	}
	own, err := rows.Sizes(large, 11)
	if err != nil {
		return nil, err
	}
	of, err := rows.Sizes(huge, 9)
	return append(append([]rows.Fact{allocations, process}, own...), of...), err
}

// open prepares a site. If it had to build the snapshot, it prints the cost.
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
	ratio, target := own/other, ""
	if row.Target > 0 {
		target = judged(ratio, row.Target)
	}
	return fmt.Sprintf("| %s\t| %s ns\t| %s\t| %s ns\t| %.3g\t| %s\t|",
		row.Name, nanoseconds(own, row.Per), row.Yardstick.Name, nanoseconds(other, row.Per), ratio, target)
}

func factLine(f rows.Fact) string {
	if f.Against == "" {
		return fmt.Sprintf("| %s\t| %.3g %s\t| \t| \t| \t| %s\t|", f.Name, f.Value, f.Unit, judged(f.Value, f.Target))
	}
	return fmt.Sprintf("| %s\t| %.3g %s\t| %s\t| %.3g %s\t| %.3g\t| %s\t|",
		f.Name, f.Value, f.Unit, f.Against, f.Other, f.Unit, f.Value/f.Other, judged(f.Value/f.Other, f.Target))
}

// judged formats a target, with ", missed" if value is larger.
func judged(value, target float64) string {
	s := fmt.Sprintf("≤ %.3g", target)
	if value > target {
		s += ", missed"
	}
	return s
}

func nanoseconds(operation float64, per int) string {
	ns := operation / float64(per)
	if ns < 100 {
		return fmt.Sprintf("%.1f", ns)
	}
	return fmt.Sprintf("%.0f", ns)
}
