package snapshot

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/expr"
	"bindc/internal/recipe"
)

// flagBytes has, for each byte of table "flag bytes", a decoder that reports whether it accepts a value of the byte.
// Package choice tests the byte "written", which is not in a snapshot.
func flagBytes(t *testing.T) map[string]func(b byte) bool {
	all := recipe.Features{Sealed: true, Hiera: true, ARM8: true}
	return map[string]func(b byte) bool{
		"meta flags":                    fileAccepts(t, "one-key", func([]byte) int { return 0 }),
		"dimension flags":               fileAccepts(t, "one-key", func([]byte) int { return 0x16 }),
		"level flags":                   fileAccepts(t, "one-key", func([]byte) int { return 0x6e }),
		"part of a layer":               fileAccepts(t, "hiera5", func(meta []byte) int { return len(meta) - 2 }),
		"computed, of a hidden binding": acceptsComputed,
		"recipe flags":                  func(b byte) bool { return recipeAccepts(recipeFlags(b), all) },
		"option flags":                  func(b byte) bool { return recipeAccepts(optionFlags(b), all) },
		"named, of a part": func(b byte) bool {
			return recipeAccepts("\x08\x00\x01"+string([]byte{b})+"\x00\x00\x00\x02\x06\x00", all)
		},
		"parameter flags": func(b byte) bool {
			nodes := strings.Repeat("\x00\x00\x00", int(b&1+b>>1&1))
			_, err := expr.DecodeLambda("\x01\x01a" + string([]byte{b}) + nodes + "\x00\x00\x00")
			return err == nil
		},
	}
}

// fileAccepts returns a decoder that replaces a byte in section meta of a test vector and reports whether Open accepts
// the file.
func fileAccepts(t *testing.T, name string, offset func(meta []byte) int) func(b byte) bool {
	t.Helper()
	file, err := os.ReadFile("../testdata/vectors/" + name + ".snap")
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	meta := file[headerSize:][:le.Uint64(file[offSectionTab+8:])]
	return func(b byte) bool {
		at := &meta[offset(meta)]
		defer func(before byte) { *at = before }(*at)
		*at = b
		le.PutUint64(file[offSectionTab+16:], xxhash.Sum64(meta))
		le.PutUint64(file[offHeaderSum:], xxhash.Sum64(file[:offHeaderSum]))
		_, err := OpenBytes(file)
		return err == nil
	}
}

func acceptsComputed(b byte) bool {
	r := reader{b: "\x01\x00\x00\x00\x00\x00\x00" + string([]byte{b}) + "\x01\x00"}
	s := Snapshot{layers: []string{"site"}}
	s.coldBinding(&r, &coldBinding{})
	return !r.failed && r.b == ""
}

// recipeFlags returns an encoded constant with the given flags and the fields that they require.
func recipeFlags(flags byte) string {
	b := "\x00" + string([]byte{flags})
	if flags&(1<<4) != 0 {
		return b + strings.Repeat("x", 28)
	}
	if flags&(1<<1) != 0 {
		b += "\x07Integer"
	}
	if flags&(1<<2) != 0 {
		b += "\x04\x00\x00\x00\x00"
	}
	return b + "\x00"
}

// optionFlags returns an encoded multibind whose options have the given flags and the fields that they require.
func optionFlags(flags byte) string {
	b := "\x07\x00\x01\x00" + string([]byte{flags}) + "\x03\x00"
	if flags&(1<<4) != 0 {
		b += "\x07Integer"
	}
	if flags&(1<<5) != 0 {
		b += "\x04\x00\x00\x00\x00"
	}
	return b
}

func recipeAccepts(encoded string, features recipe.Features) bool {
	_, _, err := recipe.Check(encoded, features)
	return err == nil
}

// A decoder accepts each bit that format.md allows in its byte of flags, and no other bit.
func TestDecodersAcceptExactlyTheFlagsInFormat(t *testing.T) {
	decoders := flagBytes(t)
	for _, row := range formatTable(t, "flag bytes") {
		accepts, ok := decoders[row[0]]
		if !ok {
			if row[0] != "op, of a node" && row[0] != "written, of an environment" {
				t.Errorf("no decoder for the byte %q", row[0])
			}
			continue
		}
		delete(decoders, row[0])
		var bits, numbers byte
		for _, word := range strings.FieldsFunc(row[1], func(r rune) bool { return r == ' ' || r == ';' }) {
			var bit int
			if _, err := fmt.Sscanf(word, "%d", &bit); err == nil && len(word) == 1 {
				bits |= 1 << bit
			}
		}
		if strings.HasPrefix(row[1], "0-3: number 0 to 4;") {
			bits, numbers = 1<<4|1<<5, 4
		}
		var used byte
		for b := range 256 {
			b := byte(b)
			number, flags := byte(0), b
			if numbers > 0 {
				number, flags = b&0xf, b&0xf0
			}
			if accepts(b) {
				used |= flags
			}
			if (flags&^bits != 0 || number > numbers) && accepts(b) || numbers > 0 && flags&^bits == 0 &&
				number <= numbers && !accepts(b) {
				t.Errorf("%s: %#x is accepted: %v; format.md allows %q", row[0], b, accepts(b), row[1])
			}
		}
		if used != bits {
			t.Errorf("%s: the bits %#b are accepted, format.md allows %q", row[0], used, row[1])
		}
	}
	for name := range decoders {
		t.Errorf("table flag bytes of format.md has no row %q", name)
	}
}

// A flag that belongs to a feature is rejected in files without the feature.
func TestRejectsFlagsOfDisabledFeatures(t *testing.T) {
	for encoded, feature := range map[string]recipe.Features{
		recipeFlags(1 << 3): {ARM8: true}, recipeFlags(1 << 4): {Sealed: true}, optionFlags(1 << 5): {ARM8: true},
		"\x09\x00\x00\x00": {Hiera: true}, "\x0c\x00": {ARM8: true},
	} {
		if !recipeAccepts(encoded, feature) || recipeAccepts(encoded, recipe.Features{}) {
			t.Errorf("% x is refused with its feature, or accepted without", encoded)
		}
	}
}

// Only ops in the table of format.md decode, and only a call may have bit 7 set.
func TestDecoderAcceptsExactlyTheOpsInFormat(t *testing.T) {
	const lambda = "\x00\x00\x00\x00"
	bodies := []string{"\x00\x00", "\x00\x01a", "\x00\x00", "\x00\x01\x00\x00\x00", "\x00\x02\x00\x00\x00\x00\x00\x00",
		"\x00\x01a\x00", "\x00\x01-\x01\x00\x00\x00", "\x00\x01+\x02\x00\x00\x00\x00\x00\x00",
		"\x00\x01a\x01\x00\x00\x00", "\x00\x02\x00\x00\x00\x0e\x00\x01\x00\x00\x00"}
	var accepted []int
	for op := range 256 {
		if slices.ContainsFunc(bodies, func(body string) bool {
			for _, after := range []string{"", lambda} {
				if _, err := expr.Decode(string([]byte{byte(op)}) + body + after); err == nil {
					return true
				}
			}
			return false
		}) {
			accepted = append(accepted, op)
		}
	}
	want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 0x88} // Option is only valid in Case
	if !slices.Equal(accepted, want) {
		t.Errorf("the ops %v decode, format.md has %v", accepted, want)
	}
}
