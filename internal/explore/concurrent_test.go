package explore

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Several people read all pages while the nodes are still being counted and a newer version is shown. Afterwards, they
// read the same pages as a person who is alone. Pages of searches differ, because a search ends after some time.
func TestPeopleWhoReadAtOnceSeeSamePages(t *testing.T) {
	const people = 4
	counted, newer := open(t, small, Source{}), open(t, secrets, Source{})
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(crawl(t, served(t, Access{}, counted)))),
		func(path string) bool { return strings.Contains(path, "/q") })
	alone, to := map[string]string{}, served(t, Access{}, counted, newer)
	for _, path := range paths {
		_, alone[path] = get(t, "GET", to+path, nil)
	}
	fresh, err := Open(Source{Style: counted.Style, Path: counted.path, Nodes: counted.nodes})
	if err != nil {
		t.Fatal(err)
	}
	if fresh.ID != counted.ID {
		t.Fatalf("the same snapshot has the IDs %s and %s", counted.ID, fresh.ID)
	}
	s := New(Access{})
	s.Show(fresh)
	server := httptest.NewServer(s)
	defer server.Close()
	page := func(path string) (status int, text string) {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Error(err)
		}
		return answer.StatusCode, string(body)
	}
	all := func(read func(path string)) {
		var reading sync.WaitGroup
		for i := range people {
			reading.Go(func() { // each person begins at another page
				for j := range paths {
					read(paths[(j+i*len(paths)/people)%len(paths)])
				}
			})
		}
		reading.Wait()
	}
	go s.Show(newer)
	all(func(path string) {
		if status, text := page(path); status != http.StatusOK {
			t.Errorf("%s has status %d: %s", path, status, text)
		}
	})
	<-fresh.tally.ready
	all(func(path string) {
		if _, text := page(path); text != alone[path] && !strings.HasPrefix(path, "/s/latest/") {
			t.Errorf("%s is\n%s\nfor several people, and\n%s\nfor one", path, text, alone[path])
		}
	})
}
