package explore

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestSearchFindsResultsOfExpressions(t *testing.T) {
	d := open(t, computed, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/q?q=https%3A%2F%2Fstaging.example.org%2F", "<h2>Results of expressions</h2>", "/k/url",
		"/n/web2/k/url", "!/n/web1/k/url", "!Nothing contains", "!<h2>Values")
	shows(t, to, "/q?q=THIS+IS+WEB", "this is web1", "!this is web2") // one node is enough
	shows(t, to, "/q?q=this+is", "<h2>Values", "!<h2>Results")        // the data has the text
	shows(t, to, "/q?q=canary", "Nothing contains this text.")
	shows(t, to, "/q?q=nonsense", "Nothing contains this text.")
	shows(t, to, "/q.json?q=%2F%2Fstaging", `"values":[],"results":[{"key":"url","node":"web2","outcome":{"value":`)
	var twin searchContent
	_, text := get(t, "GET", to+"/q.json?q=is+web2", nil)
	err := json.Unmarshal([]byte(text), &twin)
	if err != nil || len(twin.Results) != 1 || twin.Results[0].Node != "web2" {
		t.Errorf("%v: %s", err, text)
	}
	bare, _, _ := strings.Cut(computed, "-- facts/web1.json --")
	d = open(t, bare, Source{})
	shows(t, served(t, Access{}, d)+"/s/"+d.ID, "/q?q=is+web2", "Nothing contains", "expressions have no results")
}

// A search that ends early continues at the key and the node where it ended.
func TestSearchInResultsContinues(t *testing.T) {
	d := open(t, computed, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	nodes := len(d.nodes)
	motd := slices.IndexFunc(d.tally.computed, func(key int32) bool { return d.keys[key] == "motd" })
	for skipped, node := range map[int]string{0: "web1", 1: "web2", 2: "web3", 3: ""} {
		c := &searchContent{Query: "is web"}
		v := &view{d: d, links: links{to}, Values: map[string][]string{"results": {strconv.Itoa(motd*nodes + skipped)}}}
		if err := v.searchResults(c); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, r := range c.Results {
			found += r.Node
		}
		if found != node {
			t.Errorf("after %d nodes of motd, the search finds '%s', expected '%s'", skipped, found, node)
		}
	}
	shows(t, to, "/q?q=web&results=999", "Nothing contains")
}

func TestSearchInResultsEndsEarly(t *testing.T) {
	var many strings.Builder
	for i := range maxFound + 2 {
		fmt.Fprintf(&many, "many%d: \"%%{fqdn} is here\"\n", i)
	}
	d := open(t, strings.Replace(computed, "-- site/data/env", many.String()+"-- site/data/env", 1), Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	_, text := get(t, "GET", to+"/q?q=web1+is+here", nil)
	next := regexp.MustCompile(`<a href="([^"]*)">Search the results of ([0-9]+) more expressions?</a>`).FindStringSubmatch(text)
	if next == nil || strings.Count(text, "web1 is here&#34;") > maxFound {
		t.Fatalf("no link to more results:\n%s", text)
	}
	seen := strings.Count(text, "web1 is here&#34;</code>")
	for steps := 0; next != nil && steps < 1000; steps++ { // a slow machine needs several
		_, text = get(t, "GET", strings.TrimSuffix(to, "/s/"+d.ID)+html.UnescapeString(next[1]), nil)
		seen += strings.Count(text, "web1 is here&#34;</code>")
		next = regexp.MustCompile(`<a href="([^"]*)">Search the results`).FindStringSubmatch(text)
	}
	if seen != maxFound+2 {
		t.Errorf("all pages have %d results, expected %d", seen, maxFound+2)
	}
}
