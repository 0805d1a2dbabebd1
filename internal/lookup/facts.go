package lookup

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
	qualified bool            // a variable was given for top scope, as ::role
	strict    bool            // data of Hiera 5 must not use variables that are not set
}

// FactsOptions are those of package runtime.
type FactsOptions struct {
	Node, Environment  string
	Trusted, Variables Value
	StrictVariables    bool
}

// NewFacts makes facts from a hash: every entry is a variable, and $facts has all entries. It derives the names that
// modern Facter no longer sends from those it does (language.md, section 7). It changes no given fact except for those
// that opts.Node sets. The facts do not refer to any snapshot. The error is an *Error with the code facts, or a
// *DamageError if a given value is from a damaged snapshot.
func NewFacts(facts Value, opts FactsOptions) (*Facts, error) {
	all, err := hashOfFacts(facts, "the facts as a hash of names to values")
	if err != nil {
		return nil, err
	}
	trusted, err := hashOfFacts(opts.Trusted, "trusted facts as a hash")
	if err != nil {
		return nil, err
	}
	variables, err := hashOfFacts(opts.Variables, "variables as a hash of names to values")
	if err != nil {
		return nil, err
	}
	vars := make(map[string]value.Value, all.Len()+16)
	if _, nested := all.Get(value.FromString("facts")); nested {
		return nil, &Error{Code: CodeFacts, Message: "expected facts alone, found the entry 'facts': no fact has that name"}
	}
	if all.IsUndef() {
		all = value.FromPairs()
	}
	setAll(vars, all)
	setAll(vars, variables)
	delete(vars, "trusted") // what a node says of itself is not trusted, and nothing of the server
	_, server := variables.Get(value.FromString("server_facts"))
	if opts.Node != "" {
		all = ofNode(all, opts.Node)
		vars["fqdn"], vars["clientcert"] = value.FromString(opts.Node), value.FromString(opts.Node)
	}
	vars["facts"] = all
	if trusted = trustedOf(trusted, opts.Node); !trusted.IsUndef() {
		vars["trusted"] = trusted
	}
	missing := missingNames(vars)
	deriveNames(vars, opts.Node == "" && vars["fqdn"].Text() != "" && vars["clientcert"].Text() != "")
	derive(vars)
	agent := cmp.Or(opts.Environment, vars["environment"].Text())
	setEnvironment(vars, opts)
	f := &Facts{variables: vars, derived: missing, agent: agent, server: server, qualified: hasQualified(variables),
		strict: opts.StrictVariables}
	f.setServerFacts()
	return f, nil
}

// hashOfFacts returns a copy of a hash of facts, or undef.
func hashOfFacts(of Value, expected string) (value.Value, error) {
	v, err := of.own(nil)
	if err == nil && v.Kind() != value.Undef && v.Kind() != value.Hash {
		err = &Error{Code: CodeFacts, Message: "expected " + expected + ", found " + describe(v)}
	}
	return v, err
}

// Variable returns a variable, given or derived; undef if there is none of that name.
func (f *Facts) Variable(name string) value.Value { return f.variables[name] }

// Agent returns the environment that the agent asks for, "" if it does not.
func (f *Facts) Agent() string { return f.agent }

// In returns f for an environment.
func (f *Facts) In(environment string) *Facts {
	if f.variables["environment"].Text() == environment {
		return f
	}
	vars := maps.Clone(f.variables)
	vars["environment"] = value.FromString(environment)
	out := &Facts{vars, f.derived, f.agent, f.server, f.qualified, f.strict}
	out.setServerFacts()
	return out
}

// setServerFacts sets $server_facts to the environment, which every server sets, unless it was given.
func (f *Facts) setServerFacts() {
	if !f.server {
		f.variables["server_facts"] = value.FromPairs(
			value.Pair{Key: value.FromString("environment"), Value: f.variables["environment"]})
	}
}

// names lists the variables that identify the node, and others derived from facts that are not legacy ones.
var names = []string{"fqdn", "hostname", "domain", "clientcert", "kernel", "virtual", "is_virtual"}

// missingNames returns the derivable variables that were not given.
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

// given returns a variable if it was given. As in Puppet, data of Hiera 5 sees no others.
func (f *Facts) given(name string) value.Value {
	v, _ := f.lookup(name)
	return v
}

// lookup returns a variable and whether it was given, as undef or another value.
func (f *Facts) lookup(name string) (v value.Value, set bool) {
	// A leading :: asks for the variable of top scope, which a caller in another scope gives under that name: as undef
	// where top scope does not have it.
	if v, ok := f.ofTopScope(name); ok {
		return v, !v.IsUndef()
	}
	name = strings.TrimPrefix(name, "::")
	if f.derived[name] {
		return v, false
	}
	v, set = f.variables[name]
	return v, set
}

// top returns the variable of top scope with that name: the one that was given for it, or else the caller's.
func (f *Facts) top(name string) (value.Value, bool) {
	if f.qualified {
		if v, ok := f.ofTopScope("::" + name); ok {
			return v, !v.IsUndef()
		}
	}
	v, ok := f.variables[name]
	return v, ok
}

// hasQualified reports whether a hash has a name with a leading ::.
func hasQualified(hash value.Value) bool {
	for k := range hash.Pairs() {
		if k.Kind() == value.String && strings.HasPrefix(k.Text(), "::") {
			return true
		}
	}
	return false
}

// ofTopScope is the variable of a name with a leading ::, if one was given under that name.
func (f *Facts) ofTopScope(name string) (v value.Value, ok bool) {
	if strings.HasPrefix(name, "::") {
		v, ok = f.variables[name]
	}
	return v, ok
}

// setAll sets a variable for each entry of a hash.
func setAll(vars map[string]value.Value, hash value.Value) {
	for k, v := range hash.Pairs() {
		if k.Kind() == value.String {
			vars[k.Text()] = v
		}
	}
}

// ofNode returns facts with fqdn and clientcert, where given, set to node.
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

// legacyFacts names facts that modern Facter sends under another name only. The first path that leads to a value
// counts.
var legacyFacts = []struct{ name, path string }{
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
	for _, l := range legacyFacts {
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
	for _, l := range legacyFacts {
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
