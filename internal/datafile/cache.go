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

// Cache stores compiled data files between builds of a site.
//
// A file is found by the digest of its content and its format. If its identity in the file system
// has not changed since the last build, it is not even opened. All files are stored in one pack,
// because opening 50,000 small files would take as long as opening the data files. A build reads
// the whole pack and later replaces it by a rename, so concurrent builds do not disturb each other.
// A pack that is damaged, or was written by another program, is ignored.
type Cache struct {
	path    string // path of the file with the pack
	program Program
	pools   Pools
	opened  int64 // when this build started, by the clock of the cache's file system

	files    []File           // files of earlier builds
	next     []*File          // files of this build, see Keep
	byInode  map[uint64]int32 // index in files, by inode
	byDigest func() map[digestKey]int32
	scans    atomic.Int32 // how many files may still be searched for without byDigest
}

type digestKey struct {
	digest [sha256.Size]byte
	kind   Format
}

// searches is the number of files that are searched for linearly. If only a few files have changed,
// building a map of all digests would take longer.
const searches = 8

// Program identifies the version of the compiler. Cached files are used only by the same version.
type Program [8]byte

// OpenCache opens the cache of a site in dir, which it creates if necessary.
func OpenCache(dir, site string, program Program) (*Cache, error) {
	abs, err := filepath.Abs(site)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &Cache{path: filepath.Join(dir, packName(abs)), program: program}
	// This file is needed only for its modification time. It is named like a temporary file for the
	// pack, so that it is removed like one if the program is killed.
	if c.opened, err = fsx.Clock(dir, "."+filepath.Base(c.path)+".*.tmp"); err != nil {
		return nil, err
	}
	if err := c.load(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.index()
	return c, nil
}

// load reads the pack. It ignores a pack that is damaged or was written by another program.
func (c *Cache) load() error {
	f, size, err := openFile(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := newPackReader(f, size)
	if p, ok := r.pack(c.program); ok {
		c.files = p.files
		c.pools.Keys.load(p.keys)
		c.pools.Values.load(p.values)
	}
	return r.err
}

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

// readText returns the content of a file as a string. Unlike a conversion from []byte, it makes no
// copy.
func readText(path string) (string, error) {
	f, length, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size := int(length)
	if int64(size) != length {
		return "", nil // a 32-bit program cannot have written such a file
	}
	var b strings.Builder
	b.Grow(size)
	_, err = io.Copy(&b, io.LimitReader(f, length))
	return b.String(), err
}

// packName returns the name of the pack for a site. The name depends on the user, because a pack
// must not reveal files to other users.
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

// identify returns id, or the zero FileID if id cannot prove that the file is unchanged.
func (c *Cache) identify(id fsx.FileID, ok bool) fsx.FileID {
	if !ok || !id.Settled(c.opened) {
		return fsx.FileID{}
	}
	return id
}

// unchanged returns the file of an earlier build with the same identity and format.
func (c *Cache) unchanged(id fsx.FileID, kind Format) (*File, bool) {
	i, ok := c.byInode[id.Inode]
	if !ok || c.files[i].id != id || c.files[i].kind != kind {
		return nil, false
	}
	return &c.files[i], true
}

// equal returns the file of an earlier build with the same content and format.
func (c *Cache) equal(digest [sha256.Size]byte, kind Format) (File, bool) {
	i := c.find(digestKey{digest, kind})
	if i < 0 {
		return File{}, false
	}
	f := c.files[i]
	f.id = fsx.FileID{}
	return f, true
}

// find returns the index of the file with the given digest and format, or -1.
func (c *Cache) find(key digestKey) int {
	if c.scans.Add(-1) >= 0 {
		return slices.IndexFunc(c.files, func(f File) bool { return f.kind == key.kind && f.digest == key.digest })
	}
	if i, ok := c.byDigest()[key]; ok {
		return int(i)
	}
	return -1
}

// worthwhile decides whether Save writes a new pack: at least one in this many files must be new.
// If fewer are new, it is faster to parse them again in the next build.
const worthwhile = 64

// Keep sets the files that Save will store.
func (c *Cache) Keep(files []*File) { c.next = files }

// Begin sets the start of the build for a cache without a directory.
func (c *Cache) Begin(now time.Time) { c.opened = now.UnixNano() }

// Reuse makes the files of the last build available to the next build in this process. It leaves
// out files with diagnostics, which must be reported again. The last build must be complete.
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

// Save replaces the pack with the files of this build. It does nothing if too few of them are new.
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

// moved reports whether f was found only by its content and must be recorded again, so that the
// next build finds it by its identity.
func (c *Cache) moved(f *File) bool {
	at, ok := c.byInode[f.id.Inode]
	return f.id != (fsx.FileID{}) && (!ok || c.files[at].id != f.id)
}

// write replaces the pack. Only the owner may read it, because it contains data from files with
// other permissions.
func (c *Cache) write() error {
	return fsx.Replace(c.path, fsx.ReplaceOptions{Limit: 0o600}, func(f *os.File) error {
		return writePack(f, &c.pools, c.next, c.program)
	})
}
