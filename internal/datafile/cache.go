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
	"strings"
	"sync"
	"syscall"

	"bindc/internal/fsx"
)

// Cache has what an earlier build of a site read from its data files, and collects the same of this build for the next.
//
// A file is known by its content: the SHA-256 of it, and how it is parsed. If its identity in the file system is
// unchanged, it is not even opened. Everything is in one file, the pack, because opening fifty thousand small files
// takes as long as opening the data files themselves. A pack is never changed: it is read as a whole and replaced by a
// rename, so that simultaneous builds do not disturb each other; the last one's pack stays. A damaged pack, or one of
// another program, is ignored.
type Cache struct {
	path    string // of the pack
	program Program
	pools   Pools
	opened  int64 // the start of this build, by the clock of the file system of the cache

	files    []File           // files of an earlier build
	next     []*File          // files of this build
	byInode  map[uint64]int32 // files by identity
	byDigest func() map[digestKey]int32
}

type digestKey struct {
	digest [sha256.Size]byte
	kind   Format
}

// Program identifies the compiler: another version may read the same file differently.
type Program [sha256.Size]byte

// OpenCache opens the cache of a site in dir, which it creates if necessary. The error says that dir cannot be used.
func OpenCache(dir, site string, program Program) (*Cache, error) {
	abs, err := filepath.Abs(site)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &Cache{path: filepath.Join(dir, packName(abs)), program: program}
	// This file, which shows the time, is named like a temporary file of the pack, so that it is removed like one if
	// the program dies.
	if c.opened, err = fsx.Clock(dir, "."+filepath.Base(c.path)+".*.tmp"); err != nil {
		return nil, err
	}
	raw, err := readText(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if p, ok := decodePack(raw, program); ok {
		c.files = p.files
		c.pools.Keys.Load(p.keys)
		c.pools.Values.Load(p.values)
	}
	c.index()
	return c, nil
}

// readText returns the content of a file as a string without copying it: a pack is large, and all its texts are parts
// of it.
func readText(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = fsx.NotAFile(path, info.Mode())
	}
	if err != nil {
		return "", err
	}
	size := int(info.Size())
	if int64(size) != info.Size() {
		return "", nil // a 32-bit program cannot have written that
	}
	var b strings.Builder
	b.Grow(size)
	_, err = io.Copy(&b, io.LimitReader(f, info.Size()))
	return b.String(), err
}

// packName depends on the site and the user: the pack of one user must not reveal files to another.
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
	c.byDigest = sync.OnceValue(func() map[digestKey]int32 {
		m := make(map[digestKey]int32, len(c.files))
		for i := range c.files {
			m[digestKey{c.files[i].digest, c.files[i].kind}] = int32(i)
		}
		return m
	})
}

// identify returns the identity of a file, or zero if it cannot be used.
func (c *Cache) identify(id fsx.FileID, ok bool) fsx.FileID {
	if !ok || !id.Settled(c.opened) {
		return fsx.FileID{}
	}
	return id
}

// unchanged returns the file that an earlier build read, if it has the same identity.
func (c *Cache) unchanged(id fsx.FileID, kind Format) (*File, bool) {
	i, ok := c.byInode[id.Inode]
	if !ok || c.files[i].id != id || c.files[i].kind != kind {
		return nil, false
	}
	return &c.files[i], true
}

// equal returns a file with the same content that an earlier build read.
func (c *Cache) equal(digest [sha256.Size]byte, kind Format) (File, bool) {
	i, ok := c.byDigest()[digestKey{digest, kind}]
	if !ok {
		return File{}, false
	}
	f := c.files[i]
	f.id = fsx.FileID{}
	return f, true
}

// worthwhile is the share of changed files above which a new pack is faster for the next build than parsing them again.
const worthwhile = 64

// Keep records the files of this build for Save.
func (c *Cache) Keep(files []*File) { c.next = files }

// Save replaces the pack by the files of this build, unless the next build would gain too little.
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

// moved reports whether a file was found by its content, and would be found by its identity from now on.
func (c *Cache) moved(f *File) bool {
	at, ok := c.byInode[f.id.Inode]
	return f.id != (fsx.FileID{}) && (!ok || c.files[at].id != f.id)
}

// Only its owner can read the pack: it has the contents of the data files, but not their permissions.
func (c *Cache) write() error {
	return fsx.Replace(c.path, fsx.ReplaceOptions{Limit: 0o600}, func(f *os.File) error {
		return writePack(f, &c.pools, c.next, c.program)
	})
}
