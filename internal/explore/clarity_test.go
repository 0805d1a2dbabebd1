package explore

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// On a narrow screen, the style sheet puts the cells of a row below each other, after their labels.
func TestEachCellHasLabelForNarrowScreens(t *testing.T) {
	old := open(t, strings.ReplaceAll(ranked, "a: role", "a: before"), Source{})
	d := open(t, ranked, Source{Old: old})
	to := served(t, Access{}, d) + "/s/" + d.ID
	cell := regexp.MustCompile(`<td[^>]*>`)
	for _, path := range []string{"/k/a", "/k/b", "/n", "/n/web1", "/n/web1?if=role%3Ddb", "/n/web1?with=web2", "/n/web1?prefix=x",
		"/n/web1/k/a", "/f", "/f/data/common.yaml", "/d", "/q?q=role"} {
		_, page := get(t, "GET", to+path, nil)
		parts := strings.Split(page, `<div class="scroll"`)
		if len(parts) == 1 {
			t.Errorf("%s has no table", path)
		}
		for _, part := range parts[1:] {
			table, _, _ := strings.Cut(part, "</table>")
			for _, tag := range cell.FindAllString(table, -1) {
				if !strings.Contains(tag, "data-label=") {
					t.Errorf("%s: %s has no label", path, tag)
				}
			}
		}
	}
}

func TestEventHasTimeOfChangeToLatestVersion(t *testing.T) {
	first, second := open(t, small, Source{}), open(t, ranked, Source{})
	s := New(Access{})
	s.Show(first)
	start := s.state().since
	time.Sleep(2 * time.Millisecond)
	s.Show(second)
	changed := s.state().since
	if !changed.After(start) || !second.Since.Equal(changed) {
		t.Errorf("the second version is the latest since %s, expected after %s", changed, start)
	}
	if s.Show(second); !s.state().since.Equal(changed) {
		t.Error("a build without a change changes the time")
	}
	time.Sleep(2 * time.Millisecond)
	if s.Show(first); !s.state().since.After(changed) {
		t.Error("a change back to the first version does not change the time")
	}
	if text := string(marshal(s.state().since)); !json.Valid([]byte(text)) || !strings.HasPrefix(text, `"20`) {
		t.Errorf("scripts cannot read the time %s", text)
	}
}

func TestSupposedFactsAreMarked(t *testing.T) {
	d := open(t, structured, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1?if=environment%3Dstaging", "The environment is <code>staging</code>: assumed; it is",
		"These categories suppose <code>environment=staging</code>.", "!the facts have none")
	shows(t, to, "/n/web1/k/theme?if=environment%3Dstaging", "<bdi>staging</bdi> <span class=\"note\">supposed</span>")
	shows(t, to, "/n/web1", "!suppose")

	d = open(t, ranked, Source{})
	to = served(t, Access{}, d) + "/s/" + d.ID
	osfamily := `<span class="what">osfamily</span> = <bdi>`
	shows(t, to, "/n/web1?if=osfamily%3DRedHat", osfamily+"RedHat", "!"+osfamily+"Debian",
		"assumed; it is &#39;Debian&#39; now")
	shows(t, to, "/n/web1?with=web2", osfamily+"Debian", "!"+osfamily+"RedHat")
	shows(t, to, "/n/web1?if=role%3D", `name="fact.role" value=""`)
	shows(t, to, "/n/web1?if=other%3Dx", `name="if" value="other=x"`, "Nothing uses the fact &#39;other&#39;.")
	answer, _ := get(t, "GET", to+"/n/web1?if=other%3Dx&if=&if=", nil)
	if at := answer.Header.Get("Location"); !strings.HasSuffix(at, "/n/web1?if=other%3Dx") {
		t.Errorf("a form with two empty inputs leads to '%s'", at)
	}
}

