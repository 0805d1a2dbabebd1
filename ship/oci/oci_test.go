package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"bindc/origin"
	"bindc/ship"
)

// fake is an in-memory registry with blobs and manifests.
type fake struct {
	mu     sync.Mutex
	blobs  map[string][]byte // blobs by digest
	tags   map[string]string // digests of manifests, by tag
	log    []string
	user   string // who may, with the password "secret"; "" for everybody
	damage func(digest string, b []byte) []byte
}

func newRegistry(t *testing.T) (*fake, string) {
	r := &fake{blobs: map[string][]byte{}, tags: map[string]string{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	return r, Scheme + strings.TrimPrefix(s.URL, "http://") + "/puppet/site:production"
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (r *fake) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, req.Method+" "+req.URL.Path)
	if user, password, _ := req.BasicAuth(); r.user != "" && (user != r.user || password != "secret") {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path, ok := strings.CutPrefix(req.URL.Path, "/v2/puppet/site/")
	body, err := io.ReadAll(req.Body)
	kind, name, _ := strings.Cut(path, "/")
	switch {
	case !ok || err != nil:
		w.WriteHeader(http.StatusNotFound)
	case kind == "blobs" && req.Method == http.MethodPost:
		w.Header().Set("Location", "/v2/puppet/site/blobs/uploads/1")
		w.WriteHeader(http.StatusAccepted)
	case kind == "blobs" && req.Method == http.MethodPut:
		r.blobs[req.URL.Query().Get("digest")] = body
		w.WriteHeader(http.StatusCreated)
	case kind == "manifests" && req.Method == http.MethodPut:
		r.tags[name], r.blobs[digestOf(body)] = digestOf(body), body
		w.Header().Set("Docker-Content-Digest", digestOf(body))
		w.WriteHeader(http.StatusCreated)
	default:
		r.get(w, req, kind, name)
	}
}

func (r *fake) get(w http.ResponseWriter, req *http.Request, kind, name string) {
	if at, ok := r.tags[name]; ok && kind == "manifests" {
		name = at
	}
	b, ok := r.blobs[name]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.damage != nil && req.Method == http.MethodGet {
		b = r.damage(name, b)
	}
	if kind == "manifests" {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
	}
	w.Header().Set("Docker-Content-Digest", name)
	w.Header().Set("Content-Length", fmt.Sprint(len(b)))
	w.Write(b)
}

func open(t *testing.T, where string) *Repository {
	t.Helper()
	r, err := (&Registry{PlainHTTP: true, Agent: "test"}).Open(where)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.snap")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, o *ship.Offer) (string, error) {
	t.Helper()
	body, err := o.Body(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	b, err := io.ReadAll(body)
	return string(b), err
}

var snapshotText = strings.Repeat("a snapshot, which compresses well. ", 10000)

func TestPullsPushedSnapshot(t *testing.T) {
	reg, where := newRegistry(t)
	r := open(t, where)
	path := file(t, snapshotText)
	label := Label{Revision: "4f2c1e", Source: "https://git.example.com/site",
		Signed: &origin.Signed{Text: []byte("{\n  \"name\": \"ü\"\n}\n"), Signature: []byte("sig\nnature\n")}}
	first, err := r.Push(t.Context(), path, label)
	if err != nil {
		t.Fatal(err)
	}
	reg.log = nil
	second, err := r.Push(t.Context(), path, label)
	if err != nil || second != first || !strings.HasSuffix(first, "/puppet/site@"+reg.tags["production"]) {
		t.Errorf("pushed %s, then %s, %v; expected %s twice", first, second, err, reg.tags["production"])
	}
	for _, line := range reg.log {
		if strings.HasPrefix(line, "POST") {
			t.Errorf("an existing blob was pushed again: %s", line)
		}
	}
	offer, err := r.Look(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	signed, err := offer.Signed(t.Context())
	if err != nil || string(signed.Text) != string(label.Signed.Text) || string(signed.Signature) != "sig\nnature\n" {
		t.Errorf("signed is %q, %v", signed, err)
	}
	text, err := read(t, offer)
	if err != nil || text != snapshotText || "sha256:"+string(offer.Digest) != digestOf([]byte(text)) ||
		offer.Size != int64(len(text)) || offer.Revision != "4f2c1e" {
		t.Errorf("pulled %d bytes of %s, %v, revision '%s'", len(text), offer.Digest, err, offer.Revision)
	}
	reg.log = nil
	if _, err := r.Look(t.Context(), offer.Validator); !errors.Is(err, ship.ErrUnchanged) || len(reg.log) != 1 ||
		!strings.HasPrefix(reg.log[0], "HEAD ") {
		t.Errorf("an idle look: %v, asked %v", err, reg.log)
	}
	byDigest := open(t, Scheme+first)
	if o, err := byDigest.Look(t.Context(), ""); err != nil || o.Digest != offer.Digest {
		t.Errorf("by digest: %+v, %v", o, err)
	}
	if _, err := byDigest.Push(t.Context(), path, label); err == nil {
		t.Error("pushed to a digest")
	}
}

// An artifact only has a creation time if the label has one.
func TestArtifactHasNoTimeByDefault(t *testing.T) {
	reg, where := newRegistry(t)
	r := open(t, where)
	for created, want := range map[string]string{"": "", "2026-05-28T20:26:40Z": "2026-05-28T20:26:40Z"} {
		if _, err := r.Push(t.Context(), file(t, snapshotText), Label{Created: created}); err != nil {
			t.Fatal(err)
		}
		var m ocispec.Manifest
		if err := json.Unmarshal(reg.blobs[reg.tags["production"]], &m); err != nil {
			t.Fatal(err)
		}
		if got := m.Annotations[ocispec.AnnotationCreated]; got != want {
			t.Errorf("created '%s', expected '%s'", got, want)
		}
	}
}

func TestRejectsArtifactsThatAreNotSnapshots(t *testing.T) {
	reg, where := newRegistry(t)
	r := open(t, where)
	if _, err := r.Look(t.Context(), ""); err == nil || !strings.Contains(err.Error(),
		"not found in the registry") {
		t.Errorf("an empty registry: %v", err)
	}
	if _, err := r.Push(t.Context(), file(t, snapshotText), Label{}); err != nil {
		t.Fatal(err)
	}
	good := reg.blobs[reg.tags["production"]]
	for name, c := range map[string]struct {
		spoil func(m *ocispec.Manifest)
		says  string
	}{
		"an image":   {func(m *ocispec.Manifest) { m.ArtifactType = "" }, "its type is ''"},
		"two layers": {func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }, "it has 2 layers"},
		"another format": {func(m *ocispec.Manifest) { m.Layers[0].MediaType = LayerType + "2" },
			"another version"},
		"no digest":      {func(m *ocispec.Manifest) { delete(m.Annotations, annotationSHA256) }, annotationSHA256},
		"a size below 0": {func(m *ocispec.Manifest) { m.Annotations[annotationSize] = "-1" }, annotationSize},
		"a layer larger than the snapshot": {func(m *ocispec.Manifest) { m.Layers[0].Size = 3 << 30 },
			"its layer has 3221225472 bytes; expected at most "},
		"a manifest of 4 MiB": {func(m *ocispec.Manifest) { m.Annotations["padding"] = strings.Repeat("x", 4<<20) },
			"expected at most 4194304"},
	} {
		var m ocispec.Manifest
		if err := json.Unmarshal(good, &m); err != nil {
			t.Fatal(err)
		}
		c.spoil(&m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		reg.tags["production"], reg.blobs[digestOf(text)] = digestOf(text), text
		var refusal *ship.Refusal
		if _, err := r.Look(t.Context(), ""); !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, expected '%s'", name, err, c.says)
		}
	}
}

// A manifest or layer that does not match its digest is rejected.
func TestRejectsContentThatDoesNotMatchDigest(t *testing.T) {
	reg, where := newRegistry(t)
	r := open(t, where)
	if _, err := r.Push(t.Context(), file(t, snapshotText), Label{}); err != nil {
		t.Fatal(err)
	}
	manifest := reg.tags["production"]
	reg.damage = func(d string, b []byte) []byte {
		if d == manifest {
			return append([]byte(" "), b[1:]...)
		}
		return b
	}
	if _, err := r.Look(t.Context(), ""); err == nil {
		t.Error("a manifest that is not what its digest says was taken")
	}
	for _, spoil := range []func(b []byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return append(b[:len(b)-1:len(b)-1], b[len(b)-1]^1) },
		func(b []byte) []byte { return append(b[:len(b):len(b)], 0) },
	} {
		reg.damage = func(d string, b []byte) []byte {
			if d != manifest {
				return spoil(b)
			}
			return b
		}
		o, err := r.Look(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		body, err := o.Body(t.Context())
		if err == nil {
			_, err = io.ReadAll(body)
			body.Close()
		}
		if err == nil {
			t.Error("a layer that is not what its digest says was read")
		}
	}
}

func TestUsesConfiguredOrDockerCredentials(t *testing.T) {
	reg, where := newRegistry(t)
	reg.user = "deploy"
	if _, err := open(t, where).Push(t.Context(), file(t, snapshotText), Label{}); err == nil {
		t.Error("pushed without credentials")
	}
	r, err := (&Registry{PlainHTTP: true, User: "deploy", Password: "secret"}).Open(where)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Push(t.Context(), file(t, snapshotText), Label{}); err != nil {
		t.Error(err)
	}
	if strings.Contains(r.String(), "secret") {
		t.Errorf("%s shows the password", r)
	}
	logIn(t, where)
	if _, err := open(t, where).Look(t.Context(), ""); err != nil {
		t.Errorf("docker's credentials: %v", err)
	}
}

// logIn writes docker's credentials for a registry.
func logIn(t *testing.T, where string) {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimPrefix(where, Scheme), "/puppet/site:production")
	config := fmt.Sprintf(`{"auths": {"%s": {"auth": "ZGVwbG95OnNlY3JldA=="}}}`, host) // deploy:secret
	docker := filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json")
	if err := os.WriteFile(docker, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A running program uses a password that changed after its start.
func TestCredentialsAreReadAgain(t *testing.T) {
	reg, where := newRegistry(t)
	if _, err := open(t, where).Push(t.Context(), file(t, snapshotText), Label{}); err != nil {
		t.Fatal(err)
	}
	r := open(t, where)
	reg.user = "deploy"
	if _, err := r.Look(t.Context(), ""); err == nil {
		t.Error("looked without credentials")
	}
	logIn(t, where)
	if _, err := r.Look(t.Context(), ""); err != nil {
		t.Errorf("after a login: %v", err)
	}
}

// A manifest that is too large is rejected before it is read.
func TestTooLargeManifestIsNotRead(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digestOf(nil))
		w.Header().Set("Content-Length", "3221225472")
		if req.Method != http.MethodHead {
			t.Errorf("%s %s", req.Method, req.URL)
		}
	}))
	defer s.Close()
	where := Scheme + strings.TrimPrefix(s.URL, "http://") + "/puppet/site:production"
	var refusal *ship.Refusal
	if _, err := open(t, where).Look(t.Context(), ""); !errors.As(err, &refusal) ||
		!strings.Contains(err.Error(), "its manifest has 3221225472 bytes") {
		t.Error(err)
	}
}

