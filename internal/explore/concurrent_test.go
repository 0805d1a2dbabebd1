package explore

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shownAt matches the time at which a version was first shown.
var shownAt = regexp.MustCompile(` at \d\d:\d\d:\d\d`)

// Several people open each page at once while the nodes of two versions are still being counted. Then they read the
// same pages as a person who is alone. Pages of searches differ, because a search ends after some time.
func TestPeopleWhoReadAtOnceSeeSamePages(t *testing.T) {
	const people = 4
	counted, newer := open(t, small, Source{}), open(t, secrets, Source{})
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(crawl(t, served(t, Access{}, counted)))),
		func(path string) bool { return strings.Contains(path, "/q") })
	paths = append(paths, "/s/"+counted.ID+"/d?old="+newer.ID)
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
	s.Show(newer)
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
		for _, path := range paths {
			var reading sync.WaitGroup
			for range people {
				reading.Go(func() { read(path) })
			}
			reading.Wait()
		}
	}
	all(func(path string) {
		if status, text := page(path); status != http.StatusOK {
			t.Errorf("%s has status %d: %s", path, status, text)
		}
	})
	<-fresh.tally.ready
	all(func(path string) {
		_, text := page(path)
		if text = shownAt.ReplaceAllString(text, ""); text != alone[path] && !strings.HasPrefix(path, "/s/latest/") {
			t.Errorf("%s is\n%s\nfor several people, and\n%s\nfor one", path, text, alone[path])
		}
	})
}
