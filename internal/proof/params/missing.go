package params

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/manifest"
	"bindc/internal/report/decision"
)

// reportMissing reports required parameters of declared classes that have no value for some requests.
func (c *Checker) reportMissing(severity diag.Severity) error {
	declared, always := c.declarations(), c.alwaysBound()
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		class := c.classes.find(name)
		if class == nil {
			continue
		}
		for _, header := range class.Params {
			p := class.params[header.Name]
			if p.Optional || always[p.key()] || c.hasForeign(moduleOf(name)) {
				continue
			}
			at, sure := c.standing(p)
			if sure == undeclared {
				continue
			}
			where, missing, err := c.bound(p.key())
			if err != nil {
				return err
			}
			if missing {
				c.addMissing(p, at, sure, where, severity)
			}
		}
	}
	return nil
}

// notBound is the result of bound for a key without any bindings.
const notBound = "is not bound"

func (c *Checker) addMissing(p *param, at *manifest.Declaration, sure certainty, where string, severity diag.Severity) {
	isCertain := sure == certain || sure == some && where == notBound && !at.IsEntry
	note := "the class is declared here" + ofCertainty[sure]
	switch {
	case at.IsEntry:
		note = "--entry-class names the class, and perhaps the ENC sets the parameter"
	case sure == some && !isCertain:
		note = "the class is declared here for some nodes, and perhaps they all have a value"
	}
	d := diag.Diagnostic{Pos: p.At, Severity: severity, Code: "missing_parameter",
		Message: "the class " + p.class.Name + " requires $" + p.Name + ", but '" + p.key() + "' " + where,
		Notes:   append([]diag.Note{{Pos: at.At, Message: note}}, c.entryNote(at, sure)...),
		Hint:    "bind the key for all nodes, or give the parameter a default"}
	if severity == diag.Error && !isCertain {
		d.Severity = diag.Warning
		c.isUndeclared = c.isUndeclared || sure == unreached
	}
	c.diags.Add(d)
}

// alwaysBound returns the keys with an unconditional binding. Most parameters have one, and then need no decision
// table, which is slow to build.
func (c *Checker) alwaysBound() map[string]bool {
	out := map[string]bool{}
	for b := range c.bindings {
		if b.always {
			out[c.site.Keys[b.number]] = true
		}
	}
	return out
}

// ofCertainty is added to a message, depending on how certain it is that nodes get the class.
var ofCertainty = [...]string{
	certain:   ", without this parameter",
	some:      ", without this parameter",
	perhaps:   " under a condition, so perhaps no node without a value gets it",
	unreached: ", but no manifest or data of the site leads here",
}

// bound reports whether some nodes have no value for key. If so, where says which nodes have one.
func (c *Checker) bound(key string) (where string, missing bool, err error) {
	p, err := c.open()
	if err != nil {
		return "", false, err
	}
	rows, err := p.tables.Table(key)
	if err != nil || slices.ContainsFunc(rows, func(r decision.Row) bool { return len(r.When) == 0 }) {
		return "", false, err
	}
	if len(rows) == 0 {
		return notBound, true, nil
	}
	const shown = 3
	var regions []string
	for _, r := range rows {
		regions = append(regions, conditionText(r.When))
	}
	regions = slices.Compact(regions)
	more := ""
	if n := len(regions) - shown; n > 0 {
		regions, more = regions[:shown], ", or "+strconv.Itoa(n)+" other conditions"
	}
	return "is only bound for nodes with " + strings.Join(regions, ", or with ") + more, true, nil
}

// hasForeign reports whether hiera.yaml entries that bindc does not compile may bind keys of the module.
func (c *Checker) hasForeign(module string) bool {
	for _, h := range c.site.Hierarchies {
		if h.Module != "" && h.Module != module {
			continue
		}
		for _, e := range h.Entries {
			if len(e.Locations) == 0 {
				return true
			}
		}
	}
	return false
}
