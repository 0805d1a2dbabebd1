package gate

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/proof/record"
	"bindc/ship"
	"bindc/snapshot"
)

// digestMark separates the name of a required policy from the digest of the policy file.
const digestMark = "@sha256:"

const digestLength = 64

// ParsePolicies checks the syntax of required policies. Each has the form NAME or
// NAME@sha256:DIGEST.
func ParsePolicies(required []string) error {
	for _, text := range required {
		name, digest, hasDigest := strings.Cut(text, digestMark)
		if name == "" || hasDigest && (len(digest) != digestLength || strings.Trim(digest, "0123456789abcdef") != "") {
			return fmt.Errorf("expected NAME or NAME%sDIGEST, as 'bindq info' prints them, found '%s'", digestMark, text)
		}
	}
	return nil
}

// CheckPolicies returns an error unless all required policies were proven for the snapshot. If a
// digest is given, the policy must come from a file with that digest.
func CheckPolicies(f *snapshot.Snapshot, required []string) error {
	if len(required) == 0 {
		return nil
	}
	proven, err := record.Read(f)
	if err != nil {
		return err
	}
	for _, text := range required {
		name, digest, hasDigest := strings.Cut(text, digestMark)
		at := slices.IndexFunc(proven, func(p record.Policy) bool { return p.Name == name })
		switch {
		case at < 0:
			return &ship.Refusal{Reason: fmt.Sprintf("the required policy '%s' was not proven for it; proven: %s", name,
				names(proven))}
		case hasDigest && proven[at].Digest != digest:
			return &ship.Refusal{Reason: fmt.Sprintf("the policy '%s' was proven from a file with the SHA-256 %s; "+
				"expected %s", name, proven[at].Digest, digest)}
		}
	}
	return nil
}

func names(proven []record.Policy) string {
	if len(proven) == 0 {
		return "none"
	}
	var out []string
	for _, p := range proven {
		out = append(out, p.Name)
	}
	return diag.Quoted(out)
}
