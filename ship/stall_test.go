package ship

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

type answering func(w http.ResponseWriter, r *http.Request, release <-chan struct{})

// asking returns a client with a stall timeout and starts a server that answers requests with handle. release stops the
// server.
func asking(t *testing.T, stall time.Duration, handle answering) (*http.Client, string) {
	t.Helper()
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, release) }))
	t.Cleanup(func() { close(release); s.Close() })
	client, err := Client("", stall)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client, s.URL
}

func get(t *testing.T, client *http.Client, url string) (string, error) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// flush sends text immediately.
func flush(w http.ResponseWriter, text string) {
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

const stalls = "no data was transferred for 200ms: the server or the network has stalled"

func hangs(_ http.ResponseWriter, _ *http.Request, release <-chan struct{}) { <-release }

func TestStalledTransfersEnd(t *testing.T) {
	t.Parallel() // it mostly waits
	const limit = 200 * time.Millisecond
	t.Run("no response", func(t *testing.T) {
		client, url := asking(t, limit, hangs)
		if _, err := get(t, client, url); err == nil || !strings.Contains(err.Error(), stalls) {
			t.Error(err)
		}
	})
	t.Run("a response without the rest of its body", func(t *testing.T) {
		client, url := asking(t, limit, func(w http.ResponseWriter, _ *http.Request, release <-chan struct{}) {
			flush(w, "half")
			<-release
		})
		if text, err := get(t, client, url); text != "half" || err == nil || !strings.Contains(err.Error(), stalls) {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("a request whose body is not read", func(t *testing.T) {
		client, url := asking(t, limit, hangs)
		_, err := client.Post(url, "", io.LimitReader(&endless{}, 1<<30))
		if err == nil || !strings.Contains(err.Error(), stalls) {
			t.Error(err)
		}
	})
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// A transfer may take any time as long as it makes progress, and its reader may pause.
func TestSlowTransfersAreNotEnded(t *testing.T) {
	t.Parallel() // it mostly waits
	const limit, n = 500 * time.Millisecond, 7
	client, url := asking(t, limit, func(w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		b := make([]byte, 1)
		for {
			if _, err := io.ReadFull(r.Body, b); err != nil {
				break
			}
		}
		for range n {
			flush(w, "x")
			time.Sleep(limit / 5)
		}
	})
	if text, err := get(t, client, url); text != strings.Repeat("x", n) || err != nil {
		t.Errorf("a slow answer: %q, %v", text, err)
	}
	if resp, err := client.Post(url, "", &slow{n: n, pause: limit / 5}); err != nil {
		t.Errorf("a slow request: %v", err)
	} else {
		time.Sleep(limit * 3 / 2)
		if text, err := io.ReadAll(resp.Body); len(text) != n || err != nil {
			t.Errorf("after a pause: %q, %v", text, err)
		}
		resp.Body.Close()
	}
}

type slow struct {
	n     int
	pause time.Duration
}

func (s *slow) Read(b []byte) (int, error) {
	if s.n--; s.n < 0 {
		return 0, io.EOF
	}
	time.Sleep(s.pause)
	b[0] = 'x'
	return 1, nil
}

// If the caller cancels a request, the error does not mention a stall.
func TestCanceledRequestIsNotAStall(t *testing.T) {
	client, url := asking(t, time.Minute, func(w http.ResponseWriter, _ *http.Request, release <-chan struct{}) {
		flush(w, "half")
		<-release
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	resp.Body.Close()
}
