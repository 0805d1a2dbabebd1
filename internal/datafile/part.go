package datafile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/fsx"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// MaxParts limits the number of parts into which a build can be divided.
const MaxParts = 4096

// Share selects one of several parts of the data files: part number Part out of Of parts. The zero
// Share selects all files.
type Share struct{ Part, Of int }

// ParseShare parses a share in the form I/N, such as 2/3.
func ParseShare(text string) (s Share, err error) {
	if n, _ := fmt.Sscanf(text, "%d/%d", &s.Part, &s.Of); n != 2 || s.String() != text || !s.valid() {
		return Share{}, fmt.Errorf("expected I/N, part I of N, such as 1/4, with I from 1 to N and N up to %d; found '%s'",
			MaxParts, text)
	}
	return s, nil
}

func (s Share) valid() bool { return s.Part >= 1 && s.Part <= s.Of && s.Of <= MaxParts }

func (s Share) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// Has reports whether the share contains the file with the given label. A label is the same on
// every machine.
func (s Share) Has(label string) bool {
	return s.Of <= 1 || xxhash.Sum64String(label)%uint64(s.Of) == uint64(s.Part-1)
}

// PartHead describes a part. Read lists all files that the part was built from: the data files of
// its share and all other files of the site.
type PartHead struct {
	Share
	Version string // version of the program that built the part, for messages
	Program []byte
	Options string // command-line options that affect the build
	Read    []PartFile
}

// PartFile describes the content of a file by its size and hash.
type PartFile struct {
	Path string
	Size int64
	Hash uint64
}

// A part consists of the magic, the length of the header (u32, little-endian), the header as JSON,
// a pack, and the SHA-256 of all that. The digest only detects damage. Link detects forged content.
const (
	partMagic = "bindc part 1\n\x00\x00\x00"
	partStart = len(partMagic) + 4
)

// NewCache returns an empty cache that is kept only in memory.
func NewCache(program Program) *Cache {
	c := &Cache{program: program}
	c.index()
	return c
}

// WritePart writes a part to path: head and the data files of this build. As with a cache, only the
// owner can read the file.
func (c *Cache) WritePart(path string, head PartHead) error {
	head.Program = c.program[:]
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return fsx.Replace(path, fsx.ReplaceOptions{Limit: 0o600}, func(f *os.File) error {
		sum := sha256.New()
		w := io.MultiWriter(f, sum)
		start := binary.LittleEndian.AppendUint32([]byte(partMagic), uint32(len(text)))
		if _, err := w.Write(append(start, text...)); err != nil {
			return err
		}
		if err := writePack(w, &c.pools, c.next, c.program); err != nil {
			return err
		}
		_, err := f.Write(sum.Sum(nil))
		return err
	})
}

// Part is one part of a divided build, as read by ReadPart.
type Part struct {
	PartHead
	Path string // path of its file, for messages
	pack string
}

// IsPart reports whether the file at path begins with the magic of a part.
func IsPart(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, len(partMagic))
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(start[:n]) == partMagic, err
}

// ReadPart reads the part at path and checks its digest. name is the path in messages.
func ReadPart(path, name string) (*Part, error) {
	raw, err := readText(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(raw, partMagic) {
		return nil, fmt.Errorf("%s is not a part: expected a file written by bindc build --part", name)
	}
	p := &Part{Path: name}
	body, sum := raw[:max(len(raw)-sha256.Size, 0)], raw[max(len(raw)-sha256.Size, 0):]
	if found := sha256.Sum256([]byte(body)); len(body) < partStart || string(found[:]) != sum {
		return nil, p.damaged()
	}
	length, rest := uint64(binary.LittleEndian.Uint32([]byte(body[len(partMagic):partStart]))), body[partStart:]
	if length > uint64(len(rest)) {
		return nil, p.damaged()
	}
	if json.Unmarshal([]byte(rest[:length]), &p.PartHead) != nil || !p.valid() || len(p.Program) != len(Program{}) {
		return nil, p.damaged()
	}
	p.pack = rest[length:]
	return p, nil
}

func (p *Part) damaged() error {
	return fmt.Errorf("%s is damaged: build this part again, or fetch it again", p.Path)
}

// Link returns a cache with the data files of all parts. It checks every value, because a part may
// come from an untrusted machine.
func Link(parts []*Part, program Program) (*Cache, error) {
	c := &Cache{program: program}
	for _, p := range parts {
		if !bytes.Equal(p.Program, program[:]) {
			return nil, fmt.Errorf("%s was built by another bindc, %s: build all parts with the bindc that links them",
				p.Path, p.Version)
		}
		read, ok := decodePack(p.pack, program)
		if !ok || !read.sound() {
			return nil, p.damaged()
		}
		c.adopt(&read)
		p.pack = ""
	}
	c.byInode = map[uint64]int32{}
	c.byDigest = sync.OnceValue(c.digests)
	return c, nil
}

// adopt adds the files of a pack to c. It replaces their key and value numbers by those of c.
func (c *Cache) adopt(p *pack) {
	keys, values := make([]uint32, len(p.keys)), make([]uint32, len(p.values))
	for i, k := range p.keys {
		keys[i] = c.pools.Keys.Number([]byte(k))
	}
	for i, v := range p.values {
		values[i] = c.pools.Values.Number([]byte(v))
	}
	for _, f := range p.files {
		for _, list := range [...][]Entry{f.Entries, f.Options} {
			for i := range list {
				list[i].Key, list[i].Value = keys[list[i].Key], values[list[i].Value]
			}
		}
		f.id = fsx.FileID{}
		c.files = append(c.files, f)
	}
}

// sound reports whether the pack contains only what data files can contain: valid keys, values that
// can be decoded, and each key at most once per file.
func (p *pack) sound() bool {
	for _, k := range p.keys {
		if !utf8.ValidString(k) || strings.ContainsRune(k[1:], 0) && k != recipe.LookupOptionsKey {
			return false
		}
	}
	for _, v := range p.values {
		if !soundValue(v) {
			return false
		}
	}
	last := make([]int, len(p.keys)) // last[k] is the last file with key k, counting from 1
	for i := range p.files {
		if p.files[i].kind >= Kinds {
			return false
		}
		for _, e := range p.files[i].Entries {
			if last[e.Key] == i+1 || p.keys[e.Key] == recipe.LookupOptionsKey && !p.files[i].kind.IsHiera5() {
				return false
			}
			last[e.Key] = i + 1
		}
	}
	return true
}

func soundValue(v string) bool {
	switch v[0] {
	case recipe.CompiledConstant:
		decoded, rest, err := value.View(v[1:])
		return err == nil && rest == "" && value.Sound(decoded)
	case recipe.CompiledRecipe, recipe.CompiledLookup:
		_, alone, err := recipe.Check(v[1:], recipe.Features{})
		return err == nil && alone
	}
	return false
}
