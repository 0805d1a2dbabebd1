package explore

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/facts"
	"bindc/internal/report"
	"bindc/internal/testmode"
	"bindc/internal/testsite"
)

// open opens the site of a txtar archive, with the facts in its folder facts.
func open(t *testing.T, archive string, from Source) *Data {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return openDir(t, filepath.Join(dir, "site"), filepath.Join(dir, "facts"), from)
}

func openDir(t *testing.T, site, factsDir string, from Source) *Data {
	t.Helper()
	from.Path = filepath.Join(t.TempDir(), "site.bsnap")
	testsite.Build(t, site, from.Path)
	if _, err := os.Stat(factsDir); err == nil {
		nodes, err := facts.ReadDir(factsDir)
		if err != nil {
			t.Fatal(err)
		}
		from.Nodes = nodes
	}
	from.Name = "site"
	d, err := Open(from)
	if err != nil {
		t.Fatal(err)
	}
	d.count(func() {})
	return d
}

// served returns the address of a server with data.
func served(t *testing.T, access Access, versions ...*Data) string {
	t.Helper()
	s := New(access)
	for _, d := range versions {
		s.mu.Lock()
		s.versions = append(s.versions, d)
		s.mu.Unlock()
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

// get returns an answer, without following redirects.
func get(t *testing.T, method, address string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

const small = `
-- site/hiera.yaml --
version: 2
-- site/data/common.yaml --
ntp::server: pool.ntp.org
-- site/data/osfamily/debian.yaml --
ntp::server: debian.pool.ntp.org
-- facts/web1.yaml --
fqdn: web1.example.org
osfamily: Debian
-- facts/db1.yaml --
fqdn: db1.example.org
osfamily: RedHat
`

func TestForeignHostIsRefused(t *testing.T) {
	d := open(t, small, Source{})
	for _, c := range []struct {
		access Access
		host   string
		ok     bool
	}{
		{Access{}, "127.0.0.1:8650", true},
		{Access{}, "localhost", true},
		{Access{}, "[::1]:80", true},
		{Access{}, "attacker.example", false},
		{Access{}, "localhost.attacker.example", false},
		{Access{}, "192.0.2.1", false},
		{Access{Remote: true}, "192.0.2.1:8650", true},
		{Access{Remote: true}, "attacker.example", false},
		{Access{Hosts: []string{"data.example.org"}}, "data.example.org", true},
	} {
		answer, _ := get(t, "GET", served(t, c.access, d)+"/s/latest/", func(r *http.Request) { r.Host = c.host })
		if ok := answer.StatusCode != http.StatusMisdirectedRequest; ok != c.ok {
			t.Errorf("%+v: host %s has status %d", c.access, c.host, answer.StatusCode)
		}
	}
}

func TestPagesNeedCookieThatOnlyTokenGives(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	to := served(t, Access{Token: token}, open(t, small, Source{}))
	for _, path := range []string{"/", "/s/latest/", "/s/latest/k.json", "/events", "/unknown"} {
		answer, text := get(t, "GET", to+path, nil)
		if answer.StatusCode != http.StatusUnauthorized || strings.Contains(text, "ntp") {
			t.Errorf("%s without cookie has status %d: %s", path, answer.StatusCode, text)
		}
	}
	send := func(body string) *http.Response {
		answer, err := http.Post(to+"/token", "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	for _, wrong := range []string{"", token[:31], token + "0", strings.Repeat("x", 1000)} {
		if answer := send(wrong); answer.StatusCode != http.StatusForbidden || len(answer.Cookies()) > 0 {
			t.Errorf("token %q has status %d, cookies %v", wrong, answer.StatusCode, answer.Cookies())
		}
	}
	answer := send(token)
	if answer.StatusCode != http.StatusNoContent || len(answer.Cookies()) != 1 {
		t.Fatalf("the token has status %d, cookies %v", answer.StatusCode, answer.Cookies())
	}
	cookie := answer.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(token, cookie.Value) {
		t.Errorf("unsafe cookie %v", cookie)
	}
	signIn := func(r *http.Request) { r.AddCookie(cookie) }
	if answer, _ := get(t, "GET", to+"/s/latest/k", signIn); answer.StatusCode != http.StatusFound {
		t.Errorf("with the cookie, a page has status %d", answer.StatusCode)
	}
	cookie.Value += "0"
	if answer, _ := get(t, "GET", to+"/s/latest/k", signIn); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("with another cookie, a page has status %d", answer.StatusCode)
	}
}

func TestServerWithoutTokenGivesNoCookie(t *testing.T) {
	to := served(t, Access{}, open(t, small, Source{}))
	answer, err := http.Post(to+"/token", "text/plain", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || len(answer.Cookies()) > 0 {
		t.Errorf("status %d, cookies %v", answer.StatusCode, answer.Cookies())
	}
}

func TestOtherMethodsAndOriginsAreRefused(t *testing.T) {
	to := served(t, Access{Token: NewToken()}, open(t, small, Source{}))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		if answer, _ := get(t, method, to+"/s/latest/", nil); answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s has status %d", method, answer.StatusCode)
		}
	}
	answer, _ := get(t, "POST", to+"/token", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a POST of another site has status %d", answer.StatusCode)
	}
	answer, _ = get(t, "POST", to+"/token", func(r *http.Request) { r.Header.Set("Origin", "http://attacker.example") })
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a POST of another origin has status %d", answer.StatusCode)
	}
}

func TestEveryAnswerHasPolicy(t *testing.T) {
	d := open(t, small, Source{})
	to := served(t, Access{Token: NewToken()}, d)
	open := served(t, Access{}, d)
	for _, address := range []string{to + "/", to + "/events", to + "/assets/x", open + "/", open + "/s/gone/",
		open + "/s/" + d.ID + "/", open + "/s/" + d.ID + "/k.json", open + "/s/" + d.ID + "/k/unknown",
		open + "/nothing"} {
		answer, _ := get(t, "GET", address, nil)
		for header, expected := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if found := answer.Header.Get(header); !strings.HasPrefix(found, expected) {
				t.Errorf("%s has %s '%s'", address, header, found)
			}
		}
		if answer.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows other origins", address)
		}
	}
}

