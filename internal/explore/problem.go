package explore

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
)

// problem is an error that is shown on a page.
type problem struct {
	status int
	text   string
	Hint   string
	Near   []link // pages with similar names
	Links  []link // where to continue
}

type link struct{ Text, Address string }

func (p *problem) Error() string { return p.text }

func notFound(text, hint string, links ...link) error {
	return &problem{status: http.StatusNotFound, text: text, Hint: hint, Links: links}
}

// nearNames is the number of similar names on the page of an error.
const nearNames = 8

// missing returns the error for a name that is not in a list, with links to similar names, and to where to continue.
func missing(text, name string, names []string, to func(name string, pairs ...any) string, links ...link) error {
	p := &problem{status: http.StatusNotFound, text: text, Links: links}
	var near []string
	if meant := diag.Correct(name, names); !meant.IsNone() {
		near = append(near, meant.New)
	}
	for _, other := range names {
		if name != "" && len(near) < nearNames && strings.Contains(strings.ToLower(other), strings.ToLower(name)) &&
			!slices.Contains(near, other) {
			near = append(near, other)
		}
	}
	for _, name := range near {
		p.Near = append(p.Near, link{diag.Visible(name), to(name)})
	}
	return p
}

// fail answers with an error.
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
