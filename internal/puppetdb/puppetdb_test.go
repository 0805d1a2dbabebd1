package puppetdb

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// answering returns a PuppetDB whose answers come from a function of the query.
func answering(t *testing.T, answer func(query string) (status int, body string)) *DB {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Query json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/pdb/query/v4" {
			t.Errorf("%s: %v", r.URL, err)
		}
		status, text := answer(string(body.Query))
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &DB{URL: u, Client: server.Client()}
}

func TestNamesAreSortedAndListedOnce(t *testing.T) {
	db := answering(t, func(query string) (int, string) {
		if !strings.Contains(query, "facts_timestamp") {
			t.Errorf("expected a query for nodes with facts, found %s", query)
		}
		return 200, `[{"certname": "b"}, {"certname": "a"}, {"certname": "b"}]`
	})
	names, err := db.Names(t.Context(), "")
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("found %v, %v", names, err)
	}
}

func TestQueryIsSentAsPQLOrAST(t *testing.T) {
	for query, sent := range map[string]string{
		`nodes[certname] { }`:                     `"nodes[certname] { }"`,
		` ["from", "nodes", ["=", "a", "b"]]`:     `["from","nodes",["=","a","b"]]`,
		`inventory[certname] { facts.a = "[b]" }`: `"inventory[certname] { facts.a = \"[b]\" }"`,
	} {
		db := answering(t, func(query string) (int, string) {
			if query != sent {
				t.Errorf("sent %s, expected %s", query, sent)
			}
			return 200, `[]`
		})
		if _, err := db.Names(t.Context(), query); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorsNameServerAndReason(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"a refused certificate":     {403, "denied", "found 403 Forbidden: denied; PuppetDB's certificate-allowlist must"},
		"a wrong query":             {400, "PQL parse error", "found 400 Bad Request: PQL parse error"},
		"control characters":        {400, "a\x1b[31mb", `a\x1b[31mb`},
		"an answer without names":   {200, `[{"count": 3}]`, "row 1 of the answer has no certname"},
		"an answer that is no list": {200, `{"error": 1}`, "expected a list of rows"},
	} {
		t.Run(name, func(t *testing.T) {
			db := answering(t, func(string) (int, string) { return c.status, c.body })
			_, err := db.Names(t.Context(), "")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), db.URL.Host) {
				t.Errorf("found %v, expected %s", err, c.want)
			}
		})
	}
}

func TestFactsKeepEnvironmentAndTrustedFacts(t *testing.T) {
	db := answering(t, func(query string) (int, string) {
		if !strings.Contains(query, `["in","name",["array",["clientcert","os","trusted"]]]`) ||
			!strings.Contains(query, `["order_by",["certname","name"]]`) {
			t.Errorf("expected a query for the needed facts in order, found %s", query)
		}
		return 200, `[
			{"certname": "b", "environment": "lab", "name": "os", "value": {"family": "Debian"}},
			{"certname": "a", "environment": "production", "name": "trusted", "value": {"certname": "a", "x": {}}},
			{"certname": "a", "environment": "production", "name": "big", "value": 1234567890123456789}]`
	})
	nodes, err := db.Facts(t.Context(), []string{"a", "b", "c"}, []string{"os", "trusted"})
	if err != nil || len(nodes) != 2 {
		t.Fatalf("found %d nodes, %v", len(nodes), err)
	}
	for i, want := range []string{
		`{"name": "a", "facts": {"big": 1234567890123456789}, "environment": "production", ` +
			`"trusted": {"certname": "a", "x": {}}}`,
		`{"name": "b", "facts": {"os": {"family": "Debian"}}, "environment": "lab", "trusted": {"certname": "b"}}`,
	} {
		text, err := nodes[i].MarshalJSON()
		if spaced := strings.NewReplacer(",", ", ", ":", ": ").Replace(string(text)); err != nil || spaced != want {
			t.Errorf("found    %s, %v\nexpected %s", spaced, err, want)
		}
	}
}

// transport is a RoundTripper made from a function, which fails some requests.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}
}

func TestBusyServerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		db := &DB{URL: &url.URL{Scheme: "https", Host: "db"}, Client: &http.Client{Transport: transport(
			func(*http.Request) (*http.Response, error) {
				asked++
				switch asked {
				case 1:
					return nil, io.ErrUnexpectedEOF
				case 2:
					return response(503, ""), nil
				}
				return response(200, `[{"certname": "a"}]`), nil
			})}}
		names, err := db.Names(t.Context(), "")
		if err != nil || len(names) != 1 || asked != 3 {
			t.Errorf("found %v after %d requests, %v", names, asked, err)
		}
	})
}

func TestTokenIsNotSentToServerOfRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another server got the token '%s'", r.Header.Get("X-Authentication"))
	}))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	u, err := url.Parse(first.URL)
	if err != nil {
		t.Fatal(err)
	}
	db := &DB{URL: u, Client: first.Client(), Token: "secret"}
	_, err = db.Names(t.Context(), "")
	if want := "found 307 Temporary Redirect to " + other.URL; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, expected %s", err, want)
	}
}

func TestFactsOfOtherNodesAreAnError(t *testing.T) {
	db := answering(t, func(string) (int, string) {
		return 200, `[{"certname": "../a", "environment": "production", "name": "clientcert", "value": "a"}]`
	})
	_, err := db.Facts(t.Context(), []string{"a"}, nil)
	if err == nil || !strings.Contains(err.Error(), "facts of '../a', a node that the query does not name") {
		t.Errorf("found %v", err)
	}
}
