// Instructions counts the CPU instructions of frequent operations and compares them with the counts in
// instructions.txt. Unlike times, counts do not depend on other load on the machine, so a change of a
// few percent can fail a build.
//
//	go run ./cmd/instructions            # count and compare; exit status 1 if an operation differs by more than 2 %
//	go run ./cmd/instructions -record    # count and keep the new figures
//
// It needs valgrind. Each operation is measured in two processes, with different numbers of
// repetitions. The difference between the counts leaves out the start of the process.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bindc/bench/built"
)

func main() {
	var opts options
	flag.BoolVar(&opts.record, "record", false, "write the figures into instructions.txt instead of comparing them")
	flag.Float64Var(&opts.tolerance, "tolerance", 2, "the difference that fails, in `per cent`")
	flag.StringVar(&opts.only, "only", "", "count only the operation of this `name`")
	operation := flag.String("operation", "", "run this operation; used by the program itself")
	repeat := flag.Int("repeat", 0, "how often; used by the program itself")
	flag.Parse()
	var err error
	if *operation != "" {
		err = perform(*operation, *repeat, flag.Arg(0))
	} else {
		err = run(opts, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "instructions:", err)
		os.Exit(1)
	}
}

type options struct {
	record    bool
	tolerance float64
	only      string
}

const figures = "instructions.txt"

func run(opts options, out io.Writer) error {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return errors.New("valgrind is not installed; install the package of that name")
	}
	kept, err := readFigures(figures)
	if err != nil && !(opts.record && errors.Is(err, os.ErrNotExist)) {
		return err
	}
	if !opts.record && !kept.comparable() {
		fmt.Fprintf(out, "not compared: %s was recorded with %s, this is %s; record it again\n", figures,
			kept.with, toolchain())
		return nil
	}
	dir, err := os.MkdirTemp("", "instructions")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		return err
	}
	count := counter(filepath.Join(dir, "operate"), dir)
	if err := built.Program("bindc/bench", "./cmd/instructions", filepath.Join(dir, "operate")); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(operations), func(op operation) bool {
		return opts.only != "" && op.name != opts.only
	})
	if len(chosen) == 0 {
		return fmt.Errorf("-only: unknown operation '%s'", opts.only)
	}
	if opts.record {
		return record(chosen, count)
	}
	return compare(out, kept, chosen, count, opts.tolerance)
}

func record(operations []operation, count func(operation) (int, error)) error {
	counts := map[string]int{}
	for _, op := range operations {
		n, err := thrice(op, count)
		if err != nil {
			return err
		}
		counts[op.name] = n
	}
	return writeFigures(figures, operations, counts)
}

// thrice returns the median of three counts. Counts vary because each process seeds Go's maps
// differently.
func thrice(op operation, count func(operation) (int, error)) (int, error) {
	var counts [3]int
	for i := range counts {
		var err error
		if counts[i], err = count(op); err != nil {
			return 0, err
		}
	}
	slices.Sort(counts[:])
	return counts[1], nil
}

// counter returns a function that counts the instructions of one repetition. It runs the operation
// with two numbers of repetitions; the difference leaves out the start of the process.
func counter(program, dir string) func(operation) (int, error) {
	return func(op operation) (int, error) {
		few, err := instructions(program, dir, op.name, op.repeat)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", op.name, err)
		}
		many, err := instructions(program, dir, op.name, 3*op.repeat)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", op.name, err)
		}
		return (many - few + op.repeat) / (2 * op.repeat), nil
	}
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// instructions runs an operation in valgrind and returns the number of instructions of the process.
// GODEBUG turns off instructions of newer processors, which valgrind does not know, and
// asynchronous preemption, whose signals crash callgrind.
func instructions(program, dir, operation string, repeat int) (int, error) {
	cmd := exec.Command("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
		"-operation", operation, "-repeat", strconv.Itoa(repeat), dir)
	cmd.Env = append(os.Environ(), "GODEBUG=cpu.all=off,cpu.popcnt=on,asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	found := collected.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("valgrind printed no count:\n%s", out)
	}
	return strconv.Atoi(string(found[1]))
}

// compare counts each operation and prints the count next to the recorded one. If they differ by
// more than tolerance percent, it takes the median of three more counts. It fails if that still
// differs, or if there is no recorded count.
func compare(out io.Writer, kept *recorded, operations []operation, count func(operation) (int, error),
	tolerance float64) error {
	var wrong []string
	for _, op := range operations {
		was, ok := kept.counts[op.name]
		if !ok {
			wrong = append(wrong, op.name+" has no recorded figure")
			continue
		}
		n, err := count(op)
		if err == nil && differs(n, was, tolerance) {
			n, err = thrice(op, count)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-14s %8d, recorded %8d  %+.1f %%\n", op.name, n, was, change(n, was))
		if differs(n, was, tolerance) {
			wrong = append(wrong, fmt.Sprintf("%s takes %d instructions instead of %d", op.name, n, was))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s\nif that is intended, run: go run ./cmd/instructions -record", strings.Join(wrong, "\n"))
	}
	return nil
}

func change(now, was int) float64 { return 100 * float64(now-was) / float64(was) }

func differs(now, was int, tolerance float64) bool { return math.Abs(change(now, was)) > tolerance }
