// Package legacy contains a table of Facter's legacy facts. Agents of Puppet 8 and OpenVox 8 do not
// send these by default, because structured facts contain the same data.
package legacy

import "strings"

// Structured returns the path of the structured fact that replaces a legacy fact: for osfamily, it
// returns os.family. It returns "" if there is none, or if name is not a legacy fact.
func Structured(name string) string {
	if path := facts[name]; path != "" {
		return path
	}
	for _, f := range families {
		rest, ok := strings.CutPrefix(name, f.before)
		if !ok {
			continue
		}
		if rest, ok = strings.CutSuffix(rest, f.after); ok && isName(rest, f.digits) {
			return strings.ReplaceAll(f.path, "*", rest)
		}
	}
	return ""
}

// isName reports whether text, a part of a legacy fact's name, can be the name of an interface,
// disk or key. If digits is set, it must be a processor number. Names with an underscore are
// rejected, because the underscore may stand for a dot or a colon.
func isName(text string, digits bool) bool {
	allowed := "0123456789"
	if !digits {
		allowed += "abcdefghijklmnopqrstuvwxyz"
	}
	return text != "" && strings.Trim(text, allowed) == ""
}

// families lists legacy facts that exist once per interface, disk, processor or key. The name is
// between before and after. In path, '*' stands for that name.
var families = []struct {
	before, after, path string
	digits              bool // the name must be a number
}{
	{before: "ipaddress_", path: "networking.interfaces.*.ip"},
	{before: "ipaddress6_", path: "networking.interfaces.*.ip6"},
	{before: "macaddress_", path: "networking.interfaces.*.mac"},
	{before: "mtu_", path: "networking.interfaces.*.mtu"},
	{before: "netmask_", path: "networking.interfaces.*.netmask"},
	{before: "netmask6_", path: "networking.interfaces.*.netmask6"},
	{before: "network_", path: "networking.interfaces.*.network"},
	{before: "network6_", path: "networking.interfaces.*.network6"},
	{before: "scope6_", path: "networking.interfaces.*.scope6"},
	{before: "blockdevice_", after: "_model", path: "disks.*.model"},
	{before: "blockdevice_", after: "_size", path: "disks.*.size_bytes"},
	{before: "blockdevice_", after: "_vendor", path: "disks.*.vendor"},
	{before: "processor", path: "processors.models.*", digits: true},
	{before: "ssh", after: "key", path: "ssh.*.key"},
}

