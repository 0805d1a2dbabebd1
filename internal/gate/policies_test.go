package gate_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/gate"
	"bindc/internal/proof/record"
	"bindc/ship"
	"bindc/snapshot"
)

// A snapshot passes if the required policies were proven for it, from the required files.
func TestCheckPoliciesRejectsSnapshotsWithoutProof(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	content, err := open(t, "[a, 1]").Content()
	if err != nil {
		t.Fatal(err)
	}
	record.Add(content, []record.Policy{{Name: "one", Digest: digest}, {Name: "no root: ever", Digest: digest}})
	path := filepath.Join(t.TempDir(), "proven.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for required, want := range map[string]string{
		"one":                      "",
		"no root: ever":            "",
		"one@sha256:" + digest:     "",
		"two":                      "the required policy 'two' was not proven for it; proven: 'no root: ever' and 'one'",
		"one@sha256:" + digest[1:]: "the policy 'one' was proven from a file with the SHA-256 " + digest,
	} {
		err := gate.CheckPolicies(f, []string{required})
		var refusal *ship.Refusal
		if errors.As(err, &refusal) != (want != "") || want != "" && !strings.HasPrefix(refusal.Reason, want) {
			t.Errorf("%s: found %v, expected %s", required, err, want)
		}
	}
	err = gate.CheckPolicies(open(t, "[a, 1]"), []string{"one"})
	if err == nil || !strings.HasSuffix(err.Error(), "none") {
		t.Errorf("without any policy: %v", err)
	}
}

func TestParsePoliciesRejectsMalformedDigests(t *testing.T) {
	for _, text := range []string{"", "@sha256:ab", "one@sha256:ab", "one@sha256:" + strings.Repeat("X", 64)} {
		if gate.ParsePolicies([]string{text}) == nil {
			t.Errorf("%q passes", text)
		}
	}
	if err := gate.ParsePolicies([]string{"one", "one@sha256:" + strings.Repeat("0", 64), "a@b"}); err != nil {
		t.Error(err)
	}
}
