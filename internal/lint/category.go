package lint

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"bindc/diag"
	"bindc/loader"
)

// dimensionValue is a value of a dimension, in folded case.
type dimensionValue struct{ dimension, value string }

// wellKnown lists values of well-known facts. A key is the fact's name reduced to letters.
var wellKnown = map[string][]string{
	"osfamily": {"AIX", "Alpine", "Archlinux", "Darwin", "Debian", "DragonFly", "FreeBSD", "Gentoo", "HP-UX",
		"Mandrake", "NetBSD", "OpenBSD", "RedHat", "Slackware", "Solaris", "Suse", "VMkernel", "windows"},
	"operatingsystem": {"AlmaLinux", "Amazon", "CentOS", "Darwin", "Debian", "Fedora", "FreeBSD", "Gentoo", "OpenBSD",
		"OpenSuSE", "OracleLinux", "RedHat", "Rocky", "SLES", "Solaris", "Ubuntu", "windows"},
	"kernel":      {"AIX", "Darwin", "FreeBSD", "Linux", "OpenBSD", "SunOS", "windows"},
	"environment": {"development", "production", "staging", "testing"},
}

// wellKnownValues returns the well-known values of a dimension, in folded case. It returns nil for
// other dimensions.
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

// valueUse counts how many bindings have a value in their conditions.
type valueUse struct {
	dimensionValue
	bindings int
	at       diag.Pos // position of the first binding
}

// checkCategoryValues reports values in conditions that are probably typos: of well-known values,
// or of other values that the site uses for the same dimension.
func (l *linter) checkCategoryValues() {
	if !l.wants("near_value") {
		return
	}
	uses := l.uses()
	for dim, d := range l.site.Dimensions {
		name := "category '" + d.Name + "'"
		if d.Guard {
			name = d.Name
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
					Message: "this applies to nodes whose " + name + " is '" + list[i].value +
						"', which looks like a typo for '" + near + "'",
					Fix: diag.Fix{Old: list[i].value, New: near, Fold: true}})
			}
		}
	}
}

// maxValues is the number of values up to which nearUse compares all of them. A dimension with more
// values usually contains node names, and many node names are similar.
const maxValues = 500

// nearUse returns the use whose value list[i] is probably a typo of, or nil. The typo is the value
// with fewer bindings, or the later one if both have equally many.
func nearUse(list []valueUse, i int) *valueUse {
	if len(list) > maxValues {
		return nil
	}
	for j := range list {
		a, b := &list[i], &list[j]
		order := cmp.Or(cmp.Compare(b.bindings, a.bindings), a.at.Compare(b.at), strings.Compare(a.value, b.value))
		if order > 0 && isTypoOf(a.value, b.value) {
			return b
		}
	}
	return nil
}

// isTypoOf reports whether a and b differ by a typo in a single word. Words that differ in their
// first or last letter, such as db-a and db-b or web and webs, do not count as typos.
func isTypoOf(a, b string) bool {
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

func (l *linter) uses() [][]valueUse {
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
	out, numbers := make([][]valueUse, len(l.site.Dimensions)), map[loader.Term]int{}
	for i, condition := range l.site.Conditions {
		if counts[i] == 0 {
			continue
		}
		for _, t := range condition {
			n, ok := numbers[t]
			if !ok {
				n = len(out[t.Dimension])
				numbers[t] = n
				asked := dimensionValue{l.site.Dimensions[t.Dimension].Name, t.Value}
				out[t.Dimension] = append(out[t.Dimension], valueUse{dimensionValue: asked, at: first[i]})
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
			if at, ok := l.firstUse[list[i].dimensionValue]; ok && list[i].at.Line > 0 {
				list[i].at = at
			}
		}
	}
	return out
}
