package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/members"
	bindings "bindc/runtime"
)

func batchCommand() *cobra.Command {
	var s source
	var maxLine int
	cmd := &cobra.Command{
		Use:   "batch [FILE]",
		Short: "Answer queries, one JSON object per line",
		Long: "batch reads queries as JSON lines from standard input and writes answers as\n" +
			"JSON lines, in order:\n\n" +
			"  {\"key\": K, \"facts\": {...}, \"type\": T, \"trusted\": {...}, \"node\": N,\n" +
			"   \"environment\": E}\n\n" +
			"is answered by {\"key\": K, \"found\": true, \"value\": V},\n" +
			"{\"key\": K, \"found\": false} or {\"key\": K, \"error\": {\"code\": C, \"message\": M}}.\n" +
			"\"keys\": [K, ...] in place of \"key\" is answered by {\"answers\": [...]}. With\n" +
			"\"explain\": true an answer has the members of lookup --explain too.\n\n" +
			"A query with a node but no facts uses the facts of the node in --facts-dir.\n\n" +
			"Exit status: 0 every query has its answer, be it an error; 2 an error of the\n" +
			"snapshot.",
		Example: "  echo '{\"key\": \"ntp::package\", \"facts\": {\"fqdn\": \"web1\"}}' |\n" +
			"    bindq batch -s site.bsnap",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.only(args)
			if err != nil {
				return err
			}
			return s.requests(path, func(begin begin) error {
				b := batch{source: &s, begin: begin, maxLine: maxLine, types: map[string]*bindings.Type{}}
				return b.run(cmd.InOrStdin(), cmd.OutOrStdout())
			})
		},
	}
	s.addSnapshot(cmd)
	s.addFactsDir(cmd)
	s.addStrict(cmd)
	s.addAnswers(cmd)
	maxLine = maxFacts
	cmd.Flags().Var(cli.AtLeastOne(&maxLine), "max-line", "`N` bytes in a query at most")
	return cmd
}