func TestBadChangeLeadsBackToNode(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for path, back := range map[string]string{"/n/web1": `/n/web1">All values of web1</a>`,
		"/n/web1/k/a": `/n/web1?if=garbage">Back to web1</a>`} {
		answer, page := get(t, "GET", to+path+"?if=garbage", nil)
		message, _, _ := strings.Cut(page, `<form action="/s/`+d.ID+`/n/web1"`)
		message = strings.ReplaceAll(message, "?if=garbage", "")
		if answer.StatusCode != http.StatusBadRequest || strings.Count(message, "garbage") != 1 {
			t.Errorf("%s: status %d:\n%s", path, answer.StatusCode, page)
		}
		shows(t, to, path+"?if=garbage", "Cannot change the facts of web1: expected name=text or name:=JSON",
			`<a href="/s/`+d.ID+back)
	}
}

func TestUnknownNodeOfFormLeadsBack(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1?with=web", "/n/web1?with=web2", `<a href="/s/`+d.ID+`/n/web1">All values of web1</a>`)
	shows(t, to, "/n/-/k/a?node=web", "/n/web2/k/a", `<a href="/s/`+d.ID+`/k/a">a</a>`, "All nodes")
}

func TestInputsSuggestNodes(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for path, input := range map[string]string{"/n/web1": `name="with"`, "/k/a": `name="node"`} {
		_, page := get(t, "GET", to+path, nil)
		if !regexp.MustCompile(`<input [^>]*`+input+`[^>]* list="nodes"`).MatchString(page) ||
			!strings.Contains(page, `<datalist id="nodes"><option value="web1"></option><option value="web2">`) {
			t.Errorf("%s does not suggest nodes:\n%s", path, page)
		}
	}
	for range maxListed {
		d.nodes = append(d.nodes, d.nodes[0])
	}
	if names := (&view{d: d}).Suggested(); names != nil {
		t.Errorf("%d nodes of a large fleet are suggested", len(names))
	}
}

func TestBindingsWithoutNodesHaveReason(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	const unmatched = "reaches no node: no node has its condition"
	hidden := func(nodes string) string { return "reaches no node: hidden where it applies, on " + nodes }
	shows(t, to, "/f/data/common.yaml", hidden("2 nodes"), "!"+unmatched)
	shows(t, to, "/f/data/osfamily/debian.yaml", hidden("1 node"))
	shows(t, to, "/f/data/osfamily/suse.yaml", unmatched, "!where it applies")
	shows(t, to, "/k/a", hidden("2 nodes"), hidden("1 node"), unmatched)
	shows(t, to, "/k/b", unmatched, "No node gets a value.", "!2 nodes get")
	shows(t, to, "/k/unused", "!reaches no node", "2 nodes get the same value:")
}

func TestSearchShowsConditions(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/q?q=family&all=1", `<td data-label="When"><span class="term"><span class="what">osfamily</span> = <bdi>Debian<`)
	shows(t, to, "/q.json?q=family", `"when":{"osfamily":"debian"}`)
}

func TestChangesNameTheirVersions(t *testing.T) {
	first := open(t, small, Source{})
	s := New(Access{})
	s.Show(first)
	second := open(t, strings.ReplaceAll(small, "debian.pool", "other.pool"), Source{Old: first})
	s.Show(second)
	started := first.Since.Format(time.TimeOnly)
	to := served(t, Access{}, first, second) + "/s/"
	shows(t, to, second.ID+"/d", "Changes since the start at "+started)
	shows(t, to, first.ID+"/d?old="+second.ID, "Changes from <bdi>site at "+second.Since.Format(time.TimeOnly)+
		"</bdi> to <bdi>site at "+started+"</bdi>")
}

func TestPageOfRemovedKeyNamesVersionThatBindsIt(t *testing.T) {
	old := open(t, ranked, Source{})
	d := open(t, strings.ReplaceAll(ranked, "unused: ", "other: "), Source{Old: old})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for _, path := range []string{"/k/unused", "/n/" + d.nodes[0].Name + "/k/unused"} {
		shows(t, to, path, "Nothing binds the key", "binds this key, but", "/d?old="+old.ID+`">Changes from`)
	}
	shows(t, to, "/k/nowhere", "Nothing binds the key", "!binds this key")
}

