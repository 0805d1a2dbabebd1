package datafile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bindc/diag"
	"bindc/internal/fsx"
)

// site is a directory of data files with a cache.
type site struct {
	*testing.T
	dir, cacheDir string
}

func newSite(t *testing.T) *site { return &site{t, t.TempDir(), t.TempDir()} }

func (s *site) write(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.Fatal(err)
	}
	return path
}

// open starts a build, after the given time without changes.
func (s *site) open(program byte, idle time.Duration) *Cache {
	s.Helper()
	c, err := OpenCache(s.cacheDir, s.dir, Program{program})
	if err != nil {
		s.Fatal(err)
	}
	c.opened += int64(idle)
	return c
}

// read returns the entries of the files as "key=value" with their positions, and the number of files whose content was
// not read.
func (s *site) read(c *Cache, paths ...string) (said []string, unchanged, cached int) {
	s.Helper()
	r := NewReader(c, fsx.Disk{})
	var diags diag.List
	var files []*File
	for _, path := range paths {
		if _, ok := c.unchanged(c.identify(fsx.FileIDAt(path)), YAML); ok {
			unchanged++
		}
		f, err := r.Read(path, YAML, &diags)
		if err != nil {
			s.Fatal(err)
		}
		if f.cached {
			cached++
		}
		files = append(files, f)
		for _, e := range f.Entries {
			said = append(said, fmt.Sprintf("%s=%q@%d:%d", r.Pools.Keys.Texts()[e.Key], r.Pools.Values.Texts()[e.Value],
				e.Line, e.Col))
		}
	}
	c.Keep(files)
	if err := c.Save(); err != nil {
		s.Fatal(err)
	}
	return said, unchanged, cached
}

func (s *site) want(what string, got, want any) {
	s.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

const idle = time.Hour

func TestUnchangedFilesAreNotRead(t *testing.T) {
	s := newSite(t)
	a, b := s.write("a.yaml", "k: 1\nl: '${x}'\n"), s.write("b.yaml", "l: '${x}'\n")
	first, _, cached := s.read(s.open(1, idle), a, b)
	s.want("cached at first", cached, 0)
	again, unchanged, cached := s.read(s.open(1, idle), b, a)
	s.want("cached then", []int{unchanged, cached}, []int{2, 2})
	s.want("said", again, []string{first[2], first[0], first[1]})

	s.write("a.yaml", "k: 2\nl: '${x}'\n") // same length as before
	said, unchanged, cached := s.read(s.open(1, idle), a, b)
	s.want("cached after a change", []int{unchanged, cached}, []int{1, 1})
	s.want("said after a change", said[0], "k=\"cB\"@1:1")
}

// A file that changed immediately before a build is read again, until its time is old enough to prove that it has not
// changed since.
func TestRecentlyChangedFilesAreRead(t *testing.T) {
	s := newSite(t)
	a := s.write("a.yaml", "k: 1\n")
	s.read(s.open(1, 0), a)
	_, unchanged, cached := s.read(s.open(1, 0), a)
	s.want("just written", []int{unchanged, cached}, []int{0, 1})
	_, unchanged, cached = s.read(s.open(1, idle), a)
	s.want("first build later", []int{unchanged, cached}, []int{0, 1})
	_, unchanged, cached = s.read(s.open(1, idle), a)
	s.want("second build later", []int{unchanged, cached}, []int{1, 1})
}

// A change is detected even if the modification time is set back, because the time of the last status change is not.
func TestDetectsChangeDespiteOldTime(t *testing.T) {
	s := newSite(t)
	a := s.write("a.yaml", "k: 1\n")
	info, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	s.read(s.open(1, idle), a)
	time.Sleep(20 * time.Millisecond) // file system clocks have ticks of up to 10 ms
	s.write("a.yaml", "k: 2\n")
	if err := os.Chtimes(a, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	said, _, _ := s.read(s.open(1, idle), a)
	s.want("said", said, "[k=\"cB\"@1:1]")
}

func TestPackWrittenByAnotherProgramIsIgnored(t *testing.T) {
	s := newSite(t)
	a := s.write("a.yaml", "k: 1\n")
	s.read(s.open(1, idle), a)
	_, _, cached := s.read(s.open(2, idle), a)
	s.want("cached", cached, 0)
}

// Each build must report all diagnostics, so a file with diagnostics is parsed again.
func TestFilesWithWarningsAreParsedAgain(t *testing.T) {
	s := newSite(t)
	a, b := s.write("a.yaml", "k: 1\nk: 2\n"), s.write("b.yaml", "k: 3\n")
	for range 2 {
		c := s.open(1, idle)
		var diags diag.List
		if _, err := NewReader(c, fsx.Disk{}).Read(a, YAML, &diags); err != nil {
			t.Fatal(err)
		}
		s.want("warnings", len(diags.Sorted()), 1)
		s.read(c, a, b)
	}
}

// The same content in another format is another file in the cache.
func TestFormatsOfOneFileAreCachedSeparately(t *testing.T) {
	s := newSite(t)
	c := s.open(1, idle)
	var diags diag.List
	src := []byte(`{"k": 08}`)
	f := NewReader(c, fsx.Disk{}).Source("x", src, YAML, &diags)
	c.Keep([]*File{&f})
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	NewReader(s.open(1, idle), fsx.Disk{}).Source("x", src, YAML, &diags)
	s.want("as YAML", len(diags.Sorted()), 0)
	NewReader(s.open(1, idle), fsx.Disk{}).Source("x", src, JSON, &diags)
	s.want("as JSON", len(diags.Sorted()), 1)
}
