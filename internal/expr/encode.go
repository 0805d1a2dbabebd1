package expr

import (
	"encoding/binary"
	"errors"
	"slices"

	"bindc/internal/types"
	"bindc/internal/value"
)

// A node is encoded as
//
//	op        1 byte; bit 7 is set if a lambda follows the kids
//	offset    uvarint
//	value     Const only: see package value
//	name      Var, TypeName, Call, Unary, Binary, Assign: uvarint length, bytes
//	kids      all except Const, Var and TypeName: uvarint number, the nodes
//	lambda    Call only
//
// A lambda is encoded as a uvarint number of parameters, the parameters and the body. Each
// parameter has a name, a byte of flags (1: type, 2: default, 4: rest) and the nodes of type and
// default. recipes.md, section "Expressions", is normative.

// errMalformed is the error for bytes that are not an encoded expression.
var errMalformed = errors.New("not an encoded expression")

// MaxDepth is the maximum nesting of the nodes of an encoded expression.
const MaxDepth = 4000

const lambdaBit = 0x80

const (
	paramType = 1 << iota
	paramDefault
	paramRest
)

// shape describes the valid nodes of an Op. The evaluator requires valid nodes.
type shape struct {
	name     bool
	min, max int // bounds of the number of kids; a negative max means no limit
}

var shapes = [...]shape{
	Const:    {false, 0, 0},
	Var:      {true, 0, 0},
	Concat:   {false, 0, -1},
	ArrayLit: {false, 0, -1},
	HashLit:  {false, 0, -1}, // must be even
	Splat:    {false, 1, 1},
	Access:   {false, 1, -1},
	TypeName: {true, 0, 0},
	Call:     {true, 0, -1},
	Unary:    {true, 1, 1},
	Binary:   {true, 2, 2},
	If:       {false, 2, 3},
	Case:     {false, 1, -1}, // all Kids but the first must be Options, which occur nowhere else
	Selector: {false, 1, -1},
	Option:   {false, 1, -1},
	Assign:   {true, 1, -1}, // with a name, exactly one child; otherwise a value, then Vars or nested ArrayLits of Vars
	Block:    {false, 0, -1},
}

// Append appends the encoding of n to dst.
func Append(dst []byte, n *Node) []byte {
	op := byte(n.Op)
	if n.Lambda != nil {
		op |= lambdaBit
	}
	dst = binary.AppendUvarint(append(dst, op), uint64(n.Off))
	if n.Op == Const {
		return value.Append(dst, n.Value)
	}
	s := shapes[n.Op]
	if s.name {
		dst = appendName(dst, n.Name)
	}
	if s.max != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(n.Kids)))
	}
	for _, k := range n.Kids {
		dst = Append(dst, k)
	}
	if n.Lambda != nil {
		dst = AppendLambda(dst, n.Lambda)
	}
	return dst
}

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

// AppendLambda appends the encoding of l to dst.
func AppendLambda(dst []byte, l *Lambda) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.Params)))
	for _, p := range l.Params {
		var flags byte
		if p.Type != nil {
			flags |= paramType
		}
		if p.Default != nil {
			flags |= paramDefault
		}
		if p.Rest {
			flags |= paramRest
		}
		dst = append(appendName(dst, p.Name), flags)
		if p.Type != nil {
			dst = Append(dst, p.Type)
		}
		if p.Default != nil {
			dst = Append(dst, p.Default)
		}
	}
	return Append(dst, l.Body)
}

// Decode decodes an expression that takes up all of b. The result refers to b. Decode checks everything that the
// evaluator relies on.
func Decode(b string) (*Node, error) {
	d := decoder{b}
	n, ok := d.node(MaxDepth)
	if !ok || d.rest != "" {
		return nil, errMalformed
	}
	return n, nil
}

// DecodeLambda is like Decode for a lambda.
func DecodeLambda(b string) (*Lambda, error) {
	d := decoder{b}
	l, ok := d.lambda(MaxDepth)
	if !ok || d.rest != "" {
		return nil, errMalformed
	}
	return l, nil
}

type decoder struct{ rest string }

func (d *decoder) byte() (byte, bool) {
	if d.rest == "" {
		return 0, false
	}
	c := d.rest[0]
	d.rest = d.rest[1:]
	return c, true
}

// uvarint reads a number. It rejects numbers above max, and encodings that are longer than necessary.
func (d *decoder) uvarint(max uint64) (int, bool) {
	var n uint64
	for i := 0; i < len(d.rest) && i < 5; i++ {
		c := d.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return int(n), n <= max && (i == 0 || c != 0)
		}
	}
	return 0, false
}

// maxOffset limits offsets so that they fit an int on all platforms.
const maxOffset = 1<<31 - 1

func (d *decoder) name() (string, bool) {
	n, ok := d.uvarint(maxOffset)
	if !ok || n > len(d.rest) {
		return "", false
	}
	name := d.rest[:n]
	d.rest = d.rest[n:]
	return name, true
}

