package recipe

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// An encoded recipe consists of its kind, a byte of flags, and the fields that the kind and the flags require, in the
// order of the struct. See recipes.md, section "Recipes", for the specification.
const (
	flagSensitive = 1 << iota
	flagType
	flagTransformer
	flagOptional
	flagSealed
)

const (
	flagArray = 1 << iota
	flagUniq
	flagNamed
	flagUnnamed
	flagElement
	flagCombinator
)

// Append appends the encoding of r.
func Append(dst []byte, r *Recipe) []byte {
	flags := bit(r.Sensitive, flagSensitive) | bit(r.Type != nil, flagType) |
		bit(r.Transformer != nil, flagTransformer) | bit(r.Optional, flagOptional)
	dst = append(dst, byte(r.Kind), flags)
	if r.Type != nil {
		dst = appendText(dst, r.Type.String())
	}
	if r.Transformer != nil {
		dst = appendText(dst, string(expr.AppendLambda(nil, r.Transformer)))
	}
	switch r.Kind {
	case Constant:
		dst = value.Append(dst, r.Value)
	case Expression:
		dst = appendText(dst, string(expr.Append(nil, r.Expr)))
	case LookupOf, FirstFound, AliasOf:
		dst = appendTargets(dst, r.Targets)
	case HashLookup:
		dst = value.Append(appendTargets(dst, r.Targets), r.Value)
	case Custom:
		dst = value.Append(appendText(dst, r.Name), r.Value)
	case Multibind:
		dst = appendOptions(appendText(dst, r.Name), r.Options)
	case Contributions:
		dst = appendParts(dst, r.Parts)
	case Merged:
		dst = value.Append(appendText(dst, r.Name), r.Value)
	case Below, RenamedPart, AliasedPart:
		dst = appendText(dst, r.Name)
	}
	return dst
}

func bit(set bool, flag byte) byte {
	if set {
		return flag
	}
	return 0
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendTargets(dst []byte, ts []Target) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ts)))
	for _, t := range ts {
		text := ""
		if t.Type != nil {
			text = t.Type.String()
		}
		dst = appendText(appendText(dst, t.Key), text)
	}
	return dst
}

func appendOptions(dst []byte, o *Options) []byte {
	flags := bit(o.Array, flagArray) | bit(o.Uniq, flagUniq) | bit(o.PriorityOnNamed, flagNamed) |
		bit(o.PriorityOnUnnamed, flagUnnamed) | bit(o.Element != nil, flagElement) |
		bit(o.Combinator != nil, flagCombinator)
	dst = binary.AppendVarint(append(dst, flags, byte(o.Resolution)), int64(o.Flatten))
	if o.Element != nil {
		dst = appendText(dst, o.Element.String())
	}
	if o.Combinator != nil {
		dst = appendText(dst, string(expr.AppendLambda(nil, o.Combinator)))
	}
	return dst
}

func appendParts(dst []byte, parts []Part) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(parts)))
	for _, p := range parts {
		dst = appendText(append(dst, bit(p.Named, 1)), p.Name)
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(p.Precedence)), uint64(p.Place))
		dst = appendText(dst, string(Append(nil, p.Recipe)))
	}
	return dst
}

var errMalformed = errors.New("not an encoded recipe")

// Decode decodes a recipe that takes up all of b. It validates everything, so that evaluation needs no further checks.
func Decode(b string) (*Recipe, error) {
	r, err := decode(b)
	if err == nil && r.Renames() { // renaming parts are only valid inside Contributions
		return nil, errMalformed
	}
	return r, err
}

func decode(b string) (*Recipe, error) {
	d := decoder{b: b}
	r := &Recipe{Kind: Kind(d.byte())}
	flags := d.byte()
	if !r.Kind.has(flags) {
		return nil, errMalformed
	}
	r.Sensitive, r.Optional = flags&flagSensitive != 0, flags&flagOptional != 0
	if flags&flagType != 0 {
		r.Type = d.typ()
	}
	if flags&flagTransformer != 0 {
		r.Transformer = d.lambda()
	}
	d.body(r)
	if d.err != nil {
		return nil, d.err
	}
	if d.b != "" {
		return nil, errMalformed
	}
	return r, nil
}

// IsConcat reports whether b, an encoded recipe, has no flags and an expression that concatenates strings. It reads
// only the beginning of b.
func IsConcat(b string) bool {
	d := decoder{b: b}
	if Kind(d.byte()) != Expression || d.byte() != 0 {
		return false
	}
	text := d.text()
	return d.err == nil && text != "" && expr.Op(text[0]) == expr.Concat
}

