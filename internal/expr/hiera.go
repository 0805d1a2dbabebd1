package expr

import (
	"errors"
	"slices"
	"strings"

	"bindc/internal/expr/ruby"
	"bindc/internal/lookupkey"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

// The interpolations of Hiera 5, %{...}, are calls of functions whose names no source text can have.
const (
	HieraScope  = "%scope"   // args: a variable and keys into it; yields the text found there
	HieraLookup = "%lookup"  // args: a key; yields the text of its value
	HieraAlias  = "%alias"   // args: a key; yields its value
	hieraFail   = "%fail"    // args: a message; fails only when looked up
	hieraSecret = "%eyaml"   // args: an encrypted text; yields the plaintext
	decrypted   = "%decrypt" // same for data that is not of Hiera 5: does not interpolate the plaintext
	hieraPath   = "%path"    // args: a directory and a path below it; yields the cleaned path
	hieraMapped = "%mapped"  // args: an index, a variable, keys into it, a lambda; yields the path of one element
)

// hieraFunction returns the function that evaluates an interpolation. It is not a table, which would refer to itself:
// some of these functions evaluate texts with interpolations of their own.
func hieraFunction(name string) (Function, bool) {
	f := Function{Name: name, Min: 1, Max: 1, Varies: true}
	switch name {
	case HieraScope:
		f.Max, f.Run = Unbounded, runHieraScope
	case HieraLookup:
		f.Run = runHieraLookup
	case HieraAlias:
		f.Run = runHieraAlias
	case hieraFail:
		f.Run = runHieraFail
	case hieraSecret:
		f.Run = runHieraSecret
	case decrypted:
		f.Run = runDecrypted
	case hieraPath:
		f.Min, f.Max, f.Run = 2, 2, runHieraPath
	case hieraMapped:
		f.Min, f.Max, f.Lambda, f.Run = 2, Unbounded, RequiredLambda, runHieraMapped
	default:
		return f, false
	}
	return f, true
}

// Problem is what is wrong in an interpolation of Hiera 5, at a byte offset of its text.
type Problem struct {
	Off     int
	Message string
}

// hieraExpression is one interpolation; it has no closing brace inside of it.
var hieraExpression = pattern.Lazy(`%\{([^}]*)\}`)

// hieraMethod is a method with its argument.
var hieraMethod = pattern.Lazy(`^(\w+)\((?:"([^"]+)"|'([^']+)')\)$`)

// emptyHiera are the expressions that stand for nothing.
var emptyHiera = []string{"", "::", `""`, `''`, `"::"`, `'::'`}

// ParseHiera reads a text of Hiera 5 data. Where something in it fails every lookup the node fails in the same way, and
// the problem is told: whoever compiles the text decides what to do about it.
func ParseHiera(text string) (*Node, []Problem) {
	found := hieraExpression().FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return &Node{Op: Const, Value: value.FromString(text)}, nil
	}
	out := &Node{Op: Concat}
	var problems []Problem
	last := 0
	for _, m := range found {
		if m[0] > last {
			out.Kids = append(out.Kids, constText(last, text[last:m[0]]))
		}
		n, problem := parseHieraExpression(strings.Trim(text[m[2]:m[3]], " \t\n\v\f\r\x00"), m[1]-m[0] == len(text))
		last = m[1]
		if problem != "" {
			problems = append(problems, Problem{m[0], problem})
			n = HieraFailure(problem)
		}
		if n == nil {
			continue
		}
		n.Off = m[0]
		if n.Name == HieraAlias {
			return n, nil
		}
		out.Kids = append(out.Kids, n)
	}
	if last < len(text) {
		out.Kids = append(out.Kids, constText(last, text[last:]))
	}
	return out, problems
}

// HieraFailure returns a node that fails with a message when it is looked up.
func HieraFailure(message string) *Node {
	return &Node{Op: Call, Name: hieraFail, Kids: []*Node{constText(0, message)}}
}