// query is one line of input.
type query struct {
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

// answer is one line of output.
type answer struct {
	Key   *string         `json:"key,omitempty"`
	Found *bool           `json:"found,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`

	Sensitive bool         `json:"sensitive,omitempty"`
	Error     *answerError `json:"error,omitempty"`

	*explanationShape          // where the query asks for it
	Answers           []answer `json:"answers,omitempty"` // of several keys
}

type answerError struct {
	Code    bindings.Code `json:"code"`
	Message string        `json:"message"`
}

// batch answers queries. The last request is kept: queries for one node usually come one after the other.
type batch struct {
	*source
	maxLine int
	begin   begin
	last    []byte // what identifies the request
	request *lookup.Request
	types   map[string]*bindings.Type
}

func (b *batch) run(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)
	for {
		line, long, err := readLine(r, b.maxLine)
		if long || len(bytes.TrimSpace(line)) > 0 {
			a := tooLong(b.maxLine)
			if !long {
				a = b.answer(line)
			}
			if err := writeAnswer(w, a); err != nil {
				return err
			}
		}
		if r.Buffered() == 0 { // nothing is waiting: let the other end see what there is
			if err := w.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line. Of one that is longer than limit nothing is kept; the next one is read as if it had not been.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
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

func tooLong(limit int) answer {
	return failed(nil, &bindings.Error{Code: bindings.CodeUsage,
		Message: fmt.Sprintf("expected a query of at most %d bytes; raise --max-line", limit)})
}

func writeAnswer(w *bufio.Writer, a answer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(a)
}

func (b *batch) answer(line []byte) answer {
	q, err := parseQuery(line)
	if err != nil {
		return failed(q.Key, err)
	}
	switch {
	case q.Key == nil && len(q.Keys) == 0:
		return failed(nil, &bindings.Error{Code: bindings.CodeUsage, Message: `expected "key" in the query`})
	case q.Key != nil && q.Keys != nil:
		return failed(q.Key, &bindings.Error{Code: bindings.CodeUsage,
			Message: `expected "key" or "keys" in the query, found both`})
	}
	if err := b.prepare(&q); err != nil {
		return q.each(func(*query) answer { return failed(q.Key, err) })
	}
	return b.guarded(&q)
}

// guarded is the answer to q, whose request is made, also where the file was truncated.
func (b *batch) guarded(q *query) (a answer) {
	err := b.request.Snapshot().Guard(func() error {
		a = q.each(b.explained)
		return nil
	})
	if err != nil {
		return failed(nil, err)
	}
	return a
}

// each is the answers of one to each of the keys.
func (q *query) each(one func(*query) answer) answer {
	if q.Key != nil {
		return one(q)
	}
	out := answer{}
	for i := range q.Keys {
		q.Key = &q.Keys[i]
		out.Answers = append(out.Answers, one(q))
	}
	return out
}

// explained is the answer to a query of one key, with the reasons if it asks for them.
func (b *batch) explained(q *query) answer {
	out := b.one(q)
	if !q.Explain {
		return out
	}
	e, err := b.request.Explain(*q.Key)
	if err != nil {
		return failed(q.Key, err)
	}
	shape := shower{}.explanation(e, b.request.Categories())
	out.explanationShape = &shape
	return out
}

func (b *batch) one(q *query) answer {
	v, found, err := b.lookup(q)
	switch {
	case err != nil:
		return failed(q.Key, err)
	case !found:
		return answer{Key: q.Key, Found: new(bool)}
	}
	text, err := v.Reveal().MarshalJSON()
	if err != nil {
		return failed(q.Key, err)
	}
	return answer{Key: q.Key, Found: &found, Value: text, Sensitive: v.Sensitive()}
}

// parseQuery parses a line. If it fails, it still returns the key, if the line has one.
func parseQuery(line []byte) (q query, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err = d.Decode(&q); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("found more after the object; write one query per line")
		} else if name, twice := members.Repeated(line); twice {
			q, err = query{}, fmt.Errorf("\"%s\" is given twice, with different values", name)
		}
	}
	if err != nil {
		if q.Key != nil && *q.Key == "" {
			q.Key = nil // the key is not a string
		}
		err = &bindings.Error{Code: bindings.CodeUsage, Message: "expected a query as a JSON object: " + malformed(err)}
	}
	return q, err
}

// malformed describes the error in a query without Go's names of types.
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

// unknownMember describes a member that queries do not have, given in quotes, and suggests a similar one.
func unknownMember(quoted string) string {
	var known []string
	for f := range reflect.TypeFor[query]().Fields() {
		known = append(known, f.Tag.Get("json"))
	}
	name, err := strconv.Unquote(quoted)
	hint := diag.DidYouMean(name, known)
	if err != nil || hint == "" {
		hint = "a query has " + strings.Join(known, ", ")
	}
	return "unknown member " + quoted + "; " + hint
}

func failed(key *string, err error) answer {
	return answer{Key: key, Error: &answerError{codeOf(err), err.Error()}}
}

func (b *batch) lookup(q *query) (v bindings.Value, found bool, err error) {
	typ, err := b.typ(q.Type)
	if err != nil {
		return v, false, err
	}
	merge, err := parseOptional(q.Merge)
	if err != nil {
		return v, false, err
	}
	if b.strict {
		var merged merging
		if !merge.IsUndef() {
			merged = func(r *lookup.Request, key string) { r.LookupMerged(key, lookup.Value(merge)) }
		}
		doubts, err := doubtsOf(b.request, []string{*q.Key}, merged)
		if err == nil && len(doubts) > 0 {
			err = doubtful(doubts)
		}
		if err != nil {
			return v, false, err
		}
	}
	answer, found, err := b.request.LookupMerged(*q.Key, lookup.Value(merge))
	v = bindings.Value(answer)
	if err == nil && found && typ != nil {
		err = v.Check(typ)
	}
	return v, found, err
}

// maxTypes bounds the types that are kept parsed, and maxTypeText those of them that are long.
const (
	maxTypes    = 1000
	maxTypeText = 1000
)

func (b *batch) typ(text string) (*bindings.Type, error) {
	if text == "" {
		return nil, nil
	}
	if t := b.types[text]; t != nil {
		return t, nil
	}
	t, err := bindings.ParseType(text)
	if err != nil {
		return nil, err
	}
	if len(b.types) >= maxTypes {
		clear(b.types)
	}
	if len(text) <= maxTypeText {
		b.types[text] = t
	}
	return t, nil
}

// prepare makes the request of a query, unless it is that of the one before.
func (b *batch) prepare(q *query) error {
	// Where each ends comes first.
	id := fmt.Appendf(nil, "%d %d %d %d ", len(q.Facts), len(q.Trusted), len(q.Variables), len(q.Node))
	id = slices.Concat(id, q.Facts, q.Trusted, q.Variables, []byte(q.Node), []byte(q.Environment))
	if b.request != nil && bytes.Equal(id, b.last) {
		return nil
	}
	trusted, err := parseOptional(q.Trusted)
	if err != nil {
		return err
	}
	variables, err := parseOptional(q.Variables)
	if err != nil {
		return err
	}
	f, err := b.factsOf(q, bindings.FactsOptions{Node: q.Node, Environment: q.Environment, Trusted: trusted,
		Variables: variables})
	if err != nil {
		return err
	}
	if b.request, err = b.begin(f); err != nil {
		b.request = nil
		return err
	}
	b.last = id
	return nil
}

// factsOf returns the facts in a query, or the facts of its node in the directory.
func (b *batch) factsOf(q *query, opts bindings.FactsOptions) (*bindings.Facts, error) {
	if len(q.Facts) > 0 {
		return facts.ParseJSON(q.Facts, opts)
	}
	node, err := b.nodeOfDir(q.Node)
	if err != nil {
		return nil, err
	}
	return facts.Variables(node, opts)
}

func parseOptional(text json.RawMessage) (bindings.Value, error) {
	if len(text) == 0 {
		return bindings.Value{}, nil
	}
	v, err := parseJSON(text)
	if err != nil {
		err = factsError("%v", err)
	}
	return v, err
}
