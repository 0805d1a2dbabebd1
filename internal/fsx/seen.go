package fsx

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Seen records accesses to the file system and their results. A later build can call Unchanged to
// check whether the results would still be the same. A nil Seen records nothing. A Seen is safe for
// concurrent use.
type Seen struct {
	Began int64 // time of the first access, as returned by Clock

	mu    sync.Mutex
	looks map[lookKey]Look
}

type lookKey struct {
	op   Op
	path string
}

// Look is an access to a path and its result.
type Look struct {
	Op     Op
	Path   string
	Result string
	ID     FileID // for Read: FileID of the file; zero if it is not reliable
	Sum    uint64 // for Read: hash of the content
}

// changing is the result of an access that has been repeated with another result.
const changing = "it changes while it is read"

func (s *Seen) note(l Look) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks == nil {
		s.looks = map[lookKey]Look{}
	}
	at := lookKey{l.Op, l.Path}
	if before, again := s.looks[at]; again && (before.Result != l.Result || before.Sum != l.Sum) {
		l.Result = changing
	}
	s.looks[at] = l
}

// Content records that a file was read. sum is the hash of the content, and id is the FileID, or
// zero if it is not reliable.
func (s *Seen) Content(path string, id FileID, sum uint64) {
	s.note(Look{Op: Read, Path: path, ID: id, Sum: sum})
}

// read is like Content, but computes the hash and checks whether id is reliable.
func (s *Seen) read(path string, id FileID, content []byte) {
	if !id.Settled(s.Began) {
		id = FileID{}
	}
	s.Content(path, id, xxhash.Sum64(content))
}

// Looks returns all recorded accesses in no particular order.
func (s *Seen) Looks() []Look {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Look, 0, len(s.looks))
	for _, l := range s.looks {
		out = append(out, l)
	}
	return out
}

// Unchanged reports whether all accesses would still have the same results. It assumes that a file
// with the same FileID has the same content.
func Unchanged(looks []Look) bool {
	for _, l := range looks {
		if l.Op == Read {
			if id, ok := FileIDAt(l.Path); ok && id == l.ID {
				continue
			}
		}
		if again := l.repeat(); again.Result != l.Result || again.Sum != l.Sum {
			return false
		}
	}
	return true
}

func (l Look) repeat() Look {
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
	return now.looks[lookKey{l.Op, l.Path}]
}

// The following functions return the Result of a Look.

func resultOfInfo(info fs.FileInfo, err error) string {
	if info == nil {
		return failure(err)
	}
	return info.Mode().Type().String()
}

func resultOfList(entries []fs.DirEntry, err error) string {
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
