package syntax

import "testing"

// A variable or key that resembles a well-known fact is reported. Variables that the expression assigns are not.
func TestReportsNamesThatResembleFacts(t *testing.T) {
	const suffix = " is not a well-known fact; nodes that do not have it get undef; did you mean "
	for src, want := range map[string]string{
		"$osfamly":                 "$osfamly" + suffix + "$osfamily?",
		"$::osfamly":               "$osfamly" + suffix + "$osfamily?",
		"$osfamly['x'][0]":         "$osfamly" + suffix + "$osfamily?",
		"$facts['osfamly']":        "$facts['osfamly']" + suffix + "$facts['osfamily']?",
		"$facts['os']['famly'][0]": "$facts['os']['famly']" + suffix + "$facts['os']['family']?",
		"$::os['release']['majr']": "$os['release']['majr']" + suffix + "$os['release']['major']?",
		"$fcts['os']":              "$fcts" + suffix + "$facts?",
		"$trusted['extensions']['pp_rle']": "$trusted['extensions']['pp_rle']" + suffix +
			"$trusted['extensions']['pp_role']?",
		"$server_facts['environmnt']":   "$server_facts['environmnt']" + suffix + "$server_facts['environment']?",
		"$trusted['certnmae']":          "$trusted['certnmae']" + suffix + "$trusted['certname']?",
		"\"a ${facts['os']['famly']}\"": "$facts['os']['famly']" + suffix + "$facts['os']['family']?",
		"$x[$facts['os']['famly']]":     "$facts['os']['famly']" + suffix + "$facts['os']['family']?",

		"$facts['os']['family']":                                  "",
		"$trusted['extensions']['certnmae']":                      "",
		"$trusted['extensions']['pp_role']":                       "",
		"$trusted['extensions']['role']":                          "",
		"$osfamily[0, 2]":                                         "",
		"$facts[$osfamily]":                                       "",
		"[1].map |$x| { $osfamly = {}; $osfamly['x'] }":           "",
		"[$osfamly, [$hostnam]] = [1, [2]]; $osfamly":             "",
		"$facts['x'].reduce |$osfamly, $hostnam| { $osfamly[1] }": "",
	} {
		n, errs := ParseExpression(src)
		if len(errs) > 0 {
			t.Errorf("%s: %v", src, errs)
			continue
		}
		got := ""
		for _, e := range Misspelt(n) {
			got += e.Message + "; " + e.Hint
		}
		if got != want {
			t.Errorf("%s: found '%s', expected '%s'", src, got, want)
		}
	}
}
