package explore

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// crowded returns a site whose key a has a binding for each of n roles, with nodes in a few of them.
func crowded(n int) string {
	var site strings.Builder
	site.WriteString("-- site/bindings/default.yaml --\nbindings_version: 1\nname: default\nbind:\n" +
		"  - {name: users, multibind_id: users, type: 'Array[String]'}\n  - [common, 1]\n")
	for i := range n {
		fmt.Fprintf(&site, "  - {when: {role: r%d}, bind: [[a, %d]]}\n", i, i)
	}
	site.WriteString("-- site/binder_config.yaml --\nversion: 1\ncategories: [[role, '${role}'], [common, 'true']]\n" +
		"layers: [{name: site, include: ['confdir:/default', 'confdir:/more']}]\n" +
		"-- site/bindings/more.yaml --\nbindings_version: 1\nname: more\nbind:\n" +
		"  - {name: a, to: all}\n  - {in: users, to: root}\n  - {when: {role: r1}, bind: [{in: users, to: wiki}, [common, 2]]}\n")
	for i := range 3 {
		fmt.Fprintf(&site, "-- facts/web%d.yaml --\nfqdn: web%d\nrole: r%d\n", i, i, i)
	}
	return site.String()
}

// Pages of nodes, reasons and files must not cost more if their keys have more bindings for other nodes.
func TestCostOfPageDoesNotGrowWithBindingsOfOthers(t *testing.T) {
	cost := map[string][]float64{}
	for _, n := range []int{500, 4000} {
		d := open(t, crowded(n), Source{})
		s := New(Access{})
		s.versions = []*Data{d}
		for _, page := range []string{"n/web1", "n/web1?layer=site", "n/web1/k/a", "f/bindings/more.yaml"} {
			cost[page] = append(cost[page], testing.AllocsPerRun(3, func() {
				answer := httptest.NewRecorder()
				r := httptest.NewRequest("GET", "/s/"+d.ID+"/"+page, nil)
				r.Host = "localhost"
				if s.ServeHTTP(answer, r); answer.Code != 200 {
					t.Errorf("%s has status %d: %s", page, answer.Code, answer.Body)
				}
			}))
		}
	}
	for page, n := range cost {
		if n[1] > 1.2*n[0] {
			t.Errorf("%s makes %v allocations with 500 bindings, and %v with 4000", page, n[0], n[1])
		}
	}
}

func TestCacheForgetsLongTables(t *testing.T) {
	c := keyCache{}
	for i, rows := range []int{10, cachedRows / 2, cachedRows / 2, 1} {
		key := fmt.Sprint(i)
		k, isNew := c.entry(key)
		if c.count(key, k, rows); !isNew {
			t.Errorf("key %s is not new", key)
		}
	}
	if strings.Join(c.order, " ") != "2 3" || len(c.known) != 2 || c.rows != cachedRows/2+1 {
		t.Errorf("the cache has the keys %v with %d rows", c.order, c.rows)
	}
	k, _ := c.entry("long")
	if c.count("long", k, 2*cachedRows); strings.Join(c.order, " ") != "long" || c.rows != 2*cachedRows {
		t.Errorf("after a long table, the cache has the keys %v with %d rows", c.order, c.rows)
	}
	c.count("forgotten", &keyData{}, 5)
	if c.rows != 2*cachedRows {
		t.Error("a forgotten table counts")
	}
}

// A page that waits for several numbers must not take several times as long.
func TestRequestWaitsOnce(t *testing.T) {
	v := &view{r: httptest.NewRequest("GET", "/", nil), start: time.Now().Add(-jsonPatience), asJSON: true}
	start := time.Now()
	if ready, err := v.wait(make(chan struct{})); ready || err == nil || time.Since(start) > jsonPatience/2 {
		t.Errorf("after %v, the request has %v and the error %v", time.Since(start), ready, err)
	}
}

func TestReasonCountsBindingsThatItOmits(t *testing.T) {
	d := open(t, crowded(500), Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1/k/a", "<h2>Wins</h2>", "<h2>Hidden</h2>", "bindings/more.yaml:4", "<h2>Does not apply</h2>",
		"299 more bindings; the JSON of this page has all of them")
	_, text := get(t, "GET", to+"/n/web1/k/a.json", nil)
	if n := strings.Count(text, `"state":"not effective"`); n != 499 {
		t.Errorf("the JSON has %d bindings that do not apply, expected 499", n)
	}
}

// The page of a file counts the nodes of a binding as the page of its key does.
func TestNodesOnPagesOfFilesAreThoseOfKeys(t *testing.T) {
	for name, d := range map[string]*Data{
		"example": openDir(t, "../../testdata/example", "../../testdata/example-facts", Source{}),
		"secrets": open(t, secrets, Source{}), "small": open(t, small, Source{}), "ranked": open(t, ranked, Source{}),
		"crowded": open(t, crowded(5), Source{}),
	} {
		to, seen := served(t, Access{}, d)+"/s/"+d.ID, 0
		for _, in := range d.inputs {
			for _, b := range placesIn(t, to+links{}.File(in.Path, 0)+".json") {
				found := slices.ContainsFunc(placesIn(t, to+links{}.Key(b.Key)+".json"), func(row placed) bool {
					n := len(row.Nodes.([]any))
					return row.At == b.At && row.Name == b.Name && string(row.When) == string(b.When) &&
						(b.Nodes == float64(n) || b.UpTo && b.Nodes.(float64) > float64(n))
				})
				if seen++; !found {
					t.Errorf("%s: the key %s has no such row: %+v", name, b.Key, b)
				}
			}
		}
		if seen == 0 {
			t.Errorf("%s has no bindings", name)
		}
	}
}

// placed is a binding in the JSON of a file or of a key.
type placed struct {
	Key, At, Name string
	When          json.RawMessage
	Nodes         any  // a list in the JSON of a key, a number in the JSON of a file
	UpTo          bool `json:"up_to"`
}

// placesIn returns the bindings in the JSON at an address.
func placesIn(t *testing.T, address string) []placed {
	t.Helper()
	var out struct{ Bindings, Contributions []placed }
	_, text := get(t, "GET", address, nil)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v\n%s", address, err, text)
	}
	all := append(out.Bindings, out.Contributions...)
	for i := range all {
		if all[i].Nodes == nil {
			all[i].Nodes = []any{}
		}
	}
	return all
}
