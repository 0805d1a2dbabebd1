// Twins compares a generated Hiera 5 site with the same data in a Hiera 2 site: the times of lookups
// and builds.
//
//	go run ./cmd/twins -size L
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"bindc/bench/built"
	"bindc/bench/gen"
	"bindc/bench/measure"
	"bindc/bench/rows"
)

func main() {
	size := flag.String("size", "M", "`size` of the site")
	plan := measure.Plan{Rounds: 101, Turn: 5 * time.Millisecond}
	flag.IntVar(&plan.Rounds, "rounds", plan.Rounds, "turns of each case")
	flag.Parse()
	if err := run(*size, plan); err != nil {
		fmt.Fprintln(os.Stderr, "twins:", err)
		os.Exit(1)
	}
}

func run(size string, plan measure.Plan) error {
	config, ok := gen.Sizes[size]
	if !ok {
		return fmt.Errorf("sizes are S, M, L and XL, not %q", size)
	}
	hiera2, err := rows.Open(config)
	if err != nil {
		return err
	}
	defer hiera2.Close()
	hiera5, err := rows.OpenHiera5(config)
	if err != nil {
		return err
	}
	defer hiera5.Close()
	fmt.Printf("%s, %d processors, %d rounds of %v, medians\n\n", runtime.Version(), runtime.NumCPU(), plan.Rounds,
		plan.Turn)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out, "| what\t| \t| against\t| \t| ratio\t|\n|---\t|---\t|---\t|---\t|---\t|")
	for _, row := range rows.Twins(hiera2, hiera5) {
		r := measure.Run(plan, []measure.Case{row.Case, row.Yardstick})
		own, other := r[0].Median/float64(row.Per), r[1].Median/float64(row.Per)
		fmt.Fprintf(out, "| %s\t| %.3g ns\t| %s\t| %.3g ns\t| %.3g\t|\n", row.Name, own, row.Yardstick.Name, other,
			own/other)
	}
	if err := builds(out, hiera5.Site(), size); err != nil {
		return err
	}
	return out.Flush()
}

// builds prints the CPU times of building both sites. Each time is the smallest of three.
func builds(out *tabwriter.Writer, site *built.Site, size string) error {
	var own, other time.Duration
	for i := range 3 {
		_, took, err := site.Hiera5()
		if err != nil {
			return err
		}
		twin, err := site.Again()
		if err != nil {
			return err
		}
		if i == 0 || took.CPU < own {
			own = took.CPU
		}
		if i == 0 || twin.CPU < other {
			other = twin.CPU
		}
	}
	_, err := fmt.Fprintf(out, "| %s Hiera 5, build, processor time\t| %v\t| Hiera 2 twin\t| %v\t| %.3g\t|\n", size,
		own.Round(time.Millisecond), other.Round(time.Millisecond), float64(own)/float64(other))
	return err
}
