package runtime

import (
	"strings"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Facts are the variables of one node. They are not changed once made, and may be used by several goroutines at once.
type Facts struct {
	variables map[string]value.Value
}

// FactsOptions add to the facts of a node.
type FactsOptions struct {
	Node        string // the certname; sets fqdn and trusted.certname
	Environment string // default: the fact environment, else production
	Trusted     Value  // a hash, the variable $trusted; undef: none but what Node sets
}

// ParseFacts reads facts from a JSON object, as `facter --json` prints it. The error is an *Error with the code facts.
func ParseFacts(json []byte) (*Facts, error) {
	v, err := ParseJSON(json)
	if err != nil {
		return nil, &Error{Code: "facts", Message: "expected the facts as JSON: " + err.Error(), Err: err}
	}
	return NewFacts(v, FactsOptions{})
}

// NewFacts makes facts of a hash: every entry is a variable, all of them are $facts. Names that modern Facter no longer
// sends are derived from those it does (language.md, section 7). What was looked up in a snapshot makes facts that are
// valid until that is closed. The error is an *Error with the code facts.
func NewFacts(facts Value, opts FactsOptions) (*Facts, error) {
	if !facts.IsUndef() && facts.Kind() != Hash {
		return nil, &Error{Code: "facts", Message: "expected the facts as a hash of names to values, found " + describe(facts.get())}
	}
	if !opts.Trusted.IsUndef() && opts.Trusted.Kind() != Hash {
		return nil, &Error{Code: "facts", Message: "expected trusted facts as a hash, found " + describe(opts.Trusted.get())}
	}
	vars := make(map[string]value.Value, facts.Len()+16)
	all := facts.get()
	if facts.IsUndef() {
		all = value.FromPairs()
	}
	for k, v := range all.Pairs() {
		if k.Kind() == value.String {
			vars[k.Text()] = v
		}
	}
	vars["facts"] = all
	delete(vars, "trusted") // what a node says of itself is not trusted
	if opts.Node != "" {
		setName(vars, opts.Node)
	}
	setTrusted(vars, opts)
	derive(vars)
	setEnvironment(vars, opts)
	return &Facts{vars}, nil
}

// setName makes the node's names those of its certname.
func setName(vars map[string]value.Value, certname string) {
	host, domain, _ := strings.Cut(certname, ".")
	vars["fqdn"] = value.FromString(certname)
	vars["hostname"] = value.FromString(host)
	vars["domain"] = value.FromString(domain)
}

func setTrusted(vars map[string]value.Value, opts FactsOptions) {
	trusted := opts.Trusted.get()
	if opts.Node != "" {
		var b value.Builder
		for k, v := range trusted.Pairs() {
			b.Set(k, v)
		}
		b.Set(value.FromString("certname"), value.FromString(opts.Node))
		trusted = b.Hash()
	}
	if !trusted.IsUndef() {
		vars["trusted"] = trusted
	}
}

func setEnvironment(vars map[string]value.Value, opts FactsOptions) {
	if opts.Environment != "" {
		vars["environment"] = value.FromString(opts.Environment)
	} else if _, ok := vars["environment"]; !ok {
		vars["environment"] = value.FromString("production")
	}
}

// legacy names facts that modern Facter sends under another name only. The first path that leads to a value counts.
var legacy = []struct{ name, path string }{
	{"fqdn", "networking.fqdn"},
	{"fqdn", "trusted.certname"},
	{"hostname", "networking.hostname"},
	{"domain", "networking.domain"},
	{"osfamily", "os.family"},
	{"operatingsystem", "os.name"},
	{"operatingsystemrelease", "os.release.full"},
	{"operatingsystemmajrelease", "os.release.major"},
	{"architecture", "os.architecture"},
	{"ipaddress", "networking.ip"},
	{"clientcert", "trusted.certname"},
	{"clientcert", "fqdn"},
}

// kernels names the kernel of the families of operating systems that Facter knows.
var kernels = map[string]string{
	"AIX": "AIX", "Darwin": "Darwin", "FreeBSD": "FreeBSD", "OpenBSD": "OpenBSD", "NetBSD": "NetBSD", "DragonFly": "DragonFly",
	"Solaris": "SunOS", "windows": "windows", "HP-UX": "HP-UX",
	"Alpine": "Linux", "Archlinux": "Linux", "Debian": "Linux", "Gentoo": "Linux", "Linux": "Linux", "Mandrake": "Linux",
	"RedHat": "Linux", "Slackware": "Linux", "Suse": "Linux", "NixOS": "Linux", "Void": "Linux",
}

func derive(vars map[string]value.Value) {
	for _, l := range legacy {
		if v, ok := dig(vars, l.path); ok {
			setMissing(vars, l.name, v)
		}
	}
	if family, ok := dig(vars, "os.family"); ok && kernels[family.Text()] != "" {
		setMissing(vars, "kernel", value.FromString(kernels[family.Text()]))
	}
	for hypervisor := range vars["hypervisors"].Pairs() { // Facter lists them nearest first
		setMissing(vars, "virtual", hypervisor)
	}
	if v, ok := vars["virtual"]; ok {
		setMissing(vars, "is_virtual", value.FromBool(v.Text() != "physical"))
	}
}

func setMissing(vars map[string]value.Value, name string, v value.Value) {
	if _, ok := vars[name]; !ok {
		vars[name] = v
	}
}

// dig follows a path of hash keys.
func dig(vars map[string]value.Value, path string) (value.Value, bool) {
	first, rest, deeper := strings.Cut(path, ".")
	v, ok := vars[first]
	for ok && deeper {
		first, rest, deeper = strings.Cut(rest, ".")
		v, ok = v.Get(value.FromString(first))
	}
	return v, ok && !v.IsUndef()
}

// describe is what v is, for a message.
func describe(v value.Value) string {
	switch v.Kind() {
	case value.Undef:
		return "undef"
	case value.Array:
		return "an array"
	case value.Hash:
		return "a hash"
	}
	return types.Infer(v).String() + " '" + string(value.AppendText(nil, v)) + "'"
}
