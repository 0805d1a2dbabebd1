package explore

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bindc/internal/report"
)

// pageRows is the maximum number of table rows on a page. Longer tables continue on the next page.
const pageRows = 200

// A request waits this long for numbers that are computed in the background. After pagePatience, an HTML page appears
// without the missing numbers. After jsonPatience, a JSON request fails.
const (
	pagePatience = 150 * time.Millisecond
	jsonPatience = 25 * time.Second
)

// page describes a kind of page. make returns the data for the template or, if the client asked for JSON, the value to
// encode.
type page struct {
	template string
	make     func(v *view) (any, error)
}

// pages maps URL patterns below /s/ID/ to pages. A pattern that ends in {name} also matches the JSON twin, NAME.json.
var pages = map[string]page{
	"k":                {"keys", (*view).keyList},
	"k.json":           {"keys", (*view).keyList},
	"k/{key}":          {"key", (*view).keyPage},
	"n":                {"nodes", (*view).nodeList},
	"n.json":           {"nodes", (*view).nodeList},
	"n/{node}":         {"node", (*view).nodePage},
	"n/{node}/k/{key}": {"why", (*view).whyPage},
	"f":                {"files", (*view).fileList},
	"f.json":           {"files", (*view).fileList},
	"f/{file...}":      {"file", (*view).filePage},
	"d":                {"diff", (*view).diffPage},
	"d.json":           {"diff", (*view).diffPage},
	"q":                {"search", (*view).searchPage},
	"q.json":           {"search", (*view).searchPage},
	"problems":         {"problems", (*view).problemsPage},
	"{$}":              {"overview", (*view).overview},
	"index.json":       {"overview", (*view).overview},
}

// view is a request for a page, together with the data that the page layout shows.
type view struct {
	d    *Data
	r    *http.Request
	kept []*Data // versions that the server keeps, oldest first
	links
	url.Values // query parameters

	Title   string
	Section string // first segment of the path, such as k or n
	Twin    string // address of the JSON twin, or ""
	Live    bool
	Failure string // diagnostics of the last build, if it failed
	Content any

	categories report.Terms // categories of the node, set on pages about one node

	start    time.Time // arrival of the request
	asJSON   bool
	unstable bool   // a later response may differ, so browsers must not cache this one
	partial  bool   // numbers are missing because they are still being computed
	next     string // address of the next page of JSON, or ""
	moved    string // redirect to this address, unless ""
	status   int    // HTTP status, or 0 for 200
}

// page answers a request for a page or its JSON twin.
func (s *Server) page(w http.ResponseWriter, r *http.Request, p page) {
	now := s.state()
	d := s.version(r.PathValue("id"))
	if now.latest == nil {
		http.Error(w, "no data yet", http.StatusServiceUnavailable)
		return
	}
	if d == nil && r.PathValue("id") == "latest" {
		redirect(w, r, now.latest.ID)
		return
	}
	v := &view{d: cmp.Or(d, now.latest), r: r, start: time.Now(), kept: s.kept(), Values: r.URL.Query(), Live: s.Live,
		Failure: now.failure, asJSON: strings.HasSuffix(r.URL.Path, ".json")}
	v.links = links{"/s/" + v.d.ID}
	w.Header().Set("Cache-Control", "no-store")
	if d == nil {
		latest := address("/s/latest"+strings.TrimPrefix(r.URL.EscapedPath(), "/s/"+r.PathValue("id")), v.Values)
		v.fail(w, &problem{status: http.StatusGone, text: "This version is gone, because the data changed",
			Links: []link{{"The same page of the latest version", latest}}})
		return
	}
	v.setTwin()
	err := d.read(func() (err error) {
		v.Content, err = p.make(v)
		return err
	})
	switch {
	case err != nil:
		v.fail(w, err)
		return
	case v.moved != "":
		http.Redirect(w, r, v.moved, http.StatusFound)
		return
	}
	if !v.partial && !v.unstable && v.status == 0 && !d.Sensitive && now.failure == "" {
		w.Header().Set("Cache-Control", forever)
	}
	if v.asJSON {
		v.writeJSON(w)
		return
	}
	render(w, cmp.Or(v.status, http.StatusOK), p.template, v)
}

// following returns the address of this page with another value of a query parameter.
func (v *view) following(parameter, value string) string {
	q := maps.Clone(v.Values)
	q.Set(parameter, value)
	return address(v.r.URL.EscapedPath(), q)
}

