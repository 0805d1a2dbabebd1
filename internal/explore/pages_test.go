package explore

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// ranked is a site whose key a has bindings in two layers and in several categories.
const ranked = `
-- site/hiera.yaml --
version: 2
hierarchy:
  - [role, '${role}', 'data/role/${role}']
  - [osfamily, '${osfamily}', 'data/osfamily/${osfamily}']
  - [common, 'true', 'data/common']
-- site/binder_config.yaml --
version: 1
categories: [[role, '${role}'], [osfamily, '${osfamily}'], [common, 'true']]
layers:
  - {name: top, include: ['confdir:/default']}
  - {name: site, include: ['confdir-hiera:/']}
-- site/bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - when: {osfamily: RedHat}
    bind: [[a, top]]
-- site/data/common.yaml --
a: common
unused: 1
-- site/data/role/web.yaml --
a: role
-- site/data/osfamily/debian.yaml --
a: family
-- site/data/osfamily/suse.yaml --
a: suse
b: suse
-- facts/web1.yaml --
fqdn: web1
role: web
osfamily: Debian
-- facts/web2.yaml --
fqdn: web2
role: web
osfamily: RedHat
`

// shows checks that a page has some texts, and lacks those that begin with '!'.
func shows(t *testing.T, to, path string, texts ...string) {
	t.Helper()
	_, page := get(t, "GET", to+path, nil)
	for _, text := range texts {
		rest, absent := strings.CutPrefix(text, "!")
		if strings.Contains(page, rest) == absent {
			t.Errorf("%s has '%s': %v\n%s", path, rest, absent, page)
		}
	}
}

func TestReasonSaysWhyBindingIsHidden(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1/k/a", "because the category role is above osfamily",
		"because it is for role = web only, and this one is for all nodes",
		`hidden by <a class="place" href="/s/`+d.ID+`/f/data/role/web.yaml#L1"`,
		"Layers that bind this key, highest first: <code>top</code>, <code>site</code>",
		`= <bdi>Debian</bdi>`, `osfamily is Debian`)
	shows(t, to, "/n/web2/k/a", "because the layer &#39;top&#39; is above &#39;site&#39;")
}

func TestPagesExplainChangedFacts(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1?if=osfamily%3DRedHat", "/n/web1/k/a?if=osfamily%3DRedHat")
	shows(t, to, "/n/web1/k/a?if=osfamily%3DRedHat", "would get with <code>osfamily=RedHat</code>",
		`<p class="answer"><code class="value">&#34;top&#34;</code>`, `<bdi>RedHat</bdi>`)
	shows(t, to, "/n/web1/k/a?if=osfamily%3DRedHat", `Why does <a href="/s/`+d.ID+`/n/web1?if=osfamily%3DRedHat">`,
		`<a href="/s/`+d.ID+`/n/web1?if=osfamily%3DRedHat">Back to all values that change</a>`,
		`<a href="/s/`+d.ID+`/n/web1/k/a">What it gets now</a>`)
	shows(t, to, "/n/web1/k/a", `Why does <a href="/s/`+d.ID+`/n/web1">`, "!Back to all")
	answer, _ := get(t, "GET", to+"/n/web1/k/a?if=nonsense", nil)
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a change without '=' has status %d", answer.StatusCode)
	}
}

func TestSearchForExactNameOpensIt(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d)
	for name, expected := range map[string]string{
		"unused": "/k/unused", "web1": "/n/web1", "unuse": "", "unused&all=1": ""} {
		answer, _ := get(t, "GET", to+"/s/"+d.ID+"/q?q="+name, nil)
		if at := strings.TrimPrefix(answer.Header.Get("Location"), "/s/"+d.ID); at != expected {
			t.Errorf("a search for %s leads to '%s', expected '%s'", name, at, expected)
		}
	}
	shows(t, to, "/s/"+d.ID+"/q.json?q=unused", `"keys":["unused"]`)
}

func TestUnknownNamesLeadToSimilarOnes(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web", "No facts were read for node", "/n/web1", "/n/web2", "All nodes", `/n" aria-current="true"`)
	shows(t, to, "/n/nobody/k/a", "All nodes")
	shows(t, to, "/k/unusde", "Nothing binds the key", "/k/unused", "All keys")
	shows(t, to, "/f/data/comon.yaml", "/f/data/common.yaml", "All files")
	shows(t, to, "/k/a?row=99", "no such binding", "/k/a")
}

func TestFilesLeadToBindingsWithoutNodes(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/", "<dt>Bindings that reach no node</dt>", `dead=partly">4</a>`)
	shows(t, to, "/f", "4 bindings in 3 files reach no node", "2 files reach no node at all",
		`/f/data/common.yaml?dead=1">1 reaches no node`, "2 of them without bindings")
	shows(t, to, "/f?dead=partly", "data/common.yaml", "data/osfamily/suse.yaml", "!data/role/web.yaml")
	shows(t, to, "/f?dead=1", "!data/common.yaml", "data/osfamily/suse.yaml")
	shows(t, to, "/f/data/common.yaml?dead=1", `/k/a"`, `!/k/unused"`)
	shows(t, to, "/f/data/role/web.yaml", "/k/a?at=data%2Frole%2Fweb.yaml%3A1%3A1")
	shows(t, to, "/k/a?at=data%2Frole%2Fweb.yaml%3A1%3A1", "Nodes that use this binding", "/n/web1/k/a", "!/n/web2/k/a")
	alive := open(t, small, Source{})
	shows(t, served(t, Access{}, alive)+"/s/"+alive.ID, "/f?dead=1", "There is no such file", "!<table>")
}

