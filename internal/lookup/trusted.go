package lookup

import (
	"strings"

	"bindc/internal/value"
)

// trustedNames lists the entries of $trusted in Puppet's order.
var trustedNames = []string{"authenticated", "certname", "extensions", "hostname", "domain", "external"}

// trustedOf returns $trusted for a node: the given hash, with missing entries derived from the certname as in Puppet.
// If node is not empty, it replaces the given certname. The result is undef if neither node nor a hash is given.
func trustedOf(given value.Value, node string) value.Value {
	certname := entryOf(given, "certname").Text()
	another := node != "" && node != certname
	if another {
		certname = node
	}
	if certname == "" || !another && hasAll(given) {
		return given
	}
	derived := derivedTrusted(certname)
	var b value.Builder
	for _, name := range trustedNames {
		key := value.FromString(name)
		v, there := given.Get(key)
		if !there || another && (name == "certname" || name == "hostname" || name == "domain") {
			v = derived[name]
		}
		b.Set(key, v)
	}
	for key, v := range given.Pairs() {
		if _, derived := derived[key.Text()]; !derived {
			b.Set(key, v)
		}
	}
	return b.Hash()
}

// derivedTrusted returns the entries of $trusted that Puppet's server sets for a certificate without extensions.
func derivedTrusted(certname string) map[string]value.Value {
	host, domain, qualified := strings.Cut(certname, ".")
	none := value.FromPairs()
	out := map[string]value.Value{"authenticated": value.FromString("remote"), "extensions": none, "external": none,
		"certname": value.FromString(certname), "hostname": value.FromString(host), "domain": {}}
	if qualified {
		out["domain"] = value.FromString(domain)
	}
	return out
}

func hasAll(given value.Value) bool {
	for _, name := range trustedNames {
		if _, there := given.Get(value.FromString(name)); !there {
			return false
		}
	}
	return true
}

func entryOf(hash value.Value, name string) value.Value {
	v, _ := hash.Get(value.FromString(name))
	return v
}
