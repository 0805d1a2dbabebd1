package recipe

import (
	"testing"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

func typ(t testing.TB, text string) *types.Type {
	t.Helper()
	out, err := types.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// examples is one recipe of each kind.
func examples(t testing.TB) []*Recipe {
	n := &expr.Node{Op: expr.Concat, Kids: []*expr.Node{{Op: expr.Var, Name: "fqdn"}}}
	lambda := &expr.Lambda{Params: []expr.Param{{Name: "v"}}, Body: &expr.Node{Op: expr.Var, Name: "v"}}
	constant := &Recipe{Kind: Constant, Sensitive: true, Value: value.Strings("a", "b"), Transformer: lambda}
	return []*Recipe{
		constant,
		{Kind: Expression, Expr: n, Type: typ(t, "String")},
		{Kind: LookupOf, Targets: []Target{{Key: "k", Type: typ(t, "Integer")}}},
		{Kind: FirstFound, Targets: []Target{{Key: "a"}, {Key: "b"}}},
		{Kind: HashLookup, Targets: []Target{{Key: "h"}}, Value: value.FromString("entry")},
		{Kind: Custom, Name: "counter", Value: value.FromInt(3)},
		{Kind: Abstract},
		{Kind: Multibind, Name: "\x00id", Options: &Options{Array: true, Flatten: -1, Uniq: true,
			Element: typ(t, "Integer"), Combinator: lambda}},
		{Kind: Multibind, Name: "\x00id", Options: &Options{Resolution: Included}},
		{Kind: Contributions, Parts: []Part{{Name: "n", Named: true, Precedence: 7, Place: 1 << 30, Recipe: constant},
			{Recipe: &Recipe{Kind: Abstract}}, {Name: "m", Named: true, Recipe: &Recipe{Kind: RenamedPart, Name: "n"}},
			{Name: "o", Named: true, Recipe: &Recipe{Kind: AliasedPart, Name: "n"}}}},
		{Kind: HashLookup, Targets: []Target{{Key: "h"}}, Value: value.FromString("entry"), Optional: true},
		{Kind: AliasOf, Targets: []Target{{Key: "k"}}, Sensitive: true},
		{Kind: Below, Name: "k", Type: typ(t, "Integer"), Transformer: lambda},
		{Kind: Erased},
	}
}

func TestARecipeIsDecodedAsItWasEncoded(t *testing.T) {
	for _, r := range examples(t) {
		encoded := string(Append(nil, r))
		got, err := Decode(encoded)
		if err != nil {
			t.Errorf("kind %d: %v", r.Kind, err)
			continue
		}
		if again := string(Append(nil, got)); again != encoded {
			t.Errorf("kind %d: encoded %x, decoded and encoded again %x", r.Kind, encoded, again)
		}
		for n := range encoded {
			if _, err := Decode(encoded[:n]); err == nil {
				t.Errorf("kind %d: %d of %d bytes decode", r.Kind, n, len(encoded))
			}
		}
	}
}

// Whatever decodes is encoded to something that decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, r := range examples(f) {
		f.Add(string(Append(nil, r)))
	}
	f.Fuzz(func(t *testing.T, b string) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		encoded := string(Append(nil, r))
		again, err := Decode(encoded)
		if err != nil || string(Append(nil, again)) != encoded {
			t.Errorf("%x decodes, but not what it is encoded to, %x: %v", b, encoded, err)
		}
	})
}
