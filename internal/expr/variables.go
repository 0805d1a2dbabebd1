package expr

import (
	"strings"

	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

// Variables calls yield with the name of each top-scope variable that n may use. $facts['os'] counts as os.
// Any other use of $facts, and a variable whose name is computed, counts as facts.
func (n *Node) Variables(yield func(name string)) {
	n.Reads(func(name string, _ []value.Value) { yield(name) })
}

// Reads calls yield with each variable that n may use, named as by Variables, and with the constant keys that n reads
// from it. For $facts['os']['family'], these are os and ['family'].
func (n *Node) Reads(yield func(name string, path []value.Value)) {
	if name, path, ok := n.chain(); ok {
		yield(name, path)
		return
	}
	kids := n.Kids
	switch n.Op {
	case Assign:
		kids = kids[:1] // the other kids are targets
	case Call:
		kids = n.callReads(yield)
	}
	for _, k := range kids {
		k.Reads(yield)
	}
	if around := n.aroundSecret(); around != nil {
		around.Reads(yield)
	}
	if n.Lambda != nil {
		n.Lambda.Reads(yield)
	}
}

// callReads calls yield with each variable that the function called by n reads. It returns the arguments that may
// read others.
func (n *Node) callReads(yield func(name string, path []value.Value)) []*Node {
	name, args := n.Callee()
	switch name {
	case "call": // may call any function
		yield("facts", nil)
	case "get", "dig":
		if fact, ok := factOf(name, args); ok {
			yield(fact, nil)
			return args[1:]
		}
	case "getvar":
		if len(args) > 0 {
			yield(variableAt(args[0]), nil)
		}
	case hieraMapped:
		if len(args) > 1 {
			variable, _ := hieraVariable(args[1:])
			yield(variable, nil)
		}
	case "fqdn_rand":
		yield("fqdn", nil)
		yield("networking", nil)
	}
	return n.Kids
}

// AnyVariable is the name that Scoped yields for a variable whose name it cannot determine.
const AnyVariable = "*"

// Scoped calls yield with each variable that n reads, exactly as written: role for %{role}, ::role for %{::role}. It
// does not look into derived variables. For $facts['os'] it yields facts.
func (n *Node) Scoped(yield func(name string)) {
	switch n.Op {
	case Var:
		if !IsNumber(n.Name) {
			yield(n.Name)
		}
	case Call:
		n.callScoped(yield)
	}
	for k := range n.Below {
		k.Scoped(yield)
	}
	if around := n.aroundSecret(); around != nil {
		around.Scoped(yield)
	}
}

// callScoped is Scoped for the function that n, a Call, calls. It does not look into the arguments.
func (n *Node) callScoped(yield func(name string)) {
	switch name, args := n.Callee(); {
	case name == "call": // may call any function
		yield(AnyVariable)
	case name == HieraScope && len(args) > 0:
		yield(ruby.ToS(args[0].Value))
	case name == hieraMapped && len(args) > 1:
		yield(ruby.ToS(args[1].Value))
	case name == "fqdn_rand":
		yield("fqdn")
		yield("networking")
	case name == "getvar" && len(args) > 0:
		yield(scopedAt(args[0]))
	}
}

// scopedAt returns the name of the variable that getvar reads for path, as written.
func scopedAt(path *Node) string {
	v, ok := path.Constant()
	if !ok || v.Kind() != value.String {
		return AnyVariable
	}
	name, _, _ := strings.Cut(v.Text(), ".")
	return name
}

// Interpolates calls yield with the name and the keys of each variable that n converts to text.
func (n *Node) Interpolates(yield func(name string, path []value.Value)) {
	if name, path, ok := n.chain(); ok {
		yield(name, path)
	}
	if n.Op == Concat || n.Op == Call && n.Name == hieraPath {
		for _, k := range n.Kids {
			k.Interpolates(yield)
		}
	}
}

// chain returns the variable and the constant keys of n. ok is false unless n has the form $a, $a['b']['c'] or
// %{a.b.c}. For $facts['os']['family'] it returns os and ['family'].
func (n *Node) chain() (name string, path []value.Value, ok bool) {
	if n.Op == Call && n.Name == HieraScope && len(n.Kids) > 0 {
		name, path = hieraVariable(n.Kids)
		return name, path, true
	}
	if name, path, ok = n.constantAccess(); ok && name == "facts" && len(path) > 0 && path[0].Kind() == value.String {
		return path[0].Text(), path[1:], true
	}
	return name, path, ok
}

// constantAccess returns the variable and the keys of n. ok is false unless n has the form $name['a'][1].
func (n *Node) constantAccess() (name string, path []value.Value, ok bool) {
	switch {
	case n.Op == Var && !IsNumber(n.Name):
		return strings.TrimPrefix(n.Name, "::"), nil, true
	case n.Op == Access && len(n.Kids) == 2:
		key, constant := n.Kids[1].Constant()
		name, path, ok = n.Kids[0].constantAccess()
		return name, append(path, key), ok && constant
	}
	return "", nil, false
}

// Variables is like Node.Variables.
func (l *Lambda) Variables(yield func(name string)) {
	l.Reads(func(name string, _ []value.Value) { yield(name) })
}

// Reads is like Node.Reads.
func (l *Lambda) Reads(yield func(name string, path []value.Value)) {
	for n := range l.below {
		n.Reads(yield)
	}
}

// factOf returns the fact that a call of get or dig reads from $facts. It returns false for other calls.
func factOf(function string, args []*Node) (string, bool) {
	if len(args) < 2 || args[0].Op != Var || strings.TrimPrefix(args[0].Name, "::") != "facts" {
		return "", false
	}
	key, ok := args[1].Constant()
	if !ok || key.Kind() != value.String {
		return "", false
	}
	if function == "get" {
		return firstStep(key.Text())
	}
	return key.Text(), true
}

// variableAt returns the variable that getvar reads for path, named as by Node.Variables.
func variableAt(path *Node) string {
	v, ok := path.Constant()
	if !ok || v.Kind() != value.String {
		return "facts"
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(v.Text(), "::"), ".")
	if fact, ok := firstStep(rest); ok && name == "facts" {
		return fact
	}
	return name
}

// firstStep returns the first key of a dotted path. It returns false if a key is quoted.
func firstStep(path string) (string, bool) {
	name, _, _ := strings.Cut(path, ".")
	return name, name != "" && !strings.ContainsAny(path, `'"`)
}

// hieraVariable returns the variable and the keys in an interpolation of Hiera 5. path must be constant.
func hieraVariable(path []*Node) (string, []value.Value) {
	var keys []value.Value
	for _, k := range path[1:] {
		keys = append(keys, k.Value)
	}
	name := strings.TrimPrefix(ruby.ToS(path[0].Value), "::")
	if name == "facts" && len(keys) > 0 {
		return ruby.ToS(keys[0]), keys[1:]
	}
	return name, keys
}

// Own calls yield with the name of each variable that n assigns, and of each lambda parameter in n.
func (n *Node) Own(yield func(name string)) {
	if n.Op == Assign {
		for _, name := range n.Targets() {
			yield(name)
		}
	}
	if n.Lambda != nil {
		for _, p := range n.Lambda.Params {
			yield(p.Name)
		}
	}
	for k := range n.Below {
		k.Own(yield)
	}
}