func constText(off int, text string) *Node {
	return &Node{Op: Const, Off: off, Value: value.FromString(text)}
}

// parseHieraExpression reads what stands in the braces; whole tells that nothing is around them. nil is nothing.
func parseHieraExpression(source string, whole bool) (n *Node, problem string) {
	if slices.Contains(emptyHiera, source) {
		return nil, ""
	}
	m := hieraMethod().FindStringSubmatch(source)
	if m == nil {
		return parseHieraVariable(source)
	}
	arg := m[2] + m[3]
	switch m[1] {
	case "literal":
		return constText(0, arg), ""
	case "scope":
		return parseHieraVariable(arg)
	case "lookup", "hiera":
		return &Node{Op: Call, Name: HieraLookup, Kids: []*Node{constText(0, arg)}}, ""
	case "alias":
		if !whole {
			return nil, "alias() stands for a value as it is: expected it to be all of the text"
		}
		return &Node{Op: Call, Name: HieraAlias, Kids: []*Node{constText(0, arg)}}, ""
	}
	return nil, "unknown method '" + m[1] + "': expected lookup, hiera, alias, literal or scope"
}

// parseHieraVariable reads a variable with keys behind it.
func parseHieraVariable(source string) (*Node, string) {
	segments, err := lookupkey.Split(source)
	switch {
	case err != nil && strings.Contains(source, "["):
		return nil, err.Error() + "; what is inside of a hash stands behind a dot, as in %{facts.os.family}"
	case err != nil:
		return nil, err.Error()
	}
	n := &Node{Op: Call, Name: HieraScope}
	for _, s := range segments {
		n.Kids = append(n.Kids, &Node{Op: Const, Value: s})
	}
	return n, ""
}

// HieraSecret is the node that decrypts text, in which eyaml has encrypted something, and reads the result as a text of
// Hiera 5.
func HieraSecret(text string) *Node {
	return &Node{Op: Call, Name: hieraSecret, Kids: []*Node{constText(0, text)}}
}

// aroundSecret is a text in which something is encrypted, read as if nothing were: what stands around that interpolates
// too. nil of other nodes. What was encrypted may interpolate as well, which nobody knows who has no key.
func (n *Node) aroundSecret() *Node {
	if n.Op != Call || n.Name != hieraSecret {
		return nil
	}
	around, _ := ParseHiera(n.Kids[0].Value.Text())
	return around
}

// HasHieraSecret tells whether something in n is encrypted by eyaml.
func (n *Node) HasHieraSecret() bool {
	return n.any(true, func(n *Node) bool { return n.Op == Call && (n.Name == hieraSecret || n.Name == decrypted) })
}

// Encrypted returns the text that n decrypts, if Decrypting made n.
func (n *Node) Encrypted() (*Node, bool) {
	if n.Op != Call || n.Name != decrypted || len(n.Kids) != 1 {
		return nil, false
	}
	return n.Kids[0], true
}

// seemsEncrypted matches a text that eyaml encrypted, wholly or in part.
var seemsEncrypted = pattern.Lazy(`^\s*ENC\[(?:[\w+/ ]|$)|ENC\[\w+,`)

// SeemsEncrypted reports whether a text of data other than Hiera 5 contains something that eyaml encrypted by PKCS7.
func SeemsEncrypted(text string) bool {
	return strings.Contains(text, "ENC[") && seemsEncrypted().MatchString(text) && OtherMethod(text) == ""
}

// encryptedBy finds the encryption methods named in a text.
var encryptedBy = pattern.Lazy(`ENC\[(\w+),`)

// OtherMethod returns the encryption method of text if none of its parts uses PKCS7; no lookup can decrypt it.
func OtherMethod(text string) string {
	methods := encryptedBy().FindAllStringSubmatch(text, -1)
	if len(methods) == 0 || len(methods) != strings.Count(text, "ENC[") {
		return ""
	}
	for _, m := range methods {
		if strings.EqualFold(m[1], "PKCS7") {
			return ""
		}
	}
	return methods[0][1]
}

