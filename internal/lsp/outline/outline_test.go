package outline

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/yaml"
)

func keys(f *File) (out []string) {
	for _, e := range f.Entries {
		key := e.Key
		if e.InBind {
			key = "-"
		}
		if e.Value == nil && key != "bind" {
			key += " (broken)"
		}
		out = append(out, key)
	}
	return out
}

// An error hides one entry only, whatever the error is.
func TestBrokenEntryLeavesTheOthers(t *testing.T) {
	for name, broken := range map[string]string{
		"quote that does not end":   "b: \"open\n",
		"list that does not end":    "b: [1, 2\n",
		"hash that does not end":    "b: {x: 1\n",
		"key without a colon":       "b\n",
		"wrong indentation":         "b:\n  x: 1\n y: 2\n",
		"tab for indentation":       "b:\n\tx: 1\n",
		"two colons":                "b: x: y\n",
		"interpolation in brackets": "b: {%{x}: 1\n",
	} {
		f := Read("f.yaml", []byte("a: 1\n"+broken+"c:\n  - 3\nd: |\n  text: x\n  - y\n"), yaml.Options{})
		want := []string{"a", "b (broken)", "c", "d"}
		if got := keys(f); !slices.Equal(got, want) && !slices.Equal(got, []string{"a", " (broken)", "c", "d"}) {
			t.Errorf("%s: the entries are %q, expected %q", name, got, want)
		}
		if len(f.Broken) == 0 || f.Broken[0].Pos.Line < 2 || f.Broken[0].Pos.Line > 1+strings.Count(broken, "\n")+1 {
			t.Errorf("%s: the diagnostics are %v, expected one in the broken entry", name, f.Broken)
		}
		if strings.Count(string(f.Recovered), "\n") != strings.Count(broken, "\n")+6 {
			t.Errorf("%s: recovered is %q, expected as many lines", name, f.Recovered)
		}
	}
}

// In a bindings file, an error hides one binding of the list.
func TestBrokenBindingLeavesTheOthers(t *testing.T) {
	src := "bindings_version: 1\nname: site\nbind:\n  - [a, 1]\n  - [b, \"open]\n  - {name: c, to: 3}\n"
	f := Read("f.yaml", []byte(src), yaml.Options{})
	want := []string{"bindings_version", "name", "bind", "-", "- (broken)", "-"}
	if got := keys(f); !slices.Equal(got, want) {
		t.Errorf("the entries are %q, expected %q", got, want)
	}
	if got := f.Entries[5].Value.Kids[1]; got.Line != 6 {
		t.Errorf("the last binding is in line %d, expected 6", got.Line)
	}
	if f.Recovered == nil {
		t.Error("nothing is recovered")
	}
}

// A file that parses has the same entries as the reader of a broken file finds.
func TestWholeFileIsReadTheSameWay(t *testing.T) {
	src := "# c\na: 1\n'b c': [1,\n  2]\n\nbind:\n- [x, 1]\n- name: y\n  to: 2\n"
	whole := Read("f.yaml", []byte(src), yaml.Options{})
	broken := Read("f.yaml", []byte(src+"z: \"\n"), yaml.Options{})
	if !whole.Whole() || broken.Whole() {
		t.Fatal("the wrong file is broken")
	}
	if got, want := keys(broken), append(keys(whole), "z (broken)"); !slices.Equal(got, want) {
		t.Errorf("the broken file has %q, expected %q", got, want)
	}
	for i, e := range whole.Entries {
		b := broken.Entries[i]
		if e.From != b.From || e.Value != nil && b.Value != nil && e.Value.Line != b.Value.Line {
			t.Errorf("entry %d is at %d, line %d; in the broken file at %d, line %d", i, e.From, e.Value.Line, b.From,
				b.Value.Line)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a: 1\nb: [\nbind:\n - x\n  - y\n")
	f.Add("\ufeffa: \"\r\nb: *x\r\n--- \n")
	f.Fuzz(func(t *testing.T, src string) {
		out := Read("f.yaml", []byte(src), yaml.Options{})
		for _, e := range out.Entries {
			if e.From < 0 || e.To > len(src) || e.From > e.To {
				t.Fatalf("an entry is from %d to %d in %d bytes", e.From, e.To, len(src))
			}
		}
		if out.Recovered != nil && len(out.Recovered) != len(src) {
			t.Fatalf("%d bytes are recovered from %d", len(out.Recovered), len(src))
		}
	})
}
