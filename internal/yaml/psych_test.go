package yaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/internal/value"
)

// Each product is rounded before it is added. Some processors would otherwise combine both operations. By hand: 17.017
// times 60 is 1021.02, plus 3600 is 4621.02.
func TestSexagesimalFloatsAreTheSameEverywhere(t *testing.T) {
	if v, _ := resolve("1:17.017"); v.Float() != 4621.02 {
		t.Errorf("got %v, want 4621.02", v.Float())
	}
}

// Plain scalars have the values that were recorded from Psych in testdata.
func TestPlainScalarsResolveAsInPsych(t *testing.T) {
	src, err := os.ReadFile("testdata/psych_scalars.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct{ Plain, Class, Value string }
	if err := json.Unmarshal(src, &table); err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		if row.Plain == "(empty)" {
			row.Plain = ""
		}
		v, problem := resolve(row.Plain)
		if got, want := describeResolved(v, problem), row.Class+" "+row.Value; !sameResolved(got, want, row.Plain) {
			t.Errorf("%q is %s, Psych says %s", row.Plain, got, want)
		}
	}
}

// sameResolved compares two values, and allows the intended deviations from Psych.
func sameResolved(got, want, plain string) bool {
	switch {
	case strings.HasPrefix(want, "Symbol "): // this language has strings instead
		return got == "String "+strconv.Quote(plain)
	case strings.HasPrefix(want, "ERROR "): // Puppet does not allow class Date or Time
		return got == "ERROR date"
	case want == "Integer 99999999999999999999":
		return got == "ERROR too large"
	}
	return got == want
}

func describeResolved(v value.Value, problem fault) string {
	switch problem {
	case isDate:
		return "ERROR date"
	case tooLarge:
		return "ERROR too large"
	}
	switch v.Kind() {
	case value.Undef:
		return "NilClass nil"
	case value.Bool:
		return map[bool]string{true: "TrueClass true", false: "FalseClass false"}[v.Bool()]
	case value.Int:
		return fmt.Sprint("Integer ", v.Int())
	case value.Float:
		return "Float " + rubyFloat(v.Float())
	}
	return "String " + strconv.Quote(v.Text())
}

func rubyFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.Replace(fmt.Sprint(f), "Inf", "Infinity", 1), "+")
	case f != 0 && math.Abs(f) < 1e-4:
		return strings.Replace(strconv.FormatFloat(f, 'e', 1, 64), "e", "e", 1)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// canonical formats a value like testdata/psych.rb.
func canonical(b *strings.Builder, v value.Value) {
	switch v.Kind() {
	case value.Undef:
		b.WriteByte('n')
	case value.Bool:
		b.WriteByte(map[bool]byte{true: 't', false: 'f'}[v.Bool()])
	case value.Int:
		fmt.Fprintf(b, "i%d;", v.Int())
	case value.Float:
		if math.IsNaN(v.Float()) {
			b.WriteString("dnan;")
			return
		}
		fmt.Fprintf(b, "d%016x;", math.Float64bits(v.Float()))
	case value.String:
		fmt.Fprintf(b, "s%d:%s", len(v.Text()), v.Text())
	case value.Array:
		b.WriteByte('[')
		for e := range v.Elems() {
			canonical(b, e)
		}
		b.WriteByte(']')
	case value.Hash:
		b.WriteByte('{')
		for k, e := range v.Pairs() {
			canonical(b, k)
			canonical(b, e)
		}
		b.WriteByte('}')
	}
}

// parsed returns the value of a file in the format of canonical, or "error".
func parsed(file string, src []byte) string {
	var diags diag.List
	d, ok := Parse(file, src, Options{LastKeyWins: true}, &diags)
	if !ok {
		return "error"
	}
	var b strings.Builder
	if d.Root == nil {
		return "n"
	}
	canonical(&b, d.Root.Literal())
	return b.String()
}

