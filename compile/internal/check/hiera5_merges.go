package check

import (
	"strings"

	"bindc/compile/internal/rewrite"
	"bindc/diag"
	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/loader"
)

// checkMerges warns about values that the merge strategy of their key rejects, if the key has several values. It also
// warns about knockouts without effect.
func (c *checker) checkMerges() {
	found := map[uint32][]fittedValue{}
	for i := range c.Scopes {
		s := &c.Scopes[i]
		if !c.IsHiera(s.Layer) || c.Site.Layers[s.Layer].Hiera == loader.HieraDefaults {
			continue
		}
		for _, m := range s.Members {
			for i, e := range m.File.Entries {
				if c.Merges.ByKey[e.Key].Entry != nil {
					found[e.Key] = append(found[e.Key], c.fitted(e.Value, m.File.Pos(i)))
				}
			}
		}
	}
	for key, all := range found {
		if len(all) > 1 {
			c.checkFit(c.Keys[key], c.Merges.ByKey[key], all)
		}
	}
}

type fittedValue struct {
	v        value.Value
	constant bool // v is the value in every request; otherwise v is undef
	at       diag.Pos
}

func (c *checker) fitted(val uint32, at diag.Pos) fittedValue {
	v, ok := c.Constant(val)
	return fittedValue{v, ok, at}
}

func (c *checker) checkFit(key string, m rewrite.MergedKey, all []fittedValue) {
	strategy, err := m.Entry.Strategy()
	if err != nil {
		return
	}
	if c.reportStrategy(key, m, strategy, all) {
		return
	}
	for _, k := range all {
		err := strategy.Check(k.v)
		if !k.constant || err == nil {
			continue
		}
		d := diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge", Secret: m.Secret != nil,
			Message: "'" + key + "': " + err.Error() + "; with two values, every lookup fails, as in Puppet"}
		if strategy.String() == "hash" && k.v.Kind() == value.Array {
			d.Hint = "write 'merge: unique', which merges lists"
		}
		if at, ok := c.Merges.Place(key, m.Entry); ok {
			d.Notes = []diag.Note{{Pos: at, Message: "lookup_options merge the values of the key"}}
		}
		c.Report(d)
	}
	if m.Secret == nil { // the warning shows the value, so it must not be secret
		c.checkKnockouts(key, strategy, all)
	}
}

// shownValues limits how many values a message about a wrong strategy shows.
const shownValues = 3

// reportStrategy reports a strategy that can merge none of the values, if another strategy merges them all. It returns
// false if there is nothing to report.
func (c *checker) reportStrategy(key string, m rewrite.MergedKey, strategy merge.Strategy, all []fittedValue) bool {
	at, ok := c.Merges.Place(key, m.Entry)
	other := map[string]string{"hash": "unique", "unique": "hash"}[strategy.String()]
	better, err := merge.Parse(value.FromString(other))
	if !ok || other == "" || err != nil {
		return false
	}
	d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_merge",
		Hint: "write 'merge: " + other + "'", Fix: diag.MeantAs(strategy.String(), other)}
	for _, k := range all {
		if !k.constant || strategy.Check(k.v) == nil || better.Check(k.v) != nil {
			return false
		}
		if len(d.Notes) < shownValues {
			d.Notes = append(d.Notes, diag.Note{Pos: k.at, Message: "this value is of the kind " + k.v.Kind().String(),
				Secret: m.Secret != nil})
		}
	}
	d.Message = "the merge strategy '" + strategy.String() + "' cannot merge the values of '" + key + "'; every lookup " +
		"that finds two of them fails, as in Puppet"
	c.Report(d)
	return true
}

// checkKnockouts warns about strings that look like knockouts but remove nothing. Either no level has the value, the
// string is a hash key, or the key is merged without a knockout_prefix.
func (c *checker) checkKnockouts(key string, strategy merge.Strategy, all []fittedValue) {
	present, complete := map[string]bool{}, true
	for _, k := range all {
		complete = complete && k.constant // a computed value may contain the text
		texts(k.v, func(t string, _ bool) { present[t] = true })
	}
	for _, k := range all {
		texts(k.v, func(t string, isKey bool) {
			message := ""
			switch out := strategy.KnocksOut(t); {
			case out != "" && isKey:
				message = "'" + t + "' is a hash key, so the knockout prefix has no effect; " +
					"it removes only strings and list elements"
			case out != "" && complete && !present[out]:
				message = "'" + t + "' knocks out '" + out + "', which no level of '" + key + "' has"
			case strings.HasPrefix(t, customary) && present[strings.TrimPrefix(t, customary)] && !strategy.First() &&
				!strategy.Knocks():
				message = "'" + t + "' knocks nothing out: '" + key + "' is merged without a knockout_prefix"
			}
			if message != "" {
				c.Report(diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge", Message: message})
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
