package lint

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"bindc/diag"
	"bindc/loader"
)

// term is a value that a dimension is asked for, folded.
type term struct{ dimension, value string }

// wellKnown are the values that facts have, by what is left of the name of a category, or of the expression of one.
var wellKnown = map[string][]string{
	"osfamily": {"AIX", "Alpine", "Archlinux", "Darwin", "Debian", "DragonFly", "FreeBSD", "Gentoo", "HP-UX",
		"Mandrake", "NetBSD", "OpenBSD", "RedHat", "Slackware", "Solaris", "Suse", "VMkernel", "windows"},
	"operatingsystem": {"AlmaLinux", "Amazon", "CentOS", "Darwin", "Debian", "Fedora", "FreeBSD", "Gentoo", "OpenBSD",
		"OpenSuSE", "OracleLinux", "RedHat", "Rocky", "SLES", "Solaris", "Ubuntu", "windows"},
	"kernel":      {"AIX", "Darwin", "FreeBSD", "Linux", "OpenBSD", "SunOS", "windows"},
	"environment": {"development", "production", "staging", "testing"},
}

// wellKnownValues are the values that a dimension is known to have, folded.
func wellKnownValues(dimension string) []string {
	letters := func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}
	name := strings.TrimPrefix(strings.Map(letters, dimension), "facts")
	name = cmp.Or(map[string]string{"osname": "operatingsystem"}[name], name)
	var out []string
	for _, v := range wellKnown[name] {
		out = append(out, loader.Fold(v))
	}
	return out
}

// use is how a value of a dimension is asked for.
type use struct {
	term
	bindings int
	at       diag.Pos // the first one
}

// checkCategoryValues advises on values that are nearly ones which are well known, or which the same dimension has.
func (l *linter) checkCategoryValues() {
	if !l.wants("near_value") {
		return
	}
	uses := l.uses()
	for dim, d := range l.site.Dimensions {
		what := "category '" + d.Name + "'"
		if d.Guard {
			what = d.Name
		}
		list, facts := uses[dim], wellKnownValues(d.Name)
		for i := range list {
			near, note := diag.Misspelt(list[i].value, facts), []diag.Note(nil)
			if near == "" && !slices.Contains(facts, list[i].value) {
				if other := nearUse(list, i); other != nil {
					near, note = other.value, []diag.Note{{Pos: other.at, Message: "it is '" + other.value + "' here"}}
				}
			}
			if near != "" {
				l.add(diag.Diagnostic{Pos: list[i].at, Code: "near_value", Notes: note,
					Message: "this is for nodes whose " + what + " is '" + list[i].value +
						"': nearly, but not quite, '" + near + "'",
					Hint: "did you mean '" + near + "'?"})
			}
		}
	}
}

// maxValues is how many values of one dimension are compared with one another: all with all. One of more is one of
// nodes, whose names are alike.
const maxValues = 500

// nearUse finds the value that number i was meant to be: one that is asked for more often, or first.
func nearUse(list []use, i int) *use {
	if len(list) > maxValues {
		return nil
	}
	for j := range list {
		a, b := &list[i], &list[j]
		more := cmp.Or(cmp.Compare(b.bindings, a.bindings), a.at.Compare(b.at), strings.Compare(a.value, b.value)) > 0
		if more && alike(a.value, b.value) {
			return b
		}
	}
	return nil
}

// alike tells whether one of two values is a typo of the other: one of their words is. A different first or last letter
// is a name of its own: db-a and db-b, web and webs.
func alike(a, b string) bool {
	separates := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	as, bs := strings.FieldsFunc(a, separates), strings.FieldsFunc(b, separates)
	if len(as) != len(bs) {
		return false
	}
	differ := 0
	for i, x := range as {
		y := bs[i]
		if x == y {
			continue
		}
		differ++
		if min(len(x), len(y)) < 5 || x[0] != y[0] || x[len(x)-1] != y[len(y)-1] ||
			diag.Misspelt(x, []string{y}) == "" {
			return false
		}
	}
	return differ == 1
}

// uses are the values that the dimensions are asked for, by the number of the dimension.
func (l *linter) uses() [][]use {
	counts, first := make([]int, len(l.site.Conditions)), make([]diag.Pos, len(l.site.Conditions))
	count := func(condition, bindings int, at diag.Pos) {
		if counts[condition] == 0 || at.Compare(first[condition]) < 0 {
			first[condition] = at
		}
		counts[condition] += bindings
	}
	for _, layer := range l.site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				count(c.Files[i].Condition, len(c.Files[i].Entries), diag.Pos{File: c.Files[i].Path})
			}
			for _, b := range c.Bindings {
				for _, w := range b.When {
					count(w, 1, b.Pos)
				}
			}
		}
	}
	out, numbers := make([][]use, len(l.site.Dimensions)), map[loader.Term]int{}
	for i, condition := range l.site.Conditions {
		if counts[i] == 0 {
			continue
		}
		for _, t := range condition {
			n, ok := numbers[t]
			if !ok {
				n = len(out[t.Dimension])
				numbers[t] = n
				asked := term{l.site.Dimensions[t.Dimension].Name, t.Value}
				out[t.Dimension] = append(out[t.Dimension], use{term: asked, at: first[i]})
			}
			u := &out[t.Dimension][n]
			u.bindings += counts[i]
			if first[i].Compare(u.at) < 0 {
				u.at = first[i]
			}
		}
	}
	for _, list := range out {
		for i := range list {
			if at, ok := l.asked[list[i].term]; ok && list[i].at.Line > 0 {
				list[i].at = at
			}
		}
	}
	return out
}
