package params_test

import (
	"strings"
	"testing"

	"bindc/internal/proof/params"
)

const webClass = "-- modules/profile/manifests/web.pp --\nclass profile::web (Integer $port = 80) { }\n" +
	"-- modules/ntp/manifests/init.pp --\nclass ntp ($servers = []) { }\n" +
	"-- modules/profile/manifests/ntp.pp --\nclass profile::ntp (Boolean $enable = true) { }\n"

// A key of a class that does not exist is reported if a similar class has the parameter.
func TestReportsKeysWithMisspeltClass(t *testing.T) {
	const ofCase, ofColons = "Puppet only looks up parameters in lower case",
		"Puppet looks up parameters with '::' between the names"
	for _, c := range []struct{ key, why, meant string }{
		{"profile::wbe::port", "there is no class profile::wbe", "profile::web::port"},
		{"profile::webb::port", "there is no class profile::webb", "profile::web::port"},
		{"profile::ntpp::enable", "there is no class profile::ntpp", "profile::ntp::enable"},
		{"profle::web::port", "there is no class profle::web", "profile::web::port"},
		{"proflie::web::port", "there is no class proflie::web", "profile::web::port"},
		{"ntpp::servers", "there is no class ntpp", "ntp::servers"},
		{"npt::servers", "there is no class npt", "ntp::servers"},
		{"profile::NTP::enable", ofCase, "profile::ntp::enable"},
		{"ntp::Servers", ofCase, "ntp::servers"},
		{"profile::ntp:enable", ofColons, "profile::ntp::enable"},
		{"ntp:servers", ofColons, "ntp::servers"},
		{"ntp:::servers", ofColons, "ntp::servers"},

		{"profile::web::port", "", ""},
		{"profile::wbe::host", "", ""},          // no similar class has the parameter
		{"profile::db::port", "", ""},           // no class is similar
		{"profile::wet::port", "", ""},          // another word
		{"web::port", "", ""},                   // a class of another module
		{"profile2::web::port", "", ""},         // a digit is not a typo
		{"profiles::web::port", "", ""},         // the plural may be a module elsewhere
		{"ntpd::servers", "", ""},               // another module
		{"nt::servers", "", ""},                 // perhaps another module
		{"port", "", ""},                        // not a key of a class
		{"profile::wbe", "", ""},                // a class
		{"profile::wbe::looked", "", ""},        // no such parameter
		{"profile::web::deep::port", "", ""},    // a class inside the other
		{"http://example.com/path", "", ""},     // text with colons
		{"other::wbe::port", "", ""},            // a module that is not there
		{"profile::web::sub::enable", "", ""},   // no class is similar
		{"profile::backup::web::port", "", ""},  // more words
		{"apache::vhost::profile::web", "", ""}, // a class in another place
		{"profile::nginx::proxy::port", "", ""}, // no class is similar
		{"profile::web_server::port", "", ""},   // a longer name
		{"lookup_options::web::port", "", ""},   // a name of Hiera as module
	} {
		value := "80"
		if strings.Contains(strings.ToLower(c.key), "enable") {
			value = "true"
		}
		var got []string
		for _, d := range diagnosed(t, webClass+"-- data/common.yaml --\n"+c.key+": "+value+"\n", params.Options{}) {
			if d.Code == "unknown_class" {
				got = append(got, d.Severity.String()+" "+d.Message+" "+d.Hint)
			}
		}
		want := "warning '" + c.key + "': " + c.why + ", and nothing else looks this key up did you mean '" + c.meant + "'?"
		if c.why == "" {
			want = ""
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", c.key, got, want)
		}
	}
}

// A key that a manifest or a value looks up is not misspelt.
func TestDoesNotReportLookedUpKeyOfMissingClass(t *testing.T) {
	for name, site := range map[string]string{
		"manifest": "-- data/common.yaml --\nprofile::wbe::port: 80\n" +
			"-- manifests/site.pp --\n$x = lookup('profile::wbe::port')\n",
		"value": "-- data/common.yaml --\nprofile::wbe::port: 80\nx: \"%{lookup('profile::wbe::port')}\"\n",
	} {
		for _, d := range diagnosed(t, webClass+site, params.Options{}) {
			t.Errorf("%s: %s", name, d.Message)
		}
	}
}

// The fix corrects all places of the key.
func TestNotesOfMisspeltClassHaveOtherPlaces(t *testing.T) {
	found := diagnosed(t, webClass+"-- data/common.yaml --\nprofile::wbe::port: 80\n-- data/role/a.yaml --\n"+
		"profile::wbe::port: 81\n", params.Options{})
	if len(found) != 1 || len(found[0].Notes) != 2 || !found[0].Fix.Notes ||
		!strings.HasSuffix(found[0].Notes[1].Pos.File, "role/a.yaml") {
		t.Errorf("%+v", found)
	}
}