func TestServerHasTimeLimits(t *testing.T) {
	s := New(Access{}).HTTP()
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.WriteTimeout == 0 || s.IdleTimeout == 0 ||
		s.MaxHeaderBytes > 64<<10 || s.MaxHeaderBytes == 0 {
		t.Errorf("limits are missing: %+v", s)
	}
}

var hrefs = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// crawl visits all pages that links lead to, and their twins. It returns the text of each.
func crawl(t *testing.T, to string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	queue := []string{"/s/latest/"}
	for len(queue) > 0 && len(seen) < 2000 {
		path := queue[0]
		queue = queue[1:]
		if _, known := seen[path]; known {
			continue
		}
		answer, text := get(t, "GET", to+path, nil)
		seen[path] = text
		if answer.StatusCode == http.StatusFound {
			queue = append(queue, answer.Header.Get("Location"))
			continue
		}
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s has status %d: %s", path, answer.StatusCode, text)
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			continue // JSON has no links, and searching the megabytes of a long value would take most of the time
		}
		for _, m := range hrefs.FindAllStringSubmatch(text, -1) {
			link := html.UnescapeString(m[1])
			if strings.HasPrefix(m[0], "action") || strings.HasPrefix(link, "#") {
				continue
			}
			if !strings.HasPrefix(link, "/") || strings.HasPrefix(link, "//") {
				t.Errorf("%s links to %s", path, link)
			}
			link, _, _ = strings.Cut(link, "#")
			queue = append(queue, link)
		}
	}
	return seen
}

const secrets = `
-- site/hiera.yaml --
version: 5
hierarchy:
  - {name: nodes, path: 'nodes/%{fqdn}.yaml'}
  - {name: common, path: common.yaml}
-- site/data/common.yaml --
secret: canary1
token: "%{alias('secret')}"
url: "https://user:%{lookup('secret')}@example.org"
open: visible
lookup_options:
  secret: {convert_to: Sensitive}
-- site/data/nodes/web1.example.org.yaml --
secret: canary2
-- site/binder_config.yaml --
version: 1
layers:
  - {name: site, include: ['confdir:/default']}
  - {name: data, include: ['hiera:/']}
-- site/bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - {name: password, sensitive: true, to: canary3}
  - {name: passwords, sensitive: true, to: [{deep: canary4}]}
-- facts/web1.yaml --
fqdn: web1.example.org
-- facts/db1.yaml --
fqdn: db1.example.org
`