// has reports whether k is a known kind whose recipes may have these flags.
func (k Kind) has(flags byte) bool {
	may := byte(flagSensitive | flagType | flagTransformer)
	switch k {
	case Erased, RenamedPart, AliasedPart:
		may = 0
	case Constant, Expression, LookupOf, FirstFound, HashLookup, Custom:
		may |= flagOptional
	}
	return k < kindCount && flags&^may == 0
}

// decoder reads fields. After the first error, its results are meaningless.
type decoder struct {
	b   string
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) body(r *Recipe) {
	switch r.Kind {
	case Constant:
		r.Value = d.value()
	case Expression:
		n, err := expr.Decode(d.text())
		d.fail(err)
		r.Expr = n
	case LookupOf, HashLookup, AliasOf:
		r.Targets = d.targets()
		if len(r.Targets) != 1 {
			d.fail(errMalformed)
		}
		if r.Kind == HashLookup {
			r.Value = d.value()
		}
	case FirstFound:
		r.Targets = d.targets()
	case Custom, Merged:
		r.Name, r.Value = d.text(), d.value()
	case Multibind:
		r.Name, r.Options = d.text(), d.options()
		if !IsContributionKey(r.Name) {
			d.fail(errMalformed)
		}
	case Contributions:
		r.Parts = d.parts()
	case Below:
		r.Name = d.text()
		if IsInternal(r.Name) {
			d.fail(errMalformed)
		}
	case RenamedPart, AliasedPart:
		r.Name = d.text()
	}
}

func (d *decoder) byte() byte {
	if d.b == "" {
		d.fail(errMalformed)
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint([]byte(d.b[:min(len(d.b), binary.MaxVarintLen64)]))
	if size <= 0 {
		d.fail(errMalformed)
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) flags(max byte) byte {
	f := d.byte()
	if f > max {
		d.fail(errMalformed)
	}
	return f
}

func (d *decoder) u32() uint32 {
	n := d.number()
	if n > math.MaxUint32 {
		d.fail(errMalformed)
	}
	return uint32(n)
}

// count reads the length of a list whose items take at least one byte each.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.fail(errMalformed)
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	t := d.b[:n]
	d.b = d.b[n:]
	return t
}

func (d *decoder) value() value.Value {
	v, rest, err := value.View(d.b)
	d.fail(err)
	d.b = rest
	return v
}

func (d *decoder) typ() *types.Type {
	t, err := types.Parse(d.text())
	d.fail(err)
	return t
}

func (d *decoder) lambda() *expr.Lambda {
	l, err := expr.DecodeLambda(d.text())
	d.fail(err)
	return l
}

func (d *decoder) targets() []Target {
	out := []Target{}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		t := Target{Key: d.text()}
		if text := d.text(); text != "" {
			var err error
			t.Type, err = types.Parse(text)
			d.fail(err)
		}
		out = append(out, t)
	}
	return out
}

func (d *decoder) options() *Options {
	flags, resolution := d.flags(flagCombinator<<1-1), Resolution(d.byte())
	n := d.number()
	flatten := int64(n>>1) ^ -int64(n&1)
	if resolution >= resolutionCount || flatten != int64(int32(flatten)) {
		d.fail(errMalformed)
	}
	o := &Options{Array: flags&flagArray != 0, Resolution: resolution, Flatten: int(flatten),
		Uniq: flags&flagUniq != 0, PriorityOnNamed: flags&flagNamed != 0, PriorityOnUnnamed: flags&flagUnnamed != 0}
	if flags&flagElement != 0 {
		o.Element = d.typ()
	}
	if flags&flagCombinator != 0 {
		o.Combinator = d.lambda()
	}
	return o
}

func (d *decoder) parts() []Part {
	out := []Part{}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		p := Part{Named: d.flags(1) == 1, Name: d.text(), Precedence: d.u32(), Place: d.u32()}
		r, err := decodePart(d.text())
		d.fail(err)
		p.Recipe = r
		out = append(out, p)
	}
	return out
}

// decodePart decodes one contribution, which is a value or an operation on names.
func decodePart(b string) (*Recipe, error) {
	if b != "" && slices.Contains([]Kind{Contributions, Merged, Below, Erased}, Kind(b[0])) {
		return nil, errMalformed
	}
	return decode(b)
}
