package gate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/query"
	bindings "bindc/runtime"
	"bindc/ship"
)

// Keys is a file of queries in the format of bindq batch. A snapshot must have a value for every
// key in them.
type Keys struct {
	Option string // for error messages
	File   string
	Node   func(name string) (facts.Node, error) // returns the facts for a query that names a node
}

// Check returns an error if snap has no value for a key in the queries.
func (k *Keys) Check(snap *lookup.Snapshot) error {
	in, err := os.Open(k.File)
	if err != nil {
		return k.errorf("%w", err)
	}
	defer in.Close()
	begin := func(f *bindings.Facts) (*lookup.Request, error) { return snap.Request((*lookup.Facts)(f)) }
	s := &query.Session{Begin: begin, Node: k.Node}
	r := bufio.NewReader(in)
	queries := 0
	for n, last := 1, false; !last; n++ {
		line, long, err := query.ReadLine(r, query.MaxLine)
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return k.errorf("%w", err)
		}
		at := fmt.Sprintf("%s:%d", k.File, n)
		if long {
			return k.errorf("%s: expected a query of at most %d bytes", at, query.MaxLine)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := k.checkQuery(s, line, at); err != nil {
			return err
		}
		queries++
	}
	if queries == 0 {
		return k.NoQueries()
	}
	return nil
}

// NoQueries returns the error for a file without queries.
func (k *Keys) NoQueries() error {
	return k.errorf("%s has no query: every snapshot would pass; expected one per line, "+
		`such as {"key": "ntp::servers", "facts": {...}}`, k.File)
}

func (k *Keys) errorf(format string, args ...any) error {
	return fmt.Errorf(k.Option+": "+format, args...)
}

// checkQuery returns an error if the snapshot has no value for a key of one query. at is the
// position of the query, for messages.
func (k *Keys) checkQuery(s *query.Session, line []byte, at string) error {
	q, err := query.Parse(line)
	if err != nil {
		return k.queryError(err, at)
	}
	r, err := s.Request(&q)
	if err != nil {
		return k.queryError(err, at)
	}
	keys := q.Keys
	if q.Key != nil {
		keys = []string{*q.Key}
	}
	var missing error
	err = r.Snapshot().Protect(func() error {
		for _, key := range keys {
			if missing = k.checkKey(s, r, &q, key, at); missing != nil {
				break
			}
		}
		return nil
	})
	if err != nil { // the file was truncated
		return k.queryError(err, at)
	}
	return missing
}

// checkKey returns an error if a key has no value or its value cannot be formatted as JSON.
func (k *Keys) checkKey(s *query.Session, r *lookup.Request, q *query.Query, key, at string) error {
	v, found, err := s.Lookup(r, q, key, nil)
	if err == nil && found {
		_, err = v.Reveal().MarshalJSON()
	}
	switch {
	case err != nil:
		return k.queryError(err, at)
	case !found:
		return &ship.Refusal{Reason: fmt.Sprintf("%s: '%s' is not found", at, key)}
	}
	return nil
}

// queryError returns the error for a query that has failed. It returns nil if the value is
// encrypted, because this machine may not have the key.
func (k *Keys) queryError(err error, at string) error {
	switch code := lookup.CodeOf(err); code {
	case lookup.CodeUsage:
		return k.errorf("%s: %v", at, err) // not %w: the code of err must not become that of the returned error
	case lookup.CodeEncrypted:
		return nil
	default:
		return &ship.Refusal{Reason: fmt.Sprintf("%s: %s [%s]", at, err, code)}
	}
}
