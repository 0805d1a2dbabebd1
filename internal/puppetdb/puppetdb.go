// Package puppetdb fetches facts of nodes from PuppetDB. It uses version 4 of the query API:
// https://www.puppet.com/docs/puppetdb/latest/api/query/v4/overview.html
package puppetdb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"bindc/diag"
	"bindc/facts"
)

// MaxAnswer limits the size of PuppetDB's answers, in bytes.
const MaxAnswer = 256 << 20

// DB is a client of PuppetDB. It is safe for concurrent use.
type DB struct {
	URL    *url.URL // such as https://puppetdb.example.com:8081
	Client *http.Client
	Token  string // RBAC token of Puppet Enterprise, or ""
}

// active is the query for all active nodes with facts.
var active = []any{"from", "nodes", []any{"extract", []any{"certname"},
	[]any{"not", []any{"null?", "facts_timestamp", true}}}}

// Names returns the certnames of the nodes that a query selects, sorted. The query is in PQL or, as
// a JSON array, in AST form. If query is "", Names returns all active nodes that have facts.
func (db *DB) Names(ctx context.Context, query string) ([]string, error) {
	var q any = query
	switch {
	case query == "":
		q = active
	case strings.HasPrefix(strings.TrimSpace(query), "["):
		if err := json.Unmarshal([]byte(query), &q); err != nil {
			return nil, fmt.Errorf("expected a query in PQL, or an AST in JSON: %w", err)
		}
	}
	answer, err := db.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	var rows []struct{ Certname string }
	if err := json.Unmarshal(answer, &rows); err != nil {
		return nil, fmt.Errorf("%s: expected a list of rows: %w", db.shown(), err)
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		if row.Certname == "" {
			return nil, fmt.Errorf("%s: row %d of the answer has no certname; write a query such as "+
				"nodes[certname] { ... }", db.shown(), i+1)
		}
		names[i] = row.Certname
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// always lists facts that are fetched even if they are not requested. Every agent sends clientcert,
// so a node without it has no facts. The trusted facts contain the certname.
var always = []string{"clientcert", "trusted"}

// Facts returns the facts of nodes, sorted by the names of nodes and facts. It leaves out nodes
// without facts. If only is not nil, it fetches only the facts in that list and in always.
func (db *DB) Facts(ctx context.Context, certnames, only []string) ([]facts.Node, error) {
	where := []any{"in", "certname", []any{"array", certnames}}
	if only != nil {
		names := slices.Concat(always, only)
		slices.Sort(names)
		where = []any{"and", where, []any{"in", "name", []any{"array", slices.Compact(names)}}}
	}
	answer, err := db.ask(ctx, []any{"from", "facts",
		[]any{"extract", []any{"certname", "environment", "name", "value"}, where},
		[]any{"order_by", []any{"certname", "name"}}})
	if err != nil || string(bytes.TrimSpace(answer)) == "[]" {
		return nil, err
	}
	nodes, err := facts.Parse(db.shown(), answer)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes { // the names become file names
		if !slices.Contains(certnames, n.Name) {
			return nil, fmt.Errorf("%s: the answer has facts of '%s', a node that the query does not name", db.shown(),
				diag.Visible(n.Name))
		}
	}
	slices.SortFunc(nodes, func(a, b facts.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes, nil
}

// Limits for retrying a request after a temporary failure.
const (
	attempts = 4
	pause    = time.Second // doubled after each attempt
)

// ask sends a query and returns the answer. It retries temporary failures.
func (db *DB) ask(ctx context.Context, query any) ([]byte, error) {
	body, err := json.Marshal(map[string]any{"query": query})
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		answer, err := db.post(ctx, body)
		var passing *passing
		if err == nil || attempt == attempts || !errors.As(err, &passing) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause << (attempt - 1)):
		}
	}
}

// passing is a temporary error, after which a retry may succeed.
type passing struct{ error }

func (p *passing) Unwrap() error { return p.error }

func (db *DB) post(ctx context.Context, body []byte) ([]byte, error) {
	u := db.URL.JoinPath("pdb/query/v4")
	u.User = nil // errors of the client contain the URL
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if db.Token != "" {
		req.Header.Set("X-Authentication", db.Token)
	}
	client := *db.Client
	// Do not follow redirects, which could send the token to another server. PuppetDB does not
	// redirect queries.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return nil, &passing{err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, db.refusal(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, &passing{fmt.Errorf("%s: %w", db.shown(), err)}
	case len(answer) > MaxAnswer:
		return nil, fmt.Errorf("%s: the answer has more than %d bytes; ask for fewer nodes at once", db.shown(),
			MaxAnswer)
	}
	return answer, nil
}

func (db *DB) refusal(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)) // the status is enough if the text cannot be read
	reason := cmp.Or(strings.TrimSpace(diag.Visible(string(text))), "no reason given")
	err := fmt.Errorf("%s: expected status 200, found %s: %s", db.shown(), resp.Status, reason)
	if to, _ := resp.Location(); to != nil {
		return fmt.Errorf("%s: expected status 200, found %s to %s; if that is PuppetDB, give its URL instead",
			db.shown(), resp.Status, to.Redacted())
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w; PuppetDB's certificate-allowlist must contain the client's certname", err)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &passing{err}
	}
	return err
}

// shown returns the URL for messages, with the password hidden.
func (db *DB) shown() string { return db.URL.Redacted() }
