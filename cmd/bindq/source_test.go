package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"bindc/internal/testsite"
	"bindc/snapshot"
)

// Keys and identities in flags replace those in environment variables.
func TestFlagsOverrideEnvironmentVariables(t *testing.T) {
	t.Setenv("BINDQ_EYAML_KEY", "of-the-environment")
	t.Setenv("BINDQ_IDENTITY", "of-the-environment")
	given := source{globals: &globals{eyamlKeys: []string{"of-a-flag"}, identities: []string{"of-a-flag"}}}
	none := source{globals: &globals{}}
	for s, want := range map[*source]string{&given: "open of-a-flag: ", &none: "open of-the-environment: "} {
		_, decrypt := s.decrypt()
		_, unseal := s.unseal()
		for _, err := range []error{decrypt, unseal} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("found %v, expected %s", err, want)
			}
		}
		if _, err := s.options(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("options: found %v, expected %s", err, want)
		}
	}
}

// An identity has no effect on a snapshot without encrypted values, but an unreadable one is still an error.
func TestUnneededIdentityMustBeReadable(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "site.bsnap"), filepath.Join(dir, "identity")
	testsite.BuildBindings(t, "[a, 1]", path)
	identity := must(age.GenerateX25519Identity())(t)
	if err := os.WriteFile(file, []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := must(snapshot.Open(path))(t)
	defer snap.Close()
	if box, err := (&globals{identities: []string{file}}).sealBox(snap); box != nil || err != nil {
		t.Errorf("found %v, %v", box, err)
	}
	if _, err := (&globals{identities: []string{file + ".missing"}}).sealBox(snap); err == nil {
		t.Error("expected an error for an identity that is missing")
	}
}