func TestChangesForNoNodeAreMarked(t *testing.T) {
	old := open(t, ranked, Source{})
	d := open(t, strings.NewReplacer("b: suse", "b: other", "unused: 1", "unused: 2").Replace(ranked), Source{Old: old})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/d", "1 key changes, on 2 of 2 nodes; 1 more on none of them.",
		`<bdi>b</bdi></a> <span class="none">changes on no node</span>`,
		`<summary><strong><a href="/s/`+d.ID+`/n/web1"><bdi>web1</bdi></a>, <a href="/s/`+d.ID+`/n/web2"><bdi>web2</bdi>`+
			"</a></strong>: 1 key changes (unused)", `!<ul class="names">`)
	_, page := get(t, "GET", to+"/d", nil)
	_, byKey, _ := strings.Cut(page, "<h2>By key</h2>")
	if strings.Index(byKey, `/k/unused"`) > strings.Index(byKey, `/k/b"`) {
		t.Error("a key that changes on no node comes first")
	}
}

func TestChangesBetweenAnyKeptVersions(t *testing.T) {
	first := open(t, ranked, Source{})
	second := open(t, strings.ReplaceAll(ranked, "a: role", "a: second"), Source{Old: first})
	third := open(t, strings.ReplaceAll(ranked, "a: role", "a: third"), Source{Old: first})
	to := served(t, Access{}, first, second, third) + "/s/"
	shows(t, to, third.ID+"/d", "role", "third", "!second", `<option value="`+first.ID+`" selected`, second.ID)
	shows(t, to, third.ID+"/d?old="+second.ID, "second", "third", "!role&#34;", `<option value="`+second.ID+`" selected`)
	shows(t, to, first.ID+"/d?old="+third.ID, "third", "role")
	shows(t, to, third.ID+"/d.json?old="+second.ID, `"old":{"value":"second"},"new":{"value":"third"}`)
	answer, text := get(t, "GET", to+third.ID+"/d?old=000000000000", nil)
	if answer.StatusCode != http.StatusNotFound || !strings.Contains(text, "The version 000000000000 is gone") {
		t.Errorf("status %d: %s", answer.StatusCode, text)
	}
}

func TestAreaLeadsToKeysOfItsLevel(t *testing.T) {
	d := open(t, strings.NewReplacer("unused: 1", "unused: 1\nntp::a: 1\nntp::b: 1",
		"a: role", "a: role\nntp::b: 2").Replace(ranked), Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/", "/k?level=site%3A&#43;role&amp;prefix=ntp%3A%3A")
	shows(t, to, "/k?level=site%3A+role&prefix=ntp%3A%3A", "1 key begins with", "/k/ntp::b", "!/k/ntp::a",
		"and has a value for some node from the level <code>site: role</code>", "All levels")
	shows(t, to, "/k?level=site%3A+always&prefix=ntp%3A%3A", "/k/ntp::a", "!/k/ntp::b")
	shows(t, to, "/k.json?level=site%3A+role", `["a","ntp::b"]`)
	shows(t, to, "/", "/k?bare=1&amp;level=site%3A&#43;role")
	shows(t, to, "/k?bare=1&level=site%3A+role", "1 key without a module has a value for some node", "/k/a", "!/k/ntp::b")
	shows(t, to, "/k.json?bare=1", `["a","b","unused"]`)
}

func TestReasonShowsExpression(t *testing.T) {
	d := open(t, computed, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1/k/url", `&#34;https://www.example.org/&#34;</code> <span class="note">the result of</span> `+
		`<code class="value computed">&#34;https://%{lookup(&#39;host&#39;)}/&#34;</code>`)
	shows(t, to, "/n/web1/k/host", "!the result of")
	shows(t, to, "/n/web1/k/password", "!canary", "!the result of")
}

// A filter that selects few keys stops after many keys. The page says so, and its link leads to the other keys.
func TestFilterOfNodeSaysHowManyKeysItWasAppliedTo(t *testing.T) {
	testmode.SkipUnderRace(t)
	var many strings.Builder
	for i := range maxScanned {
		fmt.Fprintf(&many, "m%d: 1\n", i)
	}
	d := open(t, ranked+"-- site/data/osfamily/redhat.yaml --\nzz: last\n-- site/data/role/other.yaml --\n"+
		many.String(), Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web2?layer=none", "no key matches among 20\u202f000 keys",
		"The filter was applied to 20\u202f000 keys.", "after=m")
	response, _ := get(t, "GET", to+"/n/web2.json?layer=none", nil)
	link, next := response.Header.Get("Link"), "</s/"+d.ID+"/n/web2.json?after=m9997&layer=none>"
	if !strings.HasPrefix(link, next) {
		t.Errorf("the header Link is %q", link)
	}
	shows(t, to, "/n/web2?layer=site&prefix=z", "last", "!The filter was applied")
}

func TestFilterOfNodeListsEachLayerOnce(t *testing.T) {
	if got := distinct([]string{"site", "modules", "site"}); strings.Join(got, " ") != "site modules" {
		t.Errorf("the layers are %v", got)
	}
}

func TestSearchForMisspeltNameListsSimilarNames(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/q?q=unsued", "Nothing contains this text", "Similar names", `/k/unused"`)
	shows(t, to, "/q?q=wbe1", "Similar names", `/n/web1"`)
	shows(t, to, "/q?q=unuse", "!Similar names", `/k/unused"`)
}
