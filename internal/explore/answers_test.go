package explore

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// computed is a site whose key url has a single binding with a different value in staging.
const computed = `
-- site/hiera.yaml --
version: 5
hierarchy:
  - {name: environments, path: 'environment/%{environment}.yaml'}
  - {name: common, path: common.yaml}
-- site/data/common.yaml --
url: "https://%{lookup('host')}/"
motd: "this is %{fqdn}"
plain: {1: one}
host: www.example.org
broken: "%{lookup('nothing')}"
users: {ann: 1}
password: "%{fqdn} canary"
lookup_options:
  users: {merge: deep}
  password: {convert_to: Sensitive}
-- site/data/environment/staging.yaml --
host: staging.example.org
users: {bob: 2}
-- facts/web1.json --
{"fqdn": "web1"}
-- facts/web2.json --
{"certname": "web2", "environment": "staging", "facts": {"fqdn": "web2"}}
-- facts/web3.json --
{"fqdn": "web3"}
`

// answersFrom returns the nodes by the value that the twin of a key lists for them.
func answersFrom(t *testing.T, to, key string) map[string]string {
	t.Helper()
	var list []answerTwin
	_, text := get(t, "GET", to+"/k/"+key+".json?values=0", nil)
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := map[string]string{}
	for _, a := range list {
		_, value := described(a.Outcome)
		out[value] = strings.Join(a.Nodes, " ")
	}
	return out
}

func TestNodesAreGroupedByValueTheyGet(t *testing.T) {
	d := open(t, computed, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for key, expected := range map[string]map[string]string{
		"url":      {`"https://www.example.org/"`: "web1 web3", `"https://staging.example.org/"`: "web2"},
		"motd":     {`"this is web1"`: "web1", `"this is web2"`: "web2", `"this is web3"`: "web3"},
		"host":     {`"www.example.org"`: "web1 web3", `"staging.example.org"`: "web2"},
		"users":    {`{"ann":1}`: "web1 web3", `{"ann":1,"bob":2}`: "web2"},
		"plain":    {`{"1":"one"}`: "web1 web2 web3"},
		"password": {"sensitive": "web1 web2 web3"},
	} {
		if found := answersFrom(t, to, key); !reflect.DeepEqual(found, expected) {
			t.Errorf("%s: found %v, expected %v", key, found, expected)
		}
	}
	shows(t, to, "/k/url", "3 nodes get 2 different values", "https://staging.example.org/", "/n/web2/k/url")
	_, text := get(t, "GET", to+"/k/url?value=2", nil)
	if strings.Contains(text, "web1") || !strings.Contains(text, "/n/web2/k/url") {
		t.Errorf("the list of the second value is wrong:\n%s", text)
	}
	shows(t, to, "/k/motd?row=1", "this is web3")
}

// Every node of a page of a key gets the value under which the page lists it.
func TestAnswersAgreeWithLookups(t *testing.T) {
	for name, d := range map[string]*Data{
		"example": openDir(t, "../../testdata/example", "../../testdata/example-facts", Source{}),
		"secrets": open(t, secrets, Source{}), "small": open(t, small, Source{}),
		"computed": open(t, computed, Source{}),
	} {
		constant := 0
		for _, key := range d.keys {
			k := d.key(key)
			if <-k.answered; k.answersErr != nil {
				t.Fatal(k.answersErr)
			}
			found := fmt.Sprint(k.answers)
			if isConstant(k) {
				constant++
				if found != fmt.Sprint(looked(t, d, key)) {
					t.Errorf("%s, %s: the rows have the answers %s, lookups have %v", name, key, found, looked(t, d, key))
				}
			}
		}
		if constant == 0 {
			t.Errorf("%s: no key was answered without lookups", name)
		}
	}
}

// looked returns the answers of a key from lookups alone.
func looked(t *testing.T, d *Data, key string) []answer {
	t.Helper()
	groups := answerGroups{}
	for i, n := range d.nodes {
		e, err := d.explain(n, key)
		if err != nil {
			t.Fatal(err)
		}
		groups.add(fingerprintOf(e.Outcome), int32(i))
	}
	return groups.sorted()
}

func TestPageSaysIfNodesAreTooMany(t *testing.T) {
	d := open(t, computed, Source{})
	d.maxAnswered = 2
	to := served(t, Access{}, d) + "/s/" + d.ID
	_, text := get(t, "GET", to+"/k/motd", nil)
	if !strings.Contains(text, "1 node was not looked up") || strings.Contains(text, "this is web3") {
		t.Errorf("the page does not say that a node was not looked up:\n%s", text)
	}
	if _, text = get(t, "GET", to+"/k/host", nil); strings.Contains(text, "not looked up") {
		t.Errorf("the values of host are constant, and all nodes are known:\n%s", text)
	}
}

func TestManyValuesAreOnSeveralPages(t *testing.T) {
	site := computed
	for i := range 30 {
		site += fmt.Sprintf("-- facts/n%d.json --\n{\"fqdn\": \"n%d\"}\n", i, i)
	}
	d := open(t, site, Source{})
	to := served(t, Access{}, d)
	_, text := get(t, "GET", to+"/s/"+d.ID+"/k/motd", nil)
	next := regexp.MustCompile(`<a href="([^"]*)" rel="next">More values`).FindStringSubmatch(text)
	if next == nil {
		t.Fatalf("no link to more values:\n%s", text)
	}
	_, rest := get(t, "GET", to+next[1], nil)
	for i := range d.nodes {
		value := "this is " + d.nodes[i].Name + "&#34;"
		if strings.Contains(text, value) == strings.Contains(rest, value) {
			t.Errorf("the value of %s is not on exactly one page", d.nodes[i].Name)
		}
	}
}