func TestNoPageHasSensitiveValues(t *testing.T) {
	old := open(t, secrets, Source{})
	changed := strings.NewReplacer("canary1", "canary5", "canary3", "canary6", "visible", "changed").Replace(secrets)
	to := served(t, Access{}, open(t, changed, Source{Old: old}))
	pages := crawl(t, to)
	for _, path := range []string{"/s/latest/q?q=canary", "/s/latest/n/web1?with=db1", "/s/latest/n/web1?with=db1.json",
		"/s/latest/n/web1?if=fqdn%3Dx", "/s/latest/n/web1.json?if=fqdn%3Dx", "/s/latest/d", "/s/latest/d.json"} {
		answer, _ := get(t, "GET", to+path, nil)
		_, pages[path] = get(t, "GET", to+answer.Header.Get("Location"), nil)
	}
	if len(pages) < 30 {
		t.Errorf("only %d pages were found", len(pages))
	}
	for path, text := range pages {
		text = strings.ReplaceAll(text, "q=canary", "")
		text = regexp.MustCompile(`value="canary"|<bdi>canary</bdi>`).ReplaceAllString(text, "")
		if strings.Contains(text, "canary") {
			t.Errorf("%s shows a sensitive value:\n%s", path, text)
		}
	}
	if !strings.Contains(pages["/s/latest/d"], "changed") || !strings.Contains(pages["/s/latest/d"], "sensitive") {
		t.Errorf("the page of changes shows neither values nor that some are sensitive:\n%s", pages["/s/latest/d"])
	}
}

func TestShownSensitiveValuesAreNotStored(t *testing.T) {
	d := open(t, secrets, Source{Style: Style{Sensitive: true}})
	answer, text := get(t, "GET", served(t, Access{}, d)+"/s/"+d.ID+"/k/password", nil)
	if !strings.Contains(text, "canary3") || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control is '%s': %s", answer.Header.Get("Cache-Control"), text)
	}
}

var hostileNames = []string{`"><script>alert(1)</script>`, `..`, `.`, `-`, `a/b`, `a//b/../c`, `a?b#c&d`, `x.json`, `x`,
	"\u202eevil", `{{.}}`, `%2e%2e`, `a b`, `é`, `'onload='x`, `javascript:alert(1)`}

