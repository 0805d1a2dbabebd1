package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bindc/diag"
)

// A key that is a typo of another one is reported, whether it is before or after it. Different names are not.
func TestReportsTyposOfKeys(t *testing.T) {
	for _, c := range []struct{ name, common, debian, want string }{
		{"two letters are swapped", "app::workers: 1", "app::wrokers: 1", "data/osfamily/debian.yaml:1:1"},
		{"a letter is missing", "app::workers: 1", "app::workrs: 1", "data/osfamily/debian.yaml:1:1"},
		{"an extra letter", "app::workers: 1", "app::worrkers: 1", "data/osfamily/debian.yaml:1:1"},
		{"a wrong letter", "app::workers: 1", "app::wurkers: 1", "data/osfamily/debian.yaml:1:1"},
		{"typo in the module name", "apache::port: 1", "apahce::port: 1", "data/osfamily/debian.yaml:1:1"},
		{"typo before an underscore", "app::worker_count: 1", "app::woker_count: 1", "data/osfamily/debian.yaml:1:1"},
		{"the first one is bound less often", "app::wrokers: 1", "app::workers: 1\n'other': 1", ""},
		{"a plural is not a typo", "app::worker: 1", "app::workers: 1", ""},
		{"a wrong first letter", "app::except: 1", "app::accept: 1", ""},
		{"a short word is not compared", "app::port: 1", "app::prot: 1", ""},
		{"one colon instead of two", "app::port: 1", "app:port: 1", "data/osfamily/debian.yaml:1:1"},
		{"three colons, and bound more often", "app:::port: 1", "app::port: 1", "data/common.yaml:1:1"},
		{"one colon, but no key with two", "app::port: 1", "app:name: 1", ""},
		{"two typos are not reported", "app::workers::number: 1", "app::wrokers::nubmer: 1", ""},
		{"a different number is not a typo", "app::server1::x: 1", "app::server2::x: 1", ""},
		{"the other word is in another key path", "app::workers: 1", "web::wrokers: 1", ""},
		{"bindings of the same key are not reported", "app::workers: 1", "app::workers: 2", ""},
		{"ignored by a comment", "app::workers: 1", "# bindc: ignore near_key\napp::wrokers: 1", ""},
	} {
		s := site{"hiera.yaml": "version: 2", "data/common.yaml": c.common, "data/osfamily/debian.yaml": c.debian}
		if c.want == "" && strings.Contains(c.name, "less often") {
			s["data/osfamily/redhat.yaml"] = "app::workers: 1"
			c.want = "data/common.yaml:1:1"
		}
		if got := strings.Join(s.advice(t, Options{})["near_key"], " "); got != c.want {
			t.Errorf("%s: advises at %q, expected %q", c.name, got, c.want)
		}
	}
}

// The site's data, which come before the module's, misspell a key of the module.
func TestReportsTypoOfKeyThatItsModuleBinds(t *testing.T) {
	s := site{"hiera.yaml": "version: 2", "data/common.yaml": "wiki::databse: 1", "data/osfamily/debian.yaml": "wiki::databse: 2",
		"modules/wiki/bindings/default.yaml": "bindings_version: 1\nname: wiki::default\nbind: [[wiki::database, 1]]\n"}
	if got := strings.Join(s.advice(t, Options{})["near_key"], " "); got != "data/common.yaml:1:1" {
		t.Errorf("advises at %q, expected data/common.yaml:1:1", got)
	}
}

// A key that a manifest looks up is not a typo.
func TestDoesNotReportLookedUpKeysAsTypos(t *testing.T) {
	asked := &Lookups{}
	asked.add("app::contract")
	near := []diag.Code{"near_key"}
	s := site{"hiera.yaml": "version: 2", "data/common.yaml": "app::contact: 1\napp::contract: 1\n"}
	for _, codes := range [][]diag.Code{near, nil} { // nil selects all codes; unused_key replaces near_key
		if got := s.advice(t, Options{Lookups: asked, Codes: codes})["near_key"]; len(got) > 0 {
			t.Error("advises at", got)
		}
	}
	got := s.advice(t, Options{Lookups: &Lookups{}, Codes: near})["near_key"]
	if strings.Join(got, " ") != "data/common.yaml:2:1" {
		t.Error("where nobody looks it up, advises at", got)
	}
	if got := s.advice(t, Options{})["near_key"]; strings.Join(got, " ") != "data/common.yaml:2:1" {
		t.Error("advises at", got)
	}
}

// A key is reported at its first position in the order of files, not of layers. Names of parameters of resources are
// not keys.
func TestReportsTypoOfKeyAtItsFirstPlace(t *testing.T) {
	s := site{"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
		"{name: low, include: 'confdir:/low'}]\n",
		"bindings/top.yaml": "bindings_version: 1\nname: top\nbind:\n  - {parameters: 'Webserver[one]', to: {port: 1}}\n" +
			"  - {parameters: 'Websever[one]', to: {port: 1}}\n  - [app::wrokers, 1]\n  - [app::workers, 1]\n",
		"bindings/low.yaml": "bindings_version: 1\nname: low\nbind:\n  - [app::wrokers, 2]\n  - [app::workers, 2]\n" +
			"  - {when: {environment: x}, bind: [[app::workers, 1]]}\n"}
	if got := strings.Join(s.advice(t, Options{})["near_key"], " "); got != "bindings/low.yaml:4:6" {
		t.Error("advises at", got)
	}
}

