package loader_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// A misspelt definition of a category is reported where it is, not where the correct name is used.
func TestMisspeltCategoryIsReportedAtItsDefinition(t *testing.T) {
	const (
		config  = "binder_config.yaml"
		entries = "version: 2\nhierarchy:\n- [role, '${role}', 'role/${role}']\n- [osfamily, '${osfamily}', 'os/${osfamily}']\n"
	)
	define := func(role, osfamily string) string {
		return "version: 1\ncategories:\n  - [node, '${fqdn}']\n  - " + role + "\n  - " + osfamily + "\n"
	}
	for _, c := range []struct{ name, config, file, fix, severity string }{
		{"name of a category with the right expression", define("[rol, '${role}']", "[osfamily, '${osfamily}']"),
			config + ":4", "rol>role", "error"},
		{"name of a built-in category", define("[role, '${role}']", `[osfamly, "${facts['os']['family']}"]`),
			config + ":5", "osfamly>osfamily", "error"},
		{"expression of a category", define("[role, '${rol}']", "[osfamily, '${osfamily}']"),
			config + ":4", "rol>role", "warning"},
		{"expression with a fact", define(`[role, "${facts['rol']}"]`, "[osfamily, '${osfamily}']"),
			config + ":4", "rol>role", "warning"},
		{"expression that is a misspelt well-known fact", define("[role, '${role}']", "[osfamily, '${osfamly}']"),
			config + ":5", "osfamly>osfamily", "warning"},
		{"use of a category that its expression confirms", define("[rolle, '${rolle}']", "[osfamily, '${osfamily}']"),
			"hiera.yaml:3", "role>rolle", "error"},
	} {
		dir := writeSite(t, map[string]string{config: c.config, "hiera.yaml": entries,
			"role/web.yaml": "a: 1", "os/Debian.yaml": "a: 1"})
		var diags diag.List
		loader.Load(dir, loader.Options{}, &diags)
		found := diags.Sorted()
		if len(found) != 1 {
			t.Errorf("%s: %v, expected one diagnostic", c.name, found)
			continue
		}
		d := found[0]
		at := fmt.Sprintf("%s:%d", filepath.Base(d.Pos.File), d.Pos.Line)
		if at != c.file || d.Fix.Old+">"+d.Fix.New != c.fix || d.Severity.String() != c.severity {
			t.Errorf("%s: %s at %s, fix %s>%s: %s", c.name, d.Severity, at, d.Fix.Old, d.Fix.New, d.Message)
		}
	}
}
