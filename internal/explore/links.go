package explore

import (
	"net/url"
	"strconv"
	"strings"

	"bindc/diag"
)

// links builds the addresses of pages.
type links struct {
	base string // prefix of all paths, such as /s/0123456789ab
}

// name returns a key, node or file as part of a path. Browsers change the parts "", "." and "..", so name returns "-"
// for these and puts the text in the query. The page handlers undo that.
func name(text string, query url.Values, parameter string) string {
	if strings.Trim(text, ".") != "" && text != "-" {
		return url.PathEscape(text)
	}
	query.Set(parameter, text)
	return "-"
}

// address builds an address from a path and a query.
func address(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Key returns the address of a key's page. pairs are parameters, as in With.
func (l links) Key(key string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/k/"+name(key, q, "key"), q)
}

// Node returns the address of a node's page. pairs are parameters, as in With.
func (l links) Node(node string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/n/"+name(node, q, "node"), q)
}

// AnswersTwin returns the address of the JSON with a key's values and their nodes.
func (l links) AnswersTwin(key string) string {
	q := url.Values{"values": {"0"}, "key": {key}}
	return address(l.base+"/k/-.json", q)
}

// Why returns the address of the page that explains a key for a node. pairs are parameters, as in With.
func (l links) Why(node, key string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/n/"+name(node, q, "node")+"/k/"+name(key, q, "key"), q)
}

// WhyForm returns the address to which a form sends the name of a node, to explain a key for it.
func (l links) WhyForm(key string) string { return l.base + "/n/-/k/" + name(key, url.Values{}, "key") }

// InPath reports whether text can be part of a path unchanged.
func (l links) InPath(text string) bool { return name(text, url.Values{}, "key") != "-" }

// File returns the address of a file, or of a line if it is not 0. Slashes separate the parts of the path.
func (l links) File(path string, line int) string {
	q := url.Values{}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.Trim(part, ".") == "" {
			q.Set("file", path)
			parts = []string{"-"}
			break
		}
		parts[i] = url.PathEscape(part)
	}
	to := address(l.base+"/f/"+strings.Join(parts, "/"), q)
	if line > 0 {
		to += "#L" + strconv.Itoa(line)
	}
	return to
}

// With returns the address of a page of the site, such as /k, with parameters in pairs. It omits empty parameters.
func (l links) With(path string, pairs ...any) string { return address(l.base+path, query(pairs)) }

func query(pairs []any) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if text := textOf(pairs[i+1]); text != "" {
			q.Add(pairs[i].(string), text)
		}
	}
	return q
}

func textOf(x any) string {
	switch x := x.(type) {
	case string:
		return x
	case int:
		return strconv.Itoa(x)
	}
	return ""
}

// place is the position of a binding, with a link.
type place struct {
	Text string // path:line:col, safe to show
	File string // address of the file in these pages, or ""
	URL  string // address outside, or ""
}

// place returns the place of a binding. known is false if no page shows the file.
func (v *view) place(at string) place {
	p := place{Text: diag.Visible(at)}
	file, line := splitPlace(at)
	if line == 0 {
		return p
	}
	if v.d.hasFile(file) {
		p.File = v.links.File(file, line)
	}
	if v.d.SourceURL != "" {
		parts := strings.Split(file, "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		p.URL = strings.NewReplacer("{path}", strings.Join(parts, "/"), "{line}", strconv.Itoa(line), "{revision}",
			url.PathEscape(v.d.Revision)).Replace(v.d.SourceURL)
	}
	return p
}

// splitPlace splits path:line:col. The line is 0 if at is not a place.
func splitPlace(at string) (file string, line int) {
	p := diag.ParsePos(at)
	return p.File, p.Line
}
