package explore

import (
	"net/url"
	"strconv"
	"strings"

	"bindc/diag"
)

// links makes the addresses of pages.
type links struct {
	base string // path before those of all pages, such as /s/0123456789ab
}

// name returns a key, a node or a file as a part of a path. Browsers change the names "", "." and "..", so these have
// the form "-" with the name in the query; the handlers of pages undo that.
func name(text string, query url.Values, parameter string) string {
	if strings.Trim(text, ".") != "" && text != "-" {
		return url.PathEscape(text)
	}
	query.Set(parameter, text)
	return "-"
}

// address returns a path with a query.
func address(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Key returns the address of the page of a key. pairs are parameters, as in With.
func (l links) Key(key string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/k/"+name(key, q, "key"), q)
}

// Node returns the address of the page of a node. pairs are parameters, as in With.
func (l links) Node(node string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/n/"+name(node, q, "node"), q)
}

// AnswersTwin returns the address of the values of a key and their nodes in JSON.
func (l links) AnswersTwin(key string) string {
	q := url.Values{"values": {"0"}, "key": {key}}
	return address(l.base+"/k/-.json", q)
}

// Why returns the address of the page that explains a key for a node. pairs are parameters, as in With.
func (l links) Why(node, key string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/n/"+name(node, q, "node")+"/k/"+name(key, q, "key"), q)
}

// WhyForm returns the address of a form that asks for a node, and explains a key for it.
func (l links) WhyForm(key string) string { return l.base + "/n/-/k/" + name(key, url.Values{}, "key") }

// InPath reports whether a path can have a name.
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

// With returns the address of a page of the site, such as /k, with parameters in pairs. It omits empty ones.
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

// place is a position that pages link to.
type place struct {
	Text string // path:line:col, safe to show
	File string // address of the file in these pages, or ""
	URL  string // address outside, or ""
}

// place returns the place of a binding. known reports whether the pages have the file.
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
