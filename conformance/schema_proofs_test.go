package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"bindc/diag"
	"bindc/internal/examples"
	"bindc/internal/fsx"
	"bindc/internal/proof/policy"
	"bindc/internal/testmode"
)

// ofContent matches messages about the content of strings and of other files, which a schema cannot see.
var ofContent = regexp.MustCompile(`^expected a type such as|^expected a lambda (such as \|\$x\||with one)|` +
	`^expected (the end of|a value, found)|(needs|belongs to) a catalog|no such file|^unknown type`)

// TestPolicyAndTestSchemasAgreeWithReaders compares the schemas with the readers for every change of a document
// that has all forms.
func TestPolicyAndTestSchemasAgreeWithReaders(t *testing.T) {
	for _, c := range []struct {
		schema, whole string
		read          func(dir string, diags *diag.List)
	}{
		{"policies", `{"policy_version": 1, "policies": [
			{"name": "a", "key": "x::y", "when": {"environment": ["lab", 1, true], "facts": "$x == 'a'"}, "equals": [1]},
			{"name": "b", "keys": ["x::**", "y"], "unless": [{"node": "a"}, {"environment": "b"}], "type": "String"},
			{"name": "c", "keys": "**", "satisfies": "|$x| { $x }"},
			{"name": "d", "key": "x", "bound": true},
			{"name": "e", "key": "x", "layers": ["site"]}]}`,
			func(dir string, diags *diag.List) { policy.Read(dir, nil, fsx.Disk{}, diags) }},
		{"tests", `{"tests_version": 1, "tests": [
			{"name": "a", "facts": {"x": 1}, "environment": "lab", "node": "n", "expect": {"x::y": [1], "z": {"bound": true},
				"t": {"type": "String"}, "s": {"satisfies": "|$x| { $x }"}, "h": {"bound": 1, "type": 2}}},
			{"name": "b", "facts": {}, "golden": "x.yaml"}]}`,
			func(dir string, diags *diag.List) { examples.Read(dir, diags) }},
	} {
		t.Run(c.schema, func(t *testing.T) {
			s := compiledSchema(t, c.schema)
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, c.schema), 0o777); err != nil {
				t.Fatal(err)
			}
			counts := map[bool]int{}
			n := 0
			for doc := range everyChange(t, parsedJSON(t, c.whole)) {
				if n++; n%testmode.Number(7, 1) != 0 {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, c.schema, "all.yaml"), asJSON(t, doc), 0o666); err != nil {
					t.Fatal(err)
				}
				var diags diag.List
				c.read(dir, &diags)
				form, more := "", ""
				for _, d := range diags.Sorted() {
					if ofContent.MatchString(d.Message) {
						more = d.Message
					} else {
						form = d.Message
					}
				}
				err := s.Validate(doc)
				counts[err == nil]++
				switch {
				case form != "" && err == nil:
					t.Errorf("the schema accepts what the reader rejects (%s):\n%s", form, asJSON(t, doc))
				case form == "" && more == "" && err != nil && isMarked(doc, c.schema):
					t.Errorf("the reader accepts what the schema rejects (%v):\n%s", err, asJSON(t, doc))
				}
			}
			if counts[true] < 20 || counts[false] < 20 {
				t.Errorf("%d valid documents and %d others", counts[true], counts[false])
			}
		})
	}
}

// isMarked reports whether a reader reads the document: it has the key of a version.
func isMarked(doc any, schema string) bool {
	hash, _ := doc.(map[string]any)
	_, ok := hash[map[string]string{"policies": "policy_version", "tests": "tests_version"}[schema]]
	return ok
}
