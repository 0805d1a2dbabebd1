package syntax

import (
	"iter"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

// wellKnown lists facts that nearly every node has, and variables that every request has, such as trusted.
var wellKnown = []string{"architecture", "augeasversion", "clientcert", "clientversion", "domain", "environment",
	"facterversion", "facts", "fqdn", "gid", "hardwareisa", "hardwaremodel", "hostname", "identity", "interfaces",
	"ipaddress", "ipaddress6", "is_virtual", "kernel", "kernelmajversion", "kernelrelease", "kernelversion",
	"load_averages", "lsbdistcodename", "lsbdistdescription", "lsbdistid", "lsbdistrelease", "lsbmajdistrelease",
	"macaddress", "manufacturer", "memory", "memoryfree", "memorysize", "mountpoints", "netmask", "network",
	"networking", "operatingsystem", "operatingsystemmajrelease", "operatingsystemrelease", "osfamily", "partitions",
	"path", "physicalprocessorcount", "processorcount", "processors", "productname", "puppetversion", "rubysitedir",
	"rubyversion", "selinux", "serialnumber", "server_facts", "servername", "serverversion", "swapfree", "swapsize",
	"system_uptime", "timezone", "trusted", "uptime", "uptime_days", "uptime_hours", "uptime_seconds", "uuid",
	"virtual"}

// Misspelt returns an error for each variable in n that resembles a well-known fact, unless n assigns it. It also
// checks the keys of well-known facts, as in $facts['os']['famly'].
func Misspelt(n *expr.Node) []SyntaxError {
	var own []string // variables that n assigns
	var found []SyntaxError
	var variables []string // for each entry of found, its variable
	walk(n, func(x *expr.Node) bool {
		if x.Lambda != nil {
			for _, p := range x.Lambda.Params {
				own = append(own, p.Name)
			}
		}
		if x.Op == expr.Assign {
			own = append(own, x.Targets()...)
		}
		path := FactPath(x)
		if wrong, right := nearMiss(path); wrong != nil {
			variables = append(variables, path[0])
			found = append(found, SyntaxError{Off: x.Off, Fix: diag.MeantAs(wrong[len(wrong)-1], right[len(right)-1]),
				Hint:    "did you mean " + accessText(right) + "?",
				Message: accessText(wrong) + " is not a well-known fact; nodes that do not have it get undef"})
		}
		return path == nil
	})
	kept := found[:0]
	for i, e := range found {
		if !slices.Contains(own, variables[i]) {
			kept = append(kept, e)
		}
	}
	return kept
}

// FactPath returns the name of a variable and the keys that n accesses: facts, os and family for
// $facts['os']['family']. It returns nil for other expressions.
func FactPath(n *expr.Node) []string {
	if n.Op == expr.Var {
		return []string{strings.TrimPrefix(n.Name, "::")}
	}
	if n.Op != expr.Access || len(n.Kids) != 2 {
		return nil
	}
	fact := FactPath(n.Kids[0])
	key, isConstant := n.Kids[1].Constant()
	if fact == nil || !isConstant || key.Kind() != value.String {
		return nil
	}
	return append(fact, key.Text())
}

func accessText(path []string) string {
	text := "$" + path[0]
	for _, key := range path[1:] {
		text += "['" + key + "']"
	}
	return text
}

// nearMiss finds a misspelt name in path. It returns path up to this name, first as given and then corrected. It
// returns nil if no name is misspelt.
func nearMiss(path []string) (wrong, right []string) {
	from := 0
	if len(path) > 1 && path[0] == "facts" {
		from = 1
	}
	for i, facts := from, wellKnown; i < len(path) && facts != nil; i++ {
		if near := diag.Misspelt(path[i], facts); near != "" {
			return path[:i+1], append(slices.Clone(path[:i]), near)
		}
		facts = wellKnownIn[strings.Join(path[from:i+1], ".")]
	}
	return nil, nil
}

// wellKnownIn lists, by their path, the keys of well-known facts and variables that nearly every node has.
var wellKnownIn = map[string][]string{
	"dmi":         {"bios", "board", "chassis", "manufacturer", "product"},
	"dmi.board":   {"asset_tag", "manufacturer", "product", "serial_number"},
	"dmi.product": {"name", "serial_number", "uuid", "version"},
	"identity":    {"gid", "group", "privileged", "uid", "user"},
	"memory":      {"swap", "system"},
	"memory.swap": {"available", "available_bytes", "capacity", "encrypted", "total", "total_bytes", "used",
		"used_bytes"},
	"memory.system": {"available", "available_bytes", "capacity", "total", "total_bytes", "used", "used_bytes"},
	"networking": {"dhcp", "domain", "fqdn", "hostname", "interfaces", "ip", "ip6", "mac", "mtu", "netmask", "netmask6",
		"network", "network6", "primary", "scope6"},
	"os": {"architecture", "distro", "family", "hardware", "macosx", "name", "release", "selinux",
		"windows"},
	"os.distro":         {"codename", "description", "id", "release", "specification"},
	"os.distro.release": {"full", "major", "minor"},
	"os.release":        {"branch", "full", "major", "minor", "patchlevel", "version"},
	"os.selinux":        {"config_mode", "config_policy", "current_mode", "enabled", "enforced", "policy_version"},
	"processors":        {"cores", "count", "extensions", "isa", "models", "physicalcount", "speed", "threads"},
	"ruby":              {"platform", "sitedir", "version"},
	"server_facts":      {"environment", "serverip", "serverip6", "servername", "serverversion"},
	"system_uptime":     {"days", "hours", "seconds", "uptime"},
	"trusted":           {"authenticated", "certname", "domain", "extensions", "external", "hostname"},
	// Certificates may have extensions with any name. These are the names that Puppet registers.
	"trusted.extensions": {"pp_application", "pp_apptier", "pp_auth_auto_renew", "pp_auth_role", "pp_authorization",
		"pp_cli_auth", "pp_cloudplatform", "pp_cluster", "pp_cost_center", "pp_created_by", "pp_datacenter",
		"pp_department", "pp_employee", "pp_environment", "pp_hostname", "pp_image_name", "pp_instance_id", "pp_network",
		"pp_owner", "pp_preshared_key", "pp_product", "pp_project", "pp_provisioner", "pp_region", "pp_role",
		"pp_securitypolicy", "pp_service", "pp_software_version", "pp_uuid", "pp_zone"},
}

var (
	hieraName   = pattern.Lazy(`^[\p{Ll}_\d][\w.-]*(?:::[\p{Ll}_]\w*)*$`)
	hieraCalled = pattern.Lazy(`^(lookup|hiera|alias|literal|scope)\s*\(`)
)

// notAName returns the error for name, which cannot be a Puppet variable. It may be a method without quotes, or the
// syntax of another program. whole is the content of %{...}.
func notAName(name, whole string) SyntaxError {
	e := SyntaxError{Message: "no variable is called '" + name + "', so that %{" + whole + "} is empty"}
	switch {
	case hieraCalled().MatchString(name):
		e.Hint = "a method has one argument, in quotes: %{" + hieraCalled().FindStringSubmatch(name)[1] + "('…')}"
	case name[0] == '$':
		e.Hint, e.Fix = "write it without '$'", diag.Fix{Old: name, New: name[1:]}
	default:
		e.Hint = "where text is meant, write %{literal('%')}{" + whole + "}"
	}
	return e
}

// MisspeltHiera is like Misspelt for Hiera interpolations such as %{name} and %{facts.name}. It also reports names
// that no variable can have.
func MisspeltHiera(n *expr.Node) []SyntaxError {
	var found []SyntaxError
	expr.HieraVariables(n, func(off int, path []string) {
		if path[0] != "" && !hieraName().MatchString(path[0]) {
			e := notAName(path[0], strings.Join(path, "."))
			e.Off = off
			found = append(found, e)
			return
		}
		if wrong, right := nearMiss(path); wrong != nil {
			found = append(found, SyntaxError{Off: off, Message: "%{" + strings.Join(wrong, ".") +
				"} is not a well-known fact; nodes that do not have it get an empty string",
				Hint: "did you mean " + strings.Join(right, ".") + "?",
				Fix:  diag.MeantAs(strings.Join(wrong, "."), strings.Join(right, "."))})
		}
	})
	return found
}

// WellKnown reports whether name is a fact that nearly every node has, or a variable of every request.
func WellKnown(name string) bool { return slices.Contains(wellKnown, name) }

// shortNames lists well-known facts whose names are too short to detect typos in them.
var shortNames = []string{"disks", "dmi", "filesystems", "fips_enabled", "hypervisors", "os", "ruby", "ssh"}

// Everywhere reports whether name is a well-known fact, a variable of every request, or one of shortNames.
func Everywhere(name string) bool { return WellKnown(name) || slices.Contains(shortNames, name) }

// Variables parses the string text and returns its variables, like Interpolated. It returns none if text has a syntax
// error.
func Variables(text string) (bare []*expr.Node, braced []string) {
	n, errs := ParseString(text)
	if len(errs) > 0 {
		return nil, nil
	}
	return Interpolated(n, text)
}

// Interpolated returns the variables in the string n, whose source is src: those like $name as bare, and the names of
// those in ${...} as braced.
func Interpolated(n *expr.Node, src string) (bare []*expr.Node, braced []string) {
	if n.Op != expr.Concat {
		return nil, nil
	}
	for _, kid := range n.Kids {
		if kid.Op == expr.Var && src[kid.Off] == '$' && !strings.HasSuffix(strings.TrimSpace(src[:kid.Off]), "${") {
			bare = append(bare, kid)
			continue
		}
		braced = slices.AppendSeq(braced, VariablesIn(kid))
	}
	return bare, braced
}

// VariablesIn returns an iterator over the names of the variables in n.
func VariablesIn(n *expr.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		walk(n, func(x *expr.Node) bool {
			if more && x.Op == expr.Var {
				more = yield(strings.TrimPrefix(x.Name, "::"))
			}
			return more
		})
	}
}
