//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/internal/testmode"
)

// showing lists command lines of each verb that must not show secrets. SITE is a site that compiles, and BAD is
// replaced by each site that does not. FILE is the snapshot of the site, and OTHER is the snapshot of the same site
// with other secrets. KEY is replaced by each key. NODES is a directory of facts. nil marks verbs that show nothing of
// a site.
var showing = map[string][]string{
	"bindc build": {"build SITE -o FILE.out", "build SITE -o FILE.out --cache CACHE --format json",
		"build BAD -o FILE.out", "build SITE -o FILE.pack --part 1/1", "build BAD -o FILE.badpack --part 1/1"},
	"bindc link": {"link FILE.pack --site SITE -o FILE.linked", "link FILE.pack --site BAD -o FILE.linked",
		"link FILE --site SITE -o FILE.linked"},
	"bindc lsp": nil, // TestHoverShowsWhoWins in internal/lsp
	"bindc check": {"check SITE --facts-dir NODES", "check SITE --facts-dir NODES --format json",
		"check SITE --lint", "check BAD", "check BAD --lint",
		"check BAD --format json", "check BAD --format sarif", "check BAD --format github"},
	"bindc fmt": {"fmt -l SITE/bindings/default.yaml SITE", // prints names of files that differ
		"fmt -l BAD/bindings/default.yaml SITE"}, // no -d, which shows the content on request
	"bindc convert": nil, // prints the file, which is its purpose
	"bindc environments": {"environments ROOT -o FILE.envs", "environments ROOT -o FILE.envs --format json",
		"environments ROOT -o FILE.sealed --encrypt-to " + recipient,
		"environments ROOT -o FILE.cut --slice node=n1", "environments ROOT -o FILE.cut --slice node --format json",
		"environments ROOT -o FILE.pushed --push oci://127.0.0.1:1/site --plain-http"},
	"bindc explore": nil, // a test in internal/explore crawls all pages
	"bindc facts":   nil, // prints names of nodes
	"bindc enc":     nil, // shows the invalid output of a classifier to the user who runs it
	"bindc push":    {"push FILE oci://127.0.0.1:1/site:x --plain-http"},
	"bindc eyaml": {"eyaml encrypt --public-key FILE", "eyaml encrypt --public-key NODES",
		"eyaml edit BAD/bindings/default.yaml --public-key FILE", "eyaml edit SITE"},
	"bindc plan": {"plan SITE FILE", "plan FILE OTHER --facts-dir NODES --format markdown",
		"plan FILE OTHER --format yaml", "plan BAD FILE"},
	"bindc test":       {"test SITE", "test SITE --format json", "test BAD"},
	"bindc completion": nil, "bindc help": nil, "bindc init": nil, "bindc schema": nil,
	"bindc version": nil,
	"bindc adopt": {"adopt SITE --dry-run --no-compare --force -o FILE.adopted",
		"adopt BAD --dry-run --no-compare --force -o FILE.adopted"},
	"bindc slice":   {"slice FILE --when node=n1 -o FILE.part", "slice FILE --when node=n9 -o FILE/part"},
	"bindc blame":   {"blame KEY --site SITE --node n1", "blame KEY --site SITE --format json", "blame text --site BAD"},
	"bindc migrate": {"migrate SITE", "migrate BAD", "migrate SITE -o FILE.dir"}, // prints the data unless there is an error

	"bindq lookup": {"lookup KEY -s FILE --node n1 --explain",
		"lookup KEY -s FILE --node n2 --explain --render-as json",
		"lookup KEY -s FILE --node n1 --all --render-as yaml", "lookup KEY -s FILE --node n1 --type Array[Integer]",
		"lookup KEY -s FILE --node n2 --type Struct[{a=>Integer}]"},
	"bindq dump": {"dump -s FILE --node n1", "dump -s FILE --node n2 --render-as yaml",
		"dump -s FILE --render-as s"},
	"bindq keys":  {"keys -s FILE", "keys -s FILE --format json"},
	"bindq batch": {"batch -s FILE"},
	"bindq values": {"values KEY -s FILE", "values KEY -s FILE --format json", "values KEY -s FILE --facts-dir NODES",
		"values KEY x -s FILE --node n1", "values KEY x -s FILE --format json"},
	"bindq explain": {"explain KEY -s FILE --node n1 --all", "explain KEY -s FILE --node n2 --format json"},
	"bindq diff": {"diff FILE OTHER", "diff OTHER FILE --format markdown --facts-dir NODES",
		"diff FILE OTHER --format json --facts-dir NODES"},
	"bindq nodes":         {"nodes -s FILE --facts-dir NODES"},
	"bindq verify":        {"verify FILE", "verify FILE --format yaml"},
	"bindq info":          {"info FILE", "info FILE --dump", "info FILE --format json"},
	"bindq serve":         {"serve --stdio -s FILE --log"},
	"bindq hiera-config":  {"hiera-config -s FILE"},
	"bindsync completion": nil, "bindsync help": nil, "bindsync version": nil,
	"bindsync pull": {"pull file:FILE --name n1 --store FILE.d",
		"pull file:OTHER --name n1 --store FILE.d --max-change 0"},
	"bindsync activate": {"activate n1 0000000 --store FILE.d"},
	"bindsync rollback": {"rollback n1 --store FILE.d"},
	"bindsync status": {"status n1 --store FILE.d", "status n1 --store FILE.d --format json",
		"status n1 --store FILE.d --history"},
	"bindsync follow":  {"follow -c FILE --store FILE.d"},
	"bindsync reset":   {"reset n1 --store FILE.d"},
	"bindsync gc":      nil, // prints digests
	"bindq completion": nil, "bindq help": nil, "bindq version": nil,
}

