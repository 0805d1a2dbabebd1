package compile

import (
	"bindc/internal/diag"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// checkMerges warns of values that the merge strategy of their key cannot take, where a request may find a second one,
// and of knock-outs of what no level has.
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

// checkKnockouts warns of what is to take something away that is not there.
func (c *composer) checkKnockouts(key string, strategy merge.Strategy, all []constant) {
	there := map[string]bool{}
	for _, k := range all {
		if !k.known {
			return // it may be what is taken away
		}
		texts(k.v, func(t string) { there[t] = true })
	}
	for _, k := range all {
		texts(k.v, func(t string) {
			if out := strategy.KnocksOut(t); out != "" && !there[out] {
				c.report(diag.Diagnostic{Pos: k.at, Severity: diag.Warning, Code: "hiera_merge",
					Message: "'" + t + "' knocks out '" + out + "', which no level of '" + key + "' has"})
			}
		})
	}
}

// texts calls yield with the texts in lists and the keys of hashes, however deep.
func texts(v value.Value, yield func(string)) {
	switch v.Kind() {
	case value.String:
		yield(v.Text())
	case value.Array:
		for e := range v.Elems() {
			texts(e, yield)
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			texts(k, yield)
			texts(e, yield)
		}
	}
}
