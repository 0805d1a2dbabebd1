package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/query"
	"bindc/internal/report"
	bindings "bindc/runtime"
)

func (g *globals) batchCommand() *cobra.Command {
	s := source{globals: g}
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
			"\"keys\": [K, ...] instead of \"key\" is answered by {\"answers\": [...]}. With\n" +
			"\"explain\": true an answer has the members of lookup --explain too.\n\n" +
			"A query with a node but no facts uses the facts of the node in --facts-dir.\n\n" +
			"Exit status: 0 every query has an answer, which may be an error; 2 the\n" +
			"snapshot has an error.",
		Example: "  echo '{\"key\": \"ntp::package\", \"facts\": {\"fqdn\": \"web1\"}}' |\n" +
			"    bindq batch -s site.snap",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.pathOrArgument(args)
			if err != nil {
				return err
			}
			return s.requests(path, func(begin requestFunc) error {
				node := func(name string) (facts.Node, error) {
					n, err := s.nodeInDir(name)
					return n, cmp.Or(err, s.sayUnread(cmd))
				}
				b := batch{source: &s, Session: query.Session{Begin: begin, Node: node}, maxLine: maxLine}
				return b.run(cmd.InOrStdin(), cmd.OutOrStdout())
			})
		},
	}
	s.addFactsDir(cmd)
	s.addStrict(cmd)
	cmd.Flags().Lookup("strict").Usage = "answer a query that looks incomplete or misspelt with an error"
	s.addStrictVariables(cmd)
	maxLine = query.MaxLine
	cmd.Flags().Var(cli.AtLeastOne(&maxLine), "max-line", "allow at most `N` bytes per query")
	return cmd
}

type answer struct {
	Key   *string         `json:"key,omitempty"`
	Found *bool           `json:"found,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`

	Sensitive bool            `json:"sensitive,omitempty"`
	Error     *report.Failure `json:"error,omitempty"`

	*report.Explanation          // nil unless the query sets explain
	Answers             []answer `json:"answers,omitempty"` // set only if the query has several keys
}

type batch struct {
	*source
	query.Session
	maxLine int
}

func (b *batch) run(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)
	for {
		line, long, err := query.ReadLine(r, b.maxLine)
		if long || len(bytes.TrimSpace(line)) > 0 {
			a := tooLong(b.maxLine)
			if !long {
				a = b.answer(line)
			}
			if err := writeAnswer(w, a); err != nil {
				return err
			}
		}
		if r.Buffered() == 0 { // no query is waiting, so send the answers
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
	q, err := query.Parse(line)
	if err != nil {
		return failed(q.Key, err)
	}
	r, err := b.Request(&q)
	if err != nil {
		return each(&q, func(key string) answer { return failed(&key, err) })
	}
	return b.guarded(r, &q)
}

// guarded returns the answer to q. If the snapshot file has been truncated, the answer is an error.
func (b *batch) guarded(r *lookup.Request, q *query.Query) (a answer) {
	err := r.Snapshot().Protect(func() error {
		a = each(q, func(key string) answer { return b.explained(r, q, key) })
		return nil
	})
	if err != nil {
		return failed(nil, err)
	}
	return a
}

// each returns the answer to q. It calls lookUp for each key of q.
func each(q *query.Query, lookUp func(key string) answer) answer {
	if q.Key != nil {
		return lookUp(*q.Key)
	}
	out := answer{}
	for _, key := range q.Keys {
		out.Answers = append(out.Answers, lookUp(key))
	}
	return out
}

// explained returns the answer to q for one key. If q.Explain is set, the answer includes the explanation.
func (b *batch) explained(r *lookup.Request, q *query.Query, key string) answer {
	out := b.answerKey(r, q, key)
	if !q.Explain {
		return out
	}
	e, err := report.Style{}.Explain(r, key)
	if err != nil {
		return failed(&key, err)
	}
	out.Explanation = e
	return out
}

func (b *batch) answerKey(r *lookup.Request, q *query.Query, key string) answer {
	var check query.Check
	if b.strict {
		check = refuseDoubts
	}
	v, found, err := b.Lookup(r, q, key, check)
	switch {
	case err != nil:
		return failed(&key, err)
	case !found:
		return answer{Key: &key, Found: new(bool)}
	}
	text, err := v.Reveal().MarshalJSON()
	if err != nil {
		return failed(&key, err)
	}
	return answer{Key: &key, Found: &found, Value: text, Sensitive: v.Sensitive()}
}

// refuseDoubts returns an error if the lookup of key looks wrong, for example because a category value seems misspelt.
// merge is the merge that the query sets, or undef.
func refuseDoubts(r *lookup.Request, key string, merge bindings.Value) error {
	var merged merging
	if !merge.IsUndef() {
		merged = func(r *lookup.Request, key string) { r.LookupMerged(key, lookup.Value(merge)) }
	}
	doubts, err := doubtsOf(r, []string{key}, merged)
	if err == nil && len(doubts) > 0 {
		err = strictError(doubts)
	}
	return err
}

func failed(key *string, err error) answer {
	return answer{Key: key, Error: &report.Failure{Code: report.CodeOf(err), Message: err.Error()}}
}
