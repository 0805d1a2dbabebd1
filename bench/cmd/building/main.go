// Building measures builds of a site and compares them with parsing its files. It prints the table
// "Building" of bench/README.md.
//
//	go run ./cmd/building
//	go run ./cmd/building -size S -rounds 3    a quick look
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"bindc/bench/built"
	"bindc/bench/gen"
	"bindc/bench/measure"
	"bindc/diag"
	"bindc/internal/yaml"
)

func main() {
	size := flag.String("size", "L", "`size` of the site")
	rounds := flag.Int("rounds", 5, "turns of each program")
	flag.Parse()
	if err := run(*size, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "building:", err)
		os.Exit(1)
	}
}

func run(size string, rounds int) error {
	tmp, err := os.MkdirTemp("", "bindc-building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	w, err := newWorld(tmp, size)
	if err != nil {
		return err
	}
	var c costs
	for range rounds {
		if err := w.round(&c); err != nil {
			return err
		}
	}
	print(size, rounds, w.yaml, &c)
	return nil
}

type world struct {
	dir, site, file string // file is the data file that is edited between builds
	yaml            int64  // total size of the YAML files, in bytes
	parse, bindc    string
	changes         int
}

func newWorld(tmp, size string) (*world, error) {
	config, ok := gen.Sizes[size]
	if !ok {
		return nil, fmt.Errorf("unknown size %q; expected S, M, L or XL", size)
	}
	w := &world{dir: tmp, site: filepath.Join(tmp, "site"), parse: filepath.Join(tmp, "parse"),
		bindc: filepath.Join(tmp, "bindc")}
	totals, err := gen.Write(w.site, config)
	if err != nil {
		return nil, err
	}
	w.yaml = totals.Bytes
	nodes, err := filepath.Glob(filepath.Join(w.site, "data", "node", "*.yaml"))
	if err != nil || len(nodes) == 0 {
		return nil, fmt.Errorf("the site has no node files: %v", err)
	}
	w.file = nodes[len(nodes)/2]
	if err := built.Bindc(w.bindc); err != nil {
		return nil, err
	}
	if out, err := exec.Command("go", "build", "-o", w.parse, "./cmd/parse").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	time.Sleep(3 * time.Second) // bindc does not trust the cache for files younger than two seconds
	return w, w.build(nil, "--cache", w.cache())
}

func (w *world) cache() string { return filepath.Join(w.dir, "cache") }

// costs lists the costs of each program, one per round.
type costs struct{ parse, cold, filling, newKey, newValue []*built.Cost }

func (w *world) round(c *costs) error {
	parse, err := built.Run(w.parse, w.site)
	if err != nil {
		return err
	}
	c.parse = append(c.parse, parse)
	if err := w.build(&c.cold); err != nil {
		return err
	}
	if err := w.build(&c.filling, "--cache", filepath.Join(w.dir, fmt.Sprint("cache", w.changes))); err != nil {
		return err
	}
	for _, step := range []struct {
		change func() error
		costs  *[]*built.Cost
	}{{w.addKey, &c.newKey}, {w.changeValue, &c.newValue}} {
		if err := step.change(); err != nil {
			return err
		}
		if err := w.build(step.costs, "--cache", w.cache()); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) build(costs *[]*built.Cost, flags ...string) error {
	cost, err := built.Run(w.bindc, append([]string{"build", w.site, "-o", filepath.Join(w.dir, "site.bsnap")},
		flags...)...)
	if costs != nil {
		*costs = append(*costs, cost)
	}
	return err
}

// addKey adds a new key to a file of the site. This renumbers the keys in the snapshot.
func (w *world) addKey() error {
	w.changes++
	return w.edit(func(text string) string { return text + w.binding("added") })
}

// changeValue changes the value of the key that addKey added last.
func (w *world) changeValue() error {
	return w.edit(func(text string) string {
		return strings.Replace(text, w.binding("added"), w.binding("changed"), 1)
	})
}

func (w *world) binding(value string) string {
	return fmt.Sprintf("bench::change_%d: %s\n", w.changes, value)
}

func (w *world) edit(change func(text string) string) error {
	text, err := os.ReadFile(w.file)
	if err != nil {
		return err
	}
	return os.WriteFile(w.file, []byte(change(string(text))), 0o666)
}

func print(size string, rounds int, yamlBytes int64, c *costs) {
	fmt.Printf("%s, %d processors, site %s, %d rounds, medians; times are processor time unless stated otherwise\n\n",
		runtime.Version(), runtime.NumCPU(), size, rounds)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	defer out.Flush()
	fmt.Fprintln(out, "| what\t| \t| against\t| \t| ratio\t| target\t|\n|---\t|---\t|---\t|---\t|---\t|---\t|")
	line := func(what string, value float64, unit, against string, yardstick, target float64) {
		fmt.Fprintf(out, "| %s\t| %.3g %s\t| %s\t| %.3g %s\t| %.3g\t| %s\t|\n", what, value, unit, against, yardstick,
			unit, value/yardstick, verdict(value/yardstick, target))
	}
	cold, mb := seconds(c.cold), float64(yamlBytes)/1e6
	line("cold build", cold, "s", "its files parsed into nodes", seconds(c.parse), 0.5)
	line("the same by the clock", clock(c.cold), "s", "the same by the clock", clock(c.parse), 0.5)
	line("cold build that fills a cache", seconds(c.filling), "s", "cold build", cold, 0)
	line("build after a file got a new key", seconds(c.newKey), "s", "cold build", cold, 0.1)
	line("the same by the clock", clock(c.newKey), "s", "the same by the clock", clock(c.cold), 0)
	line("build after a value changed", seconds(c.newValue), "s", "cold build", cold, 0.1)
	line("the same by the clock", clock(c.newValue), "s", "the same by the clock", clock(c.cold), 0)
	line("peak memory of a cold build", peak(c.cold), "MB", "its YAML", mb, 4)
	line("peak memory after a file got a new key", peak(c.newKey), "MB", "its YAML", mb, 4)
	large, small := mappings(50_000, 1_000)
	line("one mapping of 50 000 keys, per byte", large, "ns", "one of 1 000 keys", small, 1.5)
}

// verdict formats the target of a ratio, with ", missed" if the ratio is larger. Without a target,
// it returns "".
func verdict(ratio, target float64) string {
	switch {
	case target == 0:
		return ""
	case ratio > target:
		return fmt.Sprintf("≤ %g, missed", target)
	}
	return fmt.Sprintf("≤ %g", target)
}

func seconds(costs []*built.Cost) float64 {
	return median(costs, func(c *built.Cost) float64 { return c.CPU.Seconds() })
}

func clock(costs []*built.Cost) float64 {
	return median(costs, func(c *built.Cost) float64 { return c.Wall.Seconds() })
}

func peak(costs []*built.Cost) float64 {
	return median(costs, func(c *built.Cost) float64 { return float64(c.Peak) / 1e6 })
}

func median(costs []*built.Cost, of func(*built.Cost) float64) float64 {
	all := make([]float64, len(costs))
	for i, c := range costs {
		all[i] = of(c)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// mappings measures parsing a mapping with many keys and one with few, in turns. It returns the
// times per byte in nanoseconds.
func mappings(large, small int) (perByteLarge, perByteSmall float64) {
	sources := [2][]byte{mapping(large), mapping(small)}
	var cases []measure.Case
	for _, src := range sources {
		cases = append(cases, measure.Case{Run: func(n int) {
			for range n {
				var diags diag.List
				if _, ok := yaml.Parse("mapping.yaml", src, yaml.Options{LastKeyWins: true}, &diags); !ok {
					panic(fmt.Sprint(diags.Sorted())) // unreachable: mapping writes valid YAML
				}
			}
		}})
	}
	results := measure.Run(measure.Plan{Rounds: 15, Turn: 300 * time.Millisecond}, cases)
	return results[0].Median / float64(len(sources[0])), results[1].Median / float64(len(sources[1]))
}

func mapping(keys int) []byte {
	var b strings.Builder
	for i := range keys {
		fmt.Fprintf(&b, "module%d::class::parameter_%d: 'some value %d'\n", i%97, i, i)
	}
	return []byte(b.String())
}
