package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// formatTable returns the rows of the table in format.md or docs/recipes.md that follows the comment "table: name", as
// cells without backquotes.
func formatTable(t *testing.T, name string) [][]string {
	t.Helper()
	_, after, ok := strings.Cut(formatText(t), "<!-- table: "+name+" -->\n")
	if !ok {
		t.Fatalf("format.md has no table %q", name)
	}
	var rows [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = unquote(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("table %q of format.md has no rows", name)
	}
	return rows[2:] // skips the heading and the line below it
}

// unquote removes the backquotes from a cell that is entirely code.
func unquote(cell string) string {
	cell = strings.TrimSpace(cell)
	if len(cell) > 1 && strings.Count(cell, "`") == 2 && strings.HasPrefix(cell, "`") && strings.HasSuffix(cell, "`") {
		return cell[1 : len(cell)-1]
	}
	return strings.Trim(cell, "`") // several code spans, or an empty one
}

func formatText(t *testing.T) string {
	t.Helper()
	var all string
	for _, path := range []string{"../format.md", "../docs/recipes.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

func number(t *testing.T, text string, base int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		t.Fatalf("format.md: %q is not a number", text)
	}
	return n
}

// field is a row of a table of offsets.
type field struct {
	offset int
	name   string
}

func TestOffsetsAgreeWithFormat(t *testing.T) {
	for name, want := range map[string][]field{
		"header": {{0, "magic"}, {offVersion, "version"}, {offSections, "sections"}, {offSize, "size"},
			{offSeed, "seed"},
			{offDigest, "digest"}, {offKeys, "keys"}, {offLevels, "levels"}, {offBlockVals, "block values"},
			{offRecipes, "recipes"},
			{offBindings, "bindings"}, {offFeatures, "features"}, {offSectionTab, "section table"},
			{offSectionTab + sectionEntry*int(secSeal), ""}, {offHeaderSum, "header checksum"}},
		"section entry": {{0, "offset"}, {8, "length"}, {16, "checksum"}},
		"key record": {{recMask, "mask"}, {recDefault, "default"}, {recList, "list"}, {recLength, "length"},
			{recText, "text"},
			{recLongLen, "long length"}, {recLongCell, "long cell"}},
		"block entry":  {{0, "offset"}, {8, "packed"}, {12, "length"}},
		"block value":  {{0, "block"}, {4, "offset"}},
		"origin entry": {{0, "offset"}, {8, "packed"}, {12, "length"}, {16, "level"}, {20, "first"}},
	} {
		var got []field
		for _, row := range formatTable(t, name) {
			got = append(got, field{int(number(t, row[0], 10)), row[2]})
		}
		if !slices.Equal(got, want) {
			t.Errorf("table %s: format.md has %v, the code %v", name, got, want)
		}
	}
}

// width returns the size in bytes of a type in the tables of format.md, such as u32.
func width(t *testing.T, typ string) int {
	t.Helper()
	switch typ {
	case "u8":
		return 1
	case "u16":
		return 2
	case "u32":
		return 4
	case "u64":
		return 8
	}
	typ = strings.TrimSuffix(typ, " bytes")
	if count, size, ok := strings.Cut(typ, " x "); ok {
		return int(number(t, count, 10) * number(t, size, 10))
	}
	return int(number(t, typ, 10))
}

// The fields of a record are contiguous, and the last one ends at the size of the record.
func TestSizesAgreeWithFormat(t *testing.T) {
	for name, size := range map[string]int{"header": headerSize, "section entry": sectionEntry, "key record": keyRecord,
		"block entry": blockEntry, "block value": blockValueEntry, "origin entry": coldEntry} {
		end := 0
		for _, row := range formatTable(t, name) {
			at := int(number(t, row[0], 10))
			if strings.HasPrefix(row[2], "long ") {
				continue // the field is an alternative use of the bytes of the text
			}
			if at != end {
				t.Errorf("table %s: field %q begins at %d, the one before ends at %d", name, row[2], at, end)
			}
			end = at + width(t, row[1])
		}
		if end != size {
			t.Errorf("table %s: format.md ends at %d, the record has %d bytes", name, end, size)
		}
	}
}

func TestMagicVersionAndLimitsAgreeWithFormat(t *testing.T) {
	header := formatTable(t, "header")
	if header[0][3] != Magic || header[1][3] != strconv.Itoa(Version) ||
		!strings.HasSuffix(header[2][3], strconv.Itoa(int(sectionCount))) {
		t.Errorf("format.md has magic %q, version %q, sections %q", header[0][3], header[1][3], header[2][3])
	}
	var limits []int
	for _, row := range formatTable(t, "block limits") {
		limits = append(limits, int(number(t, row[1], 10)))
	}
	for _, row := range formatTable(t, "index limits") {
		limits = append(limits, int(number(t, row[1], 10)))
	}
	if want := []int{blockFrom, blockSize, maxExpansion, maxColumns, maxChain, maxShortKeys}; !slices.Equal(limits,
		want) {
		t.Errorf("format.md has the limits %v, the code %v", limits, want)
	}
	text := strings.ReplaceAll(formatText(t), "\n", " ") // sentences may be wrapped
	for _, want := range []string{
		fmt.Sprintf("multiple of %d", sectionAlign),
		fmt.Sprintf("from 1 to %d with which all perfect hashes", seedTries),
		fmt.Sprintf("buckets = n / %d + 1 and slots = n + n / %d + 1", bucketTexts, spareSlots),
		fmt.Sprintf("of the key, 0 to %d; %d: a long key", maxInlineKey, longKey),
		fmt.Sprintf("for a long key, the rest begins at %d", recLongTail),
		fmt.Sprintf("| keys | 2^%d |", bits.Len(maxKeys)-1),
		fmt.Sprintf("| values | 2^%d - 1 |", bits.Len(maxStored)),
		fmt.Sprintf("| an encoded value | %d MiB |", maxValue>>20),
		fmt.Sprintf("| section keys | %d GiB |", maxCells>>30),
		fmt.Sprintf("| section dicts, scopes or tables | %d GiB |", maxSection>>30),
		fmt.Sprintf("A writer ends a block when it holds %d bytes or more, and with", coldBlock),
		fmt.Sprintf("A **cell** is an offset/%d in section keys", cellUnit),
		fmt.Sprintf("at most %d deep", value.MaxDepth),
		fmt.Sprintf("at most %d deep; each node", expr.MaxDepth),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("format.md does not contain %q", want)
		}
	}
}

func TestSectionNumbersAgreeWithFormat(t *testing.T) {
	rows := formatTable(t, "sections")
	if len(rows) != int(sectionCount) {
		t.Fatalf("format.md has %d sections, the code %d", len(rows), sectionCount)
	}
	for i, row := range rows {
		if row[0] != strconv.Itoa(i) || row[1] != section(i).String() {
			t.Errorf("section %d is %s, format.md has %s %s", i, section(i), row[0], row[1])
		}
	}
}

// The flags of levels, dimensions and the meta section have the bits that format.md lists.
func TestFlagsAgreeWithFormatDocument(t *testing.T) {
	numbered(t, "level flags", "narrow", "direct")
	numbered(t, "dimension flags", "guard", "exact")
	numbered(t, "meta flags", "strict")
	if levelNarrow != 1<<0 || levelDirect != 1<<1 || dimensionGuard != 1<<0 || dimensionExact != 1<<1 {
		t.Error("the flags of a level or of a dimension are other bits than in format.md")
	}
}

func TestReferencesAgreeWithFormat(t *testing.T) {
	if cellUnit != value.CellUnit || refInline != value.Inline || inlineInt != value.InlineInt {
		t.Error("references of values are not the numbers of a value.Source")
	}
	kinds := map[string]uint32{"cell": refCell, "inline": refInline, "recipe": refRecipe, "block": refBlock}
	rows := formatTable(t, "reference kinds")
	for _, row := range rows {
		if want, ok := kinds[row[1]]; !ok || uint32(number(t, row[0], 10))<<30 != want {
			t.Errorf("format.md has kind %s for %s", row[0], row[1])
		}
	}
	if len(rows) != len(kinds) {
		t.Errorf("format.md has %d kinds of references, the code %d", len(rows), len(kinds))
	}
	values := map[string]value.Value{"undef": {}, "false": value.FromBool(false), "true": value.FromBool(true),
		"default": value.TheDefault()}
	for _, row := range formatTable(t, "inline values") {
		if v, ok := values[row[2]]; ok {
			want := uint32(refInline | number(t, row[1], 10)<<2 | number(t, row[0], 10))
			if got, ok := inlineRef(string(value.Append(nil, v))); !ok || got != want ||
				!value.Identical(value.FromInline(got), v) {
				t.Errorf("%s inline is %#x, format.md has %#x", row[2], got, want)
			}
			continue
		}
		if want := fmt.Sprintf("an integer from %d to %d", inlineMin, inlineMax); row[2] != want ||
			row[0] != strconv.Itoa(inlineInt) {
			t.Errorf("format.md has %q as %q, the code %q", row[0], row[2], want)
		}
	}
	for _, n := range []int64{inlineMin, -1, 0, 1, inlineMax} {
		ref, ok := inlineRef(string(value.Append(nil, value.FromInt(n))))
		if want := uint32(refInline | uint64(n)&(1<<28-1)<<2 | inlineInt); !ok || ref != want ||
			value.FromInline(ref).Int() != n {
			t.Errorf("%d inline is %#x, want %#x", n, ref, want)
		}
	}
}

// The vectors in format.md were computed by a program that was written from format.md alone.
func TestHashAgreesWithVectorsInFormat(t *testing.T) {
	for _, row := range formatTable(t, "hashText") {
		if got := fmt.Sprintf("%016x", hashText(row[0], number(t, row[1], 10))); got != row[2] {
			t.Errorf("hashText(%q, %s) is %s, format.md has %s", row[0], row[1], got, row[2])
		}
	}
	for _, row := range formatTable(t, "hashNumbers") {
		var ns []uint32
		for _, n := range strings.Fields(row[0]) {
			ns = append(ns, uint32(number(t, n, 10)))
		}
		if got := fmt.Sprintf("%016x", hashNumbers(ns)); got != row[1] {
			t.Errorf("hashNumbers(%v) is %s, format.md has %s", ns, got, row[1])
		}
	}
	for _, row := range formatTable(t, "slotOf") {
		h, pilot, m := hashText(row[0], 1), uint16(number(t, row[1], 10)), uint32(number(t, row[2], 10))
		if got := fmt.Sprint(reduce(h, m), slotOf(h, pilot, m)); got != row[3]+" "+row[4] {
			t.Errorf("reduce and slotOf of %q, pilot %d, m %d are %s, format.md has %s %s", row[0], pilot, m, got,
				row[3], row[4])
		}
	}
}

func TestHashConstantsAgreeWithFormat(t *testing.T) {
	k := map[string]uint64{}
	for _, row := range formatTable(t, "hash constants") {
		k[row[0]] = number(t, row[1], 16)
	}
	if got, want := mix(5^k["k0"], mix(k["k2"], 5)^k["k1"]), hashText("", 5); got != want {
		t.Errorf("k0, k1, k2 of format.md hash the empty text to %x, the code to %x", got, want)
	}
	p, q, r := mix(k["k1"], 5^k["k0"]), mix(k["k2"], 5), mix(k["k3"], 5)
	if got, want := mix(p^q^20, r^k["k1"]), hashText(strings.Repeat("\x00", 20), 5); got != want {
		t.Errorf("k0 to k3 of format.md hash 20 zero bytes to %x, the code to %x", got, want)
	}
	if got, want := hashNumbers([]uint32{9}), mix(1^k["k0"], 9^k["k1"]); got != want {
		t.Errorf("k0, k1 of format.md hash the number 9 to %x, the code to %x", want, got)
	}
	if got, want := slotOf(77, 2, 1<<31), reduce(mix(77, k["kp"]*3), 1<<31); got != want {
		t.Errorf("kp of format.md gives slot %d, the code %d", want, got)
	}
}

func TestPerfectHashAgreesWithFormat(t *testing.T) {
	for _, row := range formatTable(t, "perfect hashes") {
		texts := strings.Fields(row[0])
		w := writer{seed: 1}
		p, encoded, numbers, err := w.perfect(texts)
		if got := fmt.Sprintf("%d %d % x", p.buckets, p.slots, encoded); err != nil ||
			got != row[1]+" "+row[2]+" "+row[3] {
			t.Errorf("the perfect hash of %q is %s, %v; format.md has %q", texts, got, err, row[1:4])
		}
		if got := strings.Trim(fmt.Sprint(numbers), "[]"); got != row[4] {
			t.Errorf("the numbers of %q are %s, format.md has %s", texts, got, row[4])
		}
	}
}

// The decoder accepts exactly the tags in the table of format.md.
func TestValueTagsAgreeWithFormat(t *testing.T) {
	known := map[byte]string{}
	for _, row := range formatTable(t, "value tags") {
		from := byte(number(t, row[0], 16))
		known[from] = row[1]
		if _, last, ok := strings.Cut(row[2], "` to `"); ok || strings.Contains(row[2], " to `") {
			for tag := number(t, last[:2], 16); byte(tag) > from; tag-- {
				known[byte(tag)] = row[1]
			}
		}
	}
	kinds := map[value.Kind][]string{value.Undef: {"undef"}, value.Default: {"default"}, value.Bool: {"false", "true"},
		value.Int: {"integer", "small integer"}, value.Float: {"float"}, value.String: {"string", "small string"},
		value.Regexp: {"regexp"}, value.Type: {"type"}, value.Array: {"array"}, value.Hash: {"hash"}}
	for tag := range 256 {
		v, _, err := value.View(string([]byte{byte(tag), 1, 0}) + strings.Repeat("\x00", 200))
		name := known[byte(tag)]
		if (err == nil) != (name != "") || err == nil && !slices.Contains(kinds[v.Kind()], name) {
			t.Errorf("tag %02x is %q in format.md, the decoder yields %v, %v", tag, name, v.Kind(), err)
		}
	}
}

func TestEncodedValuesAgreeWithExamplesInFormat(t *testing.T) {
	values := map[string]value.Value{"undef": {}, "true": value.FromBool(true), "63": value.FromInt(63),
		"64": value.FromInt(64), "-1": value.FromInt(-1),
		"1.5": value.FromFloat(1.5), `"ntp"`: value.FromString("ntp"),
		`[1,"a"]`: value.FromSlice([]value.Value{value.FromInt(1), value.FromString("a")}),
		`{"port":8080,"on":true}`: value.FromPairs(value.Pair{Key: value.FromString("port"),
			Value: value.FromInt(8080)},
			value.Pair{Key: value.FromString("on"), Value: value.FromBool(true)})}
	for _, row := range formatTable(t, "value examples") {
		v, ok := values[row[0]]
		if got := fmt.Sprintf("% x", value.Append(nil, v)); !ok || got != row[1] {
			t.Errorf("%s is %s, format.md has %s", row[0], got, row[1])
		}
	}
}

// numbered checks a table whose first two columns are ascending numbers from 0 and names.
func numbered(t *testing.T, table string, names ...string) {
	t.Helper()
	var got, want []string
	for _, row := range formatTable(t, table) {
		got = append(got, row[0]+" "+row[1])
	}
	for i, name := range names {
		want = append(want, fmt.Sprint(i, " ", name))
	}
	if !slices.Equal(got, want) {
		t.Errorf("table %s: format.md has %q, the code %q", table, got, want)
	}
}

// ordered checks that constants are 0, 1, 2, ...
func ordered[T ~uint8](t *testing.T, what string, constants ...T) {
	t.Helper()
	for i, c := range constants {
		if int(c) != i {
			t.Errorf("%s %d of format.md is %d in the code", what, i, c)
		}
	}
}

func TestRecipesAgreeWithFormat(t *testing.T) {
	numbered(t, "recipe kinds", "constant", "expression", "lookup", "first found", "hash lookup", "custom",
		"abstract", "multibind", "contributions", "merged", "alias", "below", "erased", "renamed part", "aliased part")
	ordered(t, "recipe kind", recipe.Constant, recipe.Expression, recipe.LookupOf, recipe.FirstFound, recipe.HashLookup,
		recipe.Custom, recipe.Abstract, recipe.Multibind, recipe.Contributions,
		recipe.Merged, recipe.AliasOf, recipe.Below, recipe.Erased, recipe.RenamedPart, recipe.AliasedPart)
	numbered(t, "resolutions", "priority", "ignore", "error", "append", "merge", "included")
	ordered(t, "resolution", recipe.Priority, recipe.Ignore, recipe.ErrorOnConflict, recipe.AppendAll, recipe.Merge,
		recipe.Included)
	numbered(t, "recipe flags", "sensitive", "type", "transformer", "optional", "sealed")
	numbered(t, "features", "sealed", "slice", "hiera", "arm8")
	numbered(t, "option flags", "array", "uniq", "named", "unnamed", "element", "combinator")

	integer, err := types.Parse("Integer")
	if err != nil {
		t.Fatal(err)
	}
	one := &expr.Node{Op: expr.Const, Value: value.FromInt(1)}
	target := []recipe.Target{{Key: "k"}}
	for _, c := range []struct {
		r    recipe.Recipe
		want string
	}{
		{recipe.Recipe{Kind: recipe.Constant, Sensitive: true, Value: value.FromInt(1)}, "00 01 41"},
		{recipe.Recipe{Kind: recipe.Constant, Type: integer, Value: value.FromInt(1)},
			"00 02 07 49 6e 74 65 67 65 72 41"},
		{recipe.Recipe{Kind: recipe.Constant, Transformer: &expr.Lambda{Body: one}, Value: value.FromInt(1)},
			"00 04 04 00 00 00 41 41"},
		{recipe.Recipe{Kind: recipe.Expression, Expr: one}, "01 00 03 00 00 41"},
		{recipe.Recipe{Kind: recipe.LookupOf, Targets: target}, "02 00 01 01 6b 00"},
		{recipe.Recipe{Kind: recipe.FirstFound, Targets: append(target, recipe.Target{Key: "l", Type: integer})},
			"03 00 02 01 6b 00 01 6c 07 49 6e 74 65 67 65 72"},
		{recipe.Recipe{Kind: recipe.HashLookup, Targets: target, Value: value.FromString("e")},
			"04 00 01 01 6b 00 81 65"},
		{recipe.Recipe{Kind: recipe.Custom, Name: "p", Value: value.FromInt(1)}, "05 00 01 70 41"},
		{recipe.Recipe{Kind: recipe.Abstract}, "06 00"},
		{recipe.Recipe{Kind: recipe.Multibind, Name: "\x00", Options: &recipe.Options{Array: true,
			Resolution: recipe.Merge, Flatten: -1}}, "07 00 01 00 01 04 01"},
		{recipe.Recipe{Kind: recipe.Multibind, Name: "\x00", Options: &recipe.Options{Uniq: true}},
			"07 00 01 00 02 00 00"},
		{recipe.Recipe{Kind: recipe.Multibind, Name: "\x00", Options: &recipe.Options{PriorityOnNamed: true}},
			"07 00 01 00 04 00 00"},
		{recipe.Recipe{Kind: recipe.Multibind, Name: "\x00", Options: &recipe.Options{PriorityOnUnnamed: true}},
			"07 00 01 00 08 00 00"},
		{recipe.Recipe{Kind: recipe.Multibind, Name: "\x00", Options: &recipe.Options{Element: integer}},
			"07 00 01 00 10 00 00 07 49 6e 74 65 67 65 72"},
		{recipe.Recipe{Kind: recipe.Multibind, Name: "\x00", Options: &recipe.Options{Resolution: recipe.AppendAll,
			Combinator: &expr.Lambda{Body: one}}}, "07 00 01 00 20 03 00 04 00 00 00 41"},
		{recipe.Recipe{Kind: recipe.Contributions, Parts: []recipe.Part{{Name: "n", Named: true, Precedence: 2,
			Place: 3, Recipe: &recipe.Recipe{Kind: recipe.Abstract}}}}, "08 00 01 01 01 6e 02 03 02 06 00"},
		{recipe.Recipe{Kind: recipe.LookupOf, Optional: true, Targets: target}, "02 08 01 01 6b 00"},
		{recipe.Recipe{Kind: recipe.AliasOf, Targets: target}, "0a 00 01 01 6b 00"},
		{recipe.Recipe{Kind: recipe.Below, Sensitive: true, Name: "k"}, "0b 01 01 6b"},
		{recipe.Recipe{Kind: recipe.Erased}, "0c 00"},
		{recipe.Recipe{Kind: recipe.Contributions, Parts: []recipe.Part{{Name: "n", Named: true,
			Recipe: &recipe.Recipe{Kind: recipe.RenamedPart, Name: "k"}}}}, "08 00 01 01 01 6e 00 00 04 0d 00 01 6b"},
		{recipe.Recipe{Kind: recipe.Contributions, Parts: []recipe.Part{{Name: "n", Named: true,
			Recipe: &recipe.Recipe{Kind: recipe.AliasedPart, Name: "k"}}}}, "08 00 01 01 01 6e 00 00 04 0e 00 01 6b"},
	} {
		b := recipe.Append(nil, &c.r)
		if got := fmt.Sprintf("% x", b); got != c.want {
			t.Errorf("a recipe of kind %d is %s, format.md means %s", c.r.Kind, got, c.want)
		}
		if _, err := recipe.Decode(string(b)); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	// Invalid: an unknown kind, flags that a kind does not have, an extra byte, and kinds outside the place where they
	// are valid.
	none := []string{"\x0f\x00", "\x06\x08", "\x07\x08\x00\x00\x00\x00", "\x0c\x01", "\x0b\x08\x01k", "\x02\x10\x01\x01k\x00",
		"\x06\x00\x00", "\x0d\x00\x01k", "\x0e\x00\x01k"}
	for _, r := range []*recipe.Recipe{{Kind: recipe.Contributions}, {Kind: recipe.Below}, {Kind: recipe.Erased}} {
		none = append(none, string(recipe.Append(nil, &recipe.Recipe{Kind: recipe.Contributions,
			Parts: []recipe.Part{{Recipe: r}}})))
	}
	for _, b := range none {
		if _, err := recipe.Decode(b); err == nil {
			t.Errorf("% x is accepted as a recipe, format.md says it is invalid", b)
		}
	}
}

// Every op accepts a name, if it has one, and exactly the numbers of children in the table of format.md.
func TestExpressionsAgreeWithFormat(t *testing.T) {
	ordered(t, "op", expr.Const, expr.Var, expr.Concat, expr.ArrayLit, expr.HashLit, expr.Splat, expr.Access,
		expr.TypeName, expr.Call,
		expr.Unary, expr.Binary, expr.If, expr.Case, expr.Selector, expr.Option, expr.Assign, expr.Block)
	rows := formatTable(t, "ops")
	names := strings.Fields("Const Var Concat ArrayLit HashLit Splat Access TypeName Call " +
		"Unary Binary If Case Selector Option Assign Block")
	numbered(t, "ops", names...)
	if _, err := expr.Decode(string([]byte{byte(len(rows)), 0, 0})); err == nil {
		t.Errorf("op %d decodes and is not in format.md", len(rows))
	}
	for op, row := range rows[1:] {
		op++
		for kids := range 5 {
			if row[1] == "Option" {
				continue // not valid alone; tested as part of Case below
			}
			want := kidsFit(t, row[3], kids) && (row[1] != "HashLit" || kids%2 == 0)
			if _, err := expr.Decode(encodedNode(byte(op), row, kids)); (err == nil) != want {
				t.Errorf("%s with %d kids: %v, format.md has %q", row[1], kids, err, row[3])
			}
		}
	}
	operators := formatOperators(t)
	for _, name := range append(slices.Clone(operators), "===", "not", "!", "") {
		b := append(appendText([]byte{byte(expr.Binary), 0}, name), 2, 0, 0, 0, 0, 0, 0)
		if _, err := expr.Decode(string(b)); (err == nil) != slices.Contains(operators, name) {
			t.Errorf("the operator %q: %v, format.md has %q", name, err, operators)
		}
	}
	if len(operators) != 18 {
		t.Errorf("format.md has %d operators", len(operators))
	}
	numbered(t, "parameter flags", "type", "default", "rest")
	undef := &expr.Node{Op: expr.Const}
	l := &expr.Lambda{Params: []expr.Param{{Name: "a", Type: undef}, {Name: "b", Default: undef},
		{Name: "c", Rest: true}}, Body: undef}
	want := []byte("\x03\x01a\x01\x00\x00\x00\x01b\x02\x00\x00\x00\x01c\x04\x00\x00\x00")
	if got := expr.AppendLambda(nil, l); !bytes.Equal(got, want) {
		t.Errorf("a lambda is % x, format.md means % x", got, want)
	}
	call := expr.Append(nil, &expr.Node{Op: expr.Call, Name: "f", Lambda: &expr.Lambda{Body: undef}})
	if got := hex.EncodeToString(call); got != "88000166"+"00"+"00"+"000000" {
		t.Errorf("a call with a lambda is %s", got)
	}
}

func kidsFit(t *testing.T, column string, kids int) bool {
	t.Helper()
	column, _, _ = strings.Cut(column, ";")
	words := strings.Fields(column)
	switch {
	case column == "none":
		return kids == 0
	case strings.HasSuffix(column, " or more"):
		return kids >= int(number(t, words[0], 10))
	case len(words) == 3 && words[1] == "to":
		return kids >= int(number(t, words[0], 10)) && kids <= int(number(t, words[2], 10))
	case strings.Contains("key, value", words[0]):
		return true // pairs, which the caller checks
	case strings.Contains(column, "Option"):
		return kids > 0
	}
	return kids == int(number(t, words[0], 10))
}

// encodedNode encodes a node with the given number of children in the way its row in format.md describes.
func encodedNode(op byte, row []string, kids int) string {
	b := []byte{op, 0}
	if row[2] == "yes" {
		name := map[string]string{"Unary": "-", "Binary": "+"}[row[1]]
		b = appendText(b, name)
	}
	if row[3] != "none" || kids > 0 {
		b = binary.AppendUvarint(b, uint64(kids))
	}
	for i := range kids {
		if i > 0 && (row[1] == "Case" || row[1] == "Selector") {
			b = append(b, byte(expr.Option), 0, 1)
		}
		b = append(b, byte(expr.Const), 0, 0)
	}
	return string(b)
}

func formatOperators(t *testing.T) []string {
	t.Helper()
	_, after, _ := strings.Cut(formatText(t), "<!-- list: operators -->\n")
	line, _, ok := strings.Cut(after, ".\n")
	if !ok {
		t.Fatal("format.md has no list of operators")
	}
	var out []string
	for _, name := range strings.Fields(line) {
		out = append(out, strings.Trim(name, "`"))
	}
	return out
}