// Decrypting returns n with calls that decrypt texts encrypted by eyaml when they are looked up. The plaintext is not
// interpolated. Keys of hashes are not decrypted.
func (n *Node) Decrypting() *Node {
	if v, ok := n.Constant(); ok && v.Kind() == value.String && SeemsEncrypted(v.Text()) {
		return &Node{Op: Call, Name: decrypted, Off: n.Off, Kids: []*Node{n}}
	}
	if len(n.Kids) == 0 {
		return n
	}
	out := *n
	out.Kids = slices.Clone(n.Kids)
	for i, kid := range n.Kids {
		if n.Op != HashLit || i%2 == 1 {
			out.Kids[i] = kid.Decrypting()
		}
	}
	return &out
}

// HieraPath returns a node that joins dir and path and cleans the result; dir is empty or ends with a slash.
func HieraPath(dir, path *Node) *Node {
	return &Node{Op: Call, Name: hieraPath, Kids: []*Node{dir, path}}
}

// AsHieraPath returns the arguments of HieraPath if it made n.
func (n *Node) AsHieraPath() (dir, path *Node, ok bool) {
	if n.Op != Call || n.Name != hieraPath || len(n.Kids) != 2 {
		return nil, nil, false
	}
	return n.Kids[0], n.Kids[1], true
}

// HieraEnv is an Env of data of Hiera 5.
type HieraEnv interface {
	// Hiera answers a lookup in a text. The value may be sensitive.
	Hiera(key string) (v value.Value, found bool, err error)
	// Decrypt returns the plaintext of a text encrypted by eyaml.
	Decrypt(text string) (string, error)
}

func runHieraScope(c *Invocation) (value.Value, error) {
	v, err := c.hieraValue(c.Args)
	if err != nil {
		return v, err
	}
	return c.hieraText(v)
}

// plainText evaluates n, a call of HieraScope, if its variable has a text without interpolations. Nearly all calls are
// like that, and this takes a quarter of the time.
func plainText(n *Node, variable func(name string) (value.Value, error)) (value.Value, bool) {
	name, ok := n.Kids[0].Constant()
	if !ok || name.Kind() != value.String {
		return value.Value{}, false
	}
	v, _ := variable(name.Text()) // with an error it is undef
	for _, k := range n.Kids[1:] {
		key, ok := k.Constant()
		if !ok || v.Kind() != value.Hash || v.IsSensitive() {
			return value.Value{}, false
		}
		v, _ = v.Get(key)
	}
	return v, v.Kind() == value.String && !v.IsSensitive() && strings.IndexByte(v.Text(), '%') < 0
}

// variable is what stands in the variable path[0] at the keys behind it, undef where nothing does.
func (c *Invocation) hieraValue(path []value.Value) (value.Value, error) {
	v, err := c.given(ruby.ToS(path[0]))
	if err != nil || v.IsUndef() || len(path) == 1 {
		return v, hieraError(c, err)
	}
	name := string(value.AppendText(nil, path[0]))
	v, found, err := lookupkey.Dig(lookupkey.Dotted(name, path[1:]), path[1:], v)
	if err == nil && !found {
		missed(c.env, ruby.ToS(path[0]), path[1:]...)
	}
	if err != nil || !found {
		return value.Value{}, hieraError(c, err)
	}
	return v, nil
}

// GivenEnv is an Env that tells variables which were given from those that are made of others. A name with a leading ::
// is that of a variable of top scope.
type GivenEnv interface {
	// Given returns a variable, undef if it was not given. The error is for an Env that does not allow that.
	Given(name string) (value.Value, error)
}

// given is the variable of that name, if it was given: that of a mapped path, or of the top scope.
func (ev *Evaluator) given(name string) (value.Value, error) {
	ev.varies()
	if v, ok := ev.scope.find(name); ok {
		return v, nil
	}
	return givenBy(ev.env, name)
}

