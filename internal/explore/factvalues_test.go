package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFormOffersKnownValues(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	_, page := get(t, "GET", to+"/n/web1", nil)
	for name, expected := range map[string]string{"osfamily": "Debian RedHat suse", "role": "web"} {
		_, after, _ := strings.Cut(page, `name="fact.`+name+`"`)
		list, _, _ := strings.Cut(after, "</datalist>")
		var found []string
		for _, option := range strings.Split(list, `<option value="`)[1:] {
			value, _, _ := strings.Cut(option, `"`)
			found = append(found, value)
		}
		if strings.Join(found, " ") != expected {
			t.Errorf("the form offers %v for %s, expected %s", found, name, expected)
		}
	}
	d = open(t, structured, Source{})
	for name, expected := range map[string]string{"environment": "production staging", "os.family": "Debian",
		"networking.fqdn": "web1"} {
		if found := strings.Join(d.census.facts[name], " "); found != expected {
			t.Errorf("%s has the values '%s', expected '%s'", name, found, expected)
		}
	}
}

// The list of a fact that identifies a node has no end.
func TestFormOffersFewValues(t *testing.T) {
	site := structured
	for i := range maxListed + 1 {
		site += fmt.Sprintf("-- facts/n%d.json --\n{\"networking\": {\"fqdn\": \"n%d\"}}\n", i, i)
	}
	d := open(t, site, Source{})
	if found := d.census.facts["networking.fqdn"]; len(found) != 0 {
		t.Errorf("the form offers %d values", len(found))
	}
	if !d.hasValue("networking.fqdn", "N499") || d.hasValue("networking.fqdn", "n9999") {
		t.Error("the nodes with a value are wrong")
	}
	fields := []factField{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	d.census.facts = factValues{"a": make([]string, maxListed-1), "b": {"1", "2"}, "c": {"1"}}
	(&view{d: d}).suggest(fields)
	offered := []int{len(fields[0].Known), len(fields[1].Known), len(fields[2].Known)}
	if !slices.Equal(offered, []int{maxListed - 1, 0, 1}) {
		t.Errorf("the form offers %v values", offered)
	}
}

func TestWhatIfNotesUnknownValue(t *testing.T) {
	d := open(t, structured, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	const note = "No node and no condition has the value"
	shows(t, to, "/n/web1?if=environment%3Dprod", note+" &#39;prod&#39; for environment")
	shows(t, to, "/n/web1?if=environment%3Dstagin", note+" &#39;stagin&#39; for environment; did you mean &#39;staging&#39;?")
	shows(t, to, "/n/web2?if=environment%3Dproduction", "!"+note)
	shows(t, to, "/n/web1?if=os.family%3DDebian", "!"+note)
	shows(t, to, "/n/web1?if=os.family%3Ddebian", "!"+note)    // a node has it; only the case differs
	shows(t, to, "/n/web1?if=os.release.major%3D13", "!"+note) // only a text uses it

	d = open(t, ranked, Source{})
	to = served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1?if=osfamily%3DSuSE", "!"+note)
	shows(t, to, "/n/web1?if=osfamily%3DGentoo", note+" &#39;Gentoo&#39; for osfamily.")
	shows(t, to, "/n/web1/k/a?if=osfamily%3DGentoo", "would get with <code>osfamily=Gentoo</code>")
}

func TestWhatIfSaysThatFactIsEmpty(t *testing.T) {
	d := open(t, ranked, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1?if=role%3D", "These categories suppose <code>role is empty</code>.",
		"Empty, so no condition on it holds: <code>role</code>.", "!does not have", "What if role is empty")
	shows(t, to, "/n/web1/k/a?if=role%3D", "would get with <code>role is empty</code>", "Empty: <code>role</code>", "!Not set")
	d = open(t, strings.ReplaceAll(ranked, "role: web\nosfamily: Debian", "osfamily: Debian"), Source{})
	to = served(t, Access{}, d) + "/s/" + d.ID
	shows(t, to, "/n/web1", "facts that this node does not have: <code>role</code>", "!Empty, so")
}
