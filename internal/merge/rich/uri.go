package rich

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// These are parts of Ruby's regular expressions for URIs.
const (
	uriUser    = `(?:%[0-9A-Fa-f]{2}|[!$&-.0-;=A-Z_a-z~])`
	uriName    = `(?:%[0-9A-Fa-f]{2}|[!$&-.0-9;=A-Z_a-z~])`
	uriChar    = `(?:%[0-9A-Fa-f]{2}|[!$&-.0-;=@-Z_a-z~])`
	uriNoColon = `(?:%[0-9A-Fa-f]{2}|[!$&-.0-9;=@-Z_a-z~])`
	uriOctet   = `(?:[1-9]\d|1\d{2}|2[0-4]\d|25[0-5]|\d)`
	uriIPv4    = uriOctet + `\.` + uriOctet + `\.` + uriOctet + `\.` + uriOctet
	uriFuture  = `v[0-9A-Fa-f]+\.[!$&-.0-;=A-Z_a-z~]+`
	uriRest    = `(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>(?:` + uriChar + `|[/?])*))?\z`
	uriPath    = `(?P<path>(?:/` + uriChar + `*)*)|(?P<absolute>/(?:` + uriChar + `+(?:/` + uriChar + `*)*)?)|`
)

func uriIPv6() string {
	const h = `[0-9A-Fa-f]{1,4}`
	low := `(?:` + h + `:` + h + `|` + uriIPv4 + `)`
	forms := []string{
		`(?:` + h + `:){6}` + low, `::(?:` + h + `:){5}` + low, `(?:` + h + `)?::(?:` + h + `:){4}` + low}
	for i, rest := range []string{`(?:` + h + `:){3}` + low, `(?:` + h + `:){2}` + low, h + `:` + low, low, h, ``} {
		forms = append(forms, fmt.Sprintf(`(?:(?:%s:){0,%d}%s)?::%s`, h, i+1, h, rest))
	}
	return strings.Join(forms, `|`)
}

func uriAuthority(literal string) string {
	return `//(?:(?P<user>` + uriUser + `*)@)?(?P<host>` + literal + `|` + uriIPv4 + `|` + uriName +
		`+)?(?::(?P<port>\d*))?`
}

var (
	absoluteURI = sync.OnceValue(func() *regexp.Regexp {
		literal := `\[(?:` + uriIPv6() + `|` + uriFuture + `)\]`
		return regexp.MustCompile(`\A(?P<scheme>[A-Za-z][+\-.0-9A-Za-z]*):(?:` + uriAuthority(literal) + uriPath +
			`(?P<opaque>` + uriChar + `+(?:/` + uriChar + `*)*)|(?P<empty>))` + uriRest)
	})
	// The misplaced brackets are copied from Ruby's regular expression for references without a scheme.
	relativeURI = sync.OnceValue(func() *regexp.Regexp {
		literal := `(?:\[(?:` + uriIPv6() + `)|` + uriFuture + `\])`
		return regexp.MustCompile(`\A(?:` + uriAuthority(literal) + uriPath + `(?P<relative>` + uriNoColon + `+(?:/` +
			uriChar + `*)*)|(?P<empty>))` + uriRest)
	})
	mailRecipients = pattern.Lazy(`\A(?:[^@,;]+@[^@,;]+(?:\z|[,;]))*\z`)
	badEscape      = pattern.Lazy(`%[^0-9A-Fa-f]{2}`)
)

var defaultPorts = map[string]string{"ftp": "21", "http": "80", "https": "443", "ldap": "389", "ldaps": "636",
	"ws": "80"}

// uri maps the names of the parts of a URI to their text. A part that is missing has no entry.
type uri map[string]string

func (u uri) has(part string) bool {
	_, ok := u[part]
	return ok
}