// givenBy is the variable of that name, if it was given.
func givenBy(env Env, name string) (value.Value, error) {
	if env, ok := env.(GivenEnv); ok {
		return env.Given(name)
	}
	v, _ := env.Variable(strings.TrimPrefix(name, "::"))
	return v, nil
}

// MaxMapped is how many paths mapped_paths yields at most in a request.
const MaxMapped = 16

// HieraMapped is the node of one path of mapped_paths: that of element i of the array at source, a variable with keys,
// which template calls by name. Where the array has but one element its path is that of -1.
func HieraMapped(i int, source, name string, template *Node) (*Node, string) {
	at, problem := parseHieraVariable(source)
	if problem != "" {
		return nil, problem
	}
	kids := append([]*Node{{Op: Const, Value: value.FromInt(int64(i))}}, at.Kids...)
	return &Node{Op: Call, Name: hieraMapped, Kids: kids,
		Lambda: &Lambda{Params: []Param{{Name: name}}, Body: template}}, ""
}

func runHieraMapped(c *Invocation) (value.Value, error) {
	v, err := c.hieraValue(c.Args[1:])
	if err != nil {
		return v, err
	}
	i := int(c.Args[0].Int())
	elems, ok := mappedElements(v)
	switch {
	case !ok:
		return v, c.Failf("expected an array, a hash or a string for mapped_paths, found the kind %s", v.Kind())
	case len(elems) > MaxMapped:
		return v, c.Failf("expected at most %d elements, found %d", MaxMapped, len(elems))
	case len(elems) == 1 && i < 0:
		return c.Yield(elems[0])
	case len(elems) > 1 && 0 <= i && i < len(elems):
		return c.Yield(elems[i])
	}
	return value.FromString(""), nil
}

// mappedElements are what mapped_paths goes through: of a hash, pairs. There is no going through anything else.
func mappedElements(v value.Value) (out []value.Value, ok bool) {
	switch v.Kind() {
	case value.Undef:
	case value.String:
		if v.Text() != "" {
			out = []value.Value{v}
		}
	case value.Array:
		out = v.Slice()
	case value.Hash:
		for key, e := range v.Pairs() {
			out = append(out, value.FromSlice([]value.Value{key, e}))
		}
	default:
		return nil, false
	}
	return out, true
}

func runHieraLookup(c *Invocation) (value.Value, error) {
	v, found, err := c.asked()
	if err != nil || !found {
		return value.FromString(""), hieraError(c, err)
	}
	return c.hieraText(v)
}

// asked looks the first argument up.
func (c *Invocation) asked() (value.Value, bool, error) {
	env, ok := c.env.(HieraEnv)
	if !ok {
		return value.Value{}, false, errNoHiera
	}
	defer c.nest()()
	return env.Hiera(c.Args[0].Text())
}

func runHieraAlias(c *Invocation) (value.Value, error) {
	v, found, err := c.asked()
	if err != nil || !found {
		return value.FromString(""), hieraError(c, err)
	}
	return v, nil
}

// hieraError is err with its cause.
func hieraError(c *Invocation, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Off: c.node.Off, Message: err.Error(), Err: err}
}

func runHieraFail(c *Invocation) (value.Value, error) {
	return value.Value{}, failf(c.node, "%s", c.Args[0].Text())
}

var errNoHiera = errors.New("this can be asked for in data of Hiera 5 only")

func runHieraSecret(c *Invocation) (value.Value, error) {
	v, err := runDecrypted(c)
	if err != nil {
		return v, err
	}
	return c.interpolated(v)
}

func runDecrypted(c *Invocation) (value.Value, error) {
	d, ok := c.env.(HieraEnv)
	if !ok {
		return value.Value{}, hieraError(c, errNoHiera)
	}
	text, err := d.Decrypt(c.Args[0].Text())
	if err != nil {
		return value.Value{}, hieraError(c, err)
	}
	return value.FromString(text), nil
}

