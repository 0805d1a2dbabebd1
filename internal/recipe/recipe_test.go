package recipe

import (
	"math"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/syntax"
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

func expression(t testing.TB, source string) *expr.Node {
	t.Helper()
	n, errs := syntax.ParseExpression(source)
	if errs != nil {
		t.Fatal(source, errs)
	}
	return n
}

func lambda(t testing.TB, source string) *expr.Lambda {
	t.Helper()
	l, errs := syntax.ParseLambda(source)
	if errs != nil {
		t.Fatal(source, errs)
	}
	return l
}

// text encodes a string shorter than 128 bytes.
func text(s string) string { return string(rune(len(s))) + s }

// example has a recipe, its encoding according to recipes.md (section "Recipes"), and its expected properties.
type example struct {
	recipe   *Recipe
	encoded  string
	compiled byte // form byte of the compiled value; 0 if compile never produces this recipe
	secret   bool
	arm8     bool
	declines bool
	opens    bool // lookups continue with lower bindings
}

// examples has recipes of every kind, flag and option.
func examples(t testing.TB) map[string]example {
	const c, r, l = CompiledConstant, CompiledRecipe, CompiledLookup
	up, concat := lambda(t, "|$v| { upcase($v) }"), expression(t, `"x${fqdn}"`)
	upText, concatText := text(string(expr.AppendLambda(nil, up))), text(string(expr.Append(nil, concat)))
	five, k := value.FromInt(5), []Target{{Key: "k"}}
	options := func(o Options) *Recipe { return &Recipe{Kind: Multibind, Name: "\x00id", Options: &o} }
	of := func(p Part) *Recipe { return &Recipe{Kind: Contributions, Parts: []Part{p}} }
	plain := &Recipe{Kind: Constant, Value: five}
	secret := &Recipe{Kind: Constant, Sensitive: true, Value: five}
	return map[string]example{
		"constant":        {recipe: plain, encoded: "\x00\x00\x45", compiled: c},
		"secret constant": {recipe: secret, encoded: "\x00\x01\x45", compiled: r, secret: true},
		"typed constant": {recipe: &Recipe{Kind: Constant, Value: value.Strings("a"), Type: typ(t, "Array[String]")},
			encoded: "\x00\x02" + text("Array[String]") + "\x09\x03\x01\x81a", compiled: r},
		"transformed constant": {recipe: &Recipe{Kind: Constant, Value: five, Transformer: up},
			encoded: "\x00\x04" + upText + "\x45", compiled: r},
		"optional constant": {recipe: &Recipe{Kind: Constant, Optional: true}, encoded: "\x00\x08\x00", compiled: r,
			arm8: true, declines: true, opens: true},
		"expression": {recipe: &Recipe{Kind: Expression, Expr: concat, Type: typ(t, "String"), Transformer: up},
			encoded: "\x01\x06" + text("String") + upText + concatText, compiled: r},
		"expression that looks up": {recipe: &Recipe{Kind: Expression, Expr: expression(t, "lookup('a')")},
			encoded:  "\x01\x00" + text(string(expr.Append(nil, expression(t, "lookup('a')")))),
			compiled: l},
		"lookup": {recipe: &Recipe{Kind: LookupOf, Targets: k}, encoded: "\x02\x00\x01\x01k\x00", compiled: l},
		"lookup of a type": {recipe: &Recipe{Kind: LookupOf, Targets: []Target{{"k", typ(t, "Integer")}}},
			encoded: "\x02\x00\x01\x01k\x07Integer", compiled: l},
		"first found": {recipe: &Recipe{Kind: FirstFound, Targets: []Target{{"a", nil}, {"b", typ(t, "Float")}}},
			encoded: "\x03\x00\x02\x01a\x00\x01b\x05Float", compiled: l},
		"first of none": {recipe: &Recipe{Kind: FirstFound}, encoded: "\x03\x00\x00", compiled: r},
		"hash lookup": {recipe: &Recipe{Kind: HashLookup, Targets: k, Value: value.FromString("e"), Optional: true},
			encoded: "\x04\x08\x01\x01k\x00\x81e", compiled: l, arm8: true, declines: true, opens: true},
		"custom": {recipe: &Recipe{Kind: Custom, Name: "counter", Value: five}, encoded: "\x05\x00\x07counter\x45",
			compiled: r},
		"abstract": {recipe: &Recipe{Kind: Abstract}, encoded: "\x06\x00", compiled: r},
		"secret abstract": {recipe: &Recipe{Kind: Abstract, Sensitive: true},
			encoded: "\x06\x01", compiled: r, secret: true},

		"multibind": {recipe: options(Options{}), encoded: "\x07\x00\x03\x00id\x00\x00\x00", compiled: l},
		"array": {recipe: options(Options{Array: true}),
			encoded: "\x07\x00\x03\x00id\x01\x00\x00", compiled: l},
		"uniq": {recipe: options(Options{Uniq: true}),
			encoded: "\x07\x00\x03\x00id\x02\x00\x00", compiled: l},
		"priority named": {recipe: options(Options{PriorityOnNamed: true}),
			encoded: "\x07\x00\x03\x00id\x04\x00\x00", compiled: l},
		"priority unnamed": {recipe: options(Options{PriorityOnUnnamed: true}),
			encoded: "\x07\x00\x03\x00id\x08\x00\x00", compiled: l},
		"element": {recipe: options(Options{Element: typ(t, "Integer")}),
			encoded: "\x07\x00\x03\x00id\x10\x00\x00\x07Integer", compiled: l},
		"combinator": {recipe: options(Options{Resolution: AppendAll, Combinator: up}),
			encoded: "\x07\x00\x03\x00id\x20\x03\x00" + upText, compiled: l, arm8: true},
		"all options": {recipe: options(Options{Array: true, Uniq: true, PriorityOnNamed: true, PriorityOnUnnamed: true,
			Element: typ(t, "Float"), Combinator: up}),
			encoded: "\x07\x00\x03\x00id\x3f\x00\x00\x05Float" + upText, compiled: l, arm8: true},
		"merge, of all levels": {recipe: options(Options{Resolution: Merge, Flatten: -1}),
			encoded: "\x07\x00\x03\x00id\x00\x04\x01", compiled: l},
		"the deepest flatten": {recipe: options(Options{Flatten: math.MaxInt32}),
			encoded: "\x07\x00\x03\x00id\x00\x00\xfe\xff\xff\xff\x0f", compiled: l},
		"included": {recipe: options(Options{Resolution: Included}), encoded: "\x07\x00\x03\x00id\x00\x05\x00",
			compiled: l, arm8: true},

		"no contributions": {recipe: &Recipe{Kind: Contributions}, encoded: "\x08\x00\x00"},
		"contribution":     {recipe: of(Part{Recipe: plain}), encoded: "\x08\x00\x01\x00\x00\x00\x00\x03\x00\x00\x45"},
		"named contribution": {recipe: of(Part{Name: "n", Named: true, Precedence: 7, Place: 300, Recipe: plain}),
			encoded: "\x08\x00\x01\x01\x01n\x07\xac\x02\x03\x00\x00\x45"},
		"the last contribution": {
			recipe:  of(Part{Precedence: math.MaxUint32, Place: math.MaxUint32, Recipe: plain}),
			encoded: "\x08\x00\x01\x00\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f\x03\x00\x00\x45"},
		"secret contribution": {
			recipe:  &Recipe{Kind: Contributions, Parts: []Part{{Recipe: plain}, {Place: 1, Recipe: secret}}},
			encoded: "\x08\x00\x02\x00\x00\x00\x00\x03\x00\x00\x45\x00\x00\x00\x01\x03\x00\x01\x45", secret: true},
		"secret contributions": {recipe: &Recipe{Kind: Contributions, Sensitive: true}, encoded: "\x08\x01\x00",
			secret: true},
		"optional contribution": {recipe: of(Part{Recipe: &Recipe{Kind: Constant, Optional: true}}),
			encoded: "\x08\x00\x01\x00\x00\x00\x00\x03\x00\x08\x00", arm8: true},
		"renamed part": {recipe: of(Part{Name: "m", Named: true, Recipe: &Recipe{Kind: RenamedPart, Name: "n"}}),
			encoded: "\x08\x00\x01\x01\x01m\x00\x00\x04\x0d\x00\x01n", arm8: true},
		"aliased part": {recipe: of(Part{Name: "m", Named: true, Recipe: &Recipe{Kind: AliasedPart, Name: "n"}}),
			encoded: "\x08\x00\x01\x01\x01m\x00\x00\x04\x0e\x00\x01n", arm8: true},

		"merged": {recipe: &Recipe{Kind: Merged, Name: "mod", Value: five}, encoded: "\x09\x00\x03mod\x45"},
		"alias": {recipe: &Recipe{Kind: AliasOf, Targets: k, Sensitive: true}, encoded: "\x0a\x01\x01\x01k\x00",
			compiled: l, secret: true, arm8: true, declines: true, opens: true},
		"below": {recipe: &Recipe{Kind: Below, Name: "k", Type: typ(t, "Float"), Transformer: up},
			encoded: "\x0b\x06\x05Float" + upText + "\x01k", compiled: l, arm8: true, declines: true, opens: true},
		"erased": {recipe: &Recipe{Kind: Erased}, encoded: "\x0c\x00", compiled: r, arm8: true, opens: true},
	}
}

func TestEncodesAsSpecifiedAndDecodesBack(t *testing.T) {
	for what, e := range examples(t) {
		if got := string(Append(nil, e.recipe)); got != e.encoded {
			t.Errorf("%s: encoded %x, expected %x", what, got, e.encoded)
		}
		r, err := Decode(e.encoded)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := string(Append(nil, r)); got != e.encoded {
			t.Errorf("%s: decoded and encoded again %x, expected %x", what, got, e.encoded)
		}
	}
}

func TestAppendCompiledChoosesForm(t *testing.T) {
	for what, e := range examples(t) {
		if e.compiled == 0 {
			continue
		}
		want := string(e.compiled) + e.encoded
		if e.compiled == CompiledConstant { // a compiled constant keeps only the value
			want = string(e.compiled) + e.encoded[2:]
		}
		if got := string(AppendCompiled(nil, e.recipe)); got != want {
			t.Errorf("%s: %q, expected %q", what, got, want)
		}
	}
}

// Functions that take an encoded recipe report the same properties as the methods of Recipe.
func TestEncodedRecipeHasSamePropertiesAsDecoded(t *testing.T) {
	for what, e := range examples(t) {
		for _, said := range []struct {
			of                  string
			recipe, encoded, is bool
		}{
			{"secret", e.recipe.Secret(), IsSecret(e.encoded), e.secret},
			{"needs ARM-8", e.recipe.IsARM8(), IsARM8(e.encoded), e.arm8},
			{"final", e.recipe.IsFinal(), IsFinal(e.encoded), !e.opens},
			{"declines", e.recipe.Declines(), e.recipe.Declines(), e.declines},
			{"sealed", false, IsSealed(e.encoded), false},
		} {
			if said.recipe != said.is || said.encoded != said.is {
				t.Errorf("%s: %s: of the recipe %t, of its encoding %t, expected %t", what, said.of, said.recipe,
					said.encoded, said.is)
			}
		}
	}
}

// A recipe with an own type, a transformer or another flag is not a plain concatenation.
func TestIsConcatRecognizesPlainConcatenations(t *testing.T) {
	for what, e := range examples(t) {
		r := e.recipe
		want := r.Kind == Expression && r.Expr.Op == expr.Concat && !r.Sensitive && !r.Optional && r.Type == nil &&
			r.Transformer == nil
		if got := IsConcat(e.encoded); got != want {
			t.Errorf("%s: %t, expected %t", what, got, want)
		}
	}
	text := string(Append(nil, &Recipe{Kind: Expression, Expr: &expr.Node{Op: expr.Concat}}))
	if !IsConcat(text) || IsConcat(text[:2]) || IsConcat("") {
		t.Errorf("%q is not recognized, or its beginning is", text)
	}
}

func TestPlacelessRemovesOffsets(t *testing.T) {
	at := func(indent string) *Recipe {
		l := lambda(t, indent+"|$a, $b| { $a }")
		return &Recipe{Kind: Contributions, Parts: []Part{
			{Recipe: &Recipe{Kind: Expression, Expr: expression(t, indent+"$x"), Transformer: l}},
			{Recipe: &Recipe{Kind: Multibind, Options: &Options{Combinator: l}}},
			{Recipe: &Recipe{Kind: Multibind, Options: &Options{Uniq: true}}},
		}}
	}
	here, there := at(""), at("  ")
	before := string(Append(nil, there))
	if before == string(Append(nil, here)) {
		t.Fatal("the offsets do not differ")
	}
	if a, b := string(Append(nil, here.Placeless())), string(Append(nil, there.Placeless())); a != b {
		t.Errorf("without offsets: %x and %x", a, b)
	}
	if got := string(Append(nil, there)); got != before {
		t.Errorf("Placeless changed the recipe from %x to %x", before, got)
	}
}

func TestIsInternalAndIsReservedRecognizeKeys(t *testing.T) {
	for key, is := range map[string]struct{ internal, reserved bool }{
		ContributionKey("users"):    {internal: true},
		MergeKey("ntp::servers"):    {internal: true},
		LookupOptionsKey + "module": {internal: true},
		HierarchiesKey:              {internal: true},
		"ntp::servers":              {},
		"":                          {},
		"/param/Web/port":           {reserved: true},
		"/map/Web/Sql":              {reserved: true},
		"/var/role":                 {reserved: true},
		"/classes":                  {reserved: true},
		"/dependencies":             {reserved: true},
		"/environment":              {reserved: true},
		"/environments":             {},
		"/parameters":               {},
		"role/var/":                 {},
	} {
		if got := IsInternal(key); got != is.internal {
			t.Errorf("%q is internal: %t", key, got)
		}
		if got := IsReserved(key); got != is.reserved {
			t.Errorf("%q is reserved: %t", key, got)
		}
	}
	if got := ContributionKey("users"); got != "\x00users" {
		t.Errorf("ContributionKey(users) is %q", got)
	}
	if got := MergeKey("k"); got != "\x00\x00merge k" {
		t.Errorf("MergeKey(k) is %q", got)
	}
	if got := DefaultsOf("ntp"); !strings.HasPrefix(got, "ntp ") { // names of modules have no spaces
		t.Errorf("the default_hierarchy of ntp is %q", got)
	}
}

// FuzzDecode checks that a decoded recipe survives another round of encoding and decoding.
func FuzzDecode(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.encoded)
	}
	f.Fuzz(func(t *testing.T, b string) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		encoded := string(Append(nil, r))
		again, err := Decode(encoded)
		if err != nil || string(Append(nil, again)) != encoded {
			t.Errorf("%x decodes, but its new encoding %x does not decode to the same recipe: %v", b, encoded, err)
		}
	})
}