// secret matches the secrets of testdata/secrets.txtar as text, in hexadecimal, or in Base64 at any offset.
var secret = regexp.MustCompile(`(?i)canary\d|yranac\d|7_?654_?321|63 ?61 ?6e ?61 ?72 ?79|Y2FuYXJ5|NhbmFye|jYW5hcn`)

// Output, errors and files of the programs contain no secrets unless the user requests them.
func TestSecretsAreShownOnlyOnRequest(t *testing.T) {
	testmode.SkipUnderRace(t)
	verbs := slices.Concat(verbsOf(t, "bindc"), verbsOf(t, "bindq"), verbsOf(t, "bindsync"))
	for _, verb := range verbs {
		if _, known := showing[verb]; !known {
			t.Errorf("%s has no row in showing, so nothing tries whether it prints secrets", verb)
		}
	}
	s := newSecretSite(t, "testdata/secrets.txtar")
	s.tryEncrypted(t)
	for _, name := range names(t, filepath.Join(s.dir, "cache")) {
		s.hasNoSecret(t, filepath.Join(s.dir, "cache", name))
	}
	s.hasNoSecret(t, s.file+".pack")
	s.hasNoSecret(t, s.file+".envs/.good.built")
	s.hasNoSecret(t, s.file+".sealed/good.snap")
	s.tryDamaged(t)
	s.tryAsking(t)
}

// Values that are sensitive because of lookup_options in Hiera 5 are only shown on request, merged or not.
func TestHiera5SecretsAreShownOnlyOnRequest(t *testing.T) {
	testmode.SkipUnderRace(t)
	s := newSecretSite(t, "testdata/secrets_hiera5.txtar")
	s.skips = []string{"bindc fmt", "bindc migrate"} // these verbs show the data files
	s.tryEncrypted(t)
	s.tryDamaged(t)
	s.tryAsking(t)
}

// tryEncrypted runs all commands with both kinds of snapshots: with plain and with encrypted secrets.
func (s *secretSite) tryEncrypted(t *testing.T) {
	t.Helper()
	for _, encrypted := range []bool{false, true} {
		args := []string{"build", s.site, "-o", s.file}
		if encrypted {
			args = append(args, "--encrypt-to", recipient)
		}
		succeed(t, "bindc", args...)
		s.tryAll(t, s.environ(""))
		s.bad = nil // these sites cannot be encrypted
		if encrypted {
			s.hasNoSecret(t, s.file)
			s.tryAll(t, s.environ(filepath.Join(s.dir, "identity")))
		}
	}
}

// tryDamaged checks that the errors for a damaged file contain no secrets. It does not check answers, because the flag
// of a sensitive value may be damaged.
func (s *secretSite) tryDamaged(t *testing.T) {
	t.Helper()
	succeed(t, "bindc", "build", s.site, "-o", s.file)
	whole, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/testmode.Number(5, 50) {
		whole[at] ^= 0x55
		write(t, s.file, string(whole))
		whole[at] ^= 0x55
		for _, line := range []string{"verify " + s.file, "dump -s " + s.file, "keys -s " + s.file} {
			if r := run(t, "bindq", strings.Fields(line)...); secret.MatchString(r.stderr) || crashed(r) {
				t.Errorf("bindq %s, with byte %d changed: %s", line, at, r.stderr)
			}
		}
	}
}

// tryAsking checks that the secrets are shown on request, so that the test can find them at all.
func (s *secretSite) tryAsking(t *testing.T) {
	t.Helper()
	succeed(t, "bindc", "build", s.site, "-o", s.file)
	for _, line := range []string{"lookup text -s FILE", "dump -s FILE --show-sensitive", "values text -s FILE " +
		"--show-sensitive", "info FILE --dump --show-sensitive", "diff FILE OTHER --show-sensitive"} {
		if out := s.run(t, s.environ(""), "bindq", line); !secret.MatchString(out) {
			t.Errorf("bindq %s: no secret where it was asked for:\n%s", line, out)
		}
	}
}

