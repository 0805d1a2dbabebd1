package lookup

import (
	"strings"

	"bindc/internal/value"
)

// names lists the derived variables that are not in legacyFacts.
var names = []string{"fqdn", "hostname", "domain", "clientcert", "kernel", "virtual", "is_virtual"}

// missingNames returns the variables in names and legacyFacts that vars lacks.
func missingNames(vars map[string]value.Value) map[string]bool {
	var out map[string]bool
	note := func(name string) {
		if _, ok := vars[name]; !ok {
			if out == nil {
				out = map[string]bool{}
			}
			out[name] = true
		}
	}
	for _, name := range names {
		note(name)
	}
	for _, l := range legacyFacts {
		note(l.name)
	}
	return out
}

// deriveNames sets the missing names of the node: fqdn from hostname and domain or from the certname, and the other
// names from fqdn. sent means that an agent sent the facts, including fqdn and clientcert. If so, deriveNames does not
// derive hostname and domain from fqdn, because Puppet would not find them either.
func deriveNames(vars map[string]value.Value, sent bool) {
	setFrom(vars, "hostname", "networking.hostname")
	setFrom(vars, "domain", "networking.domain")
	setFrom(vars, "fqdn", "networking.fqdn")
	if host, domain := vars["hostname"].Text(), vars["domain"].Text(); host != "" && domain != "" {
		setMissing(vars, "fqdn", value.FromString(host+"."+domain))
	}
	setFrom(vars, "fqdn", "trusted.certname")
	setFrom(vars, "fqdn", "clientcert")
	setFrom(vars, "clientcert", "trusted.certname")
	setFrom(vars, "clientcert", "fqdn")
	if sent {
		return
	}
	host, domain, _ := strings.Cut(vars["fqdn"].Text(), ".")
	if host != "" {
		setMissing(vars, "hostname", value.FromString(host))
	}
	if domain != "" {
		setMissing(vars, "domain", value.FromString(domain))
	}
}

// legacyFacts lists facts that modern Facter no longer sends, with the paths of the structured facts that replace them.
var legacyFacts = []struct{ name, path string }{
	{"osfamily", "os.family"},
	{"operatingsystem", "os.name"},
	{"operatingsystemrelease", "os.release.full"},
	{"operatingsystemmajrelease", "os.release.major"},
	{"architecture", "os.architecture"},
	{"ipaddress", "networking.ip"},
}

// kernels maps values of the fact os.family to values of the fact kernel.
var kernels = map[string]string{
	"AIX": "AIX", "Darwin": "Darwin", "FreeBSD": "FreeBSD", "OpenBSD": "OpenBSD", "NetBSD": "NetBSD",
	"DragonFly": "DragonFly",
	"Solaris":   "SunOS", "windows": "windows", "HP-UX": "HP-UX",
	"Alpine": "Linux", "Archlinux": "Linux", "Debian": "Linux", "Gentoo": "Linux", "Linux": "Linux",
	"Mandrake": "Linux",
	"RedHat":   "Linux", "Slackware": "Linux", "Suse": "Linux", "NixOS": "Linux", "Void": "Linux",
}

func derive(vars map[string]value.Value) {
	for _, l := range legacyFacts {
		setFrom(vars, l.name, l.path)
	}
	family, _ := dig(vars, "os.family")
	if kernel := kernels[family.Text()]; kernel != "" {
		setMissing(vars, "kernel", value.FromString(kernel))
	}
	for hypervisor := range vars["hypervisors"].Pairs() { // Facter lists the innermost hypervisor first
		setMissing(vars, "virtual", hypervisor)
	}
	if v, ok := vars["virtual"]; ok {
		setMissing(vars, "is_virtual", value.FromBool(v.Text() != "physical"))
	}
}

// sources returns the variables that can affect the derived value of name. It returns nil if name is not a derived
// variable.
func sources(name string) []string {
	switch name {
	case "fqdn", "hostname", "domain", "clientcert":
		return []string{"fqdn", "hostname", "domain", "clientcert", "networking", "trusted"}
	case "kernel":
		return []string{"os"}
	case "virtual":
		return []string{"hypervisors"}
	case "is_virtual":
		return []string{"virtual"}
	}
	for _, l := range legacyFacts {
		if l.name == name {
			root, _, _ := strings.Cut(l.path, ".")
			return []string{root}
		}
	}
	return nil
}

// setFrom sets the variable name to the value at path, unless it is already set or there is no such value.
func setFrom(vars map[string]value.Value, name, path string) {
	if v, ok := dig(vars, path); ok {
		setMissing(vars, name, v)
	}
}

func setMissing(vars map[string]value.Value, name string, v value.Value) {
	if _, ok := vars[name]; !ok {
		vars[name] = v
	}
}

// dig returns the value at a dotted path, such as os.family. It returns false if the value is undef.
func dig(vars map[string]value.Value, path string) (value.Value, bool) {
	first, rest, deeper := strings.Cut(path, ".")
	v := vars[first]
	for deeper {
		first, rest, deeper = strings.Cut(rest, ".")
		v, _ = v.Get(value.FromString(first))
	}
	return v, !v.IsUndef()
}
