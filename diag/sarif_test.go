package diag

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Each kind of diagnostic results in a log that is valid by the OASIS schema. testdata/sarif-2.1.0.schema.json comes
// from the Go module github.com/owenrumney/go-sarif/v3.
func TestSARIFIsValid(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("testdata/sarif-2.1.0.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := os.Getwd()
	at := Pos{"a b/ä:%41.yaml", 3, 7}
	for name, list := range map[string][]Diagnostic{
		"nothing":   nil,
		"the least": {{Pos: Pos{File: "a"}, Code: "data", Message: "no data"}},
		"of all": {{Pos: at, Severity: Error, Code: "conflict", Message: "two", Hint: "one",
			Notes: []Note{{at, "here", false}}}},
		"severities": {{Code: "yml", Severity: Warning}, {Code: "data", Severity: Lint},
			{Code: "data", Severity: Info}},
		"a fix": {{Pos: Pos{"testdata/fix.yaml", 2, 3}, Code: "data", Message: "1",
			Fix: Fix{Old: "vlaue", New: "value"}}},
		"of one rule": {{Pos: at, Code: "data", Message: "1"}, {Pos: at, Code: "data", Message: "2"}},
	} {
		var out bytes.Buffer
		if err := Render(&out, "sarif", list, dir, false); err != nil {
			t.Fatal(err)
		}
		log, err := jsonschema.UnmarshalJSON(strings.NewReader(out.String()))
		if err == nil {
			err = schema.Validate(log)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
		if strings.Contains(out.String(), `"fixes"`) != (name == "a fix") {
			t.Errorf("%s: %s", name, &out)
		}
	}
	broken := strings.NewReader(`{"version": "2.1.0", "runs": [{"tool": {}, "results": []}]}`)
	if log, err := jsonschema.UnmarshalJSON(broken); err != nil || schema.Validate(log) == nil {
		t.Errorf("a tool without a driver is valid, %v", err)
	}
}