func TestOpenParsesSources(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	for where, says := range map[string]string{
		"oci://registry.example.com/puppet/site:production": "",
		"oci://registry.example.com/puppet/site":            "expected oci://HOST/REPO:TAG",
		"oci://registry.example.com":                        "expected oci://HOST/REPO:TAG",
		"oci://":                                            "expected oci://HOST/REPO:TAG",
	} {
		if _, err := (&Registry{}).Open(where); (err == nil) != (says == "") || err != nil &&
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", where, err)
		}
	}
	if _, err := (&Registry{PlainHTTP: true}).Open("oci://registry.example.com/puppet/site:production"); err == nil {
		t.Error("a registry elsewhere is asked without TLS")
	}
	for host, here := range map[string]bool{"localhost": true, "localhost:5000": true, "127.0.0.1:1": true,
		"[::1]:5000": true,
		"10.0.0.1":   false, "localhost.example.com": false, "127.0.0.1.example.com": false, "": false} {
		if Loopback(host) != here {
			t.Errorf("'%s' is this machine: %v", host, !here)
		}
	}
}

// If the registry does not answer, Look returns when its context ends.
func TestLookEndsWithItsContext(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer s.Close()
	defer close(hang)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := open(t, Scheme+strings.TrimPrefix(s.URL, "http://")+"/puppet/site:production").Look(ctx, "")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
