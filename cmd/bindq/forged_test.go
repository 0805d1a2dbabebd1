package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/diag"
	nodefacts "bindc/facts"
	"bindc/internal/envfile"
	"bindc/internal/expr"
	"bindc/internal/identity"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/report"
	"bindc/internal/report/decision"
	"bindc/internal/secret/seal"
	"bindc/internal/syntax"
	"bindc/internal/testmode"
	"bindc/internal/testsite"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// A forger makes forged files from the site of testdata/forged.txtar.
type forger struct {
	dir      string
	identity string
	contents []*snapshot.Content // contents of the site, in plain text and encrypted
}

func newForger(t testing.TB) *forger {
	t.Helper()
	f := &forger{dir: t.TempDir()}
	archive, err := txtar.ParseFile("testdata/forged.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(f.dir, must(txtar.FS(archive))(t)); err != nil {
		t.Fatal(err)
	}
	id := must(age.GenerateX25519Identity())(t)
	f.identity = filepath.Join(f.dir, "one.key")
	if err := os.WriteFile(f.identity, []byte(id.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, encrypted := range []bool{false, true} {
		var diags diag.List
		site := loader.Load(filepath.Join(f.dir, "site"), loader.Options{}, &diags)
		content := compile.Compile(site, compile.Options{}, &diags)
		if diags.Failed() {
			t.Fatal(diags.Sorted())
		}
		if encrypted {
			key := seal.NewKey()
			wrapped := must(identity.Wrap(key, []age.Recipient{id.Recipient()}))(t)
			if err := compile.Seal(content, key, wrapped); err != nil {
				t.Fatal(err)
			}
		}
		f.contents = append(f.contents, content)
	}
	must(snapshot.Write(f.sound(), f.contents[0]))(t)
	return f
}

// sound returns the path of the snapshot without changes.
func (f *forger) sound() string { return filepath.Join(f.dir, "sound.snap") }

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ofBytes is the lowest first byte of a change that applies to the bytes of the file. Other changes apply to its
// content.
const ofBytes = 0xc0

// forge writes a forged file and returns its path. Each four bytes of changes make one change to the content or to the
// written bytes.
func (f *forger) forge(t testing.TB, changes []byte) (path string) {
	c := copied(f.contents[0])
	if len(changes) > 0 && changes[0]%2 == 1 {
		c = copied(f.contents[1])
	}
	var later [][]byte
	for change := range slices.Chunk(changes[min(1, len(changes)):], 4) {
		if len(change) < 4 {
			break
		}
		if change[0] >= ofBytes {
			later = append(later, change)
			continue
		}
		forgeries[int(change[0])%len(forgeries)](c, forgery{int(change[1]), int(change[2]), change[3]})
	}
	path = filepath.Join(f.dir, "forged.snap")
	if _, err := snapshot.Write(path, c); err != nil {
		return ""
	}
	if len(later) > 0 {
		b := must(os.ReadFile(path))(t)
		for _, change := range later {
			at := int(binary.LittleEndian.Uint16(change[1:]))<<2 | int(change[0]&3)
			b[at%len(b)] ^= change[3]
		}
		if err := os.WriteFile(path, testsite.CorrectSums(b), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func copied(c *snapshot.Content) *snapshot.Content {
	out := *c
	out.Values, out.Hiera = slices.Clone(c.Values), slices.Clone(c.Hiera)
	out.Keys, out.Levels = slices.Clone(c.Keys), slices.Clone(c.Levels)
	for i := range out.Keys {
		out.Keys[i].Cold = slices.Clone(out.Keys[i].Cold)
	}
	for i := range out.Levels {
		out.Levels[i].Scopes = slices.Clone(out.Levels[i].Scopes)
		for j := range out.Levels[i].Scopes {
			out.Levels[i].Scopes[j].Entries = slices.Clone(out.Levels[i].Scopes[j].Entries)
		}
	}
	out.Dimensions = slices.Clone(c.Dimensions)
	return &out
}

// forgery holds the operands of one change: the indexes of two objects, and a byte.
type forgery struct {
	a, b int
	with byte
}

// forgeries are the possible changes to a content.
var forgeries = []func(c *snapshot.Content, f forgery){
	func(c *snapshot.Content, f forgery) { *f.value(c) = f.other(c) }, // replaces a value
	func(c *snapshot.Content, f forgery) { // changes the kind of a recipe
		if v := f.value(c); v.Computed && len(v.Bytes) > 1 {
			v.Bytes = string([]byte{f.with % kinds}) + v.Bytes[1:]
		}
	},
	func(c *snapshot.Content, f forgery) { // changes a byte of a value
		if text := []byte(f.value(c).Bytes); len(text) > 0 {
			text[f.b%len(text)] ^= f.with
			f.value(c).Bytes = string(text)
		}
	},
	func(c *snapshot.Content, f forgery) { *f.value(c) = f.example(c) }, // replaces a value by a valid recipe
	func(c *snapshot.Content, f forgery) { // changes a part of a recipe
		r, err := recipe.Decode(f.value(c).Bytes)
		if err != nil || len(r.Parts) == 0 {
			return
		}
		if p, err := recipe.Decode(f.example(c).Bytes); err == nil {
			r.Parts[int(f.with)%len(r.Parts)].Recipe = p
		}
		if f.with%7 == 0 {
			r.Parts = r.Parts[:len(r.Parts)/2]
		}
		f.value(c).Bytes = string(recipe.Append(nil, r))
	},
	func(c *snapshot.Content, f forgery) { f.key(c).Default = f.b % len(c.Values) },
	func(c *snapshot.Content, f forgery) { // changes an entry in a level
		scopes := c.Levels[f.a%len(c.Levels)].Scopes
		entries := scopes[f.b%len(scopes)].Entries
		entries[int(f.with)%len(entries)].Value = uint32(f.b*int(f.with)) % uint32(len(c.Values))
	},
	func(c *snapshot.Content, f forgery) { // changes a hidden binding or a contribution
		if cold := f.key(c).Cold; len(cold) > 0 {
			cold[f.b%len(cold)].Value = uint32(f.with) % uint32(len(c.Values))
			cold[f.b%len(cold)].Contribution = f.with%5 == 0
		}
	},
	func(c *snapshot.Content, f forgery) { c.ARM8 = false },
	func(c *snapshot.Content, f forgery) { c.Hiera = nil },
	func(c *snapshot.Content, f forgery) { c.Seal = [][]byte{nil, []byte("wrapped")}[f.with%2] },
	func(c *snapshot.Content, f forgery) { // changes the place of a layer in a hierarchy
		if len(c.Hiera) > 0 {
			place := snapshot.HieraPlace{Part: snapshot.HieraPart(f.with % 5), Entry: f.b % 5}
			c.Hiera[f.a%len(c.Hiera)] = place
		}
	},
	func(c *snapshot.Content, f forgery) { // changes the program of a dimension
		d := &c.Dimensions[f.a%len(c.Dimensions)]
		d.Program = bytes.Clone(d.Program)
		d.Program[f.b%len(d.Program)] ^= f.with
	},
	func(c *snapshot.Content, f forgery) { // changes a name in a recipe
		if r, err := recipe.Decode(f.value(c).Bytes); err == nil && f.value(c).Computed && r.Name != "" {
			r.Name = c.Keys[f.b%len(c.Keys)].Name
			f.value(c).Bytes = string(recipe.Append(nil, r))
		}
	},
}

// kinds is the number of kinds of recipes.
const kinds = byte(recipe.AliasedPart) + 1

func (f forgery) value(c *snapshot.Content) *snapshot.Stored { return &c.Values[f.a%len(c.Values)] }

func (f forgery) other(c *snapshot.Content) snapshot.Stored { return c.Values[f.b%len(c.Values)] }

func (f forgery) key(c *snapshot.Content) *snapshot.Key { return &c.Keys[f.a%len(c.Keys)] }

// example returns a valid recipe; f.with selects its kind.
func (f forgery) example(c *snapshot.Content) snapshot.Stored {
	key := c.Keys[f.b%len(c.Keys)].Name
	r := &recipe.Recipe{Kind: recipe.Kind(f.with % kinds), Name: key, Targets: []recipe.Target{{Key: key}},
		Options: &recipe.Options{Array: f.with&16 != 0}, Optional: f.with&32 != 0, Sensitive: f.with&64 != 0}
	if p, err := recipe.Decode(f.other(c).Bytes); f.other(c).Computed && err == nil {
		r.Parts, r.Expr, r.Value = []recipe.Part{{Recipe: p}}, p.Expr, p.Value
	}
	if r.Kind == recipe.Expression && r.Expr == nil {
		r.Kind = recipe.Abstract
	}
	return snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, r))}
}

// run runs a verb in this process.
func run(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := command(nil)
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// harmless uses a forged file in many ways. It fails if Verify accepts the file but another operation reports damage.
// It reports whether Verify accepts the file.
func (f *forger) harmless(t testing.TB, changes []byte) (sound bool) {
	path := f.forge(t, changes)
	if path == "" {
		return false
	}
	var opts bindings.Options
	if len(changes) > 0 && changes[0]%4 == 1 {
		opts.Unseal = must(identity.Unwrap([]string{f.identity}))(t)
	}
	snap, err := bindings.Open(path, opts)
	if err != nil || len(changes) == 0 {
		return false
	}
	defer snap.Close()
	sound = snap.Verify() == nil
	check := func(what string, err error) {
		t.Helper()
		if sound && errors.As(err, new(*bindings.DamageError)) {
			t.Errorf("Verify finds nothing, and %s says %v", what, err)
		}
	}
	f.lookUp(t, snap, check)
	check("Needs", second((*lookup.Snapshot)(snap).Needs()))
	f.report(t, path, snap, check)
	one := append(slices.Sorted(snap.Keys()), "absent")
	key := strings.Clone(one[int(changes[len(changes)-1])%len(one)])
	for _, verb := range [][]string{{"lookup", key, "--explain", "--node", "n1"}, {"values", key},
		{"values", key, "include", "--node", "n1", "--fact", "word=w"}, {"keys"}, {"info"}, {"info", "--dump"},
		{"dump", "--node", "n1"}, {"hiera-config"}} {
		text, err := run(append(verb, "-s", path)...)
		if check(verb[0], err); sound && strings.Contains(text, "snapshot_damaged") {
			t.Errorf("Verify finds nothing, and %v says %v\n%s", verb, err, text)
		}
	}
	return sound
}

func second[A, B, C any](_ A, _ B, _ C, err error) error { return err }

// lookUp looks up all keys, in all ways.
func (f *forger) lookUp(t testing.TB, snap *bindings.Snapshot, check func(string, error)) {
	unique := lookup.Value(report.ParseValue(`"unique"`))
	var keys []string
	for key := range snap.Keys() {
		keys = append(keys, strings.Clone(key))
	}
	keys = append(keys, "old.a", "m::absent", "lookup_options")
	for node, facts := range map[string]string{"n1": `{"word": "w", "os": {"family": "n1"}}`,
		"n2": `{"osfamily": "debian", "environment": "test", "os": 1}`} {
		given := must(nodefacts.ParseJSON([]byte(facts), bindings.FactsOptions{Node: node}))(t)
		req, err := (*lookup.Snapshot)(snap).Request((*lookup.Facts)(given))
		if check("a request", err); err != nil {
			continue
		}
		for _, key := range keys {
			v, _, err := req.Lookup(key)
			check("lookup "+key, err)
			check("the value of "+key, damageIn(v))
			v, _, err = req.LookupMerged(key, unique)
			check("merged "+key, err)
			check("the merged value of "+key, damageIn(v))
			v, _, err = req.LookupEntries(key, 0, -1, lookup.Value{})
			check("entries of "+key, err)
			check("the value of entries of "+key, damageIn(v))
			_, _, err = req.LookupEntries(key, 1, -1, unique)
			check("merged entries of "+key, err)
			outcomes, err := req.Effective(key)
			check("effective "+key, err)
			for _, o := range outcomes {
				check("effective "+key, o.Err)
			}
			e, err := req.Explain(key)
			if check("explain "+key, err); err == nil {
				check("the outcome of explain "+key, e.Outcome.Err)
				for _, c := range append(e.Candidates, e.Contributions...) {
					check("a candidate of "+key, c.Outcome.Err)
				}
			}
		}
	}
}

func damageIn(v lookup.Value) error {
	_, err := bindings.Value(v.Reveal()).MarshalJSON()
	return err
}

// report makes the decision tables of all keys and compares them with those of the sound site.
func (f *forger) report(t testing.TB, path string, snap *bindings.Snapshot, check func(string, error)) {
	file := must(snapshot.Open(path))(t)
	defer file.Close()
	before := must(snapshot.Open(f.sound()))(t)
	defer before.Close()
	for _, whole := range []bool{true, false} {
		book, err := decision.NewTables(file, whole, nil)
		if check("the tables", err); err != nil {
			continue
		}
		for _, key := range file.AllKeys() {
			_, err := book.Values(key)
			check("values of "+key, err)
		}
		_, err = decision.Diff(must(decision.NewTables(before, true, nil))(t), book, func() {})
		check("diff", err)
	}
}

// FuzzForged changes a site at random: -fuzz FuzzForged -fuzzminimizetime 50x.
func FuzzForged(f *testing.F) {
	of := newForger(f)
	f.Add([]byte{0})
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, changes []byte) { of.harmless(t, changes) })
}

// FuzzForgedEnvironments changes the file that chooses an environment. If the file is accepted, no verb may crash or
// report damage.
func FuzzForgedEnvironments(f *testing.F) {
	of := newForger(f)
	if err := os.Mkdir(filepath.Join(of.dir, "all"), 0o777); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"production", "test"} {
		must(snapshot.Write(filepath.Join(of.dir, "all", name+envfile.Extension), of.contents[0]))(f)
	}
	environments := []envfile.Environment{{Name: "production", Written: true}, {Name: "test", Written: true},
		{Name: "no"}}
	says, errs := syntax.ParseEnvironments("if $agent_environment == test or $os['family'] =~ /n(.)/ {\n" +
		"  $environment = \"t${1}\"\n} else {\n  $environment = $wanted\n}\n")
	if len(errs) > 0 {
		f.Fatal(errs)
	}
	for _, program := range []*expr.Node{envfile.AgentProgram(), envfile.ProgramOf(says.Statements)} {
		f.Add(envfile.Encode(&envfile.Choice{Program: program, Environments: environments}))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		body := file[:max(0, len(file)-8)]
		file = binary.LittleEndian.AppendUint64(bytes.Clone(body), xxhash.Sum64(body))
		dir := filepath.Join(of.dir, "all")
		if err := os.WriteFile(filepath.Join(dir, envfile.File), file, 0o666); err != nil {
			t.Fatal(err)
		}
		_, refused := envfile.Decode(string(file))
		for _, verb := range [][]string{{"lookup", "plain", "--environment", "test"}, {"lookup", "plain", "--explain",
			"--fact", "os.family=no"}, {"dump", "--fact", "wanted=test"}, {"batch"}, {"hiera-config"}} {
			_, err := run(append(verb, "-s", dir)...)
			if refused == nil && errors.As(err, new(*bindings.DamageError)) {
				t.Errorf("the file is a choice, and %v says %v", verb, err)
			}
		}
	})
}

// TestForgedFilesAreRefusedOrHarmless runs a fixed sample of the inputs of FuzzForged.
func TestForgedFilesAreRefusedOrHarmless(t *testing.T) {
	testmode.SkipUnderRace(t)
	n := 400
	if !testmode.Thorough() {
		n = 16
	}
	of, random, sound := newForger(t), rand.New(rand.NewPCG(1, 2)), 0
	for range n {
		changes := []byte{byte(random.Uint32())}
		for range 1 + random.IntN(3) {
			change := binary.LittleEndian.AppendUint32(nil, random.Uint32())
			if random.IntN(4) > 0 {
				change[0] %= ofBytes
			}
			changes = append(changes, change...)
		}
		if of.harmless(t, changes) {
			sound++
		}
		if t.Failed() {
			t.Fatalf("by the changes %x", changes)
		}
	}
	if sound < n/8 || sound > n*7/8 {
		t.Errorf("%d of %d forged files are sound, expected some of each kind", sound, n)
	}
}
