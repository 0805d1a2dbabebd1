package syntax

import (
	"iter"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/pattern"
)

// wellKnown are the names of facts that nearly every node has, and of the other variables of a request.
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

// Misspelt reports variables of the request that are nearly, but not quite, called as a well-known fact.
func Misspelt(n *expr.Node) []Error {
	var own []string // of the expression
	var found []Error
	walk(n, func(x *expr.Node) bool {
		if x.Lambda != nil {
			for _, p := range x.Lambda.Params {
				own = append(own, p.Name)
			}
		}
		switch x.Op {
		case expr.Assign:
			own = append(own, x.Name)
		case expr.Var:
			if near := diag.Misspelt(x.Name, wellKnown); near != "" {
				found = append(found, Error{Off: x.Off, Message: x.Name, Hint: "did you mean $" + near + "?"})
			}
		}
		return true
	})
	found = slices.DeleteFunc(found, func(e Error) bool { return slices.Contains(own, e.Message) })
	for i := range found {
		found[i].Message = "$" + found[i].Message + " is no well-known fact; where no node has it, it is empty"
	}
	return found
}

// wellKnownIn are the names of what well-known facts and variables have inside, where nearly all have the same.
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
	"os":                {"architecture", "distro", "family", "hardware", "macosx", "name", "release", "selinux", "windows"},
	"os.distro":         {"codename", "description", "id", "release", "specification"},
	"os.distro.release": {"full", "major", "minor"},
	"os.release":        {"branch", "full", "major", "minor", "patchlevel", "version"},
	"os.selinux":        {"config_mode", "config_policy", "current_mode", "enabled", "enforced", "policy_version"},
	"processors":        {"cores", "count", "extensions", "isa", "models", "physicalcount", "speed", "threads"},
	"ruby":              {"platform", "sitedir", "version"},
	"system_uptime":     {"days", "hours", "seconds", "uptime"},
	"trusted":           {"authenticated", "certname", "domain", "extensions", "external", "hostname"},
}

var (
	hieraName   = pattern.Lazy(`^[\p{Ll}_\d][\w.-]*(?:::[\p{Ll}_]\w*)*$`)
	hieraCalled = pattern.Lazy(`^(lookup|hiera|alias|literal|scope)\s*\(`)
)

// notAName is what is wrong with a name that no variable of Puppet has: it is a method without quotes, or what another
// program has in such braces.
func notAName(name, whole string) Error {
	e := Error{Message: "no variable is called '" + name + "', so that %{" + whole + "} is empty"}
	switch {
	case hieraCalled().MatchString(name):
		e.Hint = "a method has one argument, in quotes: %{" + hieraCalled().FindStringSubmatch(name)[1] + "('…')}"
	case name[0] == '$':
		e.Hint = "write it without '$'"
	default:
		e.Hint = "where text is meant, write %{literal('%')}{" + whole + "}"
	}
	return e
}

// MisspeltHiera is Misspelt of a text of Hiera 5: of %{name}, %{facts.name}, and of what stands in well-known facts. It
// reports names that no variable has, too.
func MisspeltHiera(n *expr.Node) []Error {
	var found []Error
	expr.HieraVariables(n, func(off int, path []string) {
		if path[0] != "" && !hieraName().MatchString(path[0]) {
			e := notAName(path[0], strings.Join(path, "."))
			e.Off = off
			found = append(found, e)
			return
		}
		prefix := ""
		if path[0] == "facts" && len(path) > 1 {
			prefix, path = "facts.", path[1:]
		}
		for i, known := 0, wellKnown; i < len(path) && known != nil; i++ {
			if near := diag.Misspelt(path[i], known); near != "" {
				right := append(slices.Clone(path[:i]), near)
				found = append(found, Error{Off: off, Message: "%{" + prefix + strings.Join(path[:i+1], ".") +
					"} is no well-known fact; where no node has it, it is empty",
					Hint: "did you mean " + strings.Join(right, ".") + "?"})
				return
			}
			known = wellKnownIn[strings.Join(path[:i+1], ".")]
		}
	})
	return found
}

// WellKnown tells whether nearly every node has a fact of that name, or every request such a variable.
func WellKnown(name string) bool { return slices.Contains(wellKnown, name) }

// shortNames are well-known facts whose names are too near to others to tell what is misspelt.
var shortNames = []string{"disks", "dmi", "filesystems", "fips_enabled", "hypervisors", "os", "ruby", "ssh"}

// Everywhere is WellKnown of all there are.
func Everywhere(name string) bool { return WellKnown(name) || slices.Contains(shortNames, name) }

// Variables are the variables that the string text interpolates, as those of Interpolated. Of a text in which something
// is wrong there are none.
func Variables(text string) (bare []*expr.Node, braced []string) {
	n, errs := ParseString(text)
	if len(errs) > 0 {
		return nil, nil
	}
	return Interpolated(n, text)
}

// Interpolated are the variables that a string in src interpolates: those written without braces, and the names of
// those within.
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

// VariablesIn ranges over the names of the variables in n.
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