// A key that changes because of another one has one text, which is neither old nor new.
func TestUnchangedTemplateIsNotMarkedAsChange(t *testing.T) {
	const site = `
-- site/hiera.yaml --
version: 2
-- site/data/common.yaml --
port: 443
url: "https://${lookup('port')}/"
-- facts/web1.yaml --
fqdn: web1
`
	old := open(t, site, Source{})
	d := open(t, strings.ReplaceAll(site, "443", "8443"), Source{Old: old})
	to := served(t, Access{}, d) + "/s/" + d.ID
	_, page := get(t, "GET", to+"/d", nil)
	_, byKey, _ := strings.Cut(page, "<h2>By key</h2>")
	_, url, _ := strings.Cut(byKey, `/k/url">`)
	if strings.Count(url, "lookup(") != 1 || strings.Contains(url, `class="old"`) ||
		!strings.Contains(url, `its result changes with <a href="/s/`+d.ID+`/k/port">`) {
		t.Errorf("the change of url:\n%s", url)
	}
	if port, _, _ := strings.Cut(byKey, `/k/url">`); !strings.Contains(port, `class="old"`) {
		t.Errorf("the change of port:\n%s", port)
	}
}

func TestConditionsAreSpelledAsOnNodes(t *testing.T) {
	old := open(t, strings.ReplaceAll(ranked, "a: family", "a: before"), Source{})
	d := open(t, ranked, Source{Old: old})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for _, path := range []string{"/k/a", "/f/data/osfamily/debian.yaml", "/d"} {
		shows(t, to, path, "<bdi>Debian</bdi>", "!<bdi>debian</bdi>")
	}
	shows(t, to, "/k/a", "<bdi>suse</bdi>") // no node has it
	shows(t, to, "/k/a.json", `"when":{"osfamily":"debian"}`)
	shows(t, to, "/d.json", `"when":{"osfamily":"debian"}`)

	mixed := strings.Replace(ranked, "-- facts/web2", "-- facts/web0.yaml --\nfqdn: web0\nosfamily: DEBIAN\n-- facts/web2", 1)
	for range 5 { // the first node decides, regardless of which one is counted first
		d = open(t, mixed, Source{})
		shows(t, served(t, Access{}, d)+"/s/"+d.ID, "/k/a", "<bdi>DEBIAN</bdi>", "!<bdi>Debian</bdi>")
	}
}

func TestShortNameSuggestsNodesWithDomain(t *testing.T) {
	names := []string{"db1.example.org", "web9.example.com", "web9.example.org", "web10"}
	for text, expected := range map[string]string{"web99": "web9.example.com web9.example.org",
		"web9": "web9.example.com web9.example.org", "web99.example.org": "web9.example.org", "web1o": "web10", "dbl": "db1.example.org", "mail": ""} {
		var found []string
		for _, link := range similarNodes(text, names, links{}.Node) {
			found = append(found, link.Text)
		}
		n := len(strings.Fields(expected))
		if first := strings.Join(found[:min(n, len(found))], " "); first != expected || n == 0 && len(found) > 0 {
			t.Errorf("'%s' suggests %v, expected %s first", text, found, expected)
		}
	}
	site := strings.ReplaceAll(ranked, "fqdn: web1\n", "fqdn: web1.example.org\n")
	d := open(t, site, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for _, path := range []string{"/n/web11", "/n/" + d.nodes[1].Name + "?with=web11"} {
		shows(t, to, path, "Similar names", ">"+d.nodes[0].Name+"<")
	}
}

// Before the nodes have been counted, the page of a node lacks suggestions. It is loaded again later.
func TestNodeWithoutSuggestionsIsPartial(t *testing.T) {
	d := open(t, small, Source{})
	uncounted, err := Open(Source{Path: d.path, Nodes: d.nodes, Style: Style{Name: "uncounted"}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/n/" + d.nodes[0].Name
	shows(t, served(t, Access{}, uncounted)+"/s/"+uncounted.ID, path, "data-partial", `!id="known`)
	shows(t, served(t, Access{}, d)+"/s/"+d.ID, path, "!data-partial", `id="known`)
}