// node reads a node. It rejects an Option, which is only valid in a Case or Selector.
func (d *decoder) node(depth int) (*Node, bool) {
	n, ok := d.anyNode(depth)
	return n, ok && n.Op != Option
}

func (d *decoder) anyNode(depth int) (*Node, bool) {
	op, ok := d.byte()
	if !ok || depth == 0 || int(op&^lambdaBit) >= len(shapes) {
		return nil, false
	}
	n := &Node{Op: Op(op &^ lambdaBit)}
	if n.Off, ok = d.uvarint(maxOffset); !ok {
		return nil, false
	}
	hasLambda := op&lambdaBit != 0
	if hasLambda && n.Op != Call || !d.fill(n, depth) {
		return nil, false
	}
	if hasLambda {
		n.Lambda, ok = d.lambda(depth - 1)
	}
	return n, ok
}

func (d *decoder) fill(n *Node, depth int) bool {
	if n.Op == Const {
		v, rest, err := value.View(d.rest)
		d.rest = rest
		if err == nil {
			n.Value, err = settle(v)
		}
		return err == nil
	}
	s, ok := shapes[n.Op], true
	if s.name {
		if n.Name, ok = d.name(); !ok || !validName(n) {
			return false
		}
	}
	if s.max != 0 && !d.kids(n, s, depth-1) {
		return false
	}
	switch n.Op {
	case Assign:
		return validAssign(n)
	case Call:
		f, isHiera := hieraFunction(n.Name)
		return !isHiera || len(n.Kids) >= f.Min
	}
	return true
}

func validAssign(n *Node) bool {
	if n.Name != "" {
		return len(n.Kids) == 1
	}
	return allTargets(n.Kids[1:])
}

func allTargets(list []*Node) bool {
	return !slices.ContainsFunc(list, func(n *Node) bool {
		return n.Op != Var && (n.Op != ArrayLit || !allTargets(n.Kids))
	})
}

func validName(n *Node) bool {
	switch n.Op {
	case Unary:
		return n.Name == "!" || n.Name == "-"
	case Binary:
		return slices.Contains(operators, n.Name)
	}
	return true
}

// trusted is the maximum number of nodes for which memory is allocated before they are read. Without it, a forged
// tree that claims to have many nodes at every level could exhaust the memory.
const trusted = 16

func (d *decoder) kids(n *Node, s shape, depth int) bool {
	count, ok := d.uvarint(uint64(len(d.rest)) / 2) // a node takes at least two bytes
	if !ok || count < s.min || s.max >= 0 && count > s.max || n.Op == HashLit && count%2 != 0 {
		return false
	}
	n.Kids = make([]*Node, 0, min(count, trusted))
	for i := range count {
		kid, ok := d.anyNode(depth)
		if !ok || (kid.Op == Option) != (i > 0 && (n.Op == Case || n.Op == Selector)) {
			return false
		}
		n.Kids = append(n.Kids, kid)
	}
	return true
}

func (d *decoder) lambda(depth int) (*Lambda, bool) {
	if depth <= 0 {
		return nil, false
	}
	count, ok := d.uvarint(uint64(len(d.rest)) / 2) // a parameter takes at least two bytes
	if !ok {
		return nil, false
	}
	l := &Lambda{Params: make([]Param, 0, min(count, trusted))}
	for i := range count {
		var p Param
		if !d.param(&p, depth-1) || p.Rest && i+1 < count {
			return nil, false
		}
		l.Params = append(l.Params, p)
	}
	l.Body, ok = d.node(depth - 1)
	return l, ok
}

func (d *decoder) param(p *Param, depth int) bool {
	name, ok := d.name()
	if !ok {
		return false
	}
	flags, ok := d.byte()
	if !ok || flags > paramType|paramDefault|paramRest {
		return false
	}
	p.Name, p.Rest = name, flags&paramRest != 0
	if flags&paramType != 0 {
		if p.Type, ok = d.node(depth); !ok {
			return false
		}
	}
	if flags&paramDefault != 0 {
		p.Default, ok = d.node(depth)
	}
	return ok
}

// settle returns v with its types parsed, because encoded values only contain their text.
func settle(v value.Value) (value.Value, error) {
	if !holdsType(v) {
		return v, nil
	}
	switch v.Kind() {
	case value.Type:
		t, err := types.FromValue(v)
		return t.Value(), err
	case value.Array:
		elems := make([]value.Value, 0, v.Len())
		for e := range v.Elems() {
			e, err := settle(e)
			if err != nil {
				return v, err
			}
			elems = append(elems, e)
		}
		return value.FromSlice(elems), nil
	}
	var b value.Builder
	for k, e := range v.Pairs() {
		k, err := settle(k)
		if err != nil {
			return v, err
		}
		if e, err = settle(e); err != nil {
			return v, err
		}
		b.Set(k, e)
	}
	return b.Hash(), nil
}

func holdsType(v value.Value) bool {
	switch v.Kind() {
	case value.Type:
		return true
	case value.Array:
		for e := range v.Elems() {
			if holdsType(e) {
				return true
			}
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			if holdsType(k) || holdsType(e) {
				return true
			}
		}
	}
	return false
}
