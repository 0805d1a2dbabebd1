package query_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/query"
	"bindc/internal/testsite"
	bindings "bindc/runtime"
)

func TestReadLineDiscardsOverlongLines(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader("short\n"+strings.Repeat("x", 100)+"\n1234567890\nlast"), 16)
	for _, want := range []struct {
		line string
		long bool
		err  error
	}{{"short\n", false, nil}, {"", true, nil}, {"1234567890\n", false, nil}, {"last", false, io.EOF}} {
		line, long, err := query.ReadLine(r, 10)
		if string(line) != want.line || long != want.long || err != want.err {
			t.Errorf("found %q, %v, %v; expected %q, %v, %v", line, long, err, want.line, want.long, want.err)
		}
	}
}

func TestParseReadsFieldsOfQuery(t *testing.T) {
	q, err := query.Parse([]byte(`{"keys": ["a", "b"], "node": "n1", "explain": true, "facts": {"x": 1}}`))
	if err != nil || q.Key != nil || !slices.Equal(q.Keys, []string{"a", "b"}) || q.Node != "n1" || !q.Explain ||
		string(q.Facts) != `{"x": 1}` {
		t.Errorf("found %+v, %v", q, err)
	}
}

func TestParseDescribesMistakes(t *testing.T) {
	const object = "expected a query as a JSON object: "
	for line, want := range map[string]string{
		``:                       object + "EOF",
		`{"key": "a"`:            object + "unexpected end of JSON input",
		`{"key": "a"} {}`:        object + "unexpected text after the object; write one query per line",
		`["a"]`:                  object + "found array",
		`{"key": 1}`:             object + `found number as "key"`,
		`{"key": "a", "fact":1}`: object + `unknown member "fact"; did you mean 'facts'?`,
		`{"key": "a", "zzzzz":1}`: object + `unknown member "zzzzz"; a query has key, keys, facts, type, trusted, node, ` +
			"environment, vars, merge, explain",
		`{"key": "a", "Key": "b"}`: object + `"Key" is given twice, with different values`,
		`{}`:                       `expected "key" in the query`,
		`{"keys": []}`:             `expected "key" in the query`,
		`{"key": "a", "keys": []}`: `expected "key" or "keys" in the query, found both`,
	} {
		_, err := query.Parse([]byte(line))
		if err == nil || err.Error() != want || lookup.CodeOf(err) != lookup.CodeUsage {
			t.Errorf("%s: found %v [%s], expected %s", line, err, lookup.CodeOf(err), want)
		}
	}
}

// An answer with an error should name the key, so Parse returns it if it can be read.
func TestParseReturnsKeyOfAnInvalidQuery(t *testing.T) {
	q, err := query.Parse([]byte(`{"key": "a", "type": 1}`))
	if err == nil || q.Key == nil || *q.Key != "a" {
		t.Errorf("found %+v, %v", q, err)
	}
	if q, err = query.Parse([]byte(`{"key": 1}`)); err == nil || q.Key != nil {
		t.Errorf("a key that is not a string: found %+v, %v", q, err)
	}
}

// newSession returns a session on a snapshot with bindings. It counts the requests that the session begins.
func newSession(t *testing.T, bind string, begun *int) *query.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, bind, path)
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	return &query.Session{
		Begin: func(f *bindings.Facts) (*lookup.Request, error) {
			*begun++
			return (*lookup.Snapshot)(snap).Request((*lookup.Facts)(f))
		},
		Node: func(name string) (facts.Node, error) {
			if name != "n1" {
				return facts.Node{}, errors.New("no facts of " + name)
			}
			v, err := bindings.ValueOf(map[string]any{"role": "web"})
			return facts.Node{Name: name, Facts: v}, err
		},
	}
}

// answer looks up the key of a query, and returns its value or its error as text.
func answer(t *testing.T, s *query.Session, line string) string {
	t.Helper()
	q, err := query.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Request(&q)
	if err != nil {
		return err.Error()
	}
	v, found, err := s.Lookup(r, &q, *q.Key, nil)
	switch {
	case err != nil:
		return err.Error()
	case !found:
		return "not found"
	}
	return v.String()
}

func TestLookupAnswersOrDescribesProblem(t *testing.T) {
	begun := 0
	s := newSession(t, "[a, 'role ${role}'], [list, [1, 2]]", &begun)
	for line, want := range map[string]string{
		`{"key": "a", "facts": {"role": "db"}}`:           "role db",
		`{"key": "a", "node": "n1"}`:                      "role web",
		`{"key": "a", "node": "n2"}`:                      "no facts of n2",
		`{"key": "a", "vars": {"role": "x"}, "facts":{}}`: "role x",
		`{"key": "absent", "facts": {}}`:                  "not found",
		`{"key": "list", "facts": {}, "type": "Array"}`:   "[1, 2]",
		`{"key": "a", "facts": {}, "type": "Integer"}`:    "expected Integer, found String",
		`{"key": "a", "facts": {}, "type": "Nope"}`:       "unknown type 'Nope'",
		`{"key": "list", "facts": {}, "merge": "nope"}`:   "merge strategy 'nope'",
	} {
		if got := answer(t, s, line); !strings.Contains(got, want) {
			t.Errorf("%s: found %s, expected %s", line, got, want)
		}
	}
}

// Queries for one node share a request. Any other query begins a new one.
func TestSessionReusesTheLastRequest(t *testing.T) {
	begun := 0
	s := newSession(t, "[a, 1]", &begun)
	for i, c := range []struct {
		line  string
		begun int
	}{
		{`{"key": "a", "facts": {"x": 1}}`, 1},
		{`{"key": "b", "facts": {"x": 1}}`, 1},
		{`{"key": "a", "facts": {"x": 2}}`, 2},
		{`{"key": "a", "facts": {"x": 2}, "environment": "test"}`, 3},
		{`{"key": "a", "facts": {"x": 2}, "node": "n1"}`, 4},
		{`{"key": "a", "facts": {"x": 2}, "vars": {"y": 1}}`, 5},
		{`{"key": "a", "facts": {"x": 2}, "trusted": {"y": 1}}`, 6},
	} {
		if answer(t, s, c.line); begun != c.begun {
			t.Errorf("query %d: %d requests began, expected %d", i+1, begun, c.begun)
		}
	}
}

func TestLookupRunsTheCheckFirst(t *testing.T) {
	begun := 0
	s := newSession(t, "[a, 1]", &begun)
	q, err := query.Parse([]byte(`{"key": "a", "facts": {}, "merge": "unique"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Request(&q)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	_, found, err := s.Lookup(r, &q, "a", func(_ *lookup.Request, key string, merge bindings.Value) error {
		return fmt.Errorf("%w: %s by %s", refused, key, merge)
	})
	if found || !errors.Is(err, refused) || err.Error() != "refused: a by unique" {
		t.Errorf("found %v, %v", found, err)
	}
}
