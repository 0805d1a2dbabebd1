package params

import (
	"errors"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	bindings "bindc/runtime"
)

// isEncrypted reports whether a compiled value is a string that hiera-eyaml has encrypted, in whole or in part.
func isEncrypted(compiled string) bool {
	if compiled[0] == recipe.CompiledConstant {
		return false
	}
	r, err := recipe.Decode(compiled[1:])
	return err == nil && r.Kind == recipe.Expression && isText(r.Expr) && r.Expr.HasHieraSecret()
}

// refusesEncrypted reports whether d refuses b because its value is encrypted, whatever the plain text is. Decrypted
// values in Hiera data are strings, never Sensitive.
func (c *Checker) refusesEncrypted(d *demand, b binding) bool {
	return c.site.Layers[b.layer].Hiera != loader.NoHiera && !d.typ.Admits(value.String) &&
		isEncrypted(c.site.Values[b.value])
}

// whyVaries returns the reason why the value of s is not known.
func (c *Checker) whyVaries(s *suspect) string {
	for _, b := range s.places {
		if isEncrypted(c.site.Values[b.value]) {
			return ofEncryption
		}
	}
	return ofFacts
}

// tryEncrypted is like try, but for a request in which the lookup fails because the value is encrypted.
func (p *prover) tryEncrypted(r *bindings.Request, s *suspect, a attempt, found map[diag.Pos]bool) (
	open string, err error) {
	e, err := p.explain((*lookup.Request)(r), s.param.key())
	if err != nil {
		return "", err
	}
	winners := effective(e)
	if len(winners) != 1 || e.Options != nil {
		return ofEncryption, nil
	}
	at := p.position(winners[0].At)
	b, suspicious := s.places[at]
	where := region(e, winners, a.Sample)
	if !suspicious || found[at] || b.verdict != refused || a.maySayMore(where) {
		return "", nil
	}
	text := value.FromString("")
	found[at] = true
	p.report(s, e, at, where, s.param.typ.Assert(text), lookup.FromValue(text))
	return "", nil
}

func isEncryptedError(err error) bool {
	var e *bindings.Error
	return errors.As(err, &e) && e.Code == bindings.CodeEncrypted
}