// hieraText is the text of v, whose own texts interpolate once more.
func (c *Invocation) hieraText(v value.Value) (value.Value, error) {
	if v.IsSensitive() {
		return value.FromString(ruby.ToS(v)), nil
	}
	v, err := c.interpolated(v)
	if err != nil || v.Kind() == value.String {
		return v, err
	}
	if err := c.Produce(Weight(v)); err != nil {
		return v, err
	}
	return value.FromString(ruby.ToS(v)), nil
}

// interpolated is v with all its texts interpolated. Most have nothing to be.
func (c *Invocation) interpolated(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.String:
		if !strings.Contains(v.Text(), "%{") {
			return v, nil
		}
		n, _ := ParseHiera(v.Text())
		return c.eval(n)
	case value.Array:
		out := make([]value.Value, 0, v.Len())
		for e := range v.Elems() {
			e, err := c.interpolated(e)
			if err != nil {
				return v, err
			}
			out = append(out, e)
		}
		return value.FromSlice(out), nil
	case value.Hash:
		var b value.Builder
		for k, e := range v.Pairs() {
			k, err := c.interpolated(k)
			if err != nil {
				return v, err
			}
			if e, err = c.interpolated(e); err != nil {
				return v, err
			}
			b.Set(k, e)
		}
		return b.Hash(), nil
	}
	return v, nil
}

// runHieraPath is the path below a directory that the file system takes a text for; empty if it leads out of there.
func runHieraPath(c *Invocation) (value.Value, error) {
	dir, path := c.Args[0].Text(), c.Args[1].Text()
	if strings.HasPrefix(path, "/") || path == "" {
		return value.FromString(""), nil
	}
	if dir == "/" { // nothing, and the slash behind it
		dir = ""
	}
	return value.FromString(CleanPath(dir + path)), nil
}

// CleanPath removes what has no meaning to a file system from a relative path. It returns "" if the path is absolute or
// leaves the directory, and therefore names no file here.
func CleanPath(path string) string {
	if strings.HasPrefix(path, "/") {
		return ""
	}
	if !strings.Contains(path, "//") && !strings.Contains(path, "/.") && !strings.HasPrefix(path, ".") {
		return path
	}
	var out []string
	for _, part := range strings.Split(path, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(out) == 0:
			return ""
		case part == "..":
			out = out[:len(out)-1]
		default:
			out = append(out, part)
		}
	}
	return strings.Join(out, "/")
}

// HieraVariables ranges over the variables that texts of Hiera 5 in n interpolate: where, and the name with the keys
// behind it as they are written, without a leading ::.
func HieraVariables(n *Node, yield func(off int, path []string)) {
	if n.Op == Call && n.Name == HieraScope {
		path := make([]string, len(n.Kids))
		for i, k := range n.Kids {
			path[i] = ruby.ToS(k.Value)
		}
		path[0] = strings.TrimPrefix(path[0], "::")
		yield(n.Off, path)
	}
	for _, k := range n.Kids {
		HieraVariables(k, yield)
	}
	if around := n.aroundSecret(); around != nil {
		HieraVariables(around, yield)
	}
	if n.Lambda != nil {
		HieraVariables(n.Lambda.Body, yield)
	}
}

// HieraKeys ranges over the keys that texts of Hiera 5 in n look up, each by the name it is bound to.
func HieraKeys(n *Node, yield func(key string)) {
	if n.Op == Call && (n.Name == HieraLookup || n.Name == HieraAlias) {
		if k, err := lookupkey.Parse(n.Kids[0].Value.Text()); err == nil { // as it is written, and so a text
			if key, ok := lookupkey.Quoted(k.Root); ok {
				yield(key)
			}
		}
	}
	for _, k := range n.Kids {
		HieraKeys(k, yield)
	}
	if around := n.aroundSecret(); around != nil {
		HieraKeys(around, yield)
	}
	if n.Lambda != nil {
		HieraKeys(n.Lambda.Body, yield)
	}
}
