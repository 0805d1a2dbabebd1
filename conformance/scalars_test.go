package conformance

import (
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"bindc/loader"
	bindings "bindc/runtime"
)

// TestScalarsAgreeWithPsych compares plain scalars in a data file with those of Ruby's Psych in Puppet, except for
// intended differences (docs/language.md, section 10).
func TestScalarsAgreeWithPsych(t *testing.T) {
	var table []struct{ Plain, Class, Value string }
	readJSON(t, "../testdata/conformance/psych_scalars.json", &table)
	for _, row := range table {
		t.Run(row.Plain, func(t *testing.T) {
			t.Parallel()
			if row.Plain == "(empty)" {
				row.Plain = ""
			}
			want := row.Class + " " + row.Value
			switch {
			case row.Class == "Symbol":
				want = "String " + strconv.Quote(row.Plain)
			case row.Class == "ERROR", row.Plain == "99999999999999999999": // dates, and integers outside 64 bits
				want = "refused"
			}
			if got := scalar(t, row.Plain); got != want {
				t.Errorf("%q is %s, expected %s", row.Plain, got, want)
			}
		})
	}
}

// scalar returns the value of a plain scalar in a data file, described as in the table.
func scalar(t *testing.T, plain string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "hiera.yaml"), "version: 2\n")
	writeFile(t, filepath.Join(dir, "data/common.yaml"), "key: "+plain+"\n")
	snap, refused := build(t, dir, loader.Options{})
	if refused != "" {
		return "refused"
	}
	v, found, err := request(t, snap, []byte("{}")).Lookup("key")
	if err != nil || !found {
		t.Fatalf("found %v, %v", found, err)
	}
	switch v.Kind() {
	case bindings.Undef:
		return "NilClass nil"
	case bindings.Bool:
		return map[string]string{"true": "TrueClass true", "false": "FalseClass false"}[v.String()]
	case bindings.Int:
		return "Integer " + v.String()
	case bindings.Float:
		f, err := v.Float()
		if err != nil {
			t.Fatal(err)
		}
		return "Float " + rubyFloat(f)
	case bindings.String:
		return "String " + strconv.Quote(v.String())
	}
	return v.String()
}

// rubyFloat formats a float as Ruby does.
func rubyFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 1, 64)
	case math.Abs(f) < 1e-4:
		return strconv.FormatFloat(f, 'e', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
