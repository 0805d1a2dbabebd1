package loader

import (
	"slices"
	"strings"

	"bindc/diag"
)

// uri is a URI of contributions: scheme:/path, optionally followed by ?optional (language.md, section 3).
type uri struct {
	scheme, path string // path has no slash at either end
	optional     bool
	found        bool // found by a wildcard
	at           diag.Pos
}

func (u uri) String() string { return u.scheme + ":/" + u.path }

// strictness ranks URIs: required URIs are highest, then optional URIs, then URIs that a wildcard found.
func (u uri) strictness() int {
	switch {
	case u.found:
		return 0
	case u.optional:
		return 1
	}
	return 2
}

func (u uri) hasWildcard() bool { return strings.Contains(u.path, "*") }

// builtin reports whether bindc itself handles the scheme.
func (u uri) builtin() bool { return slices.Contains(schemes, u.scheme) }

type uriReader struct {
	diags      *diag.List
	extensions registry
}

// parse parses a URI. It accepts `\*` for `*`, because Puppet's documents print it that way.
func (r uriReader) parse(text string, at diag.Pos) (uri, bool) {
	rest, query, hasQuery := strings.Cut(strings.ReplaceAll(text, `\*`, "*"), "?")
	scheme, path, ok := strings.Cut(rest, ":")
	switch {
	case !ok || scheme == "":
		d := diag.Diagnostic{Pos: at, Code: "uri",
			Message: "expected a URI with a scheme, such as confdir-hiera:/ or module:/ntp::default, found '" + text + "'"}
		if first, path, _ := strings.Cut(text, "/"); slices.Contains(schemes, first) {
			d.Hint, d.Fix = "write '"+first+":/"+path+"'", diag.MeantAs(text, first+":/"+path)
		}
		r.diags.Add(d)
	case !slices.Contains(schemes, scheme) && r.extensions.handlers[scheme] == nil:
		r.unknownScheme(scheme, at)
	case !strings.HasPrefix(path, "/") && (scheme != "enc" || path != ""):
		r.diags.Errorf(at, "uri", "expected a path that begins with '/' after '%s:', found '%s'", scheme, text)
	case query != "" && query != "optional":
		r.diags.Add(diag.Diagnostic{Pos: at, Code: "uri", Fix: diag.Correct("?"+query, []string{"?optional"}),
			Message: "expected '?optional' or nothing after the path, found '?" + query + "'"})
	default:
		u := uri{scheme: scheme, path: strings.Trim(path, "/"), optional: hasQuery, at: at}
		if u.builtin() {
			u.path = normal(u.path)
		}
		return u, r.checkPath(u)
	}
	return uri{}, false
}

// normal removes empty elements and '.' from a path.
func normal(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" || p == "." }), "/")
}

var schemes = []string{"confdir-hiera", "module-hiera", "confdir", "module", "hiera", "module-hiera5", "enc"}

func (r uriReader) unknownScheme(scheme string, at diag.Pos) {
	names := extensionNames(schemes, r.extensions.handlers)
	r.diags.Add(diag.Diagnostic{Pos: at, Code: "uri", Fix: diag.Correct(scheme, names),
		Message: "unknown scheme '" + scheme + "'; expected " + diag.AnyOf(names)})
}

// checkPath reports whether the path of u is valid. It must not lead out of the site or have wildcards that the scheme
// does not support.
func (r uriReader) checkPath(u uri) bool {
	first, rest, _ := strings.Cut(u.path, "/")
	atConfdir := u.scheme == "confdir-hiera" || u.scheme == "hiera"
	switch {
	case u.scheme == "enc":
		return r.checkEnc(u)
	case slices.Contains(strings.Split(u.path, "/"), ".."):
		r.diags.Errorf(u.at, "uri", "expected a path inside the site or module, found '..' in '%s'", u)
	case atConfdir && u.hasWildcard():
		r.diags.Errorf(u.at, "uri", "the scheme '%s' has no wildcards: name the directory", u.scheme)
	case u.scheme == "module-hiera5" && (rest != "" || u.hasWildcard() && u.path != "*"):
		r.diags.Errorf(u.at, "uri", "expected a module name, or '*', as path in '%s'", u)
	case u.scheme == "module-hiera" && (strings.Contains(rest, "*") || strings.Contains(first, "*") && first != "*"):
		r.diags.Errorf(u.at, "uri", "expected '*' as the whole module name or not at all in '%s'", u)
	case slices.Contains(schemes, u.scheme) && !atConfdir && u.path == "":
		r.diags.Errorf(u.at, "uri", "expected a path after '%s:/'", u.scheme)
	case (u.scheme == "module" || u.scheme == "confdir") && strings.Contains(u.path, "/"):
		r.diags.Errorf(u.at, "uri", "expected the name of bindings, such as %s:/%s, found '%s'",
			u.scheme, strings.ReplaceAll(u.path, "/", "::"), u)
	case misplacedWildcard(u) != "":
		r.diags.Errorf(u.at, "uri", "expected %s, found '%s'", misplacedWildcard(u), u)
	case u.scheme == "module" && !strings.Contains(u.path, "::"):
		r.diags.Errorf(u.at, "uri", "expected bindings named MODULE::NAME, such as module:/%s::default, found '%s'",
			u.path, u)
	default:
		return true
	}
	return false
}

// misplacedWildcard checks the wildcards in the set name of u. It returns "" if they are valid, and otherwise where
// wildcards are allowed.
func misplacedWildcard(u uri) string {
	if u.scheme != "module" && u.scheme != "confdir" {
		return ""
	}
	for i, segment := range strings.Split(u.path, "::") {
		switch {
		case !strings.Contains(segment, "*"), u.scheme == "confdir" && (segment == "*" || segment == "**"):
		case segment != "*" && segment != "**":
			return "'*' only as a whole segment of the name"
		case u.scheme == "module" && (i > 0 || segment == "**"):
			return "'*' only in place of the module name, such as module:/*::default"
		}
	}
	return ""
}

// matching returns the names that match a pattern: `*` matches one segment, `**` matches one or more.
func matching(pattern string, names []string) []string {
	p := strings.Split(pattern, "::")
	other := func(name string) bool { return !segmentsMatch(p, strings.Split(name, "::")) }
	return slices.DeleteFunc(slices.Clone(names), other)
}

func segmentsMatch(pattern, name []string) bool {
	if len(pattern) == 0 || len(name) == 0 {
		return len(pattern) == len(name)
	}
	if pattern[0] == "**" {
		// Use the earliest match of the segments before the next **: it leaves the longest rest.
		next := slices.Index(pattern[1:], "**") + 1
		if next == 0 {
			rest := len(pattern) - 1
			return len(name) > rest && segmentsMatch(pattern[1:], name[len(name)-rest:])
		}
		for from := 1; from+next-1 <= len(name); from++ {
			if to := from + next - 1; segmentsMatch(pattern[1:next], name[from:to]) {
				return segmentsMatch(pattern[next:], name[to:])
			}
		}
		return false
	}
	return (pattern[0] == "*" || pattern[0] == name[0]) && segmentsMatch(pattern[1:], name[1:])
}
