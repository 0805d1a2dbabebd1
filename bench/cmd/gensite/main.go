// Gensite writes a synthetic site for bindc to compile.
//
//	go run ./cmd/gensite -o /tmp/M -size M
//	go run ./cmd/gensite -o /tmp/mine -nodes 100 -keys 300 -modules 10 -overrides 5 -seed 7
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"bindc/bench/gen"
)

func main() {
	dir, config, err := options(os.Args[1:])
	if err == nil {
		err = run(dir, config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gensite:", err)
		os.Exit(2)
	}
}

// options parses the flags. The preset of -size applies where no other flag is given.
func options(args []string) (string, gen.Config, error) {
	var given gen.Config
	flags := flag.NewFlagSet("gensite", flag.ExitOnError)
	dir := flags.String("o", "", "write the site to this `directory`, which must be empty or absent")
	size := flags.String("size", "M", "S, M, L, XL or XXL")
	flags.IntVar(&given.Nodes, "nodes", 0, "number of nodes with a data file")
	flags.IntVar(&given.Keys, "keys", 0, "number of keys bound by modules")
	flags.IntVar(&given.Modules, "modules", 0, "modules")
	flags.IntVar(&given.Overrides, "overrides", 0, "number of keys that each node overrides")
	flags.Uint64Var(&given.Seed, "seed", 0, "seed of the random numbers")
	flags.Parse(args)

	config, ok := gen.Sizes[*size]
	switch {
	case !ok:
		return "", config, fmt.Errorf("unknown size %q; expected S, M, L, XL or XXL", *size)
	case *dir == "" || flags.NArg() > 0:
		return "", config, fmt.Errorf("usage: gensite -o DIR [-size S|M|L|XL|XXL] [-nodes N] [-keys N] [-modules N] [-overrides N] [-seed N]")
	}
	flags.Visit(func(f *flag.Flag) { change(&config, given, f.Name) })
	return *dir, config, nil
}

func change(config *gen.Config, given gen.Config, name string) {
	switch name {
	case "nodes":
		config.Nodes = given.Nodes
	case "keys":
		config.Keys = given.Keys
	case "modules":
		config.Modules = given.Modules
	case "overrides":
		config.Overrides = given.Overrides
	case "seed":
		config.Seed = given.Seed
	}
}

func run(dir string, config gen.Config) error {
	start := time.Now()
	totals, err := gen.Write(dir, config)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d files, %.1f MB, %d bindings in %.1f s\n",
		dir, totals.Files, float64(totals.Bytes)/1e6, totals.Bindings, time.Since(start).Seconds())
	return nil
}
