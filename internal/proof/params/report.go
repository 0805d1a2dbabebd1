package params

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// report reports that Puppet refuses v. region is a text that describes for which nodes.
func (p *prover) report(s *suspect, e *lookup.Explanation, at diag.Pos, region string, m *types.Mismatch,
	v lookup.Value) {
	key, secret := s.param.key(), v.Sensitive()
	d := diag.Diagnostic{Pos: at, Code: "parameter_type", OfValue: true, Secret: secret,
		Message:  "'" + key + "': " + m.Text(secret) + region,
		Discreet: "'" + key + "': " + m.Text(true) + region, Hint: p.hint(s, e, at, m, v)}
	if p.isWritten(s, e, at, m) && !secret {
		d.Fix = correction(m, v)
	}
	d.Notes = append(d.Notes, diag.Note{Pos: s.param.At, Message: "the class " + s.param.class.Name + " declares $" +
		s.param.Name + " as " + s.param.Type})
	why := p.doubt(s, at)
	if why == "" && region == unlessHigher && p.isPlaceholder(s, v) {
		why = "null is no value, and perhaps every node that gets the class has one, so this is only a warning"
	}
	if why != "" {
		d.Severity = diag.Warning
		d.Notes = append(d.Notes, diag.Note{Pos: s.param.class.At, Message: why})
	}
	if e.Options != nil {
		d.Notes = append(d.Notes, diag.Note{Pos: p.position(e.Options.At), Message: "these lookup_options apply: " +
			optionsText(e.Options)})
	}
	p.add(finding{key, at, m.Text(true)}, d)
}

// isPlaceholder reports whether v is undef and could be a placeholder for values in higher levels. That is likely if
// only some nodes get the class.
func (c *Checker) isPlaceholder(s *suspect, v lookup.Value) bool {
	whole, err := v.Whole()
	_, sure := c.standing(s.param)
	return err == nil && whole.IsUndef() && sure < certain
}

func optionsText(options *lookup.Candidate) string {
	v, err := options.Outcome.Value.Whole()
	if err != nil {
		return err.Error()
	}
	return string(value.AppendJSON(nil, v))
}

// finding identifies a refused value. mismatch describes the reason without showing the value.
type finding struct {
	key      string
	at       diag.Pos
	mismatch string
}

// add adds d to the diagnostics or, with Options.Later, saves it for Report.
func (c *Checker) add(f finding, d diag.Diagnostic) {
	if !c.opts.Later {
		c.diags.Add(d)
		return
	}
	c.later[f] = append(c.later[f], d)
}

// Affects adds notes, such as the nodes with the value, to the diagnostics that Check saved about a refused value of
// key. It returns false if there are none.
func (c *Checker) Affects(key string, at diag.Pos, r *RefusedValue, notes []diag.Note) bool {
	list := c.later[finding{key, at, cmp.Or(r.mismatch, ofFailure)}]
	for other := range c.later { // for merged values, path and position of the mismatch depend on the node
		isSame := other.at == at || other.mismatch == ofFailure && r.mismatch == ""
		if len(list) == 0 && other.key == key && isSame {
			list = c.later[other]
		}
	}
	for i := range list {
		list[i].Notes = append(list[i].Notes, notes...)
	}
	return len(list) > 0
}

// Report reports the diagnostics that Check saved because of Options.Later.
func (c *Checker) Report() {
	for _, list := range c.later {
		for _, d := range list {
			c.diags.Add(d)
		}
	}
}

// unlessHigher describes where an unconditional binding applies although higher levels bind the key, too.
const unlessHigher = ", for nodes where no higher level sets the key"

// region describes the requests to which a finding applies: those that meet the conditions of winners and of the
// lookup_options. sample is one of them.
func region(e *lookup.Explanation, winners []lookup.Candidate, sample decision.Sample) string {
	var when []lookup.Term
	add := func(terms []lookup.Term) {
		for _, t := range terms {
			if !slices.Contains(when, t) {
				when = append(when, t)
			}
		}
	}
	for i := range winners {
		add(winners[i].When)
	}
	if e.Options != nil {
		add(e.Options.When)
	}
	switch {
	case len(when) == 0 && e.Candidates[0].At != winners[0].At:
		return unlessHigher
	case len(when) == 0:
		return ""
	}
	text := ", for nodes with " + conditionText(when)
	if facts := sample.String(); facts != "" {
		text += " (such as " + facts + ")"
	}
	return text
}

func conditionText(when []lookup.Term) string {
	terms := make([]string, len(when))
	for i, t := range when {
		terms[i] = t.Name + " = " + t.Value
	}
	return strings.Join(terms, ", ")
}

// doubt returns a reason why Puppet may not look up the value at all, or "".
func (c *Checker) doubt(s *suspect, at diag.Pos) string {
	class := s.param.class.Name
	switch _, sure := c.standing(s.param); {
	case sure == undeclared && len(c.declarations()[class]) == 0:
		c.isUndeclared = true
		return "no manifest declares the class " + class + " by name, and no data lists it, so this is only a warning"
	case sure == undeclared:
		return "all manifests that declare the class " + class +
			" set this parameter themselves, so this is only a warning"
	case c.hasForeignAbove(s, at):
		return "a level of hiera.yaml that only Puppet can read may have another value, so this is only a warning"
	}
	return ""
}

