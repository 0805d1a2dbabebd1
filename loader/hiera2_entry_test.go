package loader

import (
	"testing"

	"bindc/loader/internal/site"
)

// A file name determines the condition under which the file applies: values of categories and, in braces, guards.
func TestFileNameDeterminesCondition(t *testing.T) {
	const none = "never"
	tests := []struct {
		name, value, path, file string
		whole                   bool // some file of the entry matches its path in several ways
		want                    string
	}{
		{"the variable in the path gives the category value",
			"${osfamily}", "os/${osfamily}", "os/Darwin", false, "c=darwin"},
		{"a file that does not match the path", "${osfamily}", "os/${osfamily}", "env/darwin", false, none},
		{"an empty value never matches", "${osfamily}", "os-${osfamily}", "os-", false, none},
		{"two variables in the path give the value", "${a}-${b}", "d/${a}-${b}.x", "d/x-y-z.x", false, "c=x-y-z"},
		{"several readings are harmless if the whole value is known",
			"${a}-${b}", "d/${a}-${b}", "d/x-y-z", true, "c=x-y-z"},
		{"a second variable becomes a guard", "${fqdn}", "${dc}/${fqdn}", "AMS/n1", false, "c=n1 {$dc}=ams"},
		{"a repeated second variable is one guard",
			"${fqdn}", "${dc}/x/${dc}/${fqdn}", "ams/x/ams/n1", false, "c=n1 {$dc}=ams"},
		{"variables apart in the path, and only one pair gives the value",
			"${a}-${b}", "d/${a}/${b}", "d/x/y", false, "c=x-y"},
		{"variables apart in the path, and several pairs give the value",
			"${a}-${b}", "d/${a}/${b}", "d/x-y/z", false, "c=x-y-z {$a}=x-y {$b}=z"},
		{"a variable that is not in the value becomes a guard",
			"${a}-${b}", "d/${a}/${c}/${b}", "d/x/w/y", false, "c=x-y {$c}=w"},
		{"a variable missing from the path makes the path a guard",
			"${a}-${b}", "d/${a}", "d/x", false, "{d/${a}}=d/x"},
		{"a path with several readings is a guard", "${fqdn}", "d/${a}-${b}", "d/x-y-z", true, "{d/${a}-${b}}=d/x-y-z"},
		{"a path without variables", "${osfamily}", "os/all", "os/all", false, "{os/all}=os/all"},
		{"a value without variables", "true", "os/${dc}", "os/ams", false, "c=true {$dc}=ams"},
		{"an empty value", "", "os/${dc}", "os/ams", false, none},
		{"downcase does not hide the value", "${rack}", "rack/${downcase($rack)}", "rack/R7", false, "c=r7"},
		{"other functions make the path a guard",
			"${rack}", "rack/${upcase($rack)}", "rack/R7", false, "{rack/${upcase($rack)}}=rack/r7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			value := parseTemplate(t, test.value)
			r := readerOf(Dimension{Name: "c", Value: value.node})
			e := hiera2Entry{category: 0, value: value, path: parseTemplate(t, test.path)}
			got := none
			if i, ok := r.conditionOf(e, test.file, test.whole); ok {
				got = textOf(r, i)
			}
			if got != test.want {
				t.Errorf("%s for %s and %s: %q, expected %q", test.file, test.value, test.path, got, test.want)
			}
		})
	}
}

// If the value of an entry differs from the expression of its category, the path alone does not determine the
// condition: the variables of the path are guards, and the category must have the entry's value.
func TestPathVariablesAreGuardsIfEntryValueDiffers(t *testing.T) {
	const equal = `{${downcase("${osfamily}") == downcase("${os}")}}=true`
	for _, test := range []struct {
		name, value, path, file string
		whole                   bool
		want                    string
	}{
		{"the variable in the path gives the value", "${os}", "os/${os}", "os/Ubuntu", false, "c=ubuntu {$os}=ubuntu"},
		{"two variables in the path give the value",
			"${os}-${env}", "d/${os}-${env}.x", "d/a-b.x", false, "c=a-b {$os}=a {$env}=b"},
		{"a function of the variable in the path", "${os}", "os/${upcase($os)}", "os/UBUNTU", false,
			equal + " {$upcase($os)}=ubuntu"},
		{"the variable is not in the path", "${os}", "d/${role}", "d/web", false, equal + " {$role}=web"},
		{"path without variables", "${os}", "d/all", "d/all", false, equal},
		{"path with several readings",
			"${os}", "d/${os}-${role}", "d/x-y-z", true, equal + " {d/${os}-${role}}=d/x-y-z"},
		{"neither value nor path has variables", "debian", "d/all", "d/all", false, "c=debian"},
		{"only the path has variables", "debian", "d/${role}", "d/web", false, "c=debian {$role}=web"},
		{"constant value, and path with several readings", "debian", "d/${os}-${role}", "d/x-y-z", true,
			"c=debian {d/${os}-${role}}=d/x-y-z"},
		{"empty variable", "${os}", "os-${os}", "os-", false, "never"},
	} {
		r := readerOf(Dimension{Name: "c", Value: parseTemplate(t, "${osfamily}").node})
		e := hiera2Entry{value: parseTemplate(t, test.value), path: parseTemplate(t, test.path), differs: true}
		got := "never"
		if i, ok := r.conditionOf(e, test.file, test.whole); ok {
			got = textOf(r, i)
		}
		if got != test.want {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
}

// A file of the category common applies to every request whose variables match its path.
func TestCommonFileAppliesWherePathVariablesMatch(t *testing.T) {
	r := readerOf()
	for _, test := range []struct{ value, path, file, want string }{
		{"true", "data/common", "data/common", ""},
		{"true", "data/${os}", "data/x", "{$os}=x"},
		{"", "data/common", "data/common", ""},
		{"", "data/${os}", "data/x", "{$os}=x"},
		{"${role}", "data/${os}", "data/x", "{$os}=x"},
	} {
		e := hiera2Entry{category: -1, value: parseTemplate(t, test.value), path: parseTemplate(t, test.path)}
		if i, ok := r.conditionOf(e, test.file, false); !ok || textOf(r, i) != test.want {
			t.Errorf("%s for '%s': %q, expected %q", test.path, test.value, textOf(r, i), test.want)
		}
	}
}

// readerOf returns a reader for a site with the given categories.
func readerOf(categories ...Dimension) *hiera2Reader {
	return &hiera2Reader{Dimensions: site.NewDimensions(categories, 0)}
}

// textOf formats the condition with index i as the tables above do.
func textOf(d *hiera2Reader, i int) string {
	out := ""
	for _, term := range d.Conditions[i] {
		name := d.All[term.Dimension].Name
		if d.All[term.Dimension].Guard {
			name = "{" + trimQuotes(name) + "}"
		}
		if out != "" {
			out += " "
		}
		out += name + "=" + term.Value
	}
	return out
}
