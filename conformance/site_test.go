package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// build compiles the site in dir like `bindc build`, and opens the snapshot. refused has the errors of the site, or
// is "" if there are none.
func build(t *testing.T, dir string, opts loader.Options) (snap *bindings.Snapshot, refused string) {
	t.Helper()
	return buildAndOpen(t, dir, opts, bindings.Options{})
}

func buildAndOpen(t *testing.T, dir string, opts loader.Options, how bindings.Options) (snap *bindings.Snapshot,
	refused string) {
	t.Helper()
	var diags diag.List
	site := loader.Load(dir, opts, &diags)
	var content *snapshot.Content
	if !diags.Failed() {
		content = compile.Compile(site, compile.Options{}, &diags)
	}
	if diags.Failed() {
		return nil, describe(diags.Sorted())
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := snap.Verify(); err != nil {
		t.Errorf("a snapshot just written is not sound: %v", err)
	}
	return snap, ""
}

// describe lists all errors with their places and codes.
func describe(list []diag.Diagnostic) string {
	var out []string
	for _, d := range list {
		if d.Severity == diag.Error {
			out = append(out, fmt.Sprintf("%s: %s [%s]", d.Pos, d.Message, d.Code))
		}
	}
	return strings.Join(out, "\n")
}

// writeFile writes a file of a site, and creates its parent directories.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// readJSON decodes the file at path into v.
func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// request returns the request for a node with these facts, in the environment that the facts name.
func request(t *testing.T, snap *bindings.Snapshot, facts json.RawMessage) *bindings.Request {
	t.Helper()
	var known struct {
		Environment string
		Trusted     json.RawMessage
	}
	if err := json.Unmarshal(facts, &known); err != nil {
		t.Fatal(err)
	}
	opts := bindings.FactsOptions{Environment: known.Environment}
	if known.Trusted != nil {
		opts.Trusted = parseJSON(t, known.Trusted)
	}
	f, err := bindings.NewFacts(parseJSON(t, facts), opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parseJSON(t *testing.T, text json.RawMessage) bindings.Value {
	t.Helper()
	var v bindings.Value
	if err := v.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return v
}

// lookUp looks up a key. Like a query of `bindq batch`, it checks a type if one is given.
func lookUp(r *bindings.Request, key, typ string) (v bindings.Value, found bool, err error) {
	if v, found, err = r.Lookup(key); err != nil || !found || typ == "" {
		return v, found, err
	}
	t, err := bindings.ParseType(typ)
	if err != nil {
		return v, found, err
	}
	return v, found, v.Check(t)
}

// canonical returns JSON in a canonical form: keys sorted, exact integers, and floats distinct from integers.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out, err := json.Marshal(plain(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// plain replaces the floats in v by their shortest text with a point.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			f, err := v.Float64()
			if err != nil || math.Abs(f) >= 1e300 {
				return v
			}
			text := strconv.FormatFloat(f, 'f', -1, 64)
			if !strings.Contains(text, ".") {
				text += ".0"
			}
			return json.Number(text)
		}
	}
	return v
}

// same reports whether v is the value in a JSON text.
func same(t *testing.T, v bindings.Value, text json.RawMessage) bool {
	t.Helper()
	return canonical(t, []byte(show(t, v))) == canonical(t, text)
}

// show returns v as JSON.
func show(t *testing.T, v bindings.Value) string {
	t.Helper()
	text, err := v.Reveal().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
