package explore

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
)

// functions are the functions that templates can call.
var functions = template.FuncMap{
	"asset":    func(file string) string { return "/assets/" + assetsID() + "/" + file },
	"visible":  diag.Visible,
	"short":    short,
	"count":    diag.Count,
	"digits":   digits,
	"share":    share,
	"bar":      func(nodes, fleet int) bar { return bar{nodes, fleet} },
	"barWidth": func(nodes, fleet int) int { return barWidth * nodes / max(fleet, 1) },
	"rows": func(v *view, caption string, rows []keyRow, counted bool) table {
		return table{View: v, Caption: caption, Rows: rows, Counted: counted}
	},
	"list": func(v *view, caption string, list []candidate) table {
		return table{View: v, Caption: caption, List: list}
	},
	"through":  func(v *view, names []string) named { return named{v, names} },
	"whyForm":  func(v *view, key, node string) askedNode { return askedNode{v, whyForm{key, node}} },
	"lookups":  func(v *view, e explained) inner { return inner{v, e} },
	"pageRows": func() int { return pageRows },
	"px":       func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) },
	"plus":     func(x float64, n int) float64 { return x + float64(n) },
	"suppose":  supposition,
	"size":     func(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") },
}

// These types bundle several arguments for one template.
type (
	bar   struct{ Nodes, Fleet int }
	table struct {
		View    *view
		Caption string
		Rows    []keyRow
		List    []candidate
		Counted bool
	}

	named struct {
		View  *view
		Names []string
	}

	askedNode struct {
		View *view
		whyForm
	}

	inner struct {
		View   *view
		Lookup explained
	}
)

// HasNotes reports whether a row needs the column of notes.
func (t table) HasNotes() bool {
	return slices.ContainsFunc(t.List, func(c candidate) bool { return c.Why != "" || c.By != nil })
}

const barWidth = 80

// digits formats n with narrow spaces between groups of three digits.
func digits(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// share returns nodes as a percentage of the fleet. It rounds down, but shows "< 1 %" for a small nonzero share.
func share(nodes, fleet int) string {
	percent := 100 * nodes / max(fleet, 1)
	if nodes > 0 && percent == 0 {
		return "< 1\u202f%"
	}
	return strconv.Itoa(percent) + "\u202f%"
}
