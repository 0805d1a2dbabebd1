package fsx

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Seen records what was found on a disk, so that a later build can check whether it is unchanged. It is a list of
// accesses with their results. A nil Seen records nothing. Its methods are safe for concurrent use.
type Seen struct {
	Began int64 // time of the first access, from Clock

	mu    sync.Mutex
	looks map[look]Look
}

type look struct {
	op   Op
	path string
}

// Look is an access to a path and its result. Said describes the result; for file contents, Sum replaces it.
type Look struct {
	Op   Op
	Path string
	Said string
	ID   FileID // zero unless the file was settled
	Sum  uint64 // of the content
}

// changing is the result if two accesses found something different.
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

// Content records that the file at path has a content with this sum, and the FileID id, which may be zero.
func (s *Seen) Content(path string, id FileID, sum uint64) {
	s.note(Look{Op: Read, Path: path, ID: id, Sum: sum})
}

// read records the content of a file.
func (s *Seen) read(path string, id FileID, ok bool, content []byte) {
	if s == nil {
		return
	}
	if !ok || !id.Settled(s.Began) {
		id = FileID{}
	}
	s.Content(path, id, xxhash.Sum64(content))
}

// Looks returns all accesses in no particular order.
func (s *Seen) Looks() []Look {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Look, 0, len(s.looks))
	for _, l := range s.looks {
		out = append(out, l)
	}
	return out
}

// Unchanged reports whether all accesses would have the same result now. A file with the same FileID is not read.
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

// again repeats the access and returns it with its current result.
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

// The functions below describe results.

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
