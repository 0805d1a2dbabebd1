package bindingsfile

import (
	"fmt"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/value"
)

// The name of a file is the one in its text, with its position. It is undef if it has an error.
func TestReadsNameOfFile(t *testing.T) {
	for _, c := range []struct {
		file, text string
		name       value.Value
		at         string
	}{
		{"s.yaml", "bindings_version: 1\nname: a::b\nbind: []\n", value.FromString("a::b"), "1:1 2:7"},
		{"s.yaml", "# what it is\nbindings_version: 1\nname: [a]\nbind: []\n",
			value.FromSlice([]value.Value{value.FromString("a")}), "2:1 3:7"},
		{"s.pp", "\nbindings a::b { }\n", value.FromString("a::b"), "1:1 2:10"},
		{"s.pp", "bindings { }\n", value.Value{}, "1:1 1:10"},
	} {
		s, _ := reading(c.file, c.text)
		at := fmt.Sprintf("%d:%d %d:%d", s.Pos.Line, s.Pos.Col, s.Name.Pos.Line, s.Name.Pos.Col)
		if at != c.at || !value.Identical(s.Name.Value, c.name) {
			t.Errorf("%s: the name is %s, at %s; expected %s", c.text, value.Describe(s.Name.Value), at, c.at)
		}
	}
}

// Broken reports true only for statements with a syntax error.
func TestBrokenReportsUnparsedStatements(t *testing.T) {
	for statement, broken := range map[string]bool{"bind 'a' to 1": false, "bind 'a' to { x => 1, x => 2 }": false,
		"bind 'a' to nope()": false, "bnd 'a' to 1": true, "bind 'a' to": true} {
		var diags diag.List
		if p := ParsePuppet("s.pp", []byte(inPuppet("\n"+statement)), &diags); p.Broken() != broken {
			t.Errorf("%s: that it is broken is %v", statement, p.Broken())
		}
	}
}

// A producer with an error still counts as a producer, so that the binding gets no second error.
func TestInvalidProducerGivesOneError(t *testing.T) {
	for _, c := range []struct {
		file, text, producer string
		broken               bool
	}{
		{"s.yaml", "\n- {name: a, to_query: 1}", "to", true},
		{"s.yaml", "\n- {name: a, to_query: 'Sql[?? x == $y]'}", "to", true},
		{"s.yaml", "\n- {name: a, to_expression: '1 +'}", "to_expression", true},
		{"s.yaml", "\n- {name: a, type: String, to: '${'}", "to", true},
		{"s.pp", "\nbind 'a' { to_lookup_of => $x }", "to", true},
		{"s.pp", "\nbind 'a' to Sql[?? x == $y]", "to", true},
		{"s.pp", "\nbind 'a' to nope()", "to", true},
		{"s.pp", "\nbind parameters Web to Sql[$x]", "to", true},
		{"s.pp", "\nbind parameters Web to Sql[a, b]", "to", true},
		{"s.pp", "\nbind parameters Web to Sql[a]", "to", false},
	} {
		text := inYAML(c.text)
		if c.file == "s.pp" {
			text = inPuppet(c.text)
		}
		s, _ := reading(c.file, text)
		a := s.Statements[0]
		if len(a.Producers) != 1 || a.Producers[0].Name != c.producer || a.Broken != c.broken {
			t.Errorf("%s: it is %+v, broken is %v", c.text, a.Producers, a.Broken)
		}
	}
}

// Each element of a value has its own position for messages.
func TestElementsHaveOwnPositions(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"s.yaml", "\n- {name: a, type: Array, to: [1, {x: [2]}]}", "4:32 4:33 4:36 4:37 4:40 4:41"},
		{"s.pp", "\nbind Array, 'a' to [1, { x => [2] }]", "2:22 2:23 2:26 2:28 2:33 2:34"},
		{"s.pp", "\nbind Array, 'a' to [$x, { x => [2] }]", "2:22 2:23 2:27 2:29 2:34 2:35"},
	} {
		text := inYAML(c.text)
		if c.file == "s.pp" {
			text = inPuppet(c.text)
		}
		s, reported := read(t, c.file, text)
		b := s.Statements[0]
		if got := strings.Join(places(b.Producers[0].Argument), " "); got != c.want || reported != "" {
			t.Errorf("%s: the places are %s, expected %s; %s", c.text, got, c.want, reported)
		}
	}
}

// places lists the positions of a value and its parts, in order.
func places(l *Literal) []string {
	out := []string{fmt.Sprintf("%d:%d", l.Pos.Line, l.Pos.Col)}
	for i := range l.Kids {
		out = append(out, places(&l.Kids[i])...)
	}
	return out
}
