package runtime

import (
	"cmp"
	"maps"
	"strings"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Facts are the variables of one node. They are not changed once made, and may be used by several goroutines at once.
type Facts struct {
	variables map[string]value.Value
	derived   map[string]bool // those that were not given: what there is of them is made of others
	agent     string          // the environment that is asked for; "": none
	server    bool            // the variable server_facts was given
}

// FactsOptions add to the facts of a node. The zero value adds nothing.
type FactsOptions struct {
	Node        string // the certname; sets fqdn, clientcert and trusted.certname
	Environment string // default: the fact environment, else production
	Trusted     Value  // a hash, the variable $trusted; undef: none but what Node sets
	Variables   Value  // a hash: variables of top scope that are no facts, or count before the fact of that name
}

// ParseFacts is NewFacts of a JSON object, as `facter --json` prints it.
func ParseFacts(json []byte, opts FactsOptions) (*Facts, error) {
	v, err := ParseJSON(json)
	if err != nil {
		return nil, &Error{Code: CodeFacts, Message: "expected the facts as JSON: " + err.Error(), Err: err}
	}
	return NewFacts(v, opts)
}

// NewFacts makes facts of a hash: every entry is a variable, all of them are $facts. Names that modern Facter no longer
// sends are derived from those it does (language.md, section 7); what is given stays, but for what opts.Node sets. What
// was looked up in a snapshot makes facts that are valid until that is closed. The error is an *Error with the code
// facts.
func NewFacts(facts Value, opts FactsOptions) (*Facts, error) {
	if !facts.IsUndef() && facts.Kind() != Hash {
		return nil, &Error{Code: CodeFacts, Message: "expected the facts as a hash of names to values, found " +
			describe(facts.get())}
	}
	if !opts.Trusted.IsUndef() && opts.Trusted.Kind() != Hash {
		return nil, &Error{Code: CodeFacts, Message: "expected trusted facts as a hash, found " +
			describe(opts.Trusted.get())}
	}
	if !opts.Variables.IsUndef() && opts.Variables.Kind() != Hash {
		return nil, &Error{Code: CodeFacts, Message: "expected variables as a hash of names to values, found " +
			describe(opts.Variables.get())}
	}
	vars := make(map[string]value.Value, facts.Len()+16)
	all := facts.get()
	if facts.IsUndef() {
		all = value.FromPairs()
	}
	setAll(vars, all)
	setAll(vars, opts.Variables.get())
	delete(vars, "trusted") // what a node says of itself is not trusted, and nothing of the server
	_, server := opts.Variables.get().Get(value.FromString("server_facts"))
	if opts.Node != "" {
		all = ofNode(all, opts.Node)
		vars["fqdn"], vars["clientcert"] = value.FromString(opts.Node), value.FromString(opts.Node)
	}
	vars["facts"] = all
	setTrusted(vars, opts)
	missing := missingNames(vars)
	deriveNames(vars, opts.Node == "" && vars["fqdn"].Text() != "" && vars["clientcert"].Text() != "")
	derive(vars)
	agent := cmp.Or(opts.Environment, vars["environment"].Text())
	setEnvironment(vars, opts)
	f := &Facts{vars, missing, agent, server}
	f.setServerFacts()
	return f, nil
}

// in is f in an environment.
func (f *Facts) in(environment string) *Facts {
	if f.variables["environment"].Text() == environment {
		return f
	}
	vars := maps.Clone(f.variables)
	vars["environment"] = value.FromString(environment)
	out := &Facts{vars, f.derived, f.agent, f.server}
	out.setServerFacts()
	return out
}

// setServerFacts sets $server_facts, where it was not given, to what every server says of itself: the environment.
func (f *Facts) setServerFacts() {
	if !f.server {
		f.variables["server_facts"] = value.FromPairs(
			value.Pair{Key: value.FromString("environment"), Value: f.variables["environment"]})
	}
}

// names are those of the node, and of what else is derived from facts of other shapes than the legacy ones.
var names = []string{"fqdn", "hostname", "domain", "clientcert", "kernel", "virtual", "is_virtual"}

// missingNames are the variables that were not given, of those that can be derived.
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
	for _, l := range legacy {
		note(l.name)
	}
	return out
}

// given is a variable, if it was given. Data of Hiera 5 sees no others, as in Puppet.
func (f *Facts) given(name string) value.Value {
	if f.derived[name] {
		return value.Value{}
	}
	return f.variables[name]
}

// setAll sets a variable for each entry of a hash.
func setAll(vars map[string]value.Value, hash value.Value) {
	for k, v := range hash.Pairs() {
		if k.Kind() == value.String {
			vars[k.Text()] = v
		}
	}
}

// ofNode is a hash of facts in which those that are the certname are that of node, where they are given.
func ofNode(facts value.Value, node string) value.Value {
	var b value.Builder
	for k, v := range facts.Pairs() {
		if name := k.Text(); name == "fqdn" || name == "clientcert" {
			v = value.FromString(node)
		}
		b.Set(k, v)
	}
	return b.Hash()
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

// deriveNames derives the names of the node from one another: fqdn from the host and its domain before the certname,
// and those from fqdn. Facts that have both fqdn and clientcert are all that an agent sent: of such nodes of real sites
// that lack a hostname Puppet finds none.
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

// legacy names facts that modern Facter sends under another name only. The first path that leads to a value counts.
var legacy = []struct{ name, path string }{
	{"osfamily", "os.family"},
	{"operatingsystem", "os.name"},
	{"operatingsystemrelease", "os.release.full"},
	{"operatingsystemmajrelease", "os.release.major"},
	{"architecture", "os.architecture"},
	{"ipaddress", "networking.ip"},
}

// kernels names the kernel of the families of operating systems that Facter knows.
var kernels = map[string]string{
	"AIX": "AIX", "Darwin": "Darwin", "FreeBSD": "FreeBSD", "OpenBSD": "OpenBSD", "NetBSD": "NetBSD",
	"DragonFly": "DragonFly",
	"Solaris":   "SunOS", "windows": "windows", "HP-UX": "HP-UX",
	"Alpine": "Linux", "Archlinux": "Linux", "Debian": "Linux", "Gentoo": "Linux", "Linux": "Linux",
	"Mandrake": "Linux",
	"RedHat":   "Linux", "Slackware": "Linux", "Suse": "Linux", "NixOS": "Linux", "Void": "Linux",
}

func derive(vars map[string]value.Value) {
	for _, l := range legacy {
		setFrom(vars, l.name, l.path)
	}
	family, _ := dig(vars, "os.family")
	if kernel := kernels[family.Text()]; kernel != "" {
		setMissing(vars, "kernel", value.FromString(kernel))
	}
	for hypervisor := range vars["hypervisors"].Pairs() { // Facter lists them nearest first
		setMissing(vars, "virtual", hypervisor)
	}
	if v, ok := vars["virtual"]; ok {
		setMissing(vars, "is_virtual", value.FromBool(v.Text() != "physical"))
	}
}

// sources are the names of what a variable is derived from where it is not given, and of what decides whether it is.
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
	for _, l := range legacy {
		if l.name == name {
			root, _, _ := strings.Cut(l.path, ".")
			return []string{root}
		}
	}
	return nil
}

// setFrom derives name from what stands at path, if anything does.
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

// dig follows a path of hash keys.
func dig(vars map[string]value.Value, path string) (value.Value, bool) {
	first, rest, deeper := strings.Cut(path, ".")
	v := vars[first]
	for deeper {
		first, rest, deeper = strings.Cut(rest, ".")
		v, _ = v.Get(value.FromString(first))
	}
	return v, !v.IsUndef()
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
