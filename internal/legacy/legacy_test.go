package legacy

import "testing"

func TestStructuredFactOfLegacyFact(t *testing.T) {
	for name, want := range map[string]string{
		"osfamily":               "os.family",
		"lsbmajdistrelease":      "os.distro.release.major",
		"ipaddress":              "networking.ip",
		"ipaddress_eth0":         "networking.interfaces.eth0.ip",
		"ipaddress6_eth0":        "networking.interfaces.eth0.ip6",
		"blockdevice_sda_size":   "disks.sda.size_bytes",
		"blockdevice_sda_vendor": "disks.sda.vendor",
		"processor12":            "processors.models.12",
		"sshrsakey":              "ssh.rsa.key",
		"ipaddress_":             "",
		"ipaddress_eth0_1":       "", // the interface may be eth0.1 or eth0:1
		"processor":              "",
		"processorx":             "",
		"sshkey":                 "",
		"kernel":                 "", // not a legacy fact
		"os":                     "",
		"memorysize_mb":          "", // the structured fact is in bytes
		"interfaces":             "", // the structured fact is a hash
		"":                       "",
	} {
		if got := Structured(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