// recipient is the public key of the identity in testdata/secrets.txtar.
const recipient = "age13tvlhqfr9mjdn4andhu7sl0kjwv6xsgw8yqmpj4ulfj4qt8n0ans59raex"

// verbsOf returns the verbs of a program, with its name.
func verbsOf(t *testing.T, program string) (verbs []string) {
	t.Helper()
	out, err := exec.Command(program, "__complete", "").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if verb, _, isVerb := strings.Cut(line, "\t"); isVerb {
			verbs = append(verbs, program+" "+verb)
		}
	}
	return verbs
}

// secretSite is the site of an archive in testdata, extracted to disk.
type secretSite struct {
	dir, site, file, other string
	keys, bad, skips       []string // skips: verbs to skip
	queries                string
	calls                  int // number of calls of tryAll
}

func newSecretSite(t *testing.T, archive string) *secretSite {
	t.Helper()
	files, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	s := &secretSite{dir: t.TempDir()}
	s.site, s.file, s.other = filepath.Join(s.dir, "good"), filepath.Join(s.dir, "f"), filepath.Join(s.dir, "other")
	for _, f := range files.Files {
		text := strings.ReplaceAll(string(f.Data), "canary", "yranac")
		write(t, filepath.Join(s.dir, f.Name), text)
	}
	succeed(t, "bindc", "build", s.site, "-o", s.other)
	for _, f := range files.Files {
		write(t, filepath.Join(s.dir, f.Name), string(f.Data))
	}
	s.bad = names(t, filepath.Join(s.dir, "bad"))
	s.environments(t)
	out, err := exec.Command("bindq", "keys", "-s", s.other).Output()
	if err != nil {
		t.Fatal(err)
	}
	s.keys = strings.Fields(string(out))
	for _, key := range s.keys {
		s.queries += `{"key": "` + key + `", "node": "n1", "explain": true, "type": "Tuple[Integer]"}` + "\n"
	}
	return s
}

// environments writes an environment for each site to the directory root.
func (s *secretSite) environments(t *testing.T) {
	t.Helper()
	dir := filepath.Join(s.dir, "root", "environments")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	sites := map[string]string{"good": s.site}
	for i, name := range s.bad {
		sites[fmt.Sprint("bad", i)] = filepath.Join(s.dir, "bad", name)
	}
	for name, site := range sites {
		if err := os.Symlink(site, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *secretSite) environ(identity string) []string {
	return append(os.Environ(), "BINDQ_IDENTITY="+identity)
}

// tryAll runs all commands and checks their output. The short form only tries some keys and some bad sites, and after
// the first call every third command.
func (s *secretSite) tryAll(t *testing.T, environ []string) {
	t.Helper()
	s.calls++
	number := 0
	for _, verb := range slices.Sorted(maps.Keys(showing)) {
		if slices.Contains(s.skips, verb) {
			continue
		}
		program, _, _ := strings.Cut(verb, " ")
		for i, line := range showing[verb] {
			if number++; s.calls > 1 && !testmode.Chosen(t, s.calls+number, 3) {
				continue
			}
			each, of := []string{""}, ""
			switch {
			case strings.Contains(line, "KEY"):
				each, of = s.keys, "KEY"
			case strings.Contains(line, "BAD"):
				each, of = s.bad, "BAD"
			}
			for j, one := range each {
				if (i+j)%testmode.Number(min(72, len(each)), 1) != 0 {
					continue
				}
				if of == "BAD" {
					one = filepath.Join(s.dir, "bad", one)
				}
				line := strings.Replace(line, of, one, 1)
				if out := s.run(t, environ, program, line); secret.MatchString(out) {
					t.Errorf("%s %s:\n%s", program, line, out)
				}
			}
		}
	}
}

// run returns the output of a program. For batch, it omits the answers that were requested.
func (s *secretSite) run(t *testing.T, environ []string, program, line string) string {
	t.Helper()
	line = strings.NewReplacer("SITE", s.site, "FILE", s.file, "OTHER", s.other, "NODES", filepath.Join(s.dir, "nodes"),
		"CACHE", filepath.Join(s.dir, "cache"), "ROOT", filepath.Join(s.dir, "root")).Replace(line)
	cmd := exec.Command(program, strings.Fields(line)...)
	cmd.Env = environ
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(s.queries), &out, &out
	cmd.Run() // the exit status does not matter
	if out.Len() == 0 || strings.Contains(out.String(), "goroutine ") {
		t.Errorf("%s %s prints %q", program, line, out.String())
	}
	return out.String()
}

// hasNoSecret checks that a file contains no secret.
func (s *secretSite) hasNoSecret(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found := secret.Find(b); found != nil {
		t.Errorf("%s holds %q", path, found)
	}
}
