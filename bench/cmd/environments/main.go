// Environments measures how long it takes to build many environments if only one of them has changed.
// It prints the table "Environments" of bench/README.md.
//
//	go run ./cmd/environments
//	go run ./cmd/environments -size M -many 10 -rounds 3
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"bindc/bench/built"
	"bindc/bench/gen"
)

func main() {
	size := flag.String("size", "S", "`size` of each environment")
	many := flag.Int("many", 40, "how `many` environments")
	rounds := flag.Int("rounds", 5, "turns of each")
	flag.Parse()
	if err := run(*size, *many, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "environments:", err)
		os.Exit(1)
	}
}

// turns lists the costs of each row of the table, one per round.
type turns struct{ all, none, one, alone []*built.Cost }

func run(size string, many, rounds int) error {
	tmp, err := os.MkdirTemp("", "bindc-environments-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	config, ok := gen.Sizes[size]
	if !ok {
		return fmt.Errorf("unknown size %q; expected S, M, L or XL", size)
	}
	bindc, root := filepath.Join(tmp, "bindc"), filepath.Join(tmp, "root")
	if err := built.Bindc(bindc); err != nil {
		return err
	}
	site := func(n int) string { return filepath.Join(root, "environments", fmt.Sprintf("e%d", n)) }
	for n := range many {
		config.Seed++
		if _, err := gen.Write(site(n), config); err != nil {
			return err
		}
	}
	time.Sleep(3 * time.Second) // bindc does not trust the cache for files younger than two seconds
	var t turns
	environments := func(costs *[]*built.Cost, out string) error {
		cost, err := built.Run(bindc, "environments", root, "-o", filepath.Join(tmp, out))
		*costs = append(*costs, cost)
		return err
	}
	if err := environments(new([]*built.Cost), "out"); err != nil {
		return err
	}
	for n := range rounds {
		if err := environments(&t.all, fmt.Sprint("out", n)); err != nil {
			return err
		}
		if err := environments(&t.none, "out"); err != nil {
			return err
		}
		changed := site(n % many)
		if err := change(changed, n); err != nil {
			return err
		}
		if err := environments(&t.one, "out"); err != nil {
			return err
		}
		cost, err := built.Run(bindc, "build", changed, "-o", filepath.Join(tmp, "alone.bsnap"))
		if err != nil {
			return err
		}
		t.alone = append(t.alone, cost)
	}
	t.print(size, many, rounds)
	return nil
}

func change(site string, n int) error {
	nodes, err := filepath.Glob(filepath.Join(site, "data", "node", "*.yaml"))
	if err != nil || len(nodes) == 0 {
		return fmt.Errorf("the site has no node files: %v", err)
	}
	f, err := os.OpenFile(nodes[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "bench::change_%d: %d\n", n, n)
	return err
}

func (t *turns) print(size string, many, rounds int) {
	fmt.Printf("%s, %d processors, %d environments of size %s, %d rounds, medians\n\n", runtime.Version(),
		runtime.NumCPU(), many, size, rounds)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	defer out.Flush()
	fmt.Fprintln(out, "| what\t| processor\t| clock\t| of all\t|\n|---\t|---\t|---\t|---\t|")
	all := median(t.all, cpu)
	for _, row := range []struct {
		what  string
		costs []*built.Cost
	}{{"all of them, for the first time", t.all}, {"nothing has changed", t.none}, {"one has changed", t.one},
		{"`bindc build` of that one", t.alone}} {
		fmt.Fprintf(out, "| %s\t| %.2f s\t| %.2f s\t| %.3f\t|\n", row.what, median(row.costs, cpu),
			median(row.costs, clock), median(row.costs, cpu)/all)
	}
}

func cpu(c *built.Cost) float64   { return c.CPU.Seconds() }
func clock(c *built.Cost) float64 { return c.Wall.Seconds() }

func median(costs []*built.Cost, of func(*built.Cost) float64) float64 {
	all := make([]float64, len(costs))
	for i, c := range costs {
		all[i] = of(c)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
