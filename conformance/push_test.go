package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// registry is an in-memory registry.
type registry struct {
	mu    sync.Mutex
	blobs map[string][]byte // blobs by digest
	tags  map[string]string // digests of manifests, by repository and tag
	made  int               // number of blobs that were pushed
}

// holds returns the number of tags, and the number of blobs that were pushed.
func (r *registry) holds() (tags, made int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tags), r.made
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := strings.TrimPrefix(req.URL.Path, "/v2/")
	repo, name, manifest := strings.Cut(path, "/manifests/")
	body, _ := io.ReadAll(req.Body)
	sum := sha256.Sum256(body)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	switch {
	case req.Method == http.MethodPost:
		w.Header().Set("Location", req.URL.Path+"1")
		w.WriteHeader(http.StatusAccepted)
	case req.Method == http.MethodPut:
		if manifest {
			r.tags[repo+":"+name] = digest
		} else {
			r.made++
		}
		r.blobs[digest] = body
		w.Header().Set("Docker-Content-Digest", digest)
		w.WriteHeader(http.StatusCreated)
	default:
		digest = path[strings.LastIndexByte(path, '/')+1:]
		if at, ok := r.tags[repo+":"+name]; ok {
			digest = at
		}
		if r.blobs[digest] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if manifest {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		}
		w.Header().Set("Docker-Content-Digest", digest)
		w.Write(r.blobs[digest])
	}
}

// Each environment is pushed and pulled under its name. An environment with errors is not pushed, nor is a blob that
// the registry has.
func TestPushesEachValidEnvironment(t *testing.T) {
	t.Parallel()
	held := &registry{blobs: map[string][]byte{}, tags: map[string]string{}}
	server := httptest.NewServer(held)
	defer server.Close()
	repository := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/puppet/sites"
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	hiera := "version: 2\nhierarchy: [[common, 'true', data/common]]\n"
	data := func(name, said string) {
		dir := filepath.Join(root, "environments", name)
		put(filepath.Join(dir, "hiera.yaml"), hiera)
		put(filepath.Join(dir, "data", "common.yaml"), said)
	}
	data("production", "who: production\n")
	data("test", "who: test\n")
	data("broken", "who: [1\n")
	run := func(want int, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "DOCKER_CONFIG="+root)
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Fatalf("%s %v: status %d, %v\n%s", name, args, got, err, out)
		}
		return string(out)
	}
	push := []string{"environments", root, "-o", "out", "--push", repository, "--plain-http", "--revision", "abc"}
	said := run(1, "bindc", push...)
	tags, before := held.holds()
	if tags != 2 || strings.Count(said, "@sha256:") != 2 {
		t.Errorf("pushed %d tags:\n%s", tags, said)
	}
	run(1, "bindc", push...)
	if _, now := held.holds(); now != before {
		t.Errorf("%d blobs were put there again", now-before)
	}
	for _, name := range []string{"production", "test"} {
		said := run(0, "bindsync", "pull", repository+":"+name, "--name", name, "--store", "store", "--plain-http")
		if !strings.Contains(said, "revision abc") {
			t.Errorf("pulled: %s", said)
		}
		if got := run(0, "bindq", "lookup", "who", "-s", "store", "--node", "a", "--environment", name); got != name+"\n" {
			t.Errorf("%s says %q", name, got)
		}
	}

	put(filepath.Join(root, "environments.pp"), "site { environment { 'other': } }\n")
	said = run(1, "bindc", append(push, "--strict")...)
	if !strings.Contains(said, "this file's choice of environments is not pushed") {
		t.Errorf("said: %s", said)
	}
}

// Parts of a build can be pushed and linked through a registry. No master can pull one as a snapshot, and link
// rejects snapshots.
func TestPartsTravelThroughRegistry(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&registry{blobs: map[string][]byte{}, tags: map[string]string{}})
	defer server.Close()
	repository := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/puppet/parts"
	root := t.TempDir()
	for name, text := range map[string]string{"hiera.yaml": "version: 2\nhierarchy: [[common, 'true', data/common]]\n",
		"data/common.yaml": "who: all\n"} {
		path := filepath.Join(root, "site", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want int, says, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "DOCKER_CONFIG="+root)
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), says) {
			t.Fatalf("%s %v: status %d, %v; expected %q in\n%s", name, args, got, err, says, out)
		}
	}
	run(0, "", "bindc", "build", "site", "-o", "whole.bsnap")
	var sources []string
	for _, i := range []string{"1", "2"} {
		run(0, "", "bindc", "build", "site", "--part", i+"/2", "-o", i+".pack")
		run(0, "@sha256:", "bindc", "push", i+".pack", repository+":"+i, "--plain-http")
		sources = append(sources, repository+":"+i)
	}
	link := append([]string{"link", "--site", "site", "-o", "linked.bsnap", "--plain-http"}, sources...)
	run(0, "", "bindc", link...)
	whole, err := os.ReadFile(filepath.Join(root, "whole.bsnap"))
	if err != nil {
		t.Fatal(err)
	}
	if linked, err := os.ReadFile(filepath.Join(root, "linked.bsnap")); err != nil || string(linked) != string(whole) {
		t.Errorf("the linked snapshot differs: %v", err)
	}
	run(2, "raise --max-size", "bindc", append(link, "--max-size", "10")...)
	run(2, "a part is not signed", "bindc", "push", "1.pack", repository+":1", "--plain-http", "--name", "production")

	run(1, "its type is 'application/vnd.bindc.part.v1'", "bindsync", "pull", sources[0], "--name", "production",
		"--store", "store", "--plain-http")
	run(0, "@sha256:", "bindc", "push", "whole.bsnap", repository+":2", "--plain-http")
	run(2, "is not a bindc part of a build", "bindc", link...)
}
