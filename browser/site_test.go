package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dead is a data file that reaches no node.
const dead = "data/osfamily/suse.yaml"

// unread is a data file that no entry of the hierarchy reads.
const unread = "data/family/arch.yaml"

// writeSite writes a site, the facts of its nodes, and an older version of the site, and returns their directories.
func writeSite(t *testing.T) (site, facts, old string) {
	t.Helper()
	dir := t.TempDir()
	site, facts, old = filepath.Join(dir, "site"), filepath.Join(dir, "facts"), filepath.Join(dir, "old")
	for name, text := range map[string]string{
		"hiera.yaml": "version: 2\nhierarchy:\n" +
			"  - [node, '${fqdn}', 'data/nodes/${fqdn}']\n" +
			"  - [role, '${role}', 'data/role/${role}']\n" +
			"  - [osfamily, '${osfamily}', 'data/osfamily/${osfamily}']\n" +
			"  - [common, 'true', 'data/common']\n",
		"data/common.yaml": "ntp::servers: [ntp1.example.org, ntp2.example.org]\nntp::package: ntp\n" +
			"ssh::port: 22\nssh::permit_root_login: false\nmonitoring::contact: ops@example.org\n" +
			"motd::text: \"This is ${fqdn}, ask ${lookup('monitoring::contact')} for help\"\n" +
			"backup::start: '02:30'\nbackup::retention: {days: 14, copies: 1}\n" +
			"firewall::open_ports: [22]\nphp::memory_limit: 128M\n",
		"data/osfamily/debian.yaml": "ntp::package: ntpsec\nphp::config: /etc/php/8.2/fpm\n",
		"data/osfamily/redhat.yaml": "ntp::package: chrony\nphp::config: /etc/php-fpm.d\n",
		dead:                        "ntp::package: ntp-suse\n",
		"data/role/web.yaml":        "firewall::open_ports: [22, 80, 443]\nphp::memory_limit: 512M\n",
		"data/role/db.yaml": "firewall::open_ports: [22, 5432]\n" +
			"backup::retention: {days: 30, copies: 2}\n",
		unread:                             "ntp::package: ntp-arch\n",
		"data/role/mail.yaml":              "firewall::open_ports: [22, 25, 587, 993]\n",
		"data/nodes/db1.example.org.yaml":  "backup::start: '04:15'\n",
		"data/nodes/web1.example.org.yaml": "php::memory_limit: 1G\n",
		"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" +
			"  - {name: db::password, sensitive: true, to: canary}\n",
		"binder_config.yaml": `version: 1
categories: [[node, '${fqdn}'], [role, '${role}'], [osfamily, '${osfamily}'], [common, 'true']]
layers:
  - {name: site, include: ['confdir-hiera:/', 'confdir:/default']}
`,
	} {
		write(t, filepath.Join(site, name), text)
		before := strings.NewReplacer("512M", "256M", "chrony", "ntp", "993]", "993, 143]").Replace(text)
		write(t, filepath.Join(old, name), before)
	}
	for i := range 60 {
		role := []string{"web", "web", "web", "db", "mail"}[i%5]
		name := fmt.Sprintf("%s%d.example.org", role, i/5+1+i%5%3*12)
		if role != "web" {
			name = fmt.Sprintf("%s%d.example.org", role, i/5+1)
		}
		write(t, filepath.Join(facts, name+".yaml"), fmt.Sprintf("fqdn: %s\nrole: %s\nosfamily: %s\n", name, role,
			[]string{"Debian", "Debian", "RedHat"}[i/5%3]))
	}
	return site, facts, old
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
