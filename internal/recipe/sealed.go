package recipe

import (
	"slices"

	"bindc/internal/secret/seal"
)

// headBytes is the size of a recipe's kind and flags, which stay unencrypted in a sealed recipe.
const headBytes = 2

// IsSecret reports whether an encoded recipe, or a contribution in it, is sensitive. It returns true for recipes that
// are sealed or cannot be decoded.
func IsSecret(encoded string) bool {
	r, err := Decode(encoded)
	return err != nil || r.Secret()
}

// IsARM8 reports whether an encoded recipe uses ARM-8 operations, which older readers do not know. It returns true for
// a sealed recipe whose kind and flags leave this open.
func IsARM8(encoded string) bool {
	if len(encoded) < headBytes {
		return false
	}
	switch k := Kind(encoded[0]); {
	case k > Merged || encoded[1]&flagOptional != 0:
		return true
	case k != Multibind && k != Contributions:
		return false
	case IsSealed(encoded):
		return true
	}
	r, err := Decode(encoded)
	return err == nil && r.IsARM8()
}

// IsARM8 reports whether r uses ARM-8 operations, which older readers do not know.
func (r *Recipe) IsARM8() bool {
	return r.Kind > Merged || r.Optional ||
		slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Recipe.IsARM8() }) ||
		r.Options != nil && (r.Options.Combinator != nil || r.Options.Resolution == Included)
}

// IsFinal is Recipe.IsFinal for an encoded recipe, which may be sealed.
func IsFinal(encoded string) bool {
	if len(encoded) < headBytes {
		return true
	}
	r := Recipe{Kind: Kind(encoded[0]), Optional: encoded[1]&flagOptional != 0}
	return r.IsFinal()
}

// Seal encrypts an encoded recipe except its kind and flags, and ties it to the key of its binding.
func Seal(encoded, key string, box *seal.Box) string {
	head := string([]byte{encoded[0], encoded[1] | flagSealed})
	return box.Seal(key, head, encoded[headBytes:])
}

func IsSealed(encoded string) bool { return len(encoded) >= headBytes && encoded[1]&flagSealed != 0 }

// Unseal reverses Seal.
func Unseal(sealed, key string, box *seal.Box) (encoded string, err error) {
	body, err := box.Open(key, sealed[:headBytes], sealed[headBytes:])
	return string([]byte{sealed[0], sealed[1] &^ flagSealed}) + body, err
}

// Features lists the features that recipes in a snapshot may use.
type Features struct {
	Sealed bool // whether sealed recipes are allowed
	Hiera  bool // whether recipes of kind Merged are allowed
	ARM8   bool // whether ARM-8 operations are allowed
}

// Check validates an encoded recipe in a file with the given features. For a sealed recipe, it checks only the kind
// and flags, because the rest is encrypted. contributes reports whether the recipe consists of the contributions of a
// scope; alone is Recipe.StandsAlone.
func Check(encoded string, of Features) (contributes, alone bool, err error) {
	if len(encoded) < headBytes {
		return false, false, errMalformed
	}
	kind := Kind(encoded[0])
	switch {
	case kind == Merged && !of.Hiera, kind > Merged && !of.ARM8, encoded[1]&flagOptional != 0 && !of.ARM8:
		return false, false, errMalformed
	case of.Sealed && IsSealed(encoded):
		if !kind.has(encoded[1]&^flagSealed) || len(encoded) < headBytes+seal.Overhead {
			return false, false, errMalformed
		}
	default:
		if r, err := Decode(encoded); err != nil {
			return false, false, err
		} else if r.IsARM8() && !of.ARM8 {
			return false, false, errMalformed
		}
	}
	return kind == Contributions, kind < Contributions, nil
}
