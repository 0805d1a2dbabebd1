package explore

import (
	"net/url"
	"strconv"
	"strings"

	"bindc/diag"
)

// links builds the addresses of pages for one version of the data.
type links struct {
	base string // prefix of all paths, such as /s/0123456789ab
}

// name escapes the name of a key or node for use as a path segment. Browsers normalize the segments "", "." and "..".
// For these, name returns "-" and adds text to the query as parameter; view.name reads it from there.
func name(text string, query url.Values, parameter string) string {
	if strings.Trim(text, ".") != "" && text != "-" {
		return url.PathEscape(text)
	}
	query.Set(parameter, text)
	return "-"
}

func address(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Key returns the address of a key's page. pairs are query parameters, as in With.
func (l links) Key(key string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/k/"+name(key, q, "key"), q)
}

// Node returns the address of a node's page. pairs are query parameters, as in With.
func (l links) Node(node string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/n/"+name(node, q, "node"), q)
}

// AnswersTwin returns the address of the JSON list of a key's values, with the nodes that get each value.
func (l links) AnswersTwin(key string) string {
	q := url.Values{"values": {"0"}, "key": {key}}
	return address(l.base+"/k/-.json", q)
}

// Why returns the address of the page that explains a key for a node. pairs are query parameters, as in With.
func (l links) Why(node, key string, pairs ...any) string {
	q := query(pairs)
	return address(l.base+"/n/"+name(node, q, "node")+"/k/"+name(key, q, "key"), q)
}

// WhyForm returns the address to which a form submits the name of a node, in order to explain key for that node.
func (l links) WhyForm(key string) string { return l.base + "/n/-/k/" + name(key, url.Values{}, "key") }

// InPath reports whether text can be a path segment. If not, links pass it in the query.
func (l links) InPath(text string) bool { return name(text, url.Values{}, "key") != "-" }

// File returns the address of a file's page, scrolled to the given line unless that is 0.
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

// With returns the address of the page at path, such as /k. pairs alternates names and values of query parameters; With
// omits parameters whose value is "".
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

// place is a source position with links to it.
type place struct {
	Text string // path:line:col, escaped for display
	File string // address of the file's page, or ""
	URL  string // address outside this server, made from Style.SourceURL, or ""
}

// place returns the position at, given as path:line:col, with links where possible.
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

// splitPlace splits a position in the form path:line:col. line is 0 if the position has another form.
func splitPlace(at string) (file string, line int) {
	p := diag.ParsePos(at)
	return p.File, p.Line
}
