package datafile

import (
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
)

// A lenient reader reports errors in a Hiera 5 file as warnings, and the file has no entries.
func TestLenientReaderReportsWarnings(t *testing.T) {
	for _, c := range []struct {
		kind    Format
		text    string
		lenient bool
		broken  string
		entries int
		failed  bool
	}{
		{Hiera5YAML, "a: 1\nb: [", true, "line 2: yaml_syntax", 0, false},
		{Hiera5JSON, `{"a": 1, "lookup_options": {"a": 1},`, true, "line 1: json_syntax", 0, false},
		{Hiera5EYAML, "a: 2024-01-01\nb: 2024-01-02", true, "line 1: yaml_date", 0, false},
		{Hiera5YAML, "a: 1\nb: [", false, "", 0, true},
		{YAML, "a: 1\nb: [", true, "", 0, true},
		{Hiera5YAML, "a: 1\na: 2", true, "", 1, false}, // a warning also without Lenient
	} {
		r := NewReader(nil, fsx.Disk{})
		r.Lenient = c.lenient
		var diags diag.List
		f := r.Source("f.yaml", []byte(c.text), c.kind, &diags)
		if f.Broken != c.broken || len(f.Entries) != c.entries || len(f.Options) != 0 || diags.Failed() != c.failed {
			t.Errorf("%q: broken is %q, %d entries, %d options, failed %v", c.text, f.Broken,
				len(f.Entries),
				len(f.Options), diags.Failed())
		}
		if f.silent || diags.Empty() {
			t.Errorf("%q: nothing is reported", c.text)
		}
	}
}
