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

// MaxParts limits the parts of a site.
const MaxParts = 4096

// Share selects the data files of part Part of Of. The zero Share selects all.
type Share struct{ Part, Of int }

// ParseShare parses I/N, such as 2/3.
func ParseShare(text string) (s Share, err error) {
	if n, _ := fmt.Sscanf(text, "%d/%d", &s.Part, &s.Of); n != 2 || s.String() != text || !s.valid() {
		return Share{}, fmt.Errorf("expected I/N, part I of N, such as 1/4, with I from 1 to N and N up to %d; found '%s'",
			MaxParts, text)
	}
	return s, nil
}

func (s Share) valid() bool { return s.Part >= 1 && s.Part <= s.Of && s.Of <= MaxParts }

func (s Share) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// Has reports whether the share has the file with this label, which is the same on every machine.
func (s Share) Has(label string) bool {
	return s.Of <= 1 || xxhash.Sum64String(label)%uint64(s.Of) == uint64(s.Part-1)
}

// PartHead describes a part. Read holds every file that the part was made from: its share of the data files, and all
// files of other kinds.
type PartHead struct {
	Share
	Version string // version of the program, for messages
	Program []byte
	Options string // options as given to the program
	Read    []PartFile
}

// PartFile identifies the content of a file.
type PartFile struct {
	Path string
	Size int64
	Hash uint64
}

// A part is, in this order: the magic; the length of the header (u32, little-endian); the header as JSON; a pack; the
// SHA-256 of everything before it. The digest detects damage. Only the checks in Link reject forged content.
const (
	partMagic = "bindc part 1\n\x00\x00\x00"
	partStart = len(partMagic) + 4
)

// NewCache returns an empty cache that is in no directory.
func NewCache(program Program) *Cache {
	c := &Cache{program: program}
	c.index()
	return c
}

// WritePart replaces path by the part with the given head and the data files of this build. Like a cache, only its
// owner can read it.
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

// Part is a part that was read and checked by itself.
type Part struct {
	PartHead
	Path string // path of its file, for messages
	pack string
}

// IsPart reports whether the file at path begins like a part.
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

// ReadPart reads the part at path, which messages call name.
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

// Link returns a cache with the data files of all parts. It checks every value, because parts may come from others.
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

// adopt adds the files of a pack to c, with the numbers that keys and values have in c.
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

// sound reports whether the pack has only what data files can have: names of keys, values that can be decoded, and no
// key twice in a file.
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
	last := make([]int, len(p.keys)) // by key: number of the last file with it, from 1
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
