package yaml

import (
	"testing"

	"bindc/diag"
	"bindc/internal/value"
)

// Values of plain scalars in the core schema (YAML 1.2, section 10.3.2). "" means that Psych gives the same value.
func TestInCoreReturnsMeaningThatDiffersFromPsych(t *testing.T) {
	for text, want := range map[string]string{
		"0644": "the integer 644", "0o644": "the integer 420", "0x1F": "", "-0x1F": "the string '-0x1F'",
		"0b11": "the string '0b11'",
		"08":   "the integer 8", "1_000": "the string '1_000'", "1,000": "the string '1,000'",
		"12:30": "the string '12:30'", "12:30:45.5": "the string '12:30:45.5'", "+12": "", "007": "",
		"yes": "the string 'yes'", "No": "the string 'No'", "on": "the string 'on'", "OFF": "the string 'OFF'",
		"true": "", "True": "", "tRUE": "the string 'tRUE'", "null": "", "~": "", "nULL": "the string 'nULL'", "y": "",
		"1e3": "the float 1000.0", "1.5e3": "the float 1500.0", "1.5e+3": "", "1.": "", ".5": "", ".": "",
		".inf": "", "-.INF": "", ".iNF": "the string '.iNF'", ".nan": "", "text": "", "'0644'": "", `"yes"`: "",
		"!!str 0644": "", "&a 0644": "the integer 644", "2001-01": "", "99999999999999999999e0": "the float 1.0e+20",
	} {
		for _, src := range []string{"k: " + text + "\n", "k: {a: 1, b: " + text + "}\n", "k:\n  - " + text + " # c"} {
			if src[3] == '{' && text == "1,000" {
				continue // in brackets, this is two scalars
			}
			var diags diag.List
			d, ok := Parse("f.yaml", []byte(src), Options{}, &diags)
			if !ok {
				t.Errorf("%s: %v", src, diags.Sorted())
				continue
			}
			n := &d.Root.Kids[1]
			for n.Kind != Scalar {
				n = &n.Kids[len(n.Kids)-1]
			}
			got := ""
			if _, other, differs := d.InCore(n); differs {
				got = value.Describe(other)
			}
			if got != want {
				t.Errorf("%s: by the core schema %q, expected %q", src, got, want)
			}
		}
	}
}

// A comma ends a scalar in brackets, although Psych allows it in a number: in {uid: 0, shell: sh}, uid is the integer
// 0.
func TestCommaEndsScalarInBrackets(t *testing.T) {
	for src, want := range map[string]string{
		"k: {uid: 0, shell: sh}": "", "k: [0,0]": "", "k: {mode: 0644, owner: root}": "0644",
	} {
		var diags diag.List
		d, ok := Parse("f.yaml", []byte(src), Options{}, &diags)
		if !ok {
			t.Fatalf("%s: %v", src, diags.Sorted())
		}
		kids := d.Root.Kids[1].Kids
		n := &kids[0]
		if d.Root.Kids[1].Kind == Mapping {
			n = &kids[1]
		}
		written, _, differs := d.InCore(n)
		if !differs {
			written = ""
		}
		if written != want {
			t.Errorf("%s: advice on %q, expected it on %q", src, written, want)
		}
	}
}
