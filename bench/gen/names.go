package gen

import "strconv"

// The vocabulary of names and values. YAML reads each of these words as a string without quotes.
var (
	software = []string{
		"nginx", "apache", "postgresql", "mysql", "redis", "rabbitmq", "elasticsearch", "kibana", "logstash", "grafana",
		"prometheus", "haproxy", "varnish", "memcached", "consul", "vault", "nomad", "docker", "kubernetes", "jenkins",
		"gitlab", "sshd", "ntp", "dns", "dhcp", "ldap", "kerberos", "postfix", "dovecot", "samba",
		"nfs", "ceph", "glance", "keystone", "neutron", "nova", "cinder", "swift", "horizon", "zookeeper",
		"kafka", "cassandra", "mongodb", "influxdb", "telegraf", "icinga", "puppetdb", "foreman", "sudo", "firewall",
	}
	prefixes = []string{"profile_", "role_", "base_", "infra_"}
	classes  = []string{
		"server", "client", "config", "service", "package", "backup", "monitoring", "tls",
		"cache", "storage", "cluster", "proxy", "logging", "auth", "limits", "vhost",
	}
	paramFirst = []string{
		"worker", "max", "min", "listen", "client", "server", "request", "response", "session", "buffer",
		"connection", "keepalive", "upstream", "default", "primary", "replica", "log", "error", "access", "retry",
	}
	paramLast = []string{
		"connections", "timeout", "port", "address", "size", "count", "path", "level", "interval", "mode",
		"hosts", "options", "user", "group", "limit", "threshold", "format", "version", "policy", "name",
	}
	roles = []string{"app", "web", "db", "cache", "queue", "search", "proxy", "mail", "build", "mon", "log", "auth",
		"files", "stor", "kvm", "edge"}
	cities    = []string{"fra", "ams", "lon", "par", "osl", "waw", "nyc", "sfo", "sin", "syd", "nrt", "gru"}
	families  = []string{"Debian", "RedHat", "Suse", "Archlinux"}
	stages    = []string{"production", "staging", "testing"}
	osNames   = []string{"Debian", "CentOS", "SLES", "Archlinux"} // osNames[i] belongs to families[i]
	osMajor   = []string{"12", "9", "15", "6"}                    // osMajor[i] belongs to families[i]
	plainWord = []string{
		"present", "absent", "running", "stopped", "latest", "installed", "enabled", "disabled", "permissive",
		"enforcing",
		"warning", "notice", "debug", "info", "round_robin", "least_conn", "ip_hash", "sticky", "primary", "secondary",
		"daily", "weekly", "monthly", "hourly", "internal", "external", "public", "private", "json", "syslog",
	}
)

// nodeName returns a fully qualified name such as app017.fra.example.com.
func nodeName(i int) string {
	host, rest := roles[i%len(roles)], i/len(roles)
	city, number := cities[rest%len(cities)], rest/len(cities)+1
	return host + threeDigits(number) + "." + city + "." + domain
}

const domain = "example.com"

func threeDigits(n int) string {
	text := strconv.Itoa(n)
	for len(text) < 3 {
		text = "0" + text
	}
	return text
}

// moduleName returns a different name for each i. It appends a number once all combinations of
// words are used.
func moduleName(i int) string {
	name := prefixes[i/len(software)%len(prefixes)] + software[i%len(software)]
	if round := i / (len(software) * len(prefixes)); round > 0 {
		name += strconv.Itoa(round + 1)
	}
	return name
}

// HotKey is bound in the common data of the site, and in the file of each node. The value for node
// i is i+1.
const HotKey = "site::hot"

// keyNames returns the keys of all modules. The keys of a module are adjacent.
func (s *Site) keyNames() []string {
	d := s.throw(forKeys, 0, 0)
	names := make([]string, s.Keys)
	taken := make(map[string]bool, s.Keys)
	for i := range names {
		name := moduleName(s.moduleOf(i)) + "::" + param(&d)
		if taken[name] {
			name = unused(taken, name)
		}
		taken[name] = true
		names[i] = name
	}
	return names
}

// param returns a random name for a class parameter, without the module. A quarter of the names
// belong to the module's main class.
func param(d *dice) string {
	name := pick(d, paramFirst) + "_" + pick(d, paramLast)
	if d.percent(25) {
		return name
	}
	return pick(d, classes) + "::" + name
}

func unused(taken map[string]bool, name string) string {
	for n := 2; ; n++ {
		if numbered := name + "_" + strconv.Itoa(n); !taken[numbered] {
			return numbered
		}
	}
}
