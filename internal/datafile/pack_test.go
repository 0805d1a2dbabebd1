package datafile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/cespare/xxhash/v2"

	"bindc/diag"
	"bindc/internal/fsx"
)

// examplePack returns a pack with two files.
func examplePack(t testing.TB) []byte {
	t.Helper()
	r := NewReader(&Cache{byDigest: func() map[digestKey]int32 { return nil }}, fsx.Disk{})
	var diags diag.List
	files := []File{
		r.Source("a", []byte("k: 1\nl: [a, '${fqdn}']\n"), YAML, &diags),
		r.Source("b", []byte("l: '${lookup(k)}'\nm: text\n"), YAML, &diags),
		r.Source("c", []byte("l: 1\nl: 2\n"), YAML, &diags), // has a warning, so it is not stored
	}
	if len(diags.Sorted()) != 1 {
		t.Fatal(diags.Sorted())
	}
	return encodePack(t, r.Pools, files, Program{1})
}

// encodePack returns a pack of files.
func encodePack(t testing.TB, pools *Pools, files []File, program Program) []byte {
	t.Helper()
	var all []*File
	for i := range files {
		all = append(all, &files[i])
	}
	var out bytes.Buffer
	if err := writePack(&out, pools, all, program); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sealed returns raw with a correct checksum.
func sealed(raw []byte) []byte {
	if len(raw) < packSum {
		return raw
	}
	body := raw[:len(raw)-packSum]
	return binary.LittleEndian.AppendUint64(bytes.Clone(body), xxhash.Sum64(body))
}

func TestPackOnlyHasFilesWithoutDiagnostics(t *testing.T) {
	p, ok := decodePack(string(examplePack(t)), Program{1})
	if !ok || len(p.files) != 2 || len(p.keys) != 3 || len(p.files[1].Entries) != 2 {
		t.Fatalf("decoded %v, %+v", ok, p)
	}
	if e := p.files[1].Entries[1]; p.keys[e.Key] != "m" || p.values[e.Value] != "c\x84text" || e.Line != 2 ||
		e.Col != 1 {
		t.Errorf("the last entry is %+v", e)
	}
	if _, ok := decodePack(string(examplePack(t)), Program{2}); ok {
		t.Error("another program's pack is decoded")
	}
}

// A pack that is cut or changed anywhere is rejected as a whole.
func TestRejectsDamagedPacks(t *testing.T) {
	raw := examplePack(t)
	for i := range raw {
		if _, ok := decodePack(string(raw[:i]), Program{1}); ok {
			t.Errorf("cut to %d bytes it is decoded", i)
		}
		damaged := bytes.Clone(raw)
		damaged[i] ^= 0x10
		if _, ok := decodePack(string(damaged), Program{1}); ok {
			t.Errorf("changed at %d it is decoded", i)
		}
	}
}

// An error of the disk is reported. A pack that ends too early is only damaged.
func TestReadErrorIsNotDamage(t *testing.T) {
	raw, broken := examplePack(t), errors.New("broken disk")
	for at := range raw {
		r := newPackReader(io.MultiReader(bytes.NewReader(raw[:at]), iotest.ErrReader(broken)), int64(len(raw)))
		if _, ok := r.pack(Program{1}); ok || r.err != broken {
			t.Fatalf("after an error at %d: %v, %v", at, ok, r.err)
		}
		r = newPackReader(bytes.NewReader(raw[:at]), int64(len(raw)))
		if _, ok := r.pack(Program{1}); ok || r.err != nil {
			t.Fatalf("cut to %d bytes: %v, %v", at, ok, r.err)
		}
	}
}

// Bytes with a correct checksum are either rejected or decoded to a consistent pack.
func FuzzPack(f *testing.F) {
	raw := examplePack(f)
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	for at := packHead - 16; at < packHead; at += 4 {
		forged := bytes.Clone(raw)
		binary.LittleEndian.PutUint32(forged[at:], 0xffffffff)
		f.Add(forged)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, ok := decodePack(string(sealed(raw)), Program{1})
		if !ok {
			return
		}
		for _, file := range p.files {
			for _, e := range file.Entries {
				if p.keys[e.Key] == "" || p.values[e.Value] == "" {
					t.Errorf("an entry of an empty text: %+v", e)
				}
			}
		}
		pools := &Pools{}
		pools.Keys.load(p.keys)
		pools.Values.load(p.values)
		if _, ok := decodePack(string(encodePack(t, pools, p.files, Program{1})), Program{1}); !ok {
			t.Error("what was decoded cannot be encoded and decoded again")
		}
	})
}

// A pack keeps the positions of the names in lookup_options.
func TestPackKeepsLookupOptions(t *testing.T) {
	r := NewReader(&Cache{byDigest: func() map[digestKey]int32 { return nil }}, fsx.Disk{})
	var diags diag.List
	files := []File{
		r.Source("a", []byte("k: 1\nlookup_options:\n  k: {merge: deep}\n  ^x: {}\n"), Hiera5YAML, &diags),
		r.Source("b", []byte("x: 1\n"), Hiera5YAML, &diags),
	}
	p, ok := decodePack(string(encodePack(t, r.Pools, files, Program{1})), Program{1})
	if !ok || len(p.files) != 2 || len(p.files[0].Entries) != 2 || len(p.files[0].Options) != 2 ||
		len(p.files[1].Options) != 0 {
		t.Fatalf("decoded %v, %+v", ok, p.files)
	}
	e := p.files[0].Options[1]
	if p.keys[e.Key] != "^x" || e.Value != p.files[0].Entries[1].Value || e.Line != 4 || e.Col != 3 {
		t.Errorf("the second option is %+v", e)
	}
}