func TestHostileNamesAndValuesAreText(t *testing.T) {
	testmode.SkipUnderRace(t)
	data, site := map[string]any{}, "-- site/hiera.yaml --\nversion: 2\n"
	for i, name := range hostileNames {
		data[name] = name
		if i%4 == 0 || name == "\u202eevil" {
			facts, _ := json.Marshal(map[string]string{"fqdn": name, "osfamily": name})
			site += fmt.Sprintf("-- facts/f%d.json --\n%s\n", i, facts)
		}
	}
	data["long"] = strings.Repeat("<b>", 100_000) // more than a page may have
	text, _ := json.Marshal(data)
	d := open(t, site+"-- site/data/common.yaml --\n"+string(text), Source{})
	to := served(t, Access{}, d)
	pages := crawl(t, to)
	for path, text := range pages {
		if strings.HasSuffix(strings.SplitN(path, "?", 2)[0], ".json") && !strings.Contains(text, "<!DOCTYPE") {
			continue
		}
		for _, bad := range []string{"<script>alert", "\u202e", "<b><b>"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if len(text) > 200_000 {
			t.Errorf("%s has %d bytes", path, len(text))
		}
	}
	l := links{"/s/" + d.ID}
	for _, name := range hostileNames {
		_, page := get(t, "GET", to+l.Key(name), nil)
		if !strings.Contains(page, `<p class="kind">Key</p>`) {
			t.Errorf("the link %s of key %q leads to: %s", l.Key(name), name, page)
		}
		twin := regexp.MustCompile(`<a href="([^"]*)" type="application/json"`).FindStringSubmatch(page)
		if twin == nil {
			t.Errorf("the page of %q has no twin", name)
			continue
		}
		var values struct{ Key string }
		_, page = get(t, "GET", to+html.UnescapeString(twin[1]), nil)
		if err := json.Unmarshal([]byte(page), &values); err != nil || values.Key != name {
			t.Errorf("the twin %s of key %q has the key %q: %v", twin[1], name, values.Key, err)
		}
	}
}

func TestLinksOfNamesAreUnambiguous(t *testing.T) {
	seen := map[string]string{}
	for _, name := range hostileNames {
		link := links{"/s/0"}.Key(name)
		if other, twice := seen[link]; twice {
			t.Errorf("%q and %q have the link %s", name, other, link)
		}
		seen[link] = name
		if u, err := url.Parse(link); err != nil || u.IsAbs() {
			t.Errorf("%q has the link %s: %v", name, link, err)
		}
	}
}

func TestVersionThatIsGoneLinksToLatest(t *testing.T) {
	d := open(t, small, Source{})
	answer, text := get(t, "GET", served(t, Access{}, d)+"/s/000000000000/k/ntp::server?row=1", nil)
	if answer.StatusCode != http.StatusGone || !strings.Contains(text, `href="/s/latest/k/ntp::server?row=1"`) {
		t.Errorf("status %d: %s", answer.StatusCode, text)
	}
}

func TestCompletePagesAreKeptAndOthersNot(t *testing.T) {
	d := open(t, small, Source{})
	to := served(t, Access{}, d)
	if answer, _ := get(t, "GET", to+"/s/"+d.ID+"/k/ntp::server", nil); answer.Header.Get("Cache-Control") != forever {
		t.Errorf("a complete page has Cache-Control '%s'", answer.Header.Get("Cache-Control"))
	}
	uncounted, err := Open(Source{Path: d.path, Nodes: d.nodes, Style: Style{Name: "uncounted"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"", "k/ntp::server", "f", "f/data/common.yaml"} {
		answer, text := get(t, "GET", served(t, Access{}, uncounted)+"/s/"+uncounted.ID+"/"+page, nil)
		if answer.Header.Get("Cache-Control") != "no-store" || !strings.Contains(text, "data-partial") {
			t.Errorf("'%s' before counting has Cache-Control '%s': %s", page, answer.Header.Get("Cache-Control"), text)
		}
	}
}

func TestOldestVersionsAreForgotten(t *testing.T) {
	s := New(Access{})
	var ids []string
	for i := range keptVersions + 2 {
		d := open(t, strings.ReplaceAll(small, "pool", fmt.Sprint("pool", i)), Source{})
		ids = append(ids, d.ID)
		s.Show(d)
	}
	if s.version(ids[0]) != nil || s.version(ids[1]) != nil || s.version(ids[2]) == nil {
		t.Error("the wrong versions are kept")
	}
	if latest := s.state().latest; latest.ID != ids[len(ids)-1] {
		t.Error("the latest version is not the last one")
	}
}

// The census finds the nodes of a row without lookups. They must be the nodes whose explanations name the row.
func TestCensusAgreesWithExplanations(t *testing.T) {
	for name, d := range map[string]*Data{
		"example": openDir(t, "../../testdata/example", "../../testdata/example-facts", Source{}),
		"secrets": open(t, secrets, Source{}), "small": open(t, small, Source{}),
	} {
		plain := 0
		for _, key := range d.keys {
			k := d.key(key)
			if <-k.ready; k.err != nil {
				t.Fatal(k.err)
			}
			if isPlain(k.table) {
				plain++
			}
			expected := d.style(report.JSON).Values(key, k.table)
			if err := d.explainAll(expected, key); err != nil {
				t.Fatal(err)
			}
			if x, y := string(marshal(d.twin(key, k))), string(marshal(expected)); x != y {
				t.Errorf("%s, %s:\nfound    %s\nexpected %s", name, key, x, y)
			}
		}
		if plain == 0 {
			t.Errorf("%s: no key was counted without lookups", name)
		}
	}
}

func TestWhatIfFormLeadsToCanonicalAddress(t *testing.T) {
	d := open(t, small, Source{})
	to := served(t, Access{}, d)
	answer, _ := get(t, "GET", to+"/s/"+d.ID+"/n/web1?fact.fqdn=web1.example.org&fact.osfamily=RedHat&if=", nil)
	if at := answer.Header.Get("Location"); at != "/s/"+d.ID+"/n/web1?if=osfamily%3DRedHat" {
		t.Fatalf("the form leads to '%s'", at)
	}
	_, text := get(t, "GET", to+answer.Header.Get("Location"), nil)
	for _, expected := range []string{"1 key has another value", "debian.pool.ntp.org", "pool.ntp.org",
		`value="RedHat"`} {
		if !strings.Contains(text, expected) {
			t.Errorf("the page lacks '%s':\n%s", expected, text)
		}
	}
	_, text = get(t, "GET", to+"/s/"+d.ID+"/n/web1?if=osfamly%3DRedHat", nil)
	if !strings.Contains(text, "Nothing uses the fact") || !strings.Contains(text, "osfamily") {
		t.Errorf("the page does not mention the misspelt fact:\n%s", text)
	}
	if answer, _ = get(t, "GET", to+"/s/"+d.ID+"/n/web1?if=nonsense", nil); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a change without '=' has status %d", answer.StatusCode)
	}
}

func TestDeadDataIsMarked(t *testing.T) {
	d := open(t, small+"-- site/data/osfamily/suse.yaml --\nntp::server: suse.pool.ntp.org\n", Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	var files []fileRow
	_, text := get(t, "GET", to+"/f.json?dead=1", nil)
	err := json.Unmarshal([]byte(text), &files)
	if err != nil || len(files) != 1 || files[0].Path != "data/osfamily/suse.yaml" {
		t.Errorf("files that reach no node: %s, %v", text, err)
	}
	for _, page := range []string{"/k/ntp::server", "/f/data/osfamily/suse.yaml"} {
		if _, text := get(t, "GET", to+page, nil); !strings.Contains(text, "reaches no node") {
			t.Errorf("%s does not mark the dead binding:\n%s", page, text)
		}
	}
}

func TestFailedBuildIsShownWithLastData(t *testing.T) {
	s := New(Access{})
	d := open(t, small, Source{})
	s.Show(d)
	s.Fail("data/common.yaml:1:1: error: nonsense")
	server := httptest.NewServer(s)
	defer server.Close()
	answer, text := get(t, "GET", server.URL+"/s/"+d.ID+"/k/ntp::server", nil)
	if !strings.Contains(text, "error: nonsense") || !strings.Contains(text, "debian.pool.ntp.org") ||
		answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control '%s': %s", answer.Header.Get("Cache-Control"), text)
	}
}

func TestEventsNameLatestVersion(t *testing.T) {
	s := New(Access{})
	s.Live = true
	first := open(t, small, Source{})
	s.Show(first)
	server := httptest.NewServer(s)
	defer server.Close()
	answer, err := http.Get(server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	next := func(wanted string) {
		t.Helper()
		buf := make([]byte, 1000)
		for range 10 {
			n, err := answer.Body.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(buf[:n]), wanted) {
				return
			}
		}
		t.Errorf("no event has %s", wanted)
	}
	next(first.ID)
	second := open(t, strings.ReplaceAll(small, "pool", "other"), Source{})
	s.Show(second)
	next(second.ID)
	s.Fail("wrong")
	next(`"failed":true`)
}

func TestTreemapFillsItsRectangle(t *testing.T) {
	areas := []area{{"a", "x", 5}, {"b", "x", 4}, {"a", "y", 3}, {"c", "x", 2}, {"c", "y", 1}}
	cells := treemap(areas, []string{"x", "y"})
	sum := 0.0
	for _, c := range cells {
		sum += c.W * c.H
		if expected := c.Size / 15 * mapWidth * mapHeight; c.W*c.H < 0.99*expected || c.W*c.H > 1.01*expected {
			t.Errorf("%s %s has the area %f, expected %f", c.Module, c.Level, c.W*c.H, expected)
		}
		if c.X < -0.01 || c.Y < -0.01 || c.X+c.W > mapWidth+0.01 || c.Y+c.H > mapHeight+0.01 {
			t.Errorf("%s %s is outside: %+v", c.Module, c.Level, c.rect)
		}
	}
	if len(cells) != len(areas) || sum < 0.99*mapWidth*mapHeight {
		t.Errorf("%d cells fill %f", len(cells), sum)
	}
	many := slices.Repeat(areas, 200)
	if n := len(treemap(many, []string{"x", "y"})); n > maxCells {
		t.Errorf("%d cells", n)
	}
}
