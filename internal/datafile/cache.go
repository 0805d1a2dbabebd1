package datafile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"bindc/internal/fsx"
)

// Cache holds the data files that an earlier build of the site parsed, and collects those of this build for the next.
//
// A file is identified by the SHA-256 of its content and by its format. If its identity in the file system is
// unchanged, the file is not even opened. All files are in one pack, because opening 50,000 small files would take as
// long as opening the data files. A pack is never modified: each build reads it completely and replaces it by a rename,
// so that concurrent builds do not disturb each other. The pack of the last build remains. A pack that is damaged, or
// from another program, is ignored.
type Cache struct {
	path    string // path of the pack
	program Program
	pools   Pools
	opened  int64 // start of this build, according to the file system of the cache

	files    []File           // files of earlier builds
	next     []*File          // files of this build
	byInode  map[uint64]int32 // index in files, by inode
	byDigest func() map[digestKey]int32
	scans    atomic.Int32 // remaining number of files to find without byDigest
}

type digestKey struct {
	digest [sha256.Size]byte
	kind   Format
}

// searches is the number of files that a build finds by their digests without a map. If only a few files have changed,
// building the map would take longer.
const searches = 8

// Program identifies the compiler. Another version may compile the same file differently.
type Program [sha256.Size]byte

// OpenCache opens the cache of a site in dir, which it creates if necessary. It returns an error if dir cannot be used.
func OpenCache(dir, site string, program Program) (*Cache, error) {
	abs, err := filepath.Abs(site)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &Cache{path: filepath.Join(dir, packName(abs)), program: program}
	// The name of this file, which is only used for its time, is that of a temporary file of the pack. It is removed
	// like one if the program is killed.
	if c.opened, err = fsx.Clock(dir, "."+filepath.Base(c.path)+".*.tmp"); err != nil {
		return nil, err
	}
	if err := c.load(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.index()
	return c, nil
}

// load reads the pack. It ignores a pack that is damaged or from another program.
func (c *Cache) load() error {
	f, size, err := openFile(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := newPackReader(f, size)
	if p, ok := r.pack(c.program); ok {
		c.files = p.files
		c.pools.Keys.Load(p.keys)
		c.pools.Values.Load(p.values)
	}
	return r.err
}

// openFile opens a file and returns its size.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = fsx.NotAFile(path, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// readText returns the content of a file as a string without copying it.
func readText(path string) (string, error) {
	f, length, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size := int(length)
	if int64(size) != length {
		return "", nil // a 32-bit program cannot have written so much
	}
	var b strings.Builder
	b.Grow(size)
	_, err = io.Copy(&b, io.LimitReader(f, length))
	return b.String(), err
}

// packName returns the file name for the pack of a site and user. The pack of one user must not reveal files to another
// user.
func packName(site string) string {
	sum := sha256.Sum256(fmt.Append(nil, os.Geteuid(), " ", site))
	return hex.EncodeToString(sum[:12]) + ".pack"
}

func (c *Cache) index() {
	c.byInode = make(map[uint64]int32, len(c.files))
	for i := range c.files {
		if c.files[i].id != (fsx.FileID{}) {
			c.byInode[c.files[i].id.Inode] = int32(i)
		}
	}
	c.byDigest = sync.OnceValue(c.digests)
	c.scans.Store(searches)
}

func (c *Cache) digests() map[digestKey]int32 {
	m := make(map[digestKey]int32, len(c.files))
	for i := range c.files {
		m[digestKey{c.files[i].digest, c.files[i].kind}] = int32(i)
	}
	return m
}

// identify returns the identity of a file, or zero if it cannot be relied on.
func (c *Cache) identify(id fsx.FileID, ok bool) fsx.FileID {
	if !ok || !id.Settled(c.opened) {
		return fsx.FileID{}
	}
	return id
}

// unchanged returns the file of an earlier build that has the same identity.
func (c *Cache) unchanged(id fsx.FileID, kind Format) (*File, bool) {
	i, ok := c.byInode[id.Inode]
	if !ok || c.files[i].id != id || c.files[i].kind != kind {
		return nil, false
	}
	return &c.files[i], true
}

// equal returns the file of an earlier build that has the same content.
func (c *Cache) equal(digest [sha256.Size]byte, kind Format) (File, bool) {
	i := c.find(digestKey{digest, kind})
	if i < 0 {
		return File{}, false
	}
	f := c.files[i]
	f.id = fsx.FileID{}
	return f, true
}

// find returns the index of a file with the given digest, or -1.
func (c *Cache) find(key digestKey) int {
	if c.scans.Add(-1) >= 0 {
		return slices.IndexFunc(c.files, func(f File) bool { return f.kind == key.kind && f.digest == key.digest })
	}
	if i, ok := c.byDigest()[key]; ok {
		return int(i)
	}
	return -1
}

// worthwhile determines when Save writes a new pack: if at least one in this many files is new. For fewer, it is faster
// that the next build parses them again.
const worthwhile = 64

// Keep sets the files that Save stores.
func (c *Cache) Keep(files []*File) { c.next = files }

// Begin prepares a cache without a directory for a build that begins now.
func (c *Cache) Begin(now time.Time) { c.opened = now.UnixNano() }

// Reuse makes the files of the last build, which must be complete, available to the next build of this process. Files
// with diagnostics are parsed again.
func (c *Cache) Reuse() {
	c.files = c.files[:0:0]
	for _, f := range c.next {
		if f.silent {
			c.files = append(c.files, *f)
		}
	}
	c.next = nil
	c.index()
}

// Save replaces the pack with the files of this build, unless the next build would gain too little.
func (c *Cache) Save() error {
	news := 0
	for _, f := range c.next {
		if f.silent && (!f.cached || c.moved(f)) {
			news++
		}
	}
	if news == 0 || news < len(c.next)/worthwhile {
		return nil
	}
	return c.write()
}

// moved reports whether a file was found by its content, but the next build can find it by its identity.
func (c *Cache) moved(f *File) bool {
	at, ok := c.byInode[f.id.Inode]
	return f.id != (fsx.FileID{}) && (!ok || c.files[at].id != f.id)
}

// Only the owner can read the pack, because it has the content of data files without their permissions.
func (c *Cache) write() error {
	return fsx.Replace(c.path, fsx.ReplaceOptions{Limit: 0o600}, func(f *os.File) error {
		return writePack(f, &c.pools, c.next, c.program)
	})
}