// corpora lists the YAML files of real sites next to the repository. They may be absent.
func corpora(t *testing.T) []string {
	var files []string
	for _, site := range []string{"apache", "govuk", "govuk-bindings", "himlar", "himlar-bindings"} {
		root := filepath.Join("../../../shared/corpora", site, "site")
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && (filepath.Ext(path) == ".yaml" || filepath.Ext(path) == ".yml") {
				files = append(files, path)
			}
			return nil
		})
	}
	if len(files) == 0 {
		t.Skip("no corpora")
	}
	return testmode.Sample(t, files, 10)
}

// Each file of each real site can be read.
func TestReadsAllCorpusFiles(t *testing.T) {
	for _, file := range corpora(t) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var diags diag.List
		if _, ok := Parse(file, src, Options{LastKeyWins: true}, &diags); !ok {
			t.Errorf("%s: %v", file, diags.Sorted())
		}
	}
}

// Each file of each real site has the same value as in Psych.
func TestCorpusFilesHaveSameValuesAsInPsych(t *testing.T) {
	files := corpora(t)
	answers := psych(t, files)
	for i, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := parsed(file, src); got != answers[i] {
			t.Errorf("%s: differs from Psych\n got %.300s\nwant %.300s", file, got, answers[i])
		}
	}
}

// quotedSymbol matches a colon before a quote: Psych reads :'a' as a symbol, which only Hiera 5 data has.
var quotedSymbol = regexp.MustCompile(`:['"]`)

// Damaged files that both parsers accept have the same value. A file that is one text is left out: data is a hash or
// list, and libyaml ends such a text elsewhere.
func TestDamagedFilesHaveSameValuesAsInPsych(t *testing.T) {
	testmode.SkipUnderRace(t)
	compareDamaged(t, func(random *rand.Rand) []byte {
		if random.IntN(2) == 0 {
			return []byte(seeds[random.IntN(len(seeds))] + "\n" + strings.Repeat(" ", random.IntN(5)))
		}
		return append(scribedAtRandom(random), strings.Repeat(" ", random.IntN(5))...)
	}, func(src []byte) string {
		got := parsed("f", src)
		if quotedSymbol.Match(src) || got[0] != '{' && got[0] != '[' {
			return "error"
		}
		return got
	})
}

func TestDamagedJSONHasSameValuesAsInRuby(t *testing.T) {
	testmode.SkipUnderRace(t)
	compareDamaged(t, func(random *rand.Rand) []byte {
		return []byte(jsonSeeds[random.IntN(len(jsonSeeds))])
	}, func(src []byte) string {
		var diags diag.List
		d, ok := ParseJSON("f", src, Options{LastKeyWins: true}, &diags)
		if !ok {
			return "error"
		}
		var b strings.Builder
		canonical(&b, d.Root.Literal())
		return b.String()
	}, "json")
}

// compareDamaged damages documents that original returns, and compares their values in this package with those in Ruby,
// unless one of them is "error".
func compareDamaged(t *testing.T, original func(*rand.Rand) []byte, ours func([]byte) string, args ...string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	files := make([]string, testmode.Number(1000, 100_000))
	srcs := make([][]byte, len(files))
	for i := range files {
		files[i], srcs[i] = filepath.Join(dir, strconv.Itoa(i)), damaged(random, original(random))
		if err := os.WriteFile(files[i], srcs[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compared := 0
	for i, answer := range psych(t, files, args...) {
		got := ours(srcs[i])
		if answer == "error" || got == "error" {
			continue
		}
		if compared++; got != answer {
			t.Errorf("%q is\n%s\nbut Ruby reads\n%s", srcs[i], got, answer)
		}
	}
	if t.Logf("%d of %d files were compared", compared, len(files)); compared < len(files)/10 {
		t.Error("too few")
	}
}

// psych runs Ruby to read each file.
func psych(t *testing.T, files []string, args ...string) []string {
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("no ruby")
	}
	cmd := exec.Command(ruby, slices.Concat([]string{"-W0", "testdata/psych.rb"}, args)...)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer("%0A", "\n", "%25", "%")
	lines := strings.Split(string(bytes.TrimSuffix(out, []byte("\n"))), "\n")
	if len(lines) != len(files) {
		t.Fatalf("%d answers for %d files", len(lines), len(files))
	}
	for i := range lines {
		lines[i] = unescape.Replace(lines[i])
	}
	return lines
}
