// Package query parses queries, which are JSON objects, one per line, and looks up their keys.
package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/value"
)

// Query is a query for one or several keys with the facts of one node. Either Key or Keys is set.
type Query struct {
	Key         *string         `json:"key"`
	Keys        []string        `json:"keys"`
	Facts       json.RawMessage `json:"facts"`
	Type        string          `json:"type"`
	Trusted     json.RawMessage `json:"trusted"`
	Node        string          `json:"node"`
	Environment string          `json:"environment"`
	Variables   json.RawMessage `json:"vars"`
	Merge       json.RawMessage `json:"merge"`
	Explain     bool            `json:"explain"`
}

// MaxLine is the default limit on the length of a query in bytes. The facts of a node take tens of thousands of bytes.
const MaxLine = 16 << 20

// ReadLine reads the next line. If the line is longer than limit, ReadLine discards it and sets long.
func ReadLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit+1; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// Parse parses a query. After most errors, q still has the members that could be decoded, such as the key.
func Parse(line []byte) (q Query, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err = d.Decode(&q); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("unexpected text after the object; write one query per line")
		} else if name, twice := value.RepeatedMember(line); twice {
			q, err = Query{}, fmt.Errorf("\"%s\" is given twice, with different values", name)
		}
	}
	switch {
	case err != nil:
		if q.Key != nil && *q.Key == "" {
			q.Key = nil // the key is not a string
		}
		return q, usageError("expected a query as a JSON object: " + malformed(err))
	case q.Key == nil && len(q.Keys) == 0:
		return q, usageError(`expected "key" in the query`)
	case q.Key != nil && q.Keys != nil:
		return q, usageError(`expected "key" or "keys" in the query, found both`)
	}
	return q, nil
}

func usageError(message string) error { return &lookup.Error{Code: lookup.CodeUsage, Message: message} }

// malformed describes an error of encoding/json without mentioning Go types.
func malformed(err error) string {
	var typ *json.UnmarshalTypeError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case isUnknown:
		return unknownMember(unknown)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected end of JSON input"
	case !errors.As(err, &typ):
		return err.Error()
	case typ.Field == "":
		return "found " + typ.Value
	}
	return "found " + typ.Value + " as \"" + typ.Field + "\""
}

// unknownMember returns the message for an unknown member, with a suggestion. quoted is its name in quotes.
func unknownMember(quoted string) string {
	var names []string
	for f := range reflect.TypeFor[Query]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	name, err := strconv.Unquote(quoted)
	hint := diag.DidYouMean(name, names)
	if err != nil || hint == "" {
		hint = "a query has " + strings.Join(names, ", ")
	}
	return "unknown member " + quoted + "; " + hint
}
