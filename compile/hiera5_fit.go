package compile

import (
	"strings"

	"bindc/internal/diag"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// checkMerges warns about values that the merge strategy of their key cannot take if a request may find a second value,
// and about knock-outs without effect.
func (c *composer) checkMerges() {
	found := map[uint32][]constant{}
	for i := range c.scopes {
		s := &c.scopes[i]
		if part := c.site.Layers[s.layer].Hiera; part == loader.NoHiera || part == loader.HieraDefaults {
			continue
		}
		for _, m := range s.members {
			for i, e := range m.file.Entries {
				if c.merged[e.Key].entry != nil {
					found[e.Key] = append(found[e.Key], c.constant(e.Value, m.file.Pos(i)))
				}
			}
		}
	}
	for key, all := range found {
		if len(all) > 1 {
			c.checkFit(c.keys[key], c.merged[key], all)
		}
	}
}

// constant is a value of a key, and where it is written; known: it does not depend on the request.
type constant struct {
	v     value.Value
	known bool
	at    diag.Pos
}

func (c *composer) constant(val uint32, at diag.Pos) constant {
	text := c.values[val]
	if text[0] != recipe.CompiledConstant {
		return constant{}
	}
	v, _, err := value.View(text[1:])
	return constant{v, err == nil, at}
}

func (c *composer) checkFit(key string, m mergedKey, all []constant) {
	strategy, err := m.entry.Strategy()
	if err != nil {
		return
	}
	for _, k := range all {
		if err := strategy.Check(k.v); k.known && err != nil {
			c.report(diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge", Secret: m.secret != nil,
				Message: "'" + key + "': " + err.Error() + "; where there are two values, every lookup is an error, as in " +
					"Puppet"})
		}
	}
	if m.secret == nil { // the message quotes the value
		c.checkKnockouts(key, strategy, all)
	}
}

// checkKnockouts warns of what is to take something away, and does not: as it is not there, as it is the key of a hash,
// or as no prefix says that anything is taken away.
func (c *composer) checkKnockouts(key string, strategy merge.Strategy, all []constant) {
	there, known := map[string]bool{}, true
	for _, k := range all {
		known = known && k.known // else it may be what is taken away
		texts(k.v, func(t string, _ bool) { there[t] = true })
	}
	for _, k := range all {
		texts(k.v, func(t string, isKey bool) {
			message := ""
			switch out := strategy.KnocksOut(t); {
			case out != "" && isKey:
				message = "'" + t + "' is the key of a hash, and stays: only what is in lists, and texts, are knocked out"
			case out != "" && known && !there[out]:
				message = "'" + t + "' knocks out '" + out + "', which no level of '" + key + "' has"
			case strings.HasPrefix(t, customary) && there[strings.TrimPrefix(t, customary)] && !strategy.First() &&
				!strategy.Knocks():
				message = "'" + t + "' knocks nothing out: '" + key + "' is merged without a knockout_prefix"
			}
			if message != "" {
				c.report(diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge", Message: message})
			}
		})
	}
}

// customary is the knockout_prefix that everybody has.
const customary = "--"

// texts calls yield with the texts in lists and the keys of hashes, however deep.
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
