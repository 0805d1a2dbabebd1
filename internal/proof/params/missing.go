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

// reportMissing reports the required parameters of declared classes that have no value in some requests.
func (c *Checker) reportMissing(severity diag.Severity) error {
	declared, reached, always := c.declarations(), c.findReached(), c.alwaysBound()
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		class := c.classes.find(name)
		if class == nil {
			continue
		}
		for _, header := range class.Params {
			p := class.params[header.Name]
			at, sure := c.declaredWithout(p, declared[name], reached)
			if p.Optional || at == nil || always[p.key()] || c.hasForeign(moduleOf(name)) {
				continue
			}
			where, missing, err := c.bound(p.key())
			if err != nil {
				return err
			}
			if missing {
				d := diag.Diagnostic{Pos: p.At, Severity: severity, Code: "missing_parameter",
					Message: "the class " + name + " requires $" + p.Name + ", but '" + p.key() + "' " + where,
					Notes:   []diag.Note{{Pos: at.At, Message: "the class is declared here" + ofCertainty[sure]}},
					Hint:    "bind the key for all nodes, or give the parameter a default"}
				if severity == diag.Error && sure != certain {
					d.Severity = diag.Warning
				}
				c.diags.Add(d)
			}
		}
	}
	return nil
}

// alwaysBound returns the keys with an unconditional binding. Most parameters have one, and need no decision table,
// which would take time.
func (c *Checker) alwaysBound() map[string]bool {
	out := map[string]bool{}
	for b := range c.bindings {
		if b.always {
			out[c.site.Keys[b.number]] = true
		}
	}
	return out
}

// ofCertainty explains each certainty that a node gets the class.
var ofCertainty = [...]string{
	certain:   ", without this parameter",
	perhaps:   " under a condition, so perhaps no node without a value gets it",
	unreached: ", but no manifest or data of the site leads here",
}

// declaredWithout returns the declaration that most certainly makes Puppet look up p, or nil.
func (c *Checker) declaredWithout(p *param, list []manifest.Declaration, reached map[string]certainty) (
	at *manifest.Declaration, sure certainty) {
	for i := range list {
		if !p.looksUp(list[i : i+1]) {
			continue
		}
		if is := c.certaintyOf(&list[i], reached); at == nil || is > sure {
			at, sure = &list[i], is
		}
	}
	return at, sure
}

// bound describes the nodes for which a key has a value. missing is false if the key has a value for all nodes.
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
		return "is not bound", true, nil
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

// hasForeign reports whether Puppet may find a module's keys in a hiera.yaml entry that was not compiled.
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
