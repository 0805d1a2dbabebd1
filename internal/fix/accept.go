package fix

import (
	"cmp"
	"fmt"
	"slices"

	"bindc/diag"
)

// Rejected is an edit that would cause a new error or warning.
type Rejected struct {
	diag.Edit
	Code diag.Code // code of the new error or warning
}

func (r Rejected) Error() string {
	return fmt.Sprintf("%s:%d: not corrected, because the correction would cause a new mistake [%s]", r.Pos.File,
		r.Pos.Line, r.Code)
}

// Accept returns changes without the edits that cause new errors or warnings. list has the current diagnostics of the
// site, and check returns the diagnostics that the site would have with the given changes. An edit is rejected if its
// line has a diagnostic whose code now occurs more often in the file. All edits are rejected if a site without errors
// gets an error elsewhere. If no edit is left, Accept tries the first maxAlone edits one by one.
func Accept(changes []Change, list []diag.Diagnostic, check func([]Change) ([]diag.Diagnostic, error)) (
	accepted []Change, rejected []Rejected, err error) {
	all := changes
	for len(changes) > 0 {
		now, err := check(changes)
		if err != nil {
			return nil, nil, err
		}
		known := len(rejected)
		caused := mistakes(now, list)
		changes, rejected = reject(changes, rejected, func(e diag.Edit) diag.Code { return caused[lineOf(e.Pos)] })
		if first := firstError(now); len(rejected) == known && firstError(list) == "" {
			changes, rejected = reject(changes, rejected, func(diag.Edit) diag.Code { return first })
		}
		if len(rejected) == known {
			break
		}
	}
	if len(changes) == 0 && len(rejected) > 1 {
		return acceptOne(all, rejected, list, check)
	}
	return changes, rejected, nil
}

// maxAlone limits the number of edits that are tried alone, because each attempt compiles the site.
const maxAlone = 8

// acceptOne accepts the first rejected edit that causes no mistake when applied alone. A good edit can be rejected
// because of another one: renaming a key, for example, can make a corrected line a duplicate.
func acceptOne(changes []Change, rejected []Rejected, list []diag.Diagnostic,
	check func([]Change) ([]diag.Diagnostic, error)) ([]Change, []Rejected, error) {
	for i, r := range rejected[:min(len(rejected), maxAlone)] {
		others := func(e diag.Edit) diag.Code {
			if e == r.Edit {
				return ""
			}
			return r.Code
		}
		single, _ := reject(changes, nil, others)
		now, err := check(single)
		if err != nil {
			return nil, nil, err
		}
		if len(mistakes(now, list)) == 0 && (firstError(now) == "" || firstError(list) != "") {
			return single, slices.Delete(rejected, i, i+1), nil
		}
	}
	return nil, rejected, nil
}

// reject moves the edits for which codeOf returns a code from changes to rejected.
func reject(changes []Change, rejected []Rejected, codeOf func(diag.Edit) diag.Code) ([]Change, []Rejected) {
	var left []Change
	for _, c := range changes {
		var edits []diag.Edit
		for _, e := range c.Edits {
			if code := codeOf(e); code != "" {
				rejected = append(rejected, Rejected{e, code})
			} else {
				edits = append(edits, e)
			}
		}
		if len(edits) > 0 {
			c.Edits, c.New = edits, Apply(c.Old, edits)
			left = append(left, c)
		}
	}
	return left, rejected
}

type line struct {
	file string
	line int
}

func lineOf(p diag.Pos) line { return line{p.File, p.Line} }

// mistakes returns the lines that have a new error or warning, each with its code. It compares the numbers of
// diagnostics in now with those in list.
func mistakes(now, list []diag.Diagnostic) map[line]diag.Code {
	type kind struct {
		file string
		code diag.Code
	}
	more := map[kind]int{} // increase in the number of diagnostics, by kind
	for i := range now {
		more[kind{now[i].Pos.File, now[i].Code}]++
	}
	for i := range list {
		more[kind{list[i].Pos.File, list[i].Code}]--
	}
	out := map[line]diag.Code{}
	add := func(p diag.Pos, code diag.Code) { out[lineOf(p)] = cmp.Or(out[lineOf(p)], code) }
	for i := range now {
		d := &now[i]
		if d.Severity > diag.Warning || more[kind{d.Pos.File, d.Code}] <= 0 {
			continue
		}
		add(d.Pos, d.Code)
		for _, n := range d.Notes {
			add(n.Pos, d.Code)
		}
	}
	return out
}

func firstError(list []diag.Diagnostic) diag.Code {
	for i := range list {
		if list[i].Severity == diag.Error {
			return list[i].Code
		}
	}
	return ""
}
