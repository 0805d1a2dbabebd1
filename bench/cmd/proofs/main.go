// Proofs measures what class checks and policies add to a cold `bindc check`. It prints the table "Proofs" of
// bench/README.md.
//
//	go run ./cmd/proofs
//	go run ./cmd/proofs -size S -rounds 3    a quick look
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"

	"bindc/bench/built"
	"bindc/bench/gen"
)

func main() {
	size := flag.String("size", "L", "`size` of the site")
	rounds := flag.Int("rounds", 5, "turns of each check")
	flag.Parse()
	if err := run(*size, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "proofs:", err)
		os.Exit(1)
	}
}

func run(size string, rounds int) error {
	config, ok := gen.Sizes[size]
	if !ok {
		return fmt.Errorf("unknown size %q; expected S, M, L, XL or XXL", size)
	}
	tmp, err := os.MkdirTemp("", "bindc-proofs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	w := world{bindc: filepath.Join(tmp, "bindc"), dir: filepath.Join(tmp, "site"),
		policies: filepath.Join(tmp, "policies.yaml"), classes: filepath.Join(tmp, "classes")}
	if err := w.write(config); err != nil {
		return err
	}
	ratios := make([][]float64, len(cases))
	for range rounds {
		if err := w.round(ratios); err != nil {
			return err
		}
	}
	print(size, rounds, w.parameters, ratios)
	return nil
}

// cases are the checks to measure. Each is compared with a check without classes and policies.
var cases = []struct {
	name              string
	classes, policies bool
	target            float64
}{
	{"check with classes", true, false, 0},
	{"check with 100 policies", false, true, 0},
	{"check with classes and 100 policies", true, true, 1.25},
}

// world is a site to check. The directory classes is moved into the site only while it is used.
type world struct {
	bindc, dir, policies, classes string
	parameters                    int
}

func (w *world) write(config gen.Config) error {
	if _, err := gen.Write(w.dir, config); err != nil {
		return err
	}
	site, err := gen.New(config)
	if err != nil {
		return err
	}
	if w.parameters, err = writeClasses(w.classes, site); err != nil {
		return err
	}
	if err := os.WriteFile(w.policies, policiesOf(site), 0o666); err != nil {
		return err
	}
	return built.Bindc(w.bindc)
}

// round checks the site without and then with each case, and appends the ratio of the two CPU times
// to ratios.
func (w *world) round(ratios [][]float64) error {
	for i, c := range cases {
		plain, err := w.check(false, false)
		if err != nil {
			return err
		}
		with, err := w.check(c.classes, c.policies)
		if err != nil {
			return err
		}
		ratios[i] = append(ratios[i], with.CPU.Seconds()/plain.CPU.Seconds())
	}
	return nil
}

func (w *world) check(classes, policies bool) (*built.Cost, error) {
	args := []string{"check", w.dir}
	if policies {
		args = append(args, "--policy", w.policies)
	}
	if !classes {
		return built.Run(w.bindc, args...)
	}
	manifests := filepath.Join(w.dir, "manifests")
	if err := os.Rename(w.classes, manifests); err != nil {
		return nil, err
	}
	cost, err := built.Run(w.bindc, args...)
	if err := os.Rename(manifests, w.classes); err != nil {
		return nil, err
	}
	return cost, err
}

func print(size string, rounds, parameters int, ratios [][]float64) {
	fmt.Printf("%s, %d processors, site %s, %d parameters of classes, medians of %d pairs\n\n", runtime.Version(),
		runtime.NumCPU(), size, parameters, rounds)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	defer out.Flush()
	fmt.Fprintln(out, "| what\t| times a check with neither\t| lowest\t| highest\t| target\t|")
	fmt.Fprintln(out, "|---\t|---\t|---\t|---\t|---\t|")
	for i, c := range cases {
		slices.Sort(ratios[i])
		median, target := ratios[i][len(ratios[i])/2], ""
		switch {
		case c.target > 0 && median > c.target:
			target = fmt.Sprintf("≤ %g, missed", c.target)
		case c.target > 0:
			target = fmt.Sprintf("≤ %g", c.target)
		}
		fmt.Fprintf(out, "| %s\t| %.2f\t| %.2f\t| %.2f\t| %s\t|\n", c.name, median, ratios[i][0],
			ratios[i][len(ratios[i])-1], target)
	}
}
