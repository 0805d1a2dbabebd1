package params

import (
	"errors"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// reportFailing reports a key if its lookup_options cannot merge or convert the values in any attempt.
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
		e, err := p.explain((*lookup.Request)(r), key)
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
	options, at := p.position(e.Options.At), p.position(FailedAt(e, why))
	quoted, message := "'"+key+"'", why.Error()
	if !strings.Contains(message, quoted) {
		message = quoted + ": " + message
	}
	d := diag.Diagnostic{Pos: at, Code: diag.Code(why.Code), Message: message + where,
		Secret: true, Discreet: message + where, // as for real nodes, the message never contains a sensitive value
		Fix:   strategyFix(e.Options),
		Notes: []diag.Note{{Pos: options, Message: "these lookup_options apply: " + optionsText(e.Options)}}}
	if doubt := p.doubt(s, at); doubt != "" {
		d.Severity = diag.Warning
		d.Notes = append(d.Notes, diag.Note{Pos: s.param.class.At, Message: doubt})
	}
	p.add(finding{key, at, ofFailure}, d)
}

// strategyFix returns the correction of a misspelt merge strategy in lookup_options.
func strategyFix(options *lookup.Candidate) diag.Fix {
	v, err := options.Outcome.Value.Whole()
	if err != nil {
		return diag.Fix{}
	}
	strategy, _ := v.Get(value.FromString("merge"))
	if strategy.Kind() == value.Hash {
		strategy, _ = strategy.Get(value.FromString("strategy"))
	}
	names := []string{"first", "unique", "hash", "deep"}
	if slices.Contains(names, strategy.Text()) {
		return diag.Fix{}
	}
	return diag.Correct(strategy.Text(), names)
}

// FailedAt returns the position of the mistake if the values of a key cannot be merged or converted: the lookup_options
// if they suit none of the values, and otherwise the highest value that they do not suit.
func FailedAt(e *lookup.Explanation, why error) string {
	winners := effective(e)
	if len(winners) == 0 {
		return e.Options.At
	}
	if !strings.Contains(why.Error(), "merge strategy") {
		return winners[0].At
	}
	var unsuited []string
	for i := range winners {
		v, err := winners[i].Outcome.Value.Whole()
		if err == nil && strings.HasSuffix(why.Error(), "of the kind "+v.Kind().String()) {
			unsuited = append(unsuited, winners[i].At)
		}
	}
	if len(unsuited) == 0 || len(unsuited) == len(winners) {
		return e.Options.At
	}
	return unsuited[0]
}

// ofFailure is used in finding.mismatch if the value cannot be merged or converted.
const ofFailure = "failure"
