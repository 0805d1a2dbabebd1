package recipe

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/secret/seal"
)

const (
	noRecipe     = "not an encoded recipe"
	noValue      = "not an encoded value"
	noExpression = "not an encoded expression"
)

// checkRejected checks that Decode and Check reject an invalid encoding for one of the given reasons.
func checkRejected(t *testing.T, what, encoded string, reasons ...string) {
	t.Helper()
	r, err := Decode(encoded)
	if err == nil || r != nil || !slices.Contains(reasons, err.Error()) {
		t.Errorf("%s: %x is decoded to %v, %v, expected %q", what, encoded, r, err, reasons)
	}
	contributes, _, checked := Check(encoded, Features{Hiera: true, ARM8: true})
	if checked == nil || err != nil && checked.Error() != err.Error() || contributes {
		t.Errorf("%s: %x is checked: %t, %v, expected %v", what, encoded, contributes, checked, err)
	}
}

func TestDecodeRejectsTruncatedRecipesAndExtraBytes(t *testing.T) {
	for what, e := range examples(t) {
		for n := range e.encoded {
			cut := e.encoded[:n]
			checkRejected(t, what, cut, noRecipe, noValue)
			if n < 2 && (IsARM8(cut) || !IsFinal(cut) || IsSealed(cut)) {
				t.Errorf("%s: %x is reported as unknown to older readers, as not final, or "+
					"is sealed", what, cut)
			}
			if !IsSecret(cut) {
				t.Errorf("%s: %x, which is cut off, is reported as not secret", what, cut)
			}
			if n >= 2 && (e.recipe.Kind == Contributions || e.recipe.Kind == Multibind) && IsARM8(cut) {
				t.Errorf("%s: damaged %x is reported as not of ARM-8", what, cut)
			}
		}
		checkRejected(t, what+" and a byte", e.encoded+"\x00", noRecipe)
	}
}

// The kind of a recipe determines its possible flags (recipes.md, section "Recipes").
func TestDecodeRejectsFlagsThatKindDoesNotHave(t *testing.T) {
	const sensitive, typed, transformed, optional, sealed = "\x01", "\x02", "\x04", "\x08", "\x10"
	bodies := map[Kind]string{Abstract: "", Multibind: "\x03\x00id\x00\x00\x00", Contributions: "\x00",
		Merged: "\x00\x00", AliasOf: "\x01\x01k\x00", Below: "\x01k", Erased: "", Constant: "\x00"}
	for kind, flags := range map[Kind][]string{
		Constant:      {sealed, "\x20", "\x40", "\x80"},
		Abstract:      {optional, sealed, "\x20"},
		Multibind:     {optional, sealed},
		Contributions: {optional, sealed},
		Merged:        {optional, sealed},
		AliasOf:       {optional, sealed},
		Below:         {optional, sealed},
		Erased:        {sensitive, typed, transformed, optional, sealed},
	} {
		for _, f := range flags {
			checkRejected(t, "flags", string(rune(kind))+f+bodies[kind], noRecipe)
		}
	}
	for _, kind := range []string{"\x0d", "\x0e"} { // RenamedPart, AliasedPart: only valid as parts
		for _, f := range []string{sensitive, optional} {
			checkRejected(t, "flags of a renaming part", "\x08\x00\x01\x01\x01m\x00\x00\x04"+kind+f+"\x01n", noRecipe)
		}
	}
}

