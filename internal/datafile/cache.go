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

	"bindc/internal/fsx"
)

// Cache is what an earlier build of a site found in its data files, and what this one finds, for the next.
//
// A file is known by its content: by the SHA-256 of it and by how it is parsed. Where its identity in the file system
// is what it was, it need not even be opened. All is in one file, the pack, because fifty thousand small files take as
// long to open as the data files themselves. A pack is never changed: it is read whole, and replaced by rename, so that
// builds at the same time do not disturb each other; the last one's stays. One that is damaged, or another program's,
// counts as none.
type Cache struct {
	path    string // of the pack
	program Program
	pools   Pools
	opened  int64 // when this build began, by the clock of the file system that the cache is in

	files    []File           // of an earlier build
	next     []File           // of this one
	byInode  map[uint64]int32 // those whose identity tells them
	byDigest func() map[digestKey]int32
}

type digestKey struct {
	digest [sha256.Size]byte
	kind   Format
}

// Program says who compiles: another version may read the same file in another way.
type Program [sha256.Size]byte

// OpenCache opens the cache of a site in dir, which is made if it is not there. The error is of usage: dir cannot be
// used.
func OpenCache(dir, site string, program Program) (*Cache, error) {
	abs, err := filepath.Abs(site)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &Cache{path: filepath.Join(dir, packName(abs)), program: program}
	// The file that tells is named like a temporary one of the pack, and is cleared like one should this program die.
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

// readText is the content of a file as a string, which is not copied: a pack is large, and all its texts are parts of
// it.
func readText(path string) (string, error) {
	f, err := fsx.Disk{}.Open(path)
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
		return "", nil // no 32-bit program wrote that
	}
	var b strings.Builder
	b.Grow(size)
	_, err = io.Copy(&b, io.LimitReader(f, info.Size()))
	return b.String(), err
}

// packName is of a site and a user: what one may not read, another's pack does not tell.
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

// identify is the identity of a file that has one, zero if it is of no use.
func (c *Cache) identify(id fsx.FileID, ok bool) fsx.FileID {
	if !ok || !id.Settled(c.opened) {
		return fsx.FileID{}
	}
	return id
}

// unchanged is the file that an earlier build read, if it has the same identity.
func (c *Cache) unchanged(id fsx.FileID, kind Format) (File, bool) {
	i, ok := c.byInode[id.Inode]
	if !ok || c.files[i].id != id || c.files[i].kind != kind {
		return File{}, false
	}
	return c.files[i], true
}

// equal is a file of the same content that an earlier build read.
func (c *Cache) equal(digest [sha256.Size]byte, kind Format) (File, bool) {
	i, ok := c.byDigest()[digestKey{digest, kind}]
	if !ok {
		return File{}, false
	}
	f := c.files[i]
	f.id = fsx.FileID{}
	return f, true
}

// worthwhile is the share of the files of a site from which on it is quicker for the next build to find them in a new
// pack than to parse them again.
const worthwhile = 64

// Keep takes the files of this build, for Save.
func (c *Cache) Keep(files []File) { c.next = files }

// Save replaces the pack by one of the files of this build, unless that would gain the next build too little.
func (c *Cache) Save() error {
	news := 0
	for i := range c.next {
		if f := &c.next[i]; f.silent && (!f.cached || c.moved(f)) {
			news++
		}
	}
	if news == 0 || news < len(c.next)/worthwhile {
		return nil
	}
	return c.write()
}

// moved tells whether a file was found by its content and would be found by its identity from now on.
func (c *Cache) moved(f *File) bool {
	at, ok := c.byInode[f.id.Inode]
	return f.id != (fsx.FileID{}) && (!ok || c.files[at].id != f.id)
}

// The pack is its owner's alone: it holds what the data files say, and does not know who may read these.
func (c *Cache) write() error {
	return fsx.Replace(c.path, fsx.ReplaceOptions{Limit: 0o600}, func(f *os.File) error {
		_, err := f.Write(encodePack(&c.pools, c.next, c.program))
		return err
	})
}
