package explore

import (
	"io"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// shownAt matches the time at which a version was first shown.
var shownAt = regexp.MustCompile(` at \d\d:\d\d:\d\d`)

// Several people open each page at once while the nodes of two versions are being counted. Then they read the same
// pages as a person who is alone. Pages of searches differ, because a search ends after some time.
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
	counted, newer = openAgain(t, counted), openAgain(t, newer)
	server := served(t, Access{}, counted, newer)
	page := func(path string) (status int, text string) {
		answer, err := http.Get(server + path)
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
	var reading sync.WaitGroup
	var asked, answered atomic.Int64
	for _, path := range slices.Repeat(paths, people) {
		reading.Go(func() {
			asked.Add(1)
			if status, text := page(path); status != http.StatusOK {
				t.Errorf("%s has status %d: %s", path, status, text)
			}
			answered.Add(1)
		})
	}
	for asked.Load() < people {
		runtime.Gosched()
	}
	waiting := people - answered.Load()
	reading.Go(func() { counted.count(func() {}) })
	reading.Go(func() { newer.count(func() {}) })
	if reading.Wait(); waiting <= 0 {
		t.Error("nobody read a page before the nodes were counted")
	}
	for _, path := range slices.Repeat(paths, people) {
		reading.Go(func() {
			_, text := page(path)
			text = shownAt.ReplaceAllString(text, "")
			if text != alone[path] && !strings.HasPrefix(path, "/s/latest/") {
				t.Errorf("%s is\n%s\nfor several people, and\n%s\nfor one", path, text, alone[path])
			}
		})
	}
	reading.Wait()
}

// openAgain opens the snapshot and the nodes of d without counting.
func openAgain(t *testing.T, d *Data) *Data {
	t.Helper()
	again, err := Open(Source{Style: d.Style, Path: d.path, Nodes: d.nodes})
	if err != nil {
		t.Fatal(err)
	}
	if again.ID != d.ID {
		t.Fatalf("the same snapshot has the IDs %s and %s", d.ID, again.ID)
	}
	return again
}
