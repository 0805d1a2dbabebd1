package explore

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
)

// problem is an error with an HTTP status, hints and links for the user.
type problem struct {
	status int
	text   string
	Hint   string
	Near   []link // pages of similar names
	Links  []link // pages on which the user can continue
	Form   *whyForm
}

// whyForm asks the user for a node and then explains Key for that node.
type whyForm struct{ Key, Node string }

type link struct{ Text, Address string }

func (p *problem) Error() string { return p.text }

func notFound(text, hint string, links ...link) error {
	return &problem{status: http.StatusNotFound, text: text, Hint: hint, Links: links}
}

// nearNames is the maximum number of similar names on an error page.
const nearNames = 8

// missing returns a "not found" error for name, with links to similar names.
func missing(text, name string, names []string, to func(name string, pairs ...any) string, links ...link) *problem {
	return &problem{status: http.StatusNotFound, text: text, Near: similar(name, names, to), Links: links}
}

// similar returns links to the names that are similar to name, most similar first. to returns the address for a name.
func similar(name string, names []string, to func(name string, pairs ...any) string) []link {
	return similarAs(name, names, names, to)
}

// similarNodes is like similar, but compares a name without a domain with the host parts of names.
func similarNodes(name string, names []string, to func(name string, pairs ...any) string) []link {
	if strings.Contains(name, ".") {
		return similar(name, names, to)
	}
	hosts := make([]string, len(names))
	for i := range names {
		hosts[i], _, _ = strings.Cut(names[i], ".")
	}
	return similarAs(name, names, hosts, to)
}

// similarAs is like similar, but compares name with compared[i] instead of names[i]. Equal ones come first.
func similarAs(name string, names, compared []string, to func(name string, pairs ...any) string) (out []link) {
	var near []string
	for i, other := range compared {
		if other == name && len(near) < nearNames {
			near = append(near, names[i])
		}
	}
	rest := slices.DeleteFunc(slices.Clone(compared), func(other string) bool { return other == name })
	for len(near) < nearNames {
		meant := diag.Correct(name, rest)
		if meant.IsNone() {
			break
		}
		for i, other := range compared {
			if other == meant.New && len(near) < nearNames {
				near = append(near, names[i])
			}
		}
		if len(names) > maxListed { // more rounds would take too long
			break
		}
		rest = slices.DeleteFunc(slices.Clone(rest), func(other string) bool { return other == meant.New })
	}
	for _, other := range names {
		if name != "" && len(near) < nearNames && strings.Contains(strings.ToLower(other), strings.ToLower(name)) &&
			!slices.Contains(near, other) {
			near = append(near, other)
		}
	}
	for _, name := range near {
		out = append(out, link{diag.Visible(name), to(name)})
	}
	return out
}

func (v *view) fail(w http.ResponseWriter, err error) {
	p, ok := errors.AsType[*problem](err)
	if !ok {
		p = &problem{status: http.StatusInternalServerError, text: report.Message(err, report.CodeOf(err))}
	}
	if v.asJSON {
		http.Error(w, diag.Visible(p.text), p.status)
		return
	}
	v.Title, v.Content, v.Twin = http.StatusText(p.status), p, ""
	render(w, p.status, "problem", v)
}