func TestDecodeRejectsForgedRecipe(t *testing.T) {
	const unknownType = "unknown type 'Nope'"
	multibind, part := "\x07\x00\x03\x00id", "\x08\x00\x01"
	long := strings.Repeat("\x80", 9)
	for what, row := range map[string]struct{ encoded, reason string }{
		"unknown kind":                        {"\x0f\x00", noRecipe},
		"kind 255":                            {"\xff\x00", noRecipe},
		"unknown type":                        {"\x06\x02\x04Nope", unknownType},
		"empty transformer":                   {"\x06\x04\x00", noExpression},
		"empty expression":                    {"\x01\x00\x00", noExpression},
		"constant with invalid tag":           {"\x00\x00\x0b", noValue},
		"producer arguments with invalid tag": {"\x05\x00\x01p\x0b", noValue},
		"text longer than the rest":           {"\x0b\x00\x03k", noRecipe},
		"lookup without a target":             {"\x02\x00\x00", noRecipe},
		"lookup with two targets":             {"\x02\x00\x02\x01a\x00\x01b\x00", noRecipe},
		"alias with two targets":              {"\x0a\x00\x02\x01a\x00\x01b\x00", noRecipe},
		"hash lookup with two targets":        {"\x04\x00\x02\x01a\x00\x01b\x00\x81e", noRecipe},
		"target of unknown type":              {"\x02\x00\x01\x01k\x04Nope", unknownType},
		"more targets than bytes left":        {"\x03\x00\x05\x01a\x00", noRecipe},
		"2^32 targets":                        {"\x03\x00\x80\x80\x80\x80\x10\x01a\x00", noRecipe},
		"2^63 targets":                        {"\x03\x00" + long + "\x01\x01a\x00", noRecipe},
		"uvarint of 65 bits":                  {"\x03\x00" + long + "\x02", noRecipe},
		"uvarint of 11 bytes":                 {"\x03\x00" + long + "\x80\x00", noRecipe},
		"unknown flag in options":             {multibind + "\x40\x00\x00", noRecipe},
		"unknown resolution":                  {multibind + "\x00\x06\x00", noRecipe},
		"2^31 levels to flatten":              {multibind + "\x00\x00\x80\x80\x80\x80\x10", noRecipe},
		"-2^31-1 levels to flatten":           {multibind + "\x00\x00\x81\x80\x80\x80\x10", noRecipe},
		"elements of unknown type":            {multibind + "\x10\x00\x00\x04Nope", unknownType},
		"empty combinator":                    {multibind + "\x20\x00\x00\x00", noExpression},
		"more parts than bytes left":          {"\x08\x00\x09\x00\x00\x00\x00\x03\x00\x00\x45", noRecipe},
		"part with invalid named byte":        {part + "\x02\x00\x00\x00\x03\x00\x00\x45", noRecipe},
		"precedence of 33 bits":               {part + "\x00\x00\x80\x80\x80\x80\x10\x00\x03\x00\x00\x45", noRecipe},
		"place of 33 bits":                    {part + "\x00\x00\x00\x80\x80\x80\x80\x10\x03\x00\x00\x45", noRecipe},
		"empty part":                          {part + "\x00\x00\x00\x00\x00", noRecipe},
		"part that is not a value":            {part + "\x00\x00\x00\x00\x03\x00\x00\x0b", noValue},
		"Contributions as a part":             {part + "\x00\x00\x00\x00\x03\x08\x00\x00", noRecipe},
		"Below as a part":                     {part + "\x00\x00\x00\x00\x04\x0b\x00\x01k", noRecipe},
		"Erased as a part":                    {part + "\x00\x00\x00\x00\x02\x0c\x00", noRecipe},
		"Merged as a part":                    {part + "\x00\x00\x00\x00\x04\x09\x00\x00\x00", noRecipe},
		"multibinding of a key without NUL":   {"\x07\x00\x01k\x00\x00\x00", noRecipe},
		"multibinding of a Hiera 5 key":       {"\x07\x00\x03\x00\x00k\x00\x00\x00", noRecipe},
		"Below with an internal key":          {"\x0b\x00\x02\x00k", noRecipe},
		"RenamedPart outside Contributions":   {"\x0d\x00\x01n", noRecipe},
		"AliasedPart outside Contributions":   {"\x0e\x00\x01n", noRecipe},
	} {
		checkRejected(t, what, row.encoded, row.reason)
	}
}

func TestDecodeReportsOnlyTheFirstError(t *testing.T) {
	checkRejected(t, "two unknown types", "\x03\x00\x02\x01a\x04Nope\x01b\x05Never", "unknown type 'Nope'")
	checkRejected(t, "unknown type and invalid value", "\x00\x02\x04Nope\x0b", "unknown type 'Nope'")
}