// facts maps all other legacy facts to structured facts, as defined by Facter 4 and OpenFact 5.
var facts = map[string]string{
	"architecture":                "os.architecture",
	"augeasversion":               "augeas.version",
	"bios_release_date":           "dmi.bios.release_date",
	"bios_vendor":                 "dmi.bios.vendor",
	"bios_version":                "dmi.bios.version",
	"boardassettag":               "dmi.board.asset_tag",
	"boardmanufacturer":           "dmi.board.manufacturer",
	"boardproductname":            "dmi.board.product",
	"boardserialnumber":           "dmi.board.serial_number",
	"chassisassettag":             "dmi.chassis.asset_tag",
	"chassistype":                 "dmi.chassis.type",
	"domain":                      "networking.domain",
	"fqdn":                        "networking.fqdn",
	"gid":                         "identity.group",
	"hardwareisa":                 "processors.isa",
	"hardwaremodel":               "os.hardware",
	"hostname":                    "networking.hostname",
	"id":                          "identity.user",
	"ipaddress":                   "networking.ip",
	"ipaddress6":                  "networking.ip6",
	"lsbdistcodename":             "os.distro.codename",
	"lsbdistdescription":          "os.distro.description",
	"lsbdistid":                   "os.distro.id",
	"lsbdistrelease":              "os.distro.release.full",
	"lsbmajdistrelease":           "os.distro.release.major",
	"lsbminordistrelease":         "os.distro.release.minor",
	"lsbrelease":                  "os.distro.specification",
	"macaddress":                  "networking.mac",
	"macosx_buildversion":         "os.macosx.build",
	"macosx_productname":          "os.macosx.product",
	"macosx_productversion":       "os.macosx.version.full",
	"macosx_productversion_major": "os.macosx.version.major",
	"macosx_productversion_minor": "os.macosx.version.minor",
	"macosx_productversion_patch": "os.macosx.version.patch",
	"manufacturer":                "dmi.manufacturer",
	"memoryfree":                  "memory.system.available",
	"memorysize":                  "memory.system.total",
	"netmask":                     "networking.netmask",
	"netmask6":                    "networking.netmask6",
	"network":                     "networking.network",
	"network6":                    "networking.network6",
	"operatingsystem":             "os.name",
	"operatingsystemmajrelease":   "os.release.major",
	"operatingsystemrelease":      "os.release.full",
	"osfamily":                    "os.family",
	"physicalprocessorcount":      "processors.physicalcount",
	"processorcount":              "processors.count",
	"productname":                 "dmi.product.name",
	"productversion":              "dmi.product.version",
	"rubyplatform":                "ruby.platform",
	"rubysitedir":                 "ruby.sitedir",
	"rubyversion":                 "ruby.version",
	"scope6":                      "networking.scope6",
	"selinux":                     "os.selinux.enabled",
	"selinux_config_mode":         "os.selinux.config_mode",
	"selinux_config_policy":       "os.selinux.config_policy",
	"selinux_current_mode":        "os.selinux.current_mode",
	"selinux_enforced":            "os.selinux.enforced",
	"selinux_policyversion":       "os.selinux.policy_version",
	"serialnumber":                "dmi.product.serial_number",
	"sp_boot_mode":                "system_profiler.boot_mode",
	"sp_boot_rom_version":         "system_profiler.boot_rom_version",
	"sp_boot_volume":              "system_profiler.boot_volume",
	"sp_cpu_type":                 "system_profiler.processor_name",
	"sp_current_processor_speed":  "system_profiler.processor_speed",
	"sp_kernel_version":           "system_profiler.kernel_version",
	"sp_l2_cache_core":            "system_profiler.l2_cache_per_core",
	"sp_l3_cache":                 "system_profiler.l3_cache",
	"sp_local_host_name":          "system_profiler.computer_name",
	"sp_machine_model":            "system_profiler.model_identifier",
	"sp_machine_name":             "system_profiler.model_name",
	"sp_number_processors":        "system_profiler.cores",
	"sp_os_version":               "system_profiler.system_version",
	"sp_packages":                 "system_profiler.processors",
	"sp_physical_memory":          "system_profiler.memory",
	"sp_platform_uuid":            "system_profiler.hardware_uuid",
	"sp_secure_vm":                "system_profiler.secure_virtual_memory",
	"sp_serial_number":            "system_profiler.serial_number",
	"sp_smc_version_system":       "system_profiler.smc_version",
	"sp_uptime":                   "system_profiler.uptime",
	"sp_user_name":                "system_profiler.username",
	"swapencrypted":               "memory.swap.encrypted",
	"swapfree":                    "memory.swap.available",
	"swapsize":                    "memory.swap.total",
	"system32":                    "os.windows.system32",
	"uptime":                      "system_uptime.uptime",
	"uptime_days":                 "system_uptime.days",
	"uptime_hours":                "system_uptime.hours",
	"uptime_seconds":              "system_uptime.seconds",
	"uuid":                        "dmi.product.uuid",
	"windows_display_version":     "os.windows.display_version",
	"windows_edition_id":          "os.windows.edition_id",
	"windows_installation_type":   "os.windows.installation_type",
	"windows_product_name":        "os.windows.product_name",
	"windows_release_id":          "os.windows.release_id",
	"zonename":                    "solaris_zones.current",
}