// hasForeignAbove reports whether hiera.yaml entries that bindc does not compile may override the binding at the given
// position.
func (c *Checker) hasForeignAbove(s *suspect, at diag.Pos) bool {
	b := s.places[at]
	layer := &c.site.Layers[b.layer]
	for _, h := range c.site.Hierarchies {
		if h.Module != "" && h.Module != moduleOf(c.site.Keys[b.number]) {
			continue
		}
		for i, e := range h.Entries {
			isAbove := h.Part < layer.Hiera || h.Part == layer.Hiera && i < layer.Entry
			if len(e.Locations) == 0 && layer.Hiera != loader.NoHiera && (isAbove || s.merged) {
				return true
			}
		}
	}
	return false
}

func moduleOf(key string) string {
	module, _, _ := strings.Cut(key, "::")
	return module
}

// reportOpen reports, with Options.Strict, that the values of a key cannot be decided. why is the reason.
func (c *Checker) reportOpen(key string, s *suspect, why string) {
	if !c.opts.Strict {
		return
	}
	hint := "'bindc check --facts-dir DIR' checks it for real nodes"
	if why == ofConversion || why == ofEncryption {
		hint = ""
	}
	for at := range s.places {
		c.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Info, Code: "parameter_type", Hint: hint,
			Message: "'" + key + "': whether the value is " + s.param.Type + " " + why + ", so it is not proven"})
	}
}

// reportClasses reports manifests that could not be read completely, and unknown types.
func (c *Checker) reportClasses() {
	for _, err := range c.classes.failures {
		c.diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: "read",
			Message: "cannot read a manifest: " + err.Error()})
	}
	for _, path := range c.classes.broken {
		c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Severity: diag.Info, Code: "parameter_unchecked",
			Message: "this manifest ends inside a string, a comment or a bracket, so its classes may be incomplete"})
	}
	c.reportUntyped()
}

// untyped describes parameters that cannot be checked completely because of the same unknown type.
type untyped struct {
	at    diag.Pos // position of the first such parameter
	count int
	names []string // names of the unknown types
	why   error    // why the type is unknown; nil if it has no definition
}

// reportUntyped reports unknown types of parameters that have data.
func (c *Checker) reportUntyped() {
	undefined, problems := untyped{}, map[string]*untyped{}
	for _, key := range slices.Sorted(maps.Keys(c.received)) {
		p := c.received[key]
		if p.problem != nil {
			c.reportUnchecked(&untyped{p.At, 1, []string{p.Type}, p.problem})
		}
		isUndefined := false
		for _, name := range p.unknown {
			why := p.class.aliases.Problem(name)
			switch {
			case why == nil:
				isUndefined = true
				undefined.names = append(undefined.names, name)
			case problems[name] == nil:
				problems[name] = &untyped{p.At, 1, []string{name}, why}
			default:
				problems[name].count++
			}
		}
		if isUndefined {
			if undefined.count++; undefined.count == 1 {
				undefined.at = p.At
			}
		}
	}
	if undefined.count > 0 {
		c.reportUnchecked(&undefined)
	}
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		c.reportUnchecked(problems[name])
	}
}

func (c *Checker) reportUnchecked(u *untyped) {
	d := diag.Diagnostic{Pos: u.at, Severity: diag.Info, Code: "parameter_unchecked",
		Message: "data for " + diag.Count(u.count, "parameter") + " is only checked in part, because "}
	if u.why != nil {
		d.Message += "the type '" + u.names[0] + "' is not supported: " + u.why.Error()
		c.diags.Add(d)
		return
	}
	slices.Sort(u.names)
	names, more := slices.Compact(u.names), ""
	const shown = 5
	if n := len(names) - shown; n > 0 {
		names, more = names[:shown], fmt.Sprintf(" and %d more", n)
	}
	d.Message += "these types are unknown: " + diag.Quoted(names) + more
	d.Hint = c.classes.defineHint(names)
	c.diags.Add(d)
}

// defineHint suggests a file in which to define the first of the undefined types that could be defined in the site.
func (c *classes) defineHint(names []string) string {
	for _, name := range names {
		module, rest, nested := strings.Cut(strings.ToLower(name), "::")
		file := "types/" + strings.ReplaceAll(rest, "::", "/") + ".pp"
		_, known := c.modules[module]
		switch {
		case module == "environment":
			return "define the type " + name + " in " + file + " of the environment"
		case !nested:
			return "Puppet finds the type " + name + " only in the manifest of the class; elsewhere, call it MODULE::" +
				name + " and define it in types/" + module + ".pp of that module"
		case known:
			return "define the type " + name + " in " + file + " of the module " + module
		}
	}
	return "put the modules that define these types on the module path"
}

// RefusedValue says why Puppet refuses a value on one node.
type RefusedValue struct {
	At       string // position of the binding, with the path stored in the snapshot
	Message  string // never contains a sensitive value
	Doubtful bool   // Puppet may not look up the value at all
	Perhaps  bool   // possibly no node declares the class
	mismatch string // see finding
}

// Refuses explains why Puppet refuses v, the value of key for the request r. It returns nil if Puppet accepts v. It may
// be called concurrently once Check has returned.
func (c *Checker) Refuses(r *lookup.Request, key string, v lookup.Value) (*RefusedValue, error) {
	p := c.received[key]
	if p == nil || p.typ == nil {
		return nil, nil
	}
	m, e, err := c.refusal(r, p, v)
	if m == nil || err != nil {
		return nil, err
	}
	at := ""
	if winners := effective(e); len(winners) > 0 {
		at = p.culprit(e, winners, v, m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, sure := c.standing(p)
	return &RefusedValue{At: at, mismatch: m.Text(true), Doubtful: sure == undeclared || c.hasForeign(moduleOf(key)),
		Perhaps: sure < certain,
		Message: "'" + key + "': " + m.Text(v.Sensitive()) + "; the class " + p.class.Name + " declares $" + p.Name +
			" as " + p.Type}, nil
}
