package types

import "testing"

func TestHoldsTextReportsTypesOfStrings(t *testing.T) {
	for text, want := range map[string]bool{
		"Any": true, "String": true, "String[1, 3]": true, "Enum[a]": true, "Pattern[/a/]": true, "Data": true,
		"Scalar": true, "Literal": true, "NotUndef": true, "NotUndef[Integer]": false, "Optional[String]": true,
		"Optional[Integer]": false, "Variant[Integer, Enum[a]]": true, "Variant[Integer, Float]": false,
		"Integer": false, "Numeric": false, "Boolean": false, "Undef": false, "Default": false, "Regexp": false,
		"Pattern": false, // without parameters, the values of Pattern are regular expressions
		"Array":   false, "Hash": false, "Collection": false, "Tuple[String]": false, "Type[String]": false,
	} {
		if got := parsed(t, text).HoldsText(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
