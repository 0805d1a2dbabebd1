package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/tools/txtar"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// vectors holds snapshots for authors of readers, and the answers that every reader must give. The answers are written
// by hand; -update builds the snapshots.
const vectors = "../testdata/vectors"

// vector is a file NAME.json in vectors. NAME.txtar is the site, NAME.snap the snapshot that `bindc build` makes of it.
type vector struct {
	About    string
	Build    []string // flags of bindc build
	Requests []struct {
		Facts, Trusted, Variables json.RawMessage
		Node, Environment         string
		Refused                   bool
		Dimensions                map[string]string
		Candidates                map[string][]string
		Answers                   []struct {
			Key       string
			Found     *bool
			Value     json.RawMessage
			Error     string
			Sensitive bool
			Computed  bool
		}
	}
}

func TestVectorsGiveRecordedAnswers(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(vectors + "/*.txtar")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d vectors: %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(path, ".txtar")
		t.Run(filepath.Base(name), func(t *testing.T) {
			checkVectorIsBuilt(t, name)
			checkVector(t, name)
		})
	}
}

// checkVectorIsBuilt builds the site of a vector and compares the snapshot.
func checkVectorIsBuilt(t *testing.T, name string) {
	t.Helper()
	site, built := t.TempDir(), filepath.Join(t.TempDir(), "built.snap")
	archive, err := txtar.ParseFile(name + ".txtar")
	if err == nil {
		err = writeFiles(site, archive)
	}
	if err != nil {
		t.Fatal(err)
	}
	var v vector
	readJSON(t, name+".json", &v)
	cmd := exec.Command("bindc", append([]string{"build", site, "-o", built}, v.Build...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name+".snap", got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(name + ".snap"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the site builds another snapshot, %v; go test ./conformance -run TestVectors -update", err)
	}
}

func checkVector(t *testing.T, name string) {
	t.Helper()
	snap, err := bindings.Open(name+".snap", bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if err := snap.Verify(); err != nil {
		t.Error(err)
	}
	var v vector
	readJSON(t, name+".json", &v)
	for _, q := range v.Requests {
		opts := bindings.FactsOptions{Node: q.Node, Environment: q.Environment}
		if q.Trusted != nil {
			opts.Trusted = parseJSON(t, q.Trusted)
		}
		if q.Variables != nil {
			opts.Variables = parseJSON(t, q.Variables)
		}
		facts, err := bindings.NewFacts(parseJSON(t, q.Facts), opts)
		if err != nil {
			t.Fatal(err)
		}
		r, err := snap.Request(facts)
		if (err != nil) != q.Refused {
			t.Errorf("%s: %v, refused is %v", q.Facts, err, q.Refused)
		}
		if err != nil {
			continue
		}
		if q.Dimensions != nil {
			checkDimensions(t, (*lookup.Request)(r), q.Dimensions)
		}
		for key, want := range q.Candidates {
			checkCandidates(t, (*lookup.Request)(r), key, want)
		}
		for _, a := range q.Answers {
			v, found, err := r.Lookup(a.Key)
			var failed *bindings.Error
			switch {
			case a.Error != "":
				if !errors.As(err, &failed) || string(failed.Code) != a.Error {
					t.Errorf("%s %s: %s, %v; expected the error %s", q.Facts, a.Key, show(t, v), err, a.Error)
				}
			case err != nil || found != (a.Value != nil) || found && !same(t, v, a.Value) ||
				v.Sensitive() != a.Sensitive:
				t.Errorf("%s %s: found %v, %s, %v; expected %s", q.Facts, a.Key, found, show(t, v), err, a.Value)
			}
		}
	}
}

// checkDimensions compares the values of all dimensions for which the request has a value.
func checkDimensions(t *testing.T, r *lookup.Request, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, d := range r.Dimensions() {
		got[d.Name] = d.Value
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, expected %q", name, got[name], text)
		}
		delete(got, name)
	}
	for name, text := range got {
		if text != "" {
			t.Errorf("%s is %q, expected no value", name, text)
		}
	}
}

func checkCandidates(t *testing.T, r *lookup.Request, key string, want []string) {
	t.Helper()
	outcomes, err := r.Effective(key)
	var got []string
	for _, o := range outcomes {
		got = append(got, o.Value.String())
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the candidates of %s are %q, %v; expected %q", key, got, err, want)
	}
}

// refusedVector is an entry of refused.json: a modified vector that a reader must reject.
type refusedVector struct {
	Name, From, At, Error, Why string
	Truncate                   int
	Patches                    []struct {
		Offset int
		Bytes  string
	}
	Checksums bool  // recompute the checksums of the sections and of the header
	Digest    *bool // false to keep the digest, which is otherwise recomputed
}

func TestModifiedVectorsAreRefused(t *testing.T) {
	t.Parallel()
	var list []refusedVector
	readJSON(t, vectors+"/refused.json", &list)
	for _, c := range list {
		t.Run(c.Name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(vectors, c.From+".snap"))
			if err != nil {
				t.Fatal(err)
			}
			content, path := c.change(t, content), filepath.Join(vectors, "refused", c.Name+".snap")
			if *update {
				if err := os.WriteFile(path, content, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, content) {
				t.Errorf("%s is another file, %v; go test ./conformance -run TestVectors -update", path, err)
			}
			at := "open"
			snap, err := bindings.OpenBytes(content, bindings.Options{})
			if err == nil {
				defer snap.Close()
				at, err = "verify", snap.Verify()
			}
			if at != c.At || err == nil || !strings.Contains(err.Error(), c.Error) {
				t.Errorf("%s: %v; expected %s: %q", at, err, c.At, c.Error)
			}
		})
	}
}

// change returns a file with the patches of c.
func (c refusedVector) change(t *testing.T, file []byte) []byte {
	t.Helper()
	file = slices.Clone(file)
	for _, p := range c.Patches {
		b, err := hex.DecodeString(p.Bytes)
		if err != nil || p.Offset+len(b) > len(file) {
			t.Fatalf("%s: patch at %d, %v", c.Name, p.Offset, err)
		}
		copy(file[p.Offset:], b)
	}
	if c.Truncate > 0 {
		file = file[:c.Truncate]
	}
	if !c.Checksums {
		return file
	}
	le := binary.LittleEndian
	for entry := 96; entry < 96+13*24; entry += 24 {
		from, length := le.Uint64(file[entry:]), le.Uint64(file[entry+8:])
		if from+length <= uint64(len(file)) {
			le.PutUint64(file[entry+16:], xxhash.Sum64(file[from:][:length]))
		}
	}
	if c.Digest == nil {
		sum := sha256.Sum256(file[512:])
		copy(file[32:], sum[:])
	}
	le.PutUint64(file[504:], xxhash.Sum64(file[:504]))
	return file
}

// The walk-through in format.md shows the bytes of the file that it describes.
func TestWalkThroughInFormatDocumentMatchesFile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(vectors + "/one-key.snap")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "<!-- table: walk -->\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if !ok || len(rows) < 40 {
		t.Fatalf("the walk has %d rows", len(rows))
	}
	for _, row := range rows[2:] {
		cells := strings.Split(row, " | ")
		at, err := hex.DecodeString(strings.Trim(cells[0], "| "))
		want, err2 := hex.DecodeString(strings.ReplaceAll(strings.Trim(cells[1], "`"), " ", ""))
		if err != nil || err2 != nil || len(at) != 2 {
			t.Fatalf("%s: %v, %v", row, err, err2)
		}
		if !bytes.HasPrefix(file[binary.BigEndian.Uint16(at):], want) {
			t.Errorf("the file has other bytes: %s", row)
		}
	}
}

// Every feature has a vector, except sealed, whose nonces are random. testdata/compat has a sealed file.
func TestEveryFeatureHasAVector(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(vectors + "/*.snap")
	if err != nil {
		t.Fatal(err)
	}
	used := uint64(1)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil || string(data[:8]) != snapshot.Magic {
			t.Fatalf("%s: %v", path, err)
		}
		used |= binary.LittleEndian.Uint64(data[88:])
	}
	if used != 15 {
		t.Errorf("the vectors use the features %#b", used)
	}
}
