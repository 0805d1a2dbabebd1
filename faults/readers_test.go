//go:build linux

package faults

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bindc/internal/testmode"
	bindings "bindc/runtime"
)

// readerVariable is the environment variable with the path that a reader process watches. Such a
// process runs this test binary.
const readerVariable = "BINDC_TRUST_READER"

// load contains the counts and errors of the readers of a snapshot.
type load struct {
	Requests, Answers, Switches int64
	Errors                      []string // the first errors
	Mapped, Files, Heap         [2]int64 // counts at the beginning and at the end
}

// readers makes requests to a Watcher of path in several goroutines until stop is closed.
func readers(path string, goroutines int, stop <-chan struct{}) *load {
	l := &load{}
	var requests, answers, switches atomic.Int64
	var mu sync.Mutex
	failed := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if len(l.Errors) < 5 {
			l.Errors = append(l.Errors, err.Error())
		}
	}
	notify := func(err error) {
		if err != nil {
			failed(err)
		}
		switches.Add(1)
	}
	w, err := bindings.Watch(path, bindings.WatchOptions{Interval: time.Millisecond, Notify: notify})
	if err != nil {
		failed(err)
		return l
	}
	defer w.Close()
	one := func(node string) {
		n, err := consistent(w, node)
		if err != nil {
			failed(err)
		}
		requests.Add(1)
		answers.Add(int64(n))
	}
	one("n0")
	l.measure(0, path)
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					one(fmt.Sprintf("n%d", i))
				}
			}
		})
	}
	running.Wait()
	if _, err := w.Check(); err != nil {
		failed(err)
	}
	l.measure(1, path)
	l.Requests, l.Answers, l.Switches = requests.Load(), answers.Load(), switches.Load()
	return l
}

// consistent looks up all keys in one request. All answers must be from the same generation.
func consistent(w *bindings.Watcher, node string) (answers int, err error) {
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: node})
	if err != nil {
		return 0, err
	}
	r, err := w.Request(facts)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	generation := ""
	for _, key := range []string{"first", "computed", "m::first", "second", "m::second", "first"} {
		v, found, err := r.Lookup(key)
		if err != nil || !found {
			return answers, fmt.Errorf("%s of %s: found is %v, %v", key, node, found, err)
		}
		_, number, _ := strings.Cut(v.String(), "generation ")
		if generation == "" {
			generation = number
		}
		if number == "" || number != generation {
			return answers, fmt.Errorf("%s of %s: %q beside answers of generation %s", key, node, v, generation)
		}
		answers++
	}
	return answers, nil
}

// measure records the mapped files other than path, the descriptors and the memory of the process. Go unmaps unused
// files in a goroutine some time after a garbage collection, so measure waits for that.
func (l *load) measure(at int, path string) {
	var maps []byte
	for range 200 {
		runtime.GC()
		if maps, _ = os.ReadFile("/proc/self/maps"); strings.Count(string(maps), filepath.Dir(path)) <= 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	files, _ := os.ReadDir("/proc/self/fd")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	l.Mapped[at] = int64(strings.Count(string(maps), filepath.Dir(path)))
	l.Files[at], l.Heap[at] = int64(len(files)), int64(m.HeapAlloc)
}

// check fails the test if there were errors, or if more files are open than the active one and one that is being
// checked.
func (l *load) check(t *testing.T, who string) {
	t.Helper()
	if len(l.Errors) > 0 || l.Requests == 0 || l.Switches == 0 {
		t.Errorf("%s: %d requests, %d switches, %q", who, l.Requests, l.Switches, l.Errors)
	}
	if l.Mapped[1] > 2 || l.Files[1] > l.Files[0]+2 || l.Heap[1] > l.Heap[0]+8<<20 {
		t.Errorf("%s: mapped %d, descriptors %d, bytes of heap %d", who, l.Mapped, l.Files, l.Heap)
	}
}

// readerProcess makes requests until its standard input ends, and then prints its load.
func readerProcess(path string) int {
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	fmt.Println("ready")
	if err := json.NewEncoder(os.Stdout).Encode(readers(path, 2, stop)); err != nil {
		return 1
	}
	return 0
}

// process starts a readerProcess. end stops it and returns its load.
func process(t *testing.T, path string) (end func() *load) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), readerVariable+"="+path)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return func() *load {
		l := &load{}
		in.Close()
		if err := errors.Join(json.NewDecoder(lines).Decode(l), cmd.Wait()); err != nil {
			t.Errorf("a reader: %v", err)
		}
		return l
	}
}

// While the file is replaced again and again, eight goroutines and three processes make requests. No request fails, and
// all answers to a request are from one generation.
func TestReadersSeeOneGenerationDuringReplacements(t *testing.T) {
	const generations = 12
	dir, path := t.TempDir(), ""
	path = filepath.Join(dir, "site.bsnap")
	var snaps [][]byte
	for n := range generations {
		succeed(t, "bindc", "build", newSite(t, n, 4+n), "-o", path)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		snaps = append(snaps, b)
	}
	var ends []func() *load
	for range 3 {
		ends = append(ends, process(t, path))
	}
	stop, here := make(chan struct{}), make(chan *load)
	go func() { here <- readers(path, 8, stop) }()
	replacements := 0
	for i := range rounds(testmode.Number(20, 100)) {
		if err := os.WriteFile(path+".new", snaps[i%generations], 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		replacements++
		time.Sleep(3 * time.Millisecond) // Watchers poll every millisecond
	}
	close(stop)
	total := <-here
	total.check(t, "goroutines")
	for _, end := range ends {
		l := end()
		l.check(t, "process")
		total.Requests += l.Requests
		total.Answers += l.Answers
		total.Switches += l.Switches
	}
	figures(t, "%d replacements, %d switches seen, %d requests with %d answers", replacements, total.Switches,
		total.Requests, total.Answers)
}
