//go:build unix

package explore

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bindc/facts"
	"bindc/internal/report/decision"
)

// Every page of a large site has at most 200 KB. BINDC_SNAPSHOT names a snapshot of such a site, made by
// bench/cmd/gensite. The test logs the times, and in brackets the processor time of the whole program.
func TestPagesOfLargeSiteAreSmall(t *testing.T) {
	file := os.Getenv("BINDC_SNAPSHOT")
	if file == "" {
		t.Skip("BINDC_SNAPSHOT names no snapshot")
	}
	bare, err := Open(Source{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	nodes := generatedNodes(t, bare)
	start := time.Now()
	d, err := Open(Source{Path: file, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("open: %v", time.Since(start))
	start, used := time.Now(), processorTime(t)
	d.count(func() {
		t.Logf("a part of the counts of %d nodes: %v (%v)", len(nodes), time.Since(start), processorTime(t)-used)
	})
	s := New(Access{})
	s.versions = []*Data{d}
	node, l := d.nodes[len(nodes)/2].Name, links{"/s/" + d.ID}
	key := d.keys[len(d.keys)/2]
	asked := computedKey(t, d)
	start = time.Now()
	<-d.key(asked).answered
	<-d.key("site::hot").answered
	debug.FreeOSMemory() // so that no page pays for the garbage of the counts
	t.Logf("values of %s for all nodes: %v", asked, time.Since(start))
	for _, address := range []string{l.Key(asked), l.Key(asked, "values", pageRows), l.Key(asked, "value", 1),
		l.Key(asked, "row", 1), l.base + "/", l.base + "/k", l.Key(key), l.Key("site::hot"), l.Key(key, "row", 1),
		l.base + "/n", l.Node(node), l.Node(node, "layer", "site"), l.Node(node, "if", "osfamily=Suse"),
		l.Node(node, "with", d.nodes[0].Name), l.Why(node, key), l.Why(node, "site::hot"), l.base + "/f",
		l.File("data/common.yaml", 0), l.File("data/node/"+node+".yaml", 0), l.base + "/q?q=profile"} {
		for range 2 { // the first one waits for the nodes of its key
			start, used := time.Now(), processorTime(t)
			answer := httptest.NewRecorder()
			r := httptest.NewRequest("GET", address, nil)
			r.Host = "localhost"
			s.ServeHTTP(answer, r)
			size := answer.Body.Len()
			t.Logf("%s: %v (%v), %d bytes", address, time.Since(start), processorTime(t)-used, size)
			if answer.Code != 200 || size > 200_000 {
				t.Errorf("%s has status %d and %d bytes", address, answer.Code, size)
			}
		}
	}
}

// processorTime returns the time that processors have spent on the program.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// computedKey returns a key whose value is computed.
func computedKey(t *testing.T, d *Data) string {
	t.Helper()
	for _, key := range d.keys {
		table, err := d.tables().Values(key)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(table.Rows, func(r decision.Row) bool { return r.Computed != "" }) {
			return key
		}
	}
	return d.keys[0]
}

// generatedNodes returns nodes with the names of the data files of nodes.
func generatedNodes(t *testing.T, d *Data) (out []facts.Node) {
	t.Helper()
	for i, in := range d.inputs {
		if !strings.HasPrefix(in.Path, "data/node/") {
			continue
		}
		name := strings.TrimSuffix(path.Base(in.Path), ".yaml")
		text, err := json.Marshal(map[string]string{"fqdn": name, "osfamily": []string{"Debian", "RedHat"}[i%2],
			"environment": []string{"production", "staging"}[i/2%2]})
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := facts.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		nodes[0].Name = name
		out = append(out, nodes[0])
	}
	return out
}
