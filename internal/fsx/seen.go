package fsx

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Seen records accesses to a file system and their results, so that a later build can check whether the results would
// be the same. A nil Seen records nothing. Its methods may be called concurrently.
type Seen struct {
	Began int64 // time of the first access, by Clock

	mu    sync.Mutex
	looks map[lookKey]Look
}

type lookKey struct {
	op   Op
	path string
}

// Look is an access to a path, with its result. For the content of a file, the result is a hash.
type Look struct {
	Op     Op
	Path   string
	Result string
	ID     FileID // FileID of a file if it is reliable, otherwise zero
	Sum    uint64 // hash of the file's content
}

// changing replaces the result of an access that had different results when repeated.
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

// Content records that the content of the file at path has the given hash. id is zero if it is not reliable.
func (s *Seen) Content(path string, id FileID, sum uint64) {
	s.note(Look{Op: Read, Path: path, ID: id, Sum: sum})
}

// read records the content of a file.
func (s *Seen) read(path string, id FileID, content []byte) {
	if !id.Settled(s.Began) {
		id = FileID{}
	}
	s.Content(path, id, xxhash.Sum64(content))
}

// Looks returns all accesses, in no particular order.
func (s *Seen) Looks() []Look {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Look, 0, len(s.looks))
	for _, l := range s.looks {
		out = append(out, l)
	}
	return out
}

// Unchanged reports whether all accesses would have the same results now. It does not read files with an unchanged
// FileID.
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

// repeat repeats the access and returns a Look with the current result.
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

// Results of accesses in Look.

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
