package loader

import (
	"testing"

	"bindc/loader/internal/site"
)

// A file name determines the condition of a file: terms of categories, and of guards, which are in braces.
func TestConditionsOfFiles(t *testing.T) {
	const none = "never"
	tests := []struct {
		name, value, path, file string
		whole                   bool // some file of the entry can be read in several ways
		want                    string
	}{
		{"the value is the name", "${osfamily}", "os/${osfamily}", "os/Darwin", false, "c=darwin"},
		{"another file", "${osfamily}", "os/${osfamily}", "env/darwin", false, none},
		{"no request has an empty value", "${osfamily}", "os-${osfamily}", "os-", false, none},
		{"the value is part of the name", "${a}-${b}", "d/${a}-${b}.x", "d/x-y-z.x", false, "c=x-y-z"},
		{"also where others are ambiguous", "${a}-${b}", "d/${a}-${b}", "d/x-y-z", true, "c=x-y-z"},
		{"a variable more", "${fqdn}", "${dc}/${fqdn}", "AMS/n1", false, "c=n1 {$dc}=ams"},
		{"a variable twice", "${fqdn}", "${dc}/x/${dc}/${fqdn}", "ams/x/ams/n1", false, "c=n1 {$dc}=ams"},
		{"the value fixes both", "${a}-${b}", "d/${a}/${b}", "d/x/y", false, "c=x-y"},
		{"the value fixes neither", "${a}-${b}", "d/${a}/${b}", "d/x-y/z", false, "c=x-y-z {$a}=x-y {$b}=z"},
		{"one that it has not", "${a}-${b}", "d/${a}/${c}/${b}", "d/x/w/y", false, "c=x-y {$c}=w"},
		{"one that it has and the path not", "${a}-${b}", "d/${a}", "d/x", false, "{d/${a}}=d/x"},
		{"several ways", "${fqdn}", "d/${a}-${b}", "d/x-y-z", true, "{d/${a}-${b}}=d/x-y-z"},
		{"a path without variables", "${osfamily}", "os/all", "os/all", false, "{os/all}=os/all"},
		{"a value without variables", "true", "os/${dc}", "os/ams", false, "c=true {$dc}=ams"},
		{"no value at all", "", "os/${dc}", "os/ams", false, none},
		{"a function that changes case alone", "${rack}", "rack/${downcase($rack)}", "rack/R7", false, "c=r7"},
		{"a function", "${rack}", "rack/${upcase($rack)}", "rack/R7", false, "{rack/${upcase($rack)}}=rack/r7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			value := parseTemplate(t, test.value)
			r := readerOf(Dimension{Name: "c", Value: value.node})
			e := hierarchyEntry{category: 0, value: value, path: parseTemplate(t, test.path)}
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

// If the entry's value differs from the category's expression, it determines nothing: the variables of the path are
// guards, and the request must have the entry's value for the category.
func TestConditionsOfFilesWithAnotherValue(t *testing.T) {
	const equal = `{${downcase("${osfamily}") == downcase("${os}")}}=true`
	for _, test := range []struct {
		name, value, path, file string
		whole                   bool
		want                    string
	}{
		{"the value is the name", "${os}", "os/${os}", "os/Ubuntu", false, "c=ubuntu {$os}=ubuntu"},
		{"part of the name", "${os}-${env}", "d/${os}-${env}.x", "d/a-b.x", false, "c=a-b {$os}=a {$env}=b"},
		{"a function of it in the path", "${os}", "os/${upcase($os)}", "os/UBUNTU", false,
			equal + " {$upcase($os)}=ubuntu"},
		{"not in the path", "${os}", "d/${role}", "d/web", false, equal + " {$role}=web"},
		{"a path without variables", "${os}", "d/all", "d/all", false, equal},
		{"several ways", "${os}", "d/${os}-${role}", "d/x-y-z", true, equal + " {d/${os}-${role}}=d/x-y-z"},
		{"no variables", "debian", "d/all", "d/all", false, "c=debian"},
		{"no variables but in the path", "debian", "d/${role}", "d/web", false, "c=debian {$role}=web"},
		{"no variables, several ways", "debian", "d/${os}-${role}", "d/x-y-z", true,
			"c=debian {d/${os}-${role}}=d/x-y-z"},
		{"no value", "${os}", "os-${os}", "os-", false, "never"},
	} {
		r := readerOf(Dimension{Name: "c", Value: parseTemplate(t, "${osfamily}").node})
		e := hierarchyEntry{value: parseTemplate(t, test.value), path: parseTemplate(t, test.path), differs: true}
		got := "never"
		if i, ok := r.conditionOf(e, test.file, test.whole); ok {
			got = textOf(r, i)
		}
		if got != test.want {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
}

// Files of common apply to all requests, except those that variables in the path exclude.
func TestConditionsOfCommonFiles(t *testing.T) {
	r := readerOf()
	for _, test := range []struct{ value, path, file, want string }{
		{"true", "data/common", "data/common", ""},
		{"true", "data/${os}", "data/x", "{$os}=x"},
		{"", "data/common", "data/common", ""},
		{"", "data/${os}", "data/x", "{$os}=x"},
		{"${role}", "data/${os}", "data/x", "{$os}=x"},
	} {
		e := hierarchyEntry{category: -1, value: parseTemplate(t, test.value), path: parseTemplate(t, test.path)}
		if i, ok := r.conditionOf(e, test.file, false); !ok || textOf(r, i) != test.want {
			t.Errorf("%s for '%s': %q, expected %q", test.path, test.value, textOf(r, i), test.want)
		}
	}
}

// readerOf returns a reader of a site with the given categories.
func readerOf(categories ...Dimension) *hieraReader {
	return &hieraReader{Dimensions: site.NewDimensions(categories, 0)}
}

// textOf returns a condition in the form of the tables.
func textOf(d *hieraReader, i int) string {
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
