package examples

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// Result says whether an example passed, that is, has no Failures.
type Result struct {
	Name     string    `json:"name"`
	At       string    `json:"at"` // position of the example, as path:line:col
	Failures []Failure `json:"failures"`
	Updated  string    `json:"updated,omitempty"` // golden file that was written, or ""
	Notes    []string  `json:"notes,omitempty"`   // what in the request is probably misspelt
}

// Failure is a lookup with an unexpected result, or a difference from a golden file.
type Failure struct {
	Key         string `json:"key,omitempty"` // "" if the failure is not about a single key
	At          string `json:"at"`            // position of the expectation, or path of the golden file
	Message     string `json:"message"`       // expected and actual result
	Explanation string `json:"explanation,omitempty"`
}

// Run runs the examples against a snapshot of their site. If update is set, it rewrites golden files that differ.
func Run(snap *bindings.Snapshot, examples []*Example, update bool) ([]Result, error) {
	out := []Result{}
	for _, e := range examples {
		result, err := e.run(snap, update)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.At, err)
		}
		out = append(out, *result)
	}
	return out, nil
}

func (e *Example) run(snap *bindings.Snapshot, update bool) (*Result, error) {
	out := &Result{Name: e.Name, At: e.At.String(), Failures: []Failure{}}
	request, err := snap.Request(e.facts)
	if err != nil {
		out.Failures = append(out.Failures, Failure{At: e.At.String(), Message: err.Error()})
		return out, nil
	}
	r := (*lookup.Request)(request)
	out.Notes = report.Doubts(r)
	for _, x := range e.expect {
		text, err := x.check(r)
		if err == nil && text != "" {
			err = out.fail(r, x.key, x.at, text)
		}
		if err != nil {
			return nil, err
		}
	}
	if e.golden != "" {
		err = e.compare(snap, r, update, out)
	}
	return out, err
}

// fail adds a failure, with an explanation of the key's actual value.
func (r *Result) fail(request *lookup.Request, key string, at diag.Pos, message string) error {
	e, err := report.Style{Form: report.People}.Explain(request, key)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	err = report.Print(&page, report.Screen{}, func(p *report.Page) { p.Explanation(e) })
	r.Failures = append(r.Failures, Failure{key, at.String(), message, page.String()})
	return err
}

// check returns "" if looking up the key gives the expected result, and otherwise a description of the difference.
func (x *expectation) check(r *lookup.Request) (string, error) {
	found, there, failed := r.Lookup(x.key)
	switch {
	case failed != nil && lookup.CodeOf(failed) == "":
		return "", failed
	case failed != nil:
		return "expected a value, but the lookup fails: " + failed.Error() + " [" + string(lookup.CodeOf(failed)) + "]",
			nil
	case !there:
		return x.want.OfNothing(), nil
	}
	v, secret, err := revealed(found)
	if err != nil {
		return "", err
	}
	return x.want.OfValue(v, secret), nil
}

// revealed removes the sensitive marks from a value. It reports whether there were any.
func revealed(found lookup.Value) (value.Value, bool, error) {
	v, err := found.Whole()
	if err != nil {
		return v, false, err
	}
	v, inner, err := v.Unveiled()
	return v, inner || found.Sensitive(), err
}

// compare compares the values of all keys with the golden file. If update is set, it rewrites the file if they differ.
func (e *Example) compare(snap *bindings.Snapshot, r *lookup.Request, update bool, out *Result) error {
	found, secrets, err := answers(snap, r)
	if err != nil {
		return err
	}
	at := diag.Pos{File: e.golden}
	expected, err := readGolden(e.golden)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	keys := differing(expected, found)
	switch {
	case len(keys) == 0 && !missing:
		return nil
	case update:
		out.Updated = e.golden
		return write(e.golden, found)
	case missing:
		out.Failures = append(out.Failures, Failure{At: at.String(),
			Message: "the golden file is missing; 'bindc test --update' writes it"})
		return nil
	}
	for _, key := range keys {
		name := value.FromString(key)
		want, wanted := expected.Get(name)
		got, there := found.Get(name)
		message := "expected " + text(want, wanted) + ", found " + text(got, there)
		if secrets[key] { // the golden file may contain the value from before it was marked as sensitive
			message = "expected another value; values of this key are sensitive and not shown"
		}
		if err := out.fail(r, key, at, message); err != nil {
			return err
		}
	}
	return nil
}

func text(v value.Value, there bool) string {
	if !there {
		return "no value"
	}
	return string(value.AppendJSON(nil, v))
}

// answers returns a hash of the values of all keys that are found, and the set of keys whose values are sensitive.
func answers(snap *bindings.Snapshot, r *lookup.Request) (all value.Value, secrets map[string]bool, err error) {
	var out value.Builder
	secrets = map[string]bool{}
	for _, key := range slices.Sorted(snap.Keys()) {
		found, there, failed := r.Lookup(key)
		var v value.Value
		switch {
		case failed != nil && lookup.CodeOf(failed) == "":
			return all, nil, failed
		case failed != nil:
			v = value.FromString("the lookup fails [" + string(lookup.CodeOf(failed)) + "]")
		case !there:
			continue
		default:
			if v, secrets[key], err = revealed(found); err != nil {
				return all, nil, err
			}
		}
		if secrets[key] {
			v = digest(key, v)
		}
		out.Set(value.FromString(key), v)
	}
	return out.Hash(), secrets, nil
}

// digest returns the text that replaces a sensitive value in a golden file. It includes the key in the hash, so that
// nobody can see whether two keys have the same value.
func digest(key string, v value.Value) value.Value {
	sum := sha256.Sum256([]byte(key + "\x00" + string(value.AppendJSON(nil, v))))
	return value.FromString(fmt.Sprintf("sensitive, sha256 %x", sum))
}

func readGolden(path string) (value.Value, error) {
	src, err := fsx.Disk{}.ReadFile(path)
	if err != nil {
		return value.Value{}, err
	}
	var diags diag.List
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diags)
	if !ok {
		d := diags.Sorted()[0]
		return value.Value{}, fmt.Errorf("%s: %s", d.Pos, d.Message)
	}
	v := doc.Root.Literal()
	if v.Kind() != value.Hash {
		return value.Value{}, fmt.Errorf("%s: expected a hash of keys to values; remove it, and run 'bindc test --update'",
			path)
	}
	return v, nil
}

// differing returns the keys whose values differ between two hashes, sorted.
func differing(a, b value.Value) (keys []string) {
	for key, v := range a.Pairs() {
		if other, ok := b.Get(key); !ok || !value.Identical(v, other) {
			keys = append(keys, key.Text())
		}
	}
	for key := range b.Pairs() {
		if _, ok := a.Get(key); !ok {
			keys = append(keys, key.Text())
		}
	}
	slices.Sort(keys)
	return keys
}

func write(path string, answers value.Value) error {
	encoded, err := yaml.Write(answers)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return fsx.Replace(path, fsx.ReplaceOptions{}, func(f *os.File) error {
		_, err := f.Write(encoded)
		return err
	})
}
