package fsx

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Seen is what was found of a disk, so that it can be told later whether that is still there: a list of looks, each
// with what it found. The nil Seen notes nothing. Its methods may be called by several goroutines.
type Seen struct {
	Began int64 // when the first look was, by Clock

	mu    sync.Mutex
	looks map[look]Look
}

type look struct {
	op   Op
	path string
}

// Look is a look at a path, and what it found: Said in words, of a file its content.
type Look struct {
	Op   Op
	Path string
	Said string
	ID   FileID // of a file that had been left alone; else zero
	Sum  uint64 // of its content
}

// changing is said of what two looks found different.
const changing = "it changes while it is read"

func (s *Seen) note(l Look) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks == nil {
		s.looks = map[look]Look{}
	}
	at := look{l.Op, l.Path}
	if before, again := s.looks[at]; again && (before.Said != l.Said || before.Sum != l.Sum) {
		l.Said = changing
	}
	s.looks[at] = l
}

// Content notes that the file at path has the identity id, zero if that does not count, and a content of this sum.
func (s *Seen) Content(path string, id FileID, sum uint64) {
	s.note(Look{Op: Read, Path: path, ID: id, Sum: sum})
}

// read notes the content of a file.
func (s *Seen) read(path string, id FileID, ok bool, content []byte) {
	if s == nil {
		return
	}
	if !ok || !id.Settled(s.Began) {
		id = FileID{}
	}
	s.Content(path, id, xxhash.Sum64(content))
}

// Looks are all looks, in no order.
func (s *Seen) Looks() []Look {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Look, 0, len(s.looks))
	for _, l := range s.looks {
		out = append(out, l)
	}
	return out
}

// Unchanged tells whether all looks would find now what they found then. A file that is the same to the file system is
// not read.
func Unchanged(looks []Look) bool {
	for _, l := range looks {
		if l.Op == Read {
			if id, ok := FileIDAt(l.Path); ok && id == l.ID {
				continue
			}
		}
		if again := l.again(); again.Said != l.Said || again.Sum != l.Sum {
			return false
		}
	}
	return true
}

// again is the same look, now.
func (l Look) again() Look {
	now := Seen{}
	d := Disk{Seen: &now}
	switch l.Op {
	case Stat:
		d.Info(l.Path)
	case List:
		d.List(l.Path)
	case Resolve:
		d.Resolve(l.Path)
	case Read:
		d.ReadFile(l.Path)
	}
	return now.looks[look{l.Op, l.Path}]
}

// What looks say.

func saidOfInfo(info fs.FileInfo, err error) string {
	if info == nil {
		return failure(err)
	}
	return info.Mode().Type().String()
}

func saidOfList(entries []fs.DirEntry, err error) string {
	if err != nil {
		return failure(err)
	}
	var names strings.Builder
	for _, e := range entries {
		names.WriteString(e.Name() + "\x00" + e.Type().String() + "\x00")
	}
	return fmt.Sprintf("%d %x", len(entries), xxhash.Sum64String(names.String()))
}

func failure(err error) string {
	if err == nil {
		return "nothing"
	}
	return "failed: " + err.Error()
}
