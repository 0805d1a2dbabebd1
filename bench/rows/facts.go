package rows

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bindc/bench/built"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Fact is a size, a count or a time, and what to compare it with.
type Fact struct {
	Name    string
	Value   float64
	Unit    string
	Against string  // what Value is compared with; if "", it is compared with Target
	Other   float64 // the value to compare with, in Unit
	Target  float64 // largest allowed Value/Other; if Against is "", largest allowed Value
}

// Sizes returns the sizes of a site's snapshot. The target for the size of the index is indexTarget
// bytes per binding.
func Sizes(w *World, indexTarget float64) ([]Fact, error) {
	f, err := snapshot.Open(w.site.Snapshot)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info := f.Info()
	yaml, err := bytesBelow(w.site.Dir)
	if err != nil {
		return nil, err
	}
	size, name := float64(info.Size)/1e6, w.Size()
	return []Fact{
		{name + " index, per binding", float64(indexBytes(info)) / float64(info.Bindings), "bytes", "", 0, indexTarget},
		{name + " snapshot", size, "MB", "its YAML", float64(yaml) / 1e6, 0.4},
	}, nil
}

// keyRecord is the size in bytes of a key's record. It counts as index, but the rest of section
// keys as values (see format.md).
const keyRecord = 64

// indexBytes returns the total size of the sections that locate values. It leaves out values,
// recipes and the list of inputs.
func indexBytes(info snapshot.Info) uint64 {
	n := uint64(keyRecord * info.Keys)
	for _, s := range info.Sections {
		if slices.Contains([]string{"meta", "pilots", "dicts", "scopes", "tables"}, s.Name) {
			n += s.Bytes
		}
	}
	return n
}

func bytesBelow(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// Allocations counts the allocations of one reset of a request with one lookup whose value is read.
func Allocations(w *World) (Fact, error) {
	request, err := w.snap.Request(w.facts[0])
	if err != nil {
		return Fact{}, err
	}
	i := 0
	n := testing.AllocsPerRun(10_000, func() {
		must(request.Reset(w.facts[i%visitors]))
		v, _, err := request.Lookup(w.constants[i%sequence])
		must(err)
		switch v.Kind() {
		case bindings.String:
			text, err := v.TextView()
			must(err)
			Sum += uint64(len(text))
		case bindings.Int:
			n, err := v.Int()
			must(err)
			Sum += uint64(n)
		default:
			Sum += uint64(v.Len())
		}
		i++
	})
	return Fact{w.Size() + " allocations of request, lookup and reading", n, "", "", 0, 0}, nil
}

// Process compares the wall time of a bindq process that makes one lookup with that of a Go program
// that does nothing. Both are in milliseconds.
func Process(w *World, rounds int) (Fact, error) {
	dir, err := os.MkdirTemp("", "bindc-process-")
	if err != nil {
		return Fact{}, err
	}
	defer os.RemoveAll(dir)
	bindq, empty := filepath.Join(dir, "bindq"), filepath.Join(dir, "empty")
	if err := built.Program("bindc", "./cmd/bindq", bindq); err != nil {
		return Fact{}, err
	}
	if err := built.Program("bindc/bench", "./cmd/empty", empty); err != nil {
		return Fact{}, err
	}
	var own, other []float64
	for range rounds {
		a, err := built.Run(bindq, "lookup", w.constants[0], "-s", w.site.Snapshot, "--node", w.site.NodeName(0))
		if err != nil {
			return Fact{}, err
		}
		b, err := built.Run(empty)
		if err != nil {
			return Fact{}, err
		}
		own, other = append(own, a.Wall.Seconds()*1e3), append(other, b.Wall.Seconds()*1e3)
	}
	slices.Sort(own)
	slices.Sort(other)
	return Fact{w.Size() + " bindq lookup, the process", own[rounds/2], "ms", "an empty Go program", other[rounds/2],
		1.5}, nil
}
