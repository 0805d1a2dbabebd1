package loader

import (
	"slices"
	"strings"
	"testing"

	"bindc/diag"
)

func TestParsesOrRejectsURIs(t *testing.T) {
	tests := []struct {
		text, want string // "" if the URI is invalid
		optional   bool
	}{
		{"confdir-hiera:/", "confdir-hiera:/", false},
		{"confdir-hiera:/a//b/./", "confdir-hiera:/a/b", false},
		{"confdir-hiera:/a?optional", "confdir-hiera:/a", true},
		{"confdir-hiera:/a?", "confdir-hiera:/a", true},
		{"confdir-hiera:/a?maybe", "", false},
		{"confdir-hiera:/../a", "", false},
		{"confdir-hiera:/*", "", false},
		{"confdir-hiera", "", false},
		{"confdir-hiera:a", "", false},
		{"confdir-hiera:", "", false},
		{"hiera:", "", false},
		{":/a", "", false},
		{`module-hiera:/\*/`, "module-hiera:/*", false},
		{"module-hiera:/*/data", "module-hiera:/*/data", false},
		{"module-hiera:/nt*", "", false},
		{"module-hiera:/ntp/*", "", false},
		{"module-hiera:/", "", false},
		{"module:/ntp::default", "module:/ntp::default", false},
		{"module:/*::default", "module:/*::default", false},
		{"module:/ntp::*", "", false},
		{"module:/ntp", "", false},
		{"module:/ntp::a/b", "", false},
		{"module:/**::a", "", false},
		{"confdir:/a::**", "confdir:/a::**", false},
		{"confdir:/a::b*", "", false},
		{"confdir:/a/b", "", false},
		{"module-hiera5:/*", "module-hiera5:/*", false},
		{"module-hiera5:/m", "module-hiera5:/m", false},
		{"module-hiera5:/m*", "", false},
		{"module-hiera5:/m/x", "", false},
		{"module-hiera5:/", "", false},
		{"hiera:/", "hiera:/", false},
		{"hiera:/*", "", false},
		{"confdir:/a::*::b", "confdir:/a::*::b", false},
		{"module:/*::a::*", "", false},
		{"enc:", "enc:/", false},
		{"enc:/*", "enc:/*", false},
		{"enc:?optional", "enc:/", true},
		{"enc:/classes", "enc:/classes", false},
		{"enc:/class", "", false},
		{"enc:classes", "", false},
		{"cmdb:/any/../thing*", "", false},
		{"cmdb:/any//thing*", "cmdb:/any//thing*", false}, // extensions interpret their paths themselves
		{"cmdb:/", "cmdb:/", false},
		{"cmbd:/", "", false},
	}
	for _, test := range tests {
		var diags diag.List
		r := uriReader{&diags, registry{handlers: map[string]SchemeHandler{"cmdb": nil}}}
		r.extensions.handlers["cmdb"] = func(string) ([]byte, error) { return nil, nil }
		u, ok := r.parse(test.text, diag.Pos{})
		switch found := diags.Sorted(); {
		case ok == (test.want == "") || ok && u.String() != test.want || u.optional != (ok && test.optional):
			t.Errorf("%s: %s, optional %v, %v; expected %q", test.text, u, u.optional, ok, test.want)
		case !ok && (len(found) != 1 || found[0].Code != "uri"):
			t.Errorf("%s: refused with %v", test.text, found)
		}
	}
}

func TestUnknownSchemeListsSchemes(t *testing.T) {
	var diags diag.List
	uriReader{diags: &diags}.parse("x:/a", diag.Pos{})
	const want = "unknown scheme 'x'; expected 'confdir-hiera', 'module-hiera', 'confdir', 'module', 'hiera', 'module-hiera5' or 'enc'"
	if found := diags.Sorted(); len(found) != 1 || found[0].Message != want {
		t.Errorf("found %v, expected %q", found, want)
	}
}

func TestWildcardMatchesNames(t *testing.T) {
	names := strings.Fields("a b a::b a::c a::b::c a::x::b::y::z")
	for pattern, want := range map[string]string{
		"a": "a", "*": "a b", "**": "a b a::b a::c a::b::c a::x::b::y::z", "a::*": "a::b a::c",
		"a::**": "a::b a::c a::b::c a::x::b::y::z", "*::c": "a::c", "**::c": "a::c a::b::c", "a::**::c": "a::b::c",
		"x::*": "", "**::b::**": "a::b::c a::x::b::y::z", "a::**::b::**": "a::x::b::y::z", "**::y::**::z": "",
		"**::x::**::z": "a::x::b::y::z", "**::**::c": "a::b::c", "**::**::**": "a::b::c a::x::b::y::z",
		"**::x::b::**::z": "a::x::b::y::z",
	} {
		if got := matching(pattern, names); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s fits %q, expected %q", pattern, got, want)
		}
	}
}
