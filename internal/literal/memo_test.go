package literal

import (
	"bytes"
	"testing"

	"bindc/diag"
	"bindc/internal/yaml"
)

// A string that is compiled twice with a Memo gives the same bytes as without one, and the same diagnostics each time.
func TestMemoGivesSameBytesAndReports(t *testing.T) {
	var memo Memo
	for round := range 2 {
		for text, reports := range map[string]int{
			"'${fqdn}'": 0, "'a ${fqdn} b'": 0, "${hostnam}": 1, "'${open'": 1, "plain": 0, "['${fqdn}', 1]": 0, "$$": 0,
		} {
			var before, diags diag.List
			doc, ok := yaml.Parse("f.yaml", []byte(text), yaml.Options{}, &diags)
			if !ok {
				t.Fatal(diags.Sorted())
			}
			want := Append([]byte("x"), doc, doc.Root, &before)
			if got := memo.Append([]byte("x"), doc, doc.Root, &diags); !bytes.Equal(got, want) {
				t.Errorf("round %d: %s compiles to %q, want %q", round, text, got, want)
			}
			if n := len(diags.Sorted()); n != reports || n != len(before.Sorted()) {
				t.Errorf("round %d: %s has %d reports, want %d", round, text, n, reports)
			}
		}
	}
	if len(memo.compiled) == 0 {
		t.Error("nothing was kept, so the test compares nothing")
	}
}