// Keys that the defaults of parameters in a transformer or combinator look up are used.
func TestKeysLookedUpByParameterDefaultsAreUsed(t *testing.T) {
	asked := &Lookups{}
	asked.add("first")
	asked.add("all")
	s := site{"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - {name: first, to: 1, transformer: "|$x, $y = [lookup('second')]| { $y }"}
  - name: all
    multibind_id: all
    type: Array
    options: {combinator: "|$memo, $x| { $memo + [$x].map |$v, $w = [lookup('third')]| { $w } }"}
  - {in: all, to: 1}
  - [second, 1]
  - [third, 1]
  - [fourth, 1]
`}
	got := s.advice(t, Options{Lookups: asked})["unused_key"]
	if strings.Join(got, " ") != "bindings/default.yaml:12:6" {
		t.Error("advises at", got)
	}
}

// A word that many keys share counts as one word. A letter may be doubled anywhere.
func TestReportsSharedMisspeltWordOnce(t *testing.T) {
	keys := map[string]*boundKey{"a::wrokers": {}, "a::address": {}, "a::addres": {}, "a::settting": {},
		"a::setting": {}, "workers::listener": {}, "workers::listner": {}, "a::sexrver": {}, "a::servxer": {}}
	for i := range 2 * maxNear {
		keys[fmt.Sprintf("a%c::workers", 'a'+i)] = &boundKey{}
	}
	near := nearWords(keys)
	for word, want := range map[string]string{"wrokers": "workers", "workers": "wrokers", "address": "addres",
		"addres": "address", "settting": "setting", "listner": "listener", "sexrver": ""} {
		if got := strings.Join(near[word], " "); got != want {
			t.Errorf("near %s is %q, expected %q", word, got, want)
		}
	}
}

// Words that differ by one letter each are a series of names. Comparing all pairs would take minutes.
func TestNearKeyLintIsFastForSimilarKeys(t *testing.T) {
	var text strings.Builder
	for i := range 26 * 26 {
		fmt.Fprintf(&text, "app::wo%c%c%crkers: 1\n", 'a'+i/676, 'a'+i/26%26, 'a'+i%26)
	}
	text.WriteString("app::settings: 1\napp::setings: 1\n")
	start := time.Now()
	s := site{"hiera.yaml": "version: 2", "data/common.yaml": text.String()}
	if got := strings.Join(s.advice(t, Options{})["near_key"], " "); got != "data/common.yaml:678:1" {
		t.Error("advises at", got)
	}
	if took := time.Since(start); took > time.Minute {
		t.Error("took", took)
	}
}

// Each word of a key may be the typo, wherever it is. Words that are too long are not compared.
func TestReportsTypoInAnyWordOfAKey(t *testing.T) {
	var got []string
	for from, to := range words("ab::workers9worker_éa-ports.x") {
		got = append(got, "ab::workers9worker_éa-ports.x"[from:to])
	}
	if want := "workers worker ports"; strings.Join(got, " ") != want {
		t.Errorf("words are %v, expected %s", got, want)
	}
	for from, to := range words("workers::ports") {
		if from != 0 || to != 7 {
			t.Errorf("the first word is from %d to %d", from, to)
		}
		break
	}
	long := strings.Repeat("ab", maxNearWord/2)
	near := nearWords(map[string]*boundKey{"a::workers": {}, "b::workers": {}, "a::wrokers": {}, "a::wokers": {},
		"a::x" + long: {}, "a::xb" + long: {}, "a::" + long[:40]: {}, "a::" + long[:20] + "a" + long[20:40]: {}})
	for word, want := range map[string]string{"workers": "wokers wrokers", "wrokers": "wokers workers",
		"wokers": "workers wrokers", long[:40]: long[:20] + "a" + long[20:40], "x" + long: ""} {
		if got := strings.Join(near[word], " "); got != want {
			t.Errorf("near %s is %q, expected %q", word, got, want)
		}
	}
}

// The parameter of a class is not the typo, although it is bound less often. If the site has no errors, package
// proof/params reports the typo.
func TestDoesNotReportParametersAsTypos(t *testing.T) {
	opts := Options{Codes: []diag.Code{"near_key"}, IsParameter: func(key string) bool { return key == "app::workers" }}
	s := site{"hiera.yaml": "version: 2", "data/common.yaml": "app::wrokers: 1",
		"data/osfamily/debian.yaml": "app::workers: 1", "data/osfamily/redhat.yaml": "app::wrokers: 1"}
	if got := s.advice(t, opts)["near_key"]; got != nil {
		t.Errorf("advises at %q, expected nothing", got)
	}
	dir := t.TempDir()
	s.write(t, dir)
	loaded, _, diags := sound(t, dir)
	Check(loaded, nil, opts, diags)
	if got := diags.Sorted(); len(got) != 1 || got[0].Fix.New != "app::workers" {
		t.Errorf("in a site with errors: %+v, expected a correction to app::workers", got)
	}
}
