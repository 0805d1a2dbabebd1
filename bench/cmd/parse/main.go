// Command parse parses all YAML files in a directory into nodes with go.yaml.in/yaml/v4, on all
// processors. Builds are compared with it, because any build has to read its files first.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"go.yaml.in/yaml/v4"
)

func main() {
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "files parsed at a time")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: parse [-jobs N] DIR")
		os.Exit(2)
	}
	files, bytes, err := parseAll(flag.Arg(0), *jobs)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d files, %d bytes\n", files, bytes)
}

// parseAll parses the files in dir and its subdirectories. It does not keep the nodes.
func parseAll(dir string, jobs int) (files int, bytes int64, err error) {
	paths, sizes := make(chan string), make(chan int64)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for path := range paths {
				size, parseErr := parse(path)
				if parseErr != nil {
					fmt.Fprintln(os.Stderr, parseErr)
				}
				sizes <- size
			}
		})
	}
	go func() {
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".yaml" {
				paths <- path
			}
			return err
		})
		close(paths)
		workers.Wait()
		close(sizes)
	}()
	for size := range sizes {
		files++
		bytes += size
	}
	return files, bytes, err
}

func parse(path string) (int64, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(src, &root); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return int64(len(src)), nil
}
