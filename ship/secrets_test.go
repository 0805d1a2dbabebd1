package ship

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRedactsUserAndPasswordOfAnyURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/a@b":                "https://example.com/a@b",
		"https://deploy:hunter2@example.com/a":   "https://xxxxx@example.com/a",
		"https://hunter2@example.com/a":          "https://xxxxx@example.com/a",
		"ftp://deploy:hunter2@example.com/a":     "ftp://xxxxx@example.com/a",
		"ftp://deploy:hun/ter2@example.com/a":    "ftp://xxxxx@example.com/a",
		"ftp://deploy:hun@ter2@example.com:x/":   "ftp://xxxxx@example.com:x/",
		"://deploy:hunter2@example.com":          "://xxxxx@example.com",
		"deploy:hunter2@example.com:site.snap":   "xxxxx@example.com:site.snap",
		"@hunter":                                "@hunter",
		"site@production":                        "site@production",
		"site":                                   "site",
		"example.com/puppet/site@sha256:0123abc": "example.com/puppet/site@sha256:0123abc",
	} {
		if got := Redacted(text); got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
}

// The client sends user and password to the server. Neither the name of the source nor an error contains them.
func TestPasswordOfSourceIsNotShown(t *testing.T) {
	m := newMaster(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "deploy" || password != "hunter2" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/site.snap" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte("one"))
	}))
	defer s.Close()
	source := func(user *url.Userinfo, path string) *HTTP {
		return &HTTP{&url.URL{Scheme: "http", Host: strings.TrimPrefix(s.URL, "http://"), Path: path, User: user},
			s.Client()}
	}
	good := url.UserPassword("deploy", "hunter2")
	m.pull.Source = source(good, "/site.snap")
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	m.answers("one")
	if name := m.pull.Source.String(); name != strings.Replace(s.URL, "//", "//xxxxx@", 1)+"/site.snap" {
		t.Error(name)
	}
	for _, user := range []*url.Userinfo{nil, url.User("hunter2"), url.UserPassword("", "hunter2")} {
		m.pull.Source = source(user, "/site.snap")
		if err := m.pullNow(); err == nil || !strings.Contains(err.Error(), "401") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v", user, err)
		}
	}
	s.Close()
	m.pull.Source = source(good, "/site.snap")
	if err := m.pullNow(); err == nil || strings.Contains(err.Error(), "hunter2") ||
		strings.Contains(err.Error(), "deploy") {
		t.Errorf("a server that is gone: %v", err)
	}
}

// A URL may have a token as the user, without a password, or as the password of an empty user.
func TestTokenInURLIsNotShown(t *testing.T) {
	m := newMaster(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user+password != "token" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
		} else if r.URL.Path == "/site.snap" {
			w.Write([]byte("one"))
		} else {
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for _, who := range []string{"token@", ":token@"} {
		u, err := url.Parse(strings.Replace(s.URL, "//", "//"+who, 1) + "/site.snap")
		if err != nil {
			t.Fatal(err)
		}
		m.pull.Source = &HTTP{u, s.Client()}
		if err := m.pullNow(); err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
	m.answers("one")
}

// Repeated is set if the same release is rejected again for the same reason, even if polls in between find no release.
func TestRepeatedRejectionsAreMarked(t *testing.T) {
	m := newMaster(t)
	shut, rules, content := true, "first", false
	m.pull.Checks.Gate = func(string, string) error {
		if shut {
			return &Refusal{"shut"}
		}
		return nil
	}
	m.pull.Checks.Rules = func() string { return rules }
	m.pull.Checks.Inspect = func(string) (bool, error) {
		if content {
			return false, &Refusal{"damaged"}
		}
		return false, nil
	}
	for _, step := range []struct {
		what     string
		change   func()
		reason   Reason
		repeated bool
	}{
		{"first rejection", func() { m.shelf.text = "one" }, Gate, false},
		{"same release again", func() {}, Gate, true},
		{"again", func() {}, Gate, true},
		{"source does not answer", func() { m.shelf.fails = http.ErrServerClosed }, Network, false},
		{"source does not answer again", func() {}, Network, false},
		{"the first release again", func() { m.shelf.fails = nil }, Gate, true},
		{"another release", func() { m.shelf.text = "two" }, Gate, false},
		{"other rules", func() { rules = "second" }, Gate, false},
		{"another reason", func() { rules, content = "third", true }, Content, false},
		{"the same reason again", func() {}, Content, true},
		{"accepted", func() { rules, shut, content = "fourth", false, false }, "", false},
		{"no new release", func() {}, "", false},
		{"still no new release", func() {}, "", false},
		{"rejected as before", func() { rules, shut, m.shelf.text = "first", true, "one" }, Gate, false},
		{"rejected as before, with a damaged active file", func() { m.damage("two") }, Gate, false},
	} {
		step.change()
		m.now = m.now.Add(2 * time.Hour) // each pull reads the active file
		r, err := m.pull.Run(t.Context())
		if ReasonOf(err) != step.reason || r.Repeated != step.repeated {
			t.Errorf("%s: repeated %v, %v; expected %v, %s", step.what, r.Repeated, err, step.repeated, step.reason)
		}
	}
}

// A server that sends a byte now and then makes progress. Only the timeout of the pull ends the transfer.
func TestPullTimeoutEndsSlowDownload(t *testing.T) {
	m := newMaster(t)
	client, address := asking(t, time.Minute, func(w http.ResponseWriter, _ *http.Request, release <-chan struct{}) {
		flush(w, "one byte and another")
		<-release
	})
	u, err := url.Parse(address + "/site.snap")
	if err != nil {
		t.Fatal(err)
	}
	ctx, dripped := contextWithCause(t)
	m.pull.Source = &HTTP{u, &http.Client{Transport: afterBytes{client.Transport, 10, dripped}}}
	_, err = m.pull.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), errTimeIsUp.Error()) || ReasonOf(err) != Network {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	m.answers("")
	m.clean()
}

var errTimeIsUp = errors.New("the time of the pull is up")

func contextWithCause(t *testing.T) (context.Context, func()) {
	ctx, end := context.WithCancelCause(t.Context())
	return ctx, func() { end(errTimeIsUp) }
}

// afterBytes calls then when so many bytes of an answer have been read.
type afterBytes struct {
	http.RoundTripper
	bytes int
	then  func()
}

func (a afterBytes) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = &counted{resp.Body, a.bytes, a.then}
	}
	return resp, err
}

type counted struct {
	io.ReadCloser
	left int
	then func()
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	if c.left -= n; c.left <= 0 && err == nil {
		c.then()
	}
	return n, err
}
