package check

import (
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/rewrite"
	"bindc/diag"
	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/loader"
)

// checkMerges warns about values that the merge strategy of their key rejects, if the key has several values. It also
// warns about knockouts without effect.
func checkMerges(e *pass.Env, s *rewrite.Bindings) {
	for key, all := range valuesToMerge(e, s) {
		m := s.Merges.ByKey[key]
		strategy, err := m.Entry.Strategy()
		if err != nil {
			continue
		}
		merged := mergedValues{key: s.Keys[key], strategy: strategy, all: all, secret: m.Secret != nil}
		merged.at, merged.written = s.Merges.Place(merged.key, m.Entry)
		warnOfConversions(e, merged, m.Entry)
		if len(all) < 2 {
			continue
		}
		if !warnOfStrategy(e, merged) {
			warnOfRejected(e, merged)
			warnOfKnockouts(e, merged)
		}
	}
}

// mergedValues holds the values that the hierarchies bind a merged key to.
type mergedValues struct {
	key      string
	strategy merge.Strategy
	all      []hieraValue
	secret   bool     // the values must not be shown
	at       diag.Pos // position of the lookup_options
	written  bool     // at is known
}

type hieraValue struct {
	v        value.Value
	constant bool // v is the value in every request; otherwise v is undef
	at       diag.Pos
}

// valuesToMerge returns the values in the hierarchies of the keys whose lookup_options are the same for all requests,
// by number of the key.
func valuesToMerge(e *pass.Env, s *rewrite.Bindings) map[uint32][]hieraValue {
	out := map[uint32][]hieraValue{}
	for i := range s.Scopes {
		sc := &s.Scopes[i]
		if !e.IsHiera(sc.Layer) || e.Site.Layers[sc.Layer].Hiera == loader.HieraDefaults {
			continue
		}
		for _, m := range sc.Members {
			for i, entry := range m.File.Entries {
				if s.Merges.ByKey[entry.Key].Entry != nil {
					v, constant := s.Constant(entry.Value)
					out[entry.Key] = append(out[entry.Key], hieraValue{v, constant, m.File.Pos(i)})
				}
			}
		}
	}
	return out
}

// shownValues limits how many values a message about a wrong strategy shows.
const shownValues = 3

// warnOfConversions warns about each constant that the convert_to of its key rejects. It omits arrays and hashes: a
// lookup of key.part converts the part. With a strategy other than 'first', lookups convert the result of the merge.
func warnOfConversions(e *pass.Env, m mergedValues, options *merge.Entry) {
	if !m.strategy.First() || options.Check() != nil { // checkLookupOptions reports invalid options
		return
	}
	for _, k := range m.all {
		if !k.constant || k.v.Kind() == value.Array || k.v.Kind() == value.Hash {
			continue
		}
		err := options.Convertible(k.v)
		if err == nil {
			continue
		}
		const consequence = "; every lookup that finds this value fails"
		d := diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_options",
			Message: "'" + m.key + "': " + err.Error() + consequence, Secret: m.secret || k.v.IsSensitive(),
			Discreet: "'" + m.key + "': convert_to of '" + options.Name + "' does not accept this value" + consequence}
		if m.written {
			d.Notes = []diag.Note{{Pos: m.at, Message: "lookup_options convert the values of the key"}}
		}
		e.Report(d)
	}
}

// warnOfStrategy warns about a strategy that can merge none of the values, if another strategy merges them all. It
// returns false if there is nothing to warn about.
func warnOfStrategy(e *pass.Env, m mergedValues) bool {
	other := map[string]string{"hash": "unique", "unique": "hash"}[m.strategy.String()]
	better, err := merge.Parse(value.FromString(other))
	if !m.written || other == "" || err != nil {
		return false
	}
	d := diag.Diagnostic{Pos: m.at, Severity: diag.Warning, Code: "hiera_merge",
		Hint: "write 'merge: " + other + "'", Fix: diag.MeantAs(m.strategy.String(), other)}
	for _, k := range m.all {
		if !k.constant || m.strategy.Check(k.v) == nil || better.Check(k.v) != nil {
			return false
		}
		if len(d.Notes) < shownValues {
			d.Notes = append(d.Notes, diag.Note{Pos: k.at, Message: "this value is of the kind " + k.v.Kind().String(),
				Secret: m.secret})
		}
	}
	d.Message = "the merge strategy '" + m.strategy.String() + "' cannot merge the values of '" + m.key +
		"'; every lookup that finds two of them fails, as in Puppet"
	e.Report(d)
	return true
}

// warnOfRejected warns about each value that the strategy rejects.
func warnOfRejected(e *pass.Env, m mergedValues) {
	for _, k := range m.all {
		err := m.strategy.Check(k.v)
		if !k.constant || err == nil {
			continue
		}
		d := diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge", Secret: m.secret,
			Message: "'" + m.key + "': " + err.Error() + "; with two values, every lookup fails, as in Puppet"}
		if m.strategy.String() == "hash" && k.v.Kind() == value.Array {
			d.Hint = "write 'merge: unique', which merges lists"
		}
		if m.written {
			d.Notes = []diag.Note{{Pos: m.at, Message: "lookup_options merge the values of the key"}}
		}
		e.Report(d)
	}
}

// warnOfKnockouts warns about strings that look like knockouts but remove nothing. Either no level has the value, the
// string is a hash key, or the key is merged without a knockout_prefix.
func warnOfKnockouts(e *pass.Env, m mergedValues) {
	if m.secret {
		return // the warnings show values
	}
	present, complete := map[string]bool{}, true
	for _, k := range m.all {
		complete = complete && k.constant // a computed value may contain the text
		texts(k.v, func(t string, _ bool) { present[t] = true })
	}
	for _, k := range m.all {
		texts(k.v, func(t string, isKey bool) {
			message := ""
			switch out := m.strategy.KnocksOut(t); {
			case out != "" && isKey:
				message = "'" + t + "' is a hash key, so the knockout prefix has no effect; " +
					"it removes only strings and list elements"
			case out != "" && complete && !present[out]:
				message = "'" + t + "' knocks out '" + out + "', which no level of '" + m.key + "' has"
			case strings.HasPrefix(t, customary) && present[strings.TrimPrefix(t, customary)] && !m.strategy.First() &&
				!m.strategy.Knocks():
				message = "'" + t + "' knocks nothing out: '" + m.key + "' is merged without a knockout_prefix"
			}
			if message != "" {
				e.Report(diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge", Message: message})
			}
		})
	}
}

// customary is the knockout_prefix that Puppet's documentation uses.
const customary = "--"

// texts calls yield with the strings in v and the keys of its hashes, at any depth.
func texts(v value.Value, yield func(text string, isKey bool)) {
	switch v.Kind() {
	case value.String:
		yield(v.Text(), false)
	case value.Array:
		for e := range v.Elems() {
			texts(e, yield)
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			if k.Kind() == value.String {
				yield(k.Text(), true)
			}
			texts(e, yield)
		}
	}
}
