package runtime

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Request is one node's place in the categories. It is not changed once made, but by Reset, and may be used by several
// goroutines.
type Request struct {
	file    *snapshot.Snapshot
	snap    *Snapshot
	closed  *atomic.Bool // of the snapshot, or of the Lease
	facts   *Facts
	numbers []uint32 // per dimension, the number of its value
	has     []bool   // per dimension
	scopes  snapshot.Scopes
	merges  merges
	failing map[string]error // by module, of paths that cannot be told: all lookups of its keys fail; of "", of all
	mayFail bool             // an error may fail a lookup whatever it finds
	wary    bool             // mayFail, or a Producer asks: a lookup has to do more than Find
	caller  *caller          // nil: no Producer asks
	misses  *misses          // records the variables that lookups ask for and do not find; nil: not recorded
}

// Request evaluates the categories for facts. An error is an *Error, where there are no facts or a category's
// expression cannot be evaluated, a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Request(facts *Facts) (*Request, error) {
	r := &Request{}
	if err := r.begin(s, &s.closed, facts); err != nil {
		return nil, err
	}
	return r, nil
}

// begin makes r a request of facts, which ends when closed is set.
func (r *Request) begin(s *Snapshot, closed *atomic.Bool, facts *Facts) error {
	n := len(s.dimensions)
	*r = Request{file: s.file, snap: s, closed: closed, numbers: make([]uint32, n), has: make([]bool, n)}
	return r.Reset(facts)
}

// Reset makes r the request of other facts, so that a program that serves many need not allocate. Nobody else may use r
// meanwhile. Values that were looked up stay valid. After an error, those of Request, r must not be used but by Reset.
func (r *Request) Reset(facts *Facts) error {
	if facts == nil {
		return &Error{Code: CodeFacts, Message: "expected the facts of a node, found none (nil)"}
	}
	if r.closed.Load() {
		return fs.ErrClosed
	}
	err := r.snap.file.Guard(func() error { return r.resolve(facts) })
	runtime.KeepAlive(r) // and with it the map
	return err
}

// resolve is Reset while the map is there.
func (r *Request) resolve(facts *Facts) error {
	r.facts = facts
	r.merges.forget()
	var untold map[int]error // paths of Hiera 5
	for i := range r.snap.dimensions {
		d := &r.snap.dimensions[i]
		r.numbers[i], r.has[i] = snapshot.None, false
		if r.isIdle(d) {
			continue
		}
		if number, ok := r.numberOfPath(i, facts); ok {
			r.numbers[i], r.has[i] = number, true
			continue
		}
		text, err := d.text(facts)
		if err != nil && d.exact {
			if untold == nil {
				untold = map[int]error{}
			}
			untold[i] = err
			continue
		}
		if err != nil {
			return err
		}
		r.has[i] = d.guard || text != ""
		if r.has[i] {
			r.numbers[i] = r.number(i, text)
		}
	}
	if err := r.inSlice(facts); err != nil {
		return err
	}
	if err := r.file.Resolve(r.numbers, &r.scopes); err != nil {
		return err
	}
	return r.checkHierarchies(untold)
}

// isIdle tells whether d is a guard of a category that the request has no value of: then nobody asks for its own.
func (r *Request) isIdle(d *dimension) bool { return d.guard && d.category >= 0 && !r.has[d.category] }

// pathInPlace is how long a path is at most that is put together without allocating.
const pathInPlace = 128

// numberOfPath is the number of the value of a dimension that is a path of Hiera 5, if that is quick to tell.
func (r *Request) numberOfPath(dimension int, facts *Facts) (number uint32, ok bool) {
	p := r.snap.dimensions[dimension].path
	if p == nil {
		return 0, false
	}
	var buf [pathInPlace]byte
	text, ok := p.append(buf[:0], facts)
	if !ok {
		return 0, false
	}
	return r.file.ValueNumber(dimension, string(text)), true
}

// Alike returns a number that requests share if the same values of all categories, and the same paths, apply to them.
// Then the same bindings answer them. Different requests may have the same number too, but rarely do.
func (r *Request) Alike() uint64 {
	h := fnv.New64a()
	var buf [4]byte
	for _, number := range r.numbers {
		binary.LittleEndian.PutUint32(buf[:], number)
		h.Write(buf[:])
	}
	return h.Sum64()
}

// inSlice refuses a request that a slice of a site has no answers for: what would answer it is not in the file.
func (r *Request) inSlice(facts *Facts) error {
	for _, t := range r.snap.slice {
		d := &r.snap.dimensions[t.Dimension]
		text, _ := d.text(facts) // resolve comes from it
		if !d.exact {
			text = strings.ToLower(text)
		}
		if text != t.Value {
			return &Error{Code: CodeFacts, Message: fmt.Sprintf(
				"this snapshot is a slice, for requests with %s '%s' only; this one has '%s'", d.name, t.Value, text)}
		}
	}
	return nil
}

