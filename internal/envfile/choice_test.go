package envfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/snapshot"
)

// program parses an environments.pp and returns its program.
func program(t testing.TB, src string) *expr.Node {
	t.Helper()
	says, errs := syntax.ParseEnvironments(src)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return ProgramOf(says.Statements)
}

func TestChooseRunsProgramWithVariables(t *testing.T) {
	const byRole = `$wanted = $role ? { 'db' => 'special', default => $agent_environment }
		if $wanted =~ /^\w+$/ { $environment = $wanted }`
	node := map[string]value.Value{"role": value.FromString("db"), "environment": value.FromString("of_node"),
		"agent_environment": value.FromString("of_node")}
	other := map[string]value.Value{"role": value.FromInt(1)}
	for _, test := range []struct {
		program *expr.Node
		node    map[string]value.Value
		agent   string
		want    string // "": an error
	}{
		{AgentProgram(), node, "test", "test"},
		{AgentProgram(), node, "", "production"},
		{program(t, ""), node, "test", "production"},
		{program(t, "$x = 'test'"), node, "test", "production"},
		{program(t, "$environment = 'a'"), node, "test", "a"},
		{program(t, byRole), node, "test", "special"},
		{program(t, byRole), other, "test", "test"},
		{program(t, byRole), other, "a b", "production"},
		{program(t, byRole), nil, "", ""},
		{program(t, "if true { $environment = undef }"), node, "test", "production"},
		{program(t, "$y = $environment; $environment = \"${y}x\""), node, "test", "x"},
		{program(t, "$environment = 1"), node, "test", ""},
		{program(t, "$environment = $role + 1"), node, "test", ""},
		{program(t, "if true { $environment = 'a' } $environment = 'b'"), node, "test", ""},
	} {
		c := &Choice{Program: test.program}
		again, err := Decode(string(Encode(c)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Choice{c, again} {
			got, err := c.Choose(func(name string) value.Value { return test.node[name] }, test.agent)
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("%s for %v, asked for %q: %q, %v; expected %q", syntax.Print(test.program), test.node,
					test.agent, got, err, test.want)
			}
		}
	}
	c := &Choice{Program: program(t, byRole)}
	if got := c.Variables(); !slices.Equal(got, []string{"role", "wanted", "wanted"}) {
		t.Errorf("it depends on %q", got)
	}
}

func TestValidEnvironmentNames(t *testing.T) {
	for name, want := range map[string]bool{"production": true, "A_1": true, "1": true, "feature-x.y": true, "": false,
		".": false, "..": false, "-a": false, "a/b": false, "a b": false, "ä": false,
		strings.Repeat("a", maxName): true, strings.Repeat("a", maxName+1): false} {
		if IsName(name) != want {
			t.Errorf("%q is a name: %v", name, !want)
		}
	}
}

func TestEncodedChoiceDecodesToItself(t *testing.T) {
	c := &Choice{Program: program(t, "if $a == 1 { $environment = 'b' }"),
		Environments: []Environment{{"b", true}, {"production", false}}}
	whole := string(Encode(c))
	again, err := Decode(whole)
	if err != nil || !reflect.DeepEqual(again.Environments, c.Environments) ||
		syntax.Print(again.Program) != syntax.Print(c.Program) {
		t.Errorf("read %v, %v", again, err)
	}
	for n := range len(whole) {
		if _, err := Decode(whole[:n]); err == nil {
			t.Errorf("the first %d bytes are a file", n)
		}
		changed := []byte(whole)
		changed[n] ^= 1
		var damage *snapshot.DamageError
		_, err := Decode(string(changed))
		switch {
		case n < len(magic) && errors.Is(err, snapshot.ErrFormat):
		case n >= len(magic) && n < len(magic)+4 && errors.Is(err, snapshot.ErrVersion):
		case n >= len(magic)+4 && errors.As(err, &damage):
		default:
			t.Errorf("with another byte %d: %v", n, err)
		}
	}
}

func TestReadReturnsErrorOfAccept(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, Encode(&Choice{Program: AgentProgram()}), 0o600); err != nil {
		t.Fatal(err)
	}
	errNo := errors.New("no")
	if _, err := Read(path, func([]byte) error { return errNo }); !errors.Is(err, errNo) {
		t.Errorf("read with %v", err)
	}
	if _, err := Read(path, nil); err != nil {
		t.Error(err)
	}
}

// FuzzDecode checks that arbitrary bytes are either rejected or decoded to a Choice that can be encoded again.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(&Choice{Program: AgentProgram(), Environments: []Environment{{"a", true}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := len(b) - sumSize; n > headSize { // if there are bytes before the checksum
			b = binary.LittleEndian.AppendUint64(b[:n:n], xxhash.Sum64(b[:n]))
		}
		c, err := Decode(string(b))
		if err != nil {
			return
		}
		if again, err := Decode(string(Encode(c))); err != nil || len(again.Environments) != len(c.Environments) {
			t.Errorf("%v, %v", again, err)
		}
	})
}

// format.md documents the constants of this file.
func TestFormatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## The choice of an environment\n")
	section = strings.Join(strings.Fields(section), " ") // ignore line breaks
	for _, said := range []string{fmt.Sprintf("| magic | %d | `%s` |", len(magic), magic),
		fmt.Sprintf("| version | u32 | %d |", version), fmt.Sprintf("at most %d bytes", maxName)} {
		if !ok || !strings.Contains(section, said) {
			t.Errorf("format.md does not say %q of the choice of an environment", said)
		}
	}
}

// The flag byte of an environment must be 0 or 1 (format.md, table "flag bytes").
func TestDecodeRejectsOtherFlagBytes(t *testing.T) {
	for flags := range 256 {
		file := Encode(&Choice{Program: AgentProgram(), Environments: []Environment{{Name: "production"}}})
		at := len(file) - sumSize - len("production") - 2
		file[at] = byte(flags)
		body := file[:len(file)-sumSize]
		binary.LittleEndian.PutUint64(file[len(body):], xxhash.Sum64(body))
		if _, err := Decode(string(file)); (err == nil) != (flags <= 1) {
			t.Errorf("flags %#x: %v", flags, err)
		}
	}
}
