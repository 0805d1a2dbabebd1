package params

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/types"
	"bindc/loader"
)

// report reports a value that Puppet refuses in requests that fulfil the condition when. sample is such a request.
func (p *prover) report(s *suspect, at diag.Pos, when []lookup.Term, sample decision.Sample, m *types.Mismatch,
	secret bool) {
	key, region := s.param.key(), region(when, sample)
	d := diag.Diagnostic{Pos: at, Code: "parameter_type", Message: "'" + key + "': " + m.Text(secret) + region,
		Secret: secret, Discreet: "'" + key + "': " + m.Text(true) + region, Hint: s.param.hint(m)}
	d.Notes = append(d.Notes, diag.Note{Pos: s.param.At, Message: "the class " + s.param.class.Name + " declares $" +
		s.param.Name + " as " + s.param.Type})
	if why := p.doubt(s, at); why != "" {
		d.Severity = diag.Warning
		d.Notes = append(d.Notes, diag.Note{Pos: s.param.class.At, Message: why})
	}
	p.diags.Add(d)
}

// region describes the requests that meet a condition.
func region(when []lookup.Term, sample decision.Sample) string {
	if len(when) == 0 {
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

// doubt returns the reason why Puppet may not look the value up, or "".
func (c *Checker) doubt(s *suspect, at diag.Pos) string {
	class := s.param.class.Name
	switch list := c.declarations()[class]; {
	case len(list) == 0:
		return "no manifest declares the class " + class + " by name, so this is only a warning"
	case !s.param.looksUp(list):
		return "all manifests that declare the class " + class + " set this parameter themselves, so this is only a warning"
	case c.hasForeignAbove(s, at):
		return "a level of hiera.yaml that only Puppet can read may have another value, so this is only a warning"
	}
	return ""
}

// hasForeignAbove reports whether the value may come from an entry of hiera.yaml that was not compiled.
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

// hint returns what to write instead, if that is clear.
func (p *param) hint(m *types.Mismatch) string {
	switch found := m.Found; {
	case m.Expected.Kind() == types.Array && (found == "String" || found == "Integer") && len(m.Path) == 0:
		return "write a list, even of one element"
	case m.Expected.Kind() == types.Integer && found == "String":
		return "write the number without quotes"
	case m.Expected.Kind() == types.Boolean && found == "String":
		return "write true or false without quotes"
	case m.Expected.Kind() == types.String && (found == "Integer" || found == "Float" || found == "Boolean"):
		return "put the value in quotes"
	case strings.HasPrefix(m.Expected.String(), "Sensitive"):
		return fmt.Sprintf("add to lookup_options: '%s': {convert_to: Sensitive}", p.key())
	}
	return ""
}

// reportOpen reports a key that cannot be decided.
func (c *Checker) reportOpen(key string, s *suspect) {
	if !c.opts.Strict {
		return
	}
	for at := range s.places {
		c.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Info, Code: "parameter_type",
			Message: "'" + key + "': whether the value is " + s.param.Type + " depends on facts, so it is not proven",
			Hint:    "--facts-dir checks it for the facts of given nodes"})
	}
}

// reportClasses reports manifests that could not be read or are incomplete, and unknown types.
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

// reportUntyped reports the types that are not known, if data is bound for parameters of these types.
func (c *Checker) reportUntyped() {
	var names []string
	var first *param
	count := 0
	for _, key := range slices.Sorted(maps.Keys(c.received)) {
		p := c.received[key]
		if len(p.unknown) == 0 {
			continue
		}
		if count++; first == nil {
			first = p
		}
		names = append(names, p.unknown...)
	}
	if first == nil {
		return
	}
	slices.Sort(names)
	names = slices.Compact(names)
	const shown = 5
	more := ""
	if n := len(names) - shown; n > 0 {
		names, more = names[:shown], fmt.Sprintf(" and %d more", n)
	}
	c.diags.Add(diag.Diagnostic{Pos: first.At, Severity: diag.Info, Code: "parameter_unchecked",
		Message: "data for " + diag.Count(count, "parameter") + " is only checked in part, because these types are " +
			"not known: " + diag.Quoted(names) + more,
		Hint: "put the modules that define these types on the module path"})
}

// Refusal is a value that Puppet refuses for one node.
type Refusal struct {
	Message  string // without the value, if it is sensitive
	Doubtful bool   // Puppet may not look the value up
}

// Refuses returns why Puppet refuses v, the value of key for one node, or nil. It may be called concurrently after
// Check.
func (c *Checker) Refuses(key string, v lookup.Value) *Refusal {
	p := c.received[key]
	if p == nil || p.typ == nil || c.undecided[key] {
		return nil
	}
	whole, err := v.Whole()
	if err != nil {
		return nil
	}
	if v.Sensitive() {
		whole = whole.Sensitive()
	}
	m := p.misfit(whole)
	if m == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.declarations()[p.class.Name]
	return &Refusal{Doubtful: !p.looksUp(list) || c.hasForeign(moduleOf(key)),
		Message: "'" + key + "': " + m.Text(v.Sensitive()) + "; the class " + p.class.Name + " declares $" + p.Name +
			" as " + p.Type}
}
