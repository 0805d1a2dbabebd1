package conformance

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/secret/eyaml"
	"bindc/internal/testmode"
	"bindc/loader"
	bindings "bindc/runtime"
)

// TestEyamlExchangesStringsWithHieraEyaml exchanges encrypted strings with hiera-eyaml in both directions, with keys
// that hiera-eyaml created.
func TestEyamlExchangesStringsWithHieraEyaml(t *testing.T) {
	testmode.SkipUnderRace(t)
	program, err := exec.LookPath("eyaml")
	if err != nil {
		t.Skip("there is no eyaml here: apt-get install hiera-eyaml")
	}
	if !testmode.Asked(t) {
		t.Skip("starts eyaml, a program in Ruby, many times: name this test with -run")
	}
	dir := t.TempDir()
	private, public := filepath.Join(dir, "private.pem"), filepath.Join(dir, "public.pem")
	run := func(stdin string, args ...string) string {
		cmd := exec.Command(program, append(args, "--pkcs7-private-key="+private, "--pkcs7-public-key="+public)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("eyaml %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	run("", "createkeys", "--pkcs7-keysize=2048")
	one := run("first", "encrypt", "--stdin", "-o", "string")
	two := run("Größe ]", "encrypt", "--stdin", "-o", "string")
	if ours := bindcEncrypts(t, public, "ours: ß\n"); run("", "decrypt", "-s", ours) != "ours: ß" {
		t.Errorf("eyaml does not decrypt what bindc has encrypted: %s", ours)
	}
	data := filepath.Join(dir, "site/data/common.eyaml")
	writeFile(t, filepath.Join(dir, "site/hiera.yaml"),
		"version: 5\nhierarchy: [{name: Secrets, path: common.eyaml, lookup_key: eyaml_lookup_key}]\n")
	writeFile(t, data, "text: '"+one+"'\nseveral: 'a "+one+" b "+two+"'\n"+
		run("in a block", "encrypt", "--stdin", "-o", "block", "-l", "block")+"\n")
	bindcEdits(t, public, data, "ours: \"DEC::PKCS7[in its file]! and DEC(1)::PKCS7[\\\"'ß]!\"")
	all := run("", "decrypt", "-f", data)
	if !strings.Contains(all, "a first b Größe ]") || !strings.Contains(all, `ours: "in its file and \"'ß"`) {
		t.Errorf("eyaml itself decrypts\n%s", all)
	}
	keys, err := eyaml.Read([]string{private})
	if err != nil {
		t.Fatal(err)
	}
	for _, decrypt := range []func(string) (string, error){nil, keys.Decrypt} {
		how := bindings.Options{Decrypt: decrypt}
		snap, refused := buildAndOpen(t, filepath.Join(dir, "site"), loader.Options{}, how)
		if refused != "" {
			t.Fatal(refused)
		}
		checkEyaml(t, request(t, snap, json.RawMessage("{}")), decrypt != nil)
	}
}

// bindcEncrypts encrypts text with bindc and a public key made by eyaml.
func bindcEncrypts(t *testing.T, public, text string) string {
	t.Helper()
	cmd := exec.Command("bindc", "eyaml", "encrypt", "--public-key", public)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// bindcEdits runs "bindc eyaml edit" with an editor that appends a line to the file.
func bindcEdits(t *testing.T, public, file, line string) {
	t.Helper()
	cmd := exec.Command("bindc", "eyaml", "edit", file, "--public-key", public)
	cmd.Env = append(os.Environ(), "VISUAL=tee -a")
	cmd.Stdin = strings.NewReader(line + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// checkEyaml looks up encrypted values with and without a key.
func checkEyaml(t *testing.T, r *bindings.Request, key bool) {
	for name, want := range map[string]string{"text": "first", "several": "a first b Größe ]", "block": "in a block",
		"ours": `in its file and \"'ß`} {
		v, _, err := lookUp(r, name, "")
		text := v.Reveal().String()
		var e *bindings.Error
		switch {
		case !key && (!errors.As(err, &e) || e.Code != bindings.CodeEncrypted):
			t.Errorf("%s without a key: %v", name, err)
		case key && (err != nil || text != want || !v.Sensitive()):
			t.Errorf("%s: %q, %v, want %q", name, text, err, want)
		}
	}
}
