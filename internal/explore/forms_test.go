package explore

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestErrorKeepsForm(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for path, c := range map[string]struct {
		status int
		texts  []string
	}{
		"/n/web1?if=osfamily%3DSuse&if=blah": {http.StatusBadRequest, []string{
			"expected name=text or name:=JSON, found &#39;blah&#39;", `name="if" value="blah"`,
			`name="fact.osfamily" value="Suse"`, "<details open><summary>What if", "!another value", "!suppose <code>"}},
		"/n/web1?with=web9": {http.StatusNotFound, []string{"No facts were read for node &#39;web9&#39;.",
			`name="with" required value="web9"`, "<details open><summary>Compare", "!another value",
			`Similar names: <a href="/s/` + d.ID + `/n/web1?with=web2"><bdi>web2</bdi></a>.`}},
		"/n/-/k/a?node=web9": {http.StatusNotFound, []string{"No facts were read for node &#39;web9&#39;.",
			`action="/s/` + d.ID + `/n/-/k/a"`, `name="node" required placeholder="web1" value="web9"`,
			"/n/web1/k/a", "/n/web2/k/a"}},
		"/n/web9":     {http.StatusNotFound, []string{`/n/web1"`, `/n/web2"`, "!Why does a node"}},
		"/n/web9/k/a": {http.StatusNotFound, []string{"/n/web1/k/a", "!Why does a node"}},
	} {
		answer, _ := get(t, "GET", to+path, nil)
		if answer.StatusCode != c.status || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: status %s, Cache-Control %s", path, answer.Status, answer.Header.Get("Cache-Control"))
		}
		shows(t, to, path, c.texts...)
	}
	for _, path := range []string{"/n/web1.json?if=blah", "/n/web1.json?with=web9"} {
		answer, text := get(t, "GET", to+path, nil)
		if answer.StatusCode < 400 || strings.Contains(text, "<") {
			t.Errorf("%s: status %s, %s", path, answer.Status, text)
		}
	}
}

func TestSimilarNamesAreAllOffered(t *testing.T) {
	to := func(name string, _ ...any) string { return "/" + name }
	texts := func(links []link) (out []string) {
		for _, l := range links {
			out = append(out, l.Text)
		}
		return out
	}
	names := []string{"db1", "web1", "web2", "web3"}
	if found := texts(similar("web9", names, to)); !slices.Equal(found, []string{"web1", "web2", "web3"}) {
		t.Errorf("found %v", found)
	}
	names = nil
	for i := range maxListed + 1 {
		names = append(names, fmt.Sprintf("web%03d", i))
	}
	if found := texts(similar("web0x1", names, to)); len(found) != 1 {
		t.Errorf("found %v, expected the most similar one of many", found)
	}
}