// newURI normalizes a URI given as text.
func newURI(args []value.Value) (string, error) {
	v := args[0]
	switch {
	case len(args) == 1 && v.Kind() == value.Hash:
		return "", fmt.Errorf("a Hash for a URI %w; write the URI as a string", ErrUnsupported)
	case len(args) > 1 || v.Kind() != value.String:
		return "", errArguments
	case v.Text() == "":
		return "", errEmpty
	}
	u := splitURI(v.Text())
	if u == nil {
		return "", fmt.Errorf("'%s' is not a URI", shortened(v.Text()))
	}
	return u.format()
}

// splitURI returns the parts of a URI, or nil if text is not a URI.
func splitURI(text string) uri {
	if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	for _, re := range []*regexp.Regexp{absoluteURI(), relativeURI()} {
		m := re.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		u := uri{}
		for i, name := range re.SubexpNames() {
			if name != "" && m[2*i] >= 0 {
				u[name] = text[m[2*i]:m[2*i+1]]
			}
		}
		for _, name := range []string{"absolute", "relative", "empty"} {
			if path, ok := u[name]; ok {
				u["path"] = path
			}
		}
		return u
	}
	return nil
}

func (u uri) format() (string, error) {
	u["scheme"] = strings.ToLower(u["scheme"])
	if u.has("opaque") && u.has("query") {
		u["opaque"] += "?" + u["query"]
		delete(u, "query")
	}
	if query, ok := u["query"]; ok {
		query = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(query)
		if badEscape().MatchString(query) {
			return "", errors.New("a % in the query of the URI must be followed by two hexadecimal digits")
		}
		u["query"] = escapeQuery(query)
	}
	if err := u.adapt(); err != nil {
		return "", err
	}
	var b strings.Builder
	if u["scheme"] != "" {
		b.WriteString(u["scheme"] + ":")
	}
	if u.has("opaque") {
		b.WriteString(u["opaque"])
	} else {
		u.printParts(&b)
	}
	if u.has("fragment") {
		b.WriteString("#" + u["fragment"])
	}
	return b.String(), nil
}

func (u uri) printParts(b *strings.Builder) {
	if u.has("host") || u["scheme"] == "file" || u["scheme"] == "postgres" {
		b.WriteString("//")
	}
	if u["user"] != "" {
		b.WriteString(u["user"] + "@")
	}
	b.WriteString(u["host"])
	if port := u["port"]; port != "" {
		if port = strings.TrimLeft(port, "0"); port == "" {
			port = "0"
		}
		if port != defaultPorts[u["scheme"]] {
			b.WriteString(":" + port)
		}
	}
	b.WriteString(u["path"])
	if u.has("query") {
		b.WriteString("?" + u["query"])
	}
}

// adapt changes the parts of a URI in the same way as Ruby's classes for individual schemes.
func (u uri) adapt() error {
	switch u["scheme"] {
	case "file":
		delete(u, "user")
		delete(u, "port")
		if u["host"] == "localhost" {
			u["host"] = ""
		}
	case "ftp":
		if u.has("opaque") {
			return errors.New("an ftp URI needs a path that begins with /")
		}
		path := strings.TrimPrefix(u["path"], "/")
		if rest, ok := strings.CutPrefix(path, "/"); ok {
			path = "%2F" + rest
		}
		u["path"] = "/" + path
	case "ldap", "ldaps":
		if u.has("opaque") || u.has("fragment") {
			return errors.New("an ldap URI needs a path that begins with /, and must not have a fragment")
		}
	case "mailto":
		return u.adaptMail()
	}
	return nil
}

// adaptMail turns the query of a mailto URI into its opaque part. It drops each & at the end.
func (u uri) adaptMail() error {
	if !u.has("opaque") && u.has("query") {
		u["opaque"] = "?" + u["query"]
	}
	to, headers, _ := strings.Cut(u["opaque"], "?")
	if !u.has("opaque") || !mailRecipients().MatchString(to) {
		return errors.New("a mailto URI needs addresses such as a@example.org")
	}
	if headers = strings.TrimRight(headers, "&"); headers != "" {
		to += "?" + headers
	}
	u["opaque"] = to
	return nil
}

// escapeQuery escapes the same characters in a query as Ruby. It keeps %.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"#'<>`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