// foldedInPlace is how long a value is at most that is folded without allocating: a string of more bytes is not made on
// the stack.
const foldedInPlace = 32

// number is the number of a value of a dimension, whose case matters in an exact one only.
func (r *Request) number(dimension int, text string) uint32 {
	if r.snap.dimensions[dimension].exact || isFolded(text) {
		return r.file.ValueNumber(dimension, text)
	}
	if len(text) > foldedInPlace {
		return r.file.ValueNumber(dimension, strings.ToLower(text))
	}
	var buf [foldedInPlace]byte
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return r.file.ValueNumber(dimension, strings.ToLower(text))
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return r.file.ValueNumber(dimension, string(buf[:len(text)]))
}

// isFolded tells whether text is ASCII without capitals, as most values are: then folding would change nothing.
func isFolded(text string) bool {
	b := []byte(text) // not copied, as nothing writes it
	for ; len(b) >= 8; b = b[8:] {
		if !allFolded(binary.LittleEndian.Uint64(b)) {
			return false
		}
	}
	for _, c := range b {
		if !allFolded(uint64(c)) {
			return false
		}
	}
	return true
}

// allFolded tells whether none of eight bytes is a capital or beyond ASCII. In each byte, the highest bit of the first
// sum says that it is at least 'A', and that of the second that it is more than 'Z'; of ASCII neither carries.
func allFolded(bytes uint64) bool {
	const each = 0x0101010101010101
	capitals := (bytes + (0x80-'A')*each) &^ (bytes + (0x80-'Z'-1)*each)
	return (bytes|capitals)&(0x80*each) == 0
}

// dimension is what a request has one value of: a category or a guard.
type dimension struct {
	name     string
	category int // for a guard, its category; else -1
	guard    bool
	exact    bool // the case of values matters
	program  *expr.Node
	variable string // the program is nothing but this variable; else ""
	path     *hieraPath
}

// text is the value of the dimension for facts. An unknown variable is no error: the request is in no value of it then.
func (d *dimension) text(facts *Facts) (string, error) {
	if d.variable != "" {
		v, _ := facts.top(d.variable)
		if v.Kind() == value.String {
			return v.Text(), nil
		}
		return string(value.AppendText(nil, v)), nil
	}
	if v, _ := d.program.Constant(); v.Kind() == value.String {
		return v.Text(), nil
	}
	v, err := expr.Eval(d.program, categoryEnv{facts}, expr.Options{})
	if err != nil {
		what := "the category '" + d.name + "': "
		if d.exact {
			what = "the path '" + d.name + "' cannot be evaluated, so no lookup can pass it: "
		}
		return "", &Error{Code: CodeEvaluation, Message: what + err.Error(), Err: err}
	}
	return string(value.AppendText(nil, v)), nil
}

// soleVariable is the fact that a program consists of, as '${osfamily}' does; else "".
func soleVariable(n *expr.Node) string {
	if n.Op == expr.Concat && len(n.Kids) == 1 {
		n = n.Kids[0]
	}
	if n.Op == expr.Var && n.Name != "" && n.Name[0] > ':' { // neither a match nor a variable with its scope
		return n.Name
	}
	return ""
}

// Category is the value the request has of a category, folded to lower case unless it is exact; false if it has none,
// or is closed. The text does not refer to the snapshot.
func (r *Request) Category(name string) (string, bool) {
	if r.closed.Load() {
		return "", false
	}
	defer runtime.KeepAlive(r)
	i := slices.IndexFunc(r.snap.dimensions, func(d dimension) bool { return d.name == name && !d.guard })
	if i < 0 || !r.has[i] {
		return "", false
	}
	text, err := r.snap.dimensions[i].text(r.facts)
	if !r.snap.dimensions[i].exact {
		text = strings.ToLower(text)
	}
	return strings.Clone(text), err == nil // of a constant, text is that of the file
}

// categoryEnv is what categories are computed from: facts only. Categories and paths are those of the node, so that
// their variables are those of top scope, whatever scope the caller is in.
type categoryEnv struct{ facts *Facts }

func (e categoryEnv) Variable(name string) (value.Value, bool) { return e.facts.top(name) }

func (e categoryEnv) Lookup(key string, _ *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, failed(key, CodeEvaluation,
		"a category cannot depend on a lookup: categories decide what a lookup finds")
}