// Check accepts a kind only if the features of the file allow it. It also reports which keys the recipe can be bound
// to.
func TestCheckRejectsKindsThatFeaturesDoNotAllow(t *testing.T) {
	all := Features{Hiera: true, ARM8: true}
	for what, e := range examples(t) {
		for _, sealed := range []bool{false, true} {
			of := all
			of.Sealed = sealed
			contributes, alone, err := Check(e.encoded, of)
			if err != nil || contributes != (e.recipe.Kind == Contributions) || alone != e.recipe.StandsAlone() {
				t.Errorf("%s: contributes: %t, alone: %t, %v", what, contributes, alone, err)
			}
		}
		for missing, isOf := range map[Features]bool{{ARM8: true}: e.recipe.Kind == Merged, {Hiera: true}: e.arm8} {
			contributes, alone, err := Check(e.encoded, missing)
			if refused := err != nil && err.Error() == noRecipe && !contributes && !alone; refused != isOf {
				t.Errorf("%s: in a file of features %v: %t, %t, %v", what, missing, contributes, alone, err)
			}
		}
	}
	for kind, alone := range map[Kind]bool{Constant: true, Multibind: true, Contributions: false, Merged: false,
		AliasOf: false, Below: false, Erased: false} {
		if r := (&Recipe{Kind: kind}); r.StandsAlone() != alone {
			t.Errorf("kind %d: alone: %t", kind, !alone)
		}
	}
}

func newBox(t *testing.T) *seal.Box {
	t.Helper()
	box, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestSealedRecipeShowsKindAndFlags(t *testing.T) {
	box := newBox(t)
	for what, e := range examples(t) {
		sealed := Seal(e.encoded, "key", box)
		if !IsSealed(sealed) || !IsSecret(sealed) || IsFinal(sealed) == e.opens {
			t.Errorf("%s: sealed %t, secret %t, final %t", what, IsSealed(sealed), IsSecret(sealed), IsFinal(sealed))
		}
		// A sealed recipe does not show whether its options or parts use ARM-8.
		inside := e.recipe.Kind == Multibind || e.recipe.Kind == Contributions
		if got := IsARM8(sealed); got != (e.arm8 || inside) {
			t.Errorf("%s: of ARM-8: %t", what, got)
		}
		contributes, _, err := Check(sealed, Features{Sealed: true, Hiera: true, ARM8: true})
		if err != nil || contributes != (e.recipe.Kind == Contributions) {
			t.Errorf("%s: contributes: %t, %v", what, contributes, err)
		}
		if contributes, _, err := Check(sealed, Features{Hiera: true, ARM8: true}); err == nil || contributes {
			t.Errorf("%s: is sealed in a file where nothing is: %t, %v", what, contributes, err)
		}
		if got, err := Unseal(sealed, "key", box); got != e.encoded || err != nil {
			t.Errorf("%s: unsealed %x, %v, expected %x", what, got, err, e.encoded)
		}
		if _, err := Unseal(sealed, "other", box); err == nil {
			t.Errorf("%s: is unsealed for another key", what)
		}
	}
}

func TestCheckRejectsSealedRecipesWithInvalidKindOrFlags(t *testing.T) {
	body := strings.Repeat("x", seal.Overhead)
	for head, ok := range map[string]bool{
		"\x06\x10": true, "\x06\x11": true, "\x00\x1f": true, "\x0c\x10": true,
		"\x0f\x10": false, "\xff\x10": false, // unknown kinds
		"\x00\x30": false, "\x00\x90": false, // unknown flags
		"\x06\x18": false, "\x0c\x11": false, // flags of other kinds
	} {
		if !IsSealed(head) || !IsSecret(head) {
			t.Errorf("%x says that what follows is sealed", head)
		}
		of := Features{Sealed: true, ARM8: true}
		contributes, _, err := Check(head+body, of)
		if contributes || (err == nil) != ok || err != nil && err.Error() != noRecipe {
			t.Errorf("%x sealed: %t, %v, expected to be right: %t", head, contributes, err, ok)
		}
		if contributes, _, err := Check(head+body[1:], of); contributes || err == nil || err.Error() != noRecipe {
			t.Errorf("%x sealed and cut off: %t, %v", head, contributes, err)
		}
	}
}
