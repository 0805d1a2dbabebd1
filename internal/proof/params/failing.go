package params

import (
	"errors"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// reportFailing reports a key if its lookup_options cannot merge or convert the value in any of the attempts that find
// a value.
func (p *prover) reportFailing(key string, s *suspect, attempts []attempt) error {
	var first *lookup.Explanation
	var why *bindings.Error
	where := ""
	for _, a := range attempts {
		facts, err := a.Facts(a.others)
		if err != nil {
			return err
		}
		r, err := p.snap.Request(facts)
		if err != nil {
			continue
		}
		_, found, err := r.Lookup(key)
		var failed *bindings.Error
		switch {
		case err == nil && !found:
			continue
		case !errors.As(err, &failed) || failed.Code != bindings.CodeEvaluation:
			return nil
		case first != nil:
			continue
		}
		e, err := (*lookup.Request)(r).Explain(key)
		if err != nil {
			return err
		}
		if _, known := conversion(e.Options); e.Options == nil || !known {
			return nil // only Puppet may know the type
		}
		first, why = e, failed
		if winners := effective(e); len(winners) > 0 {
			where = region(e, winners, a.Sample)
		}
	}
	if first != nil {
		p.addFailing(key, s, first, why, where)
	}
	return nil
}

func (p *prover) addFailing(key string, s *suspect, e *lookup.Explanation, why *bindings.Error, where string) {
	options := p.position(e.Options.At)
	at := options
	if winners := effective(e); len(winners) > 0 {
		at = p.position(winners[0].At)
	}
	quoted, message := "'"+key+"'", why.Error()
	if !strings.Contains(message, quoted) {
		message = quoted + ": " + message
	}
	d := diag.Diagnostic{Pos: at, Code: diag.Code(why.Code), Message: message + where,
		Secret: true, Discreet: message + where, // as for a real node: the message has no sensitive value
		Notes: []diag.Note{{Pos: options, Message: "these lookup_options apply: " + optionsText(e.Options)}}}
	if doubt := p.doubt(s, at); doubt != "" {
		d.Severity = diag.Warning
		d.Notes = append(d.Notes, diag.Note{Pos: s.param.class.At, Message: doubt})
	}
	p.add(finding{key, at, ofFailure}, d)
}

// ofFailure is the mismatch in the finding of a value that cannot be merged or converted.
const ofFailure = "failure"