func (v *view) writeJSON(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if v.next != "" {
		w.Header().Set("Link", "<"+v.next+`>; rel="next"`)
	}
	var b bytes.Buffer
	if err := report.Write(&b, false, v.Content); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(b.Bytes())
}

// setTwin sets v.Twin for the request's path and query.
func (v *view) setTwin() {
	path := v.r.URL.EscapedPath()
	if strings.HasSuffix(path, "/") {
		path += "index"
	}
	v.Twin = address(path+".json", v.Values)
}

// name returns the path segment called parameter or, if the query has that parameter, its value. A name that ends in
// .json, but does not exist, requests the JSON twin of the page.
func (v *view) name(parameter string, exists func(string) bool) string {
	text := v.r.PathValue(parameter)
	if given := v.Values[parameter]; len(given) > 0 {
		v.asJSON = strings.HasSuffix(text, ".json")
		return given[0]
	}
	short, hasSuffix := strings.CutSuffix(text, ".json")
	if v.asJSON = hasSuffix && !exists(text); v.asJSON {
		return short
	}
	if exists(text + ".json") { // the usual address of the JSON twin is the page of another name
		path := v.r.URL.EscapedPath()
		q := maps.Clone(v.Values)
		q.Set(parameter, text)
		v.Twin = address(strings.TrimSuffix(path, url.PathEscape(text))+"-.json", q)
	}
	return text
}

// wait waits until ready is closed and then returns true. If that takes too long, it returns false for an HTML page and
// an error for JSON.
func (v *view) wait(ready chan struct{}) (bool, error) {
	patience := pagePatience
	if v.asJSON {
		patience = jsonPatience
	}
	select {
	case <-ready:
		return true, nil
	default:
	}
	select {
	case <-ready:
		return true, nil
	case <-v.r.Context().Done():
	case <-time.After(patience - time.Since(v.start)):
	}
	if v.asJSON {
		return false, &problem{status: http.StatusServiceUnavailable, text: "Still counting; ask again later"}
	}
	v.partial = true
	return false, nil
}

// number returns a query parameter as a number. It returns 0 if the parameter is missing or invalid.
func (v *view) number(parameter string) int {
	n, _ := strconv.Atoi(v.Get(parameter))
	return max(n, 0)
}

// The layout's templates call the following methods.

func (v *view) ID() string       { return v.d.ID }
func (v *view) SiteName() string { return v.d.Name }
func (v *view) Digest() string   { return v.d.digest()[:12] }
func (v *view) Partial() bool    { return v.partial }
func (v *view) Fleet() int       { return len(v.d.nodes) }
func (v *view) Keys() int        { return len(v.d.keys) }
func (v *view) Files() int       { return len(v.d.inputs) }

// FirstNode returns the name of some node, for an example, or "".
func (v *view) FirstNode() string {
	if len(v.d.nodes) == 0 {
		return ""
	}
	return v.d.nodes[0].Name
}

// maxListed is the maximum number of suggestions for an input field.
const maxListed = 500

// Suggested returns the names of nodes to suggest in an input field. It returns none if there are more than maxListed.
func (v *view) Suggested() (names []string) {
	if len(v.d.nodes) > maxListed {
		return nil
	}
	for i := range v.d.nodes {
		names = append(names, v.d.nodes[i].Name)
	}
	return names
}

func (v *view) HasOld() bool { return v.d.old != nil || len(v.kept) > 1 }

// IgnoresCase reports whether all conditions ignore case. Paths of Hiera 5 do not.
func (v *view) IgnoresCase() bool {
	for i, d := range v.d.file.Dimensions() {
		if d.Exact && v.d.file.HasValues(i) {
			return false
		}
	}
	return true
}

func (v *view) Notes() []string { return v.d.notes }
func (v *view) Revealed() bool  { return v.d.Sensitive }

// after returns the page of a sorted list that follows name: at most pageRows elements. next is the last of them if
// more follow, and otherwise "".
func after(list []string, name string) (part []string, next string) {
	if name != "" {
		i, found := slices.BinarySearch(list, name)
		if found {
			i++
		}
		list = list[i:]
	}
	if len(list) > pageRows {
		return list[:pageRows], list[pageRows-1]
	}
	return list, ""
}
