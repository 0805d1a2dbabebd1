package policy

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Read reads the policies of the site in dir and those in the files extra. It adds errors to diags and leaves out
// invalid policies.
func Read(dir string, extra []string, disk fsx.Disk, diags *diag.List) []*Policy {
	r := &reader{disk: disk, diags: diags, names: map[string]diag.Pos{}}
	for _, path := range Policies.Files(dir, disk, diags) {
		r.file(path, false)
	}
	for _, path := range extra {
		r.file(path, true)
	}
	return r.out
}

type reader struct {
	disk  fsx.Disk
	diags *diag.List
	names map[string]diag.Pos
	out   []*Policy

	doc    *yaml.Document
	digest string
}

// file reads the policy file at path. named says that the user named the file with --policy, so that it must have a
// version.
func (r *reader) file(path string, named bool) {
	src, doc, entries := Policies.Parse(path, named, r.disk, r.diags)
	r.doc, r.digest = doc, fmt.Sprintf("%x", sha256.Sum256(src))
	for i := range entries {
		if p, ok := r.policy(&entries[i]); ok {
			r.out = append(r.out, p)
		}
	}
}

func (r *reader) errorf(n *yaml.Node, format string, args ...any) {
	r.diags.Errorf(r.doc.Pos(n), Code, format, args...)
}

// unknown adds a diagnostic for each key of n that is not in allowed. It reports whether there are any.
func (r *reader) unknown(n *yaml.Node, what string, allowed ...string) (any bool) {
	for _, d := range r.doc.UnknownKeys(n, Code, what, allowed) {
		r.diags.Add(d)
		any = true
	}
	return any
}

// requirements lists the attributes of which a policy must have exactly one.
var requirements = []string{"equals", "type", "satisfies", "bound", "layers"}

// policy reads one policy. ok is false if the policy has an error.
func (r *reader) policy(n *yaml.Node) (p *Policy, ok bool) {
	if n.Kind != yaml.Mapping {
		r.errorf(n, "expected a policy: a hash with 'name', 'key' and a requirement, found %s", n.Describe())
		return nil, false
	}
	allowed := append([]string{"name", "key", "keys", "when", "unless"}, requirements...)
	ok = !r.unknown(n, "attribute of a policy", allowed...)
	p = &Policy{At: r.doc.Pos(n), Digest: r.digest}
	if p.Name = r.text(n, "name"); p.Name == "" {
		r.errorf(n, "expected 'name', a string that identifies the policy")
		ok = false
	} else if first, twice := r.names[p.Name]; twice {
		r.diags.Add(diag.Diagnostic{Pos: p.At, Code: Code, Message: "two policies have the name '" + p.Name + "'",
			Notes: []diag.Note{{Pos: first, Message: "the other one is here"}}, Hint: "rename one of them"})
		ok = false
	}
	r.names[p.Name] = p.At
	ok = r.keys(n, p) && ok
	ok = ok && r.claim(n, p)
	when, okWhen := r.condition(n, "when")
	unless, okUnless := r.condition(n, "unless")
	if unless != nil {
		unless = negated(unless)
	}
	p.region = all(when, unless)
	if _, few := p.region.conjuncts(false); !few {
		r.errorf(n, "the condition has more than %d alternatives; split the policy", maxConjuncts)
		ok = false
	}
	return p, ok && okWhen && okUnless
}

// text returns the string at a key of n, or "" if there is none.
func (r *reader) text(n *yaml.Node, name string) string {
	if _, v, ok := n.Lookup(name); ok {
		text, _ := v.Text()
		return text
	}
	return ""
}

// keys reads 'key' or 'keys', which say to which keys a policy applies.
func (r *reader) keys(n *yaml.Node, p *Policy) bool {
	_, one, hasKey := n.Lookup("key")
	_, several, hasKeys := n.Lookup("keys")
	if hasKey == hasKeys {
		r.errorf(n, "expected either 'key', a key name, or 'keys', a pattern such as 'sudo::**'")
		return false
	}
	if hasKey {
		p.key, _ = one.Text()
		p.prefix = p.key
		if p.source = p.key; p.key == "" || strings.Contains(p.key, "*") {
			r.errorf(one, "expected a key name for 'key', found %s; for a pattern, write 'keys'", one.Describe())
			return false
		}
		return true
	}
	patterns, ok := texts(several)
	if !ok {
		r.errorf(several, "expected a pattern such as 'sudo::**' for 'keys', or a list of them, found %s",
			several.Describe())
		return false
	}
	p.keys, p.prefix, p.source = keyPattern(patterns), prefixOf(patterns), strings.Join(patterns, ", ")
	p.below = matchesBelow(patterns)
	return true
}

// texts returns the strings in n, which must be a string or a nonempty list of strings. Otherwise, ok is false.
func texts(n *yaml.Node) (out []string, ok bool) {
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	for i := range nodes {
		text, _ := nodes[i].Text()
		out = append(out, text)
	}
	return out, len(out) > 0 && !slices.Contains(out, "")
}

func (r *reader) claim(n *yaml.Node, p *Policy) bool {
	var found []string
	for _, name := range requirements {
		if _, v, ok := n.Lookup(name); ok {
			found = append(found, name)
			if !r.requirement(name, v, &p.claim) {
				return false
			}
		}
	}
	if len(found) == 1 {
		return true
	}
	r.errorf(n, "expected exactly one of %s, found %s", diag.Quoted(requirements),
		cmp.Or(diag.Quoted(found), "none"))
	return false
}

// requirement reads the requirement called name into c. It returns false if n is invalid.
func (r *reader) requirement(name string, n *yaml.Node, c *claim) bool {
	text, isText := n.Text()
	switch name {
	case "equals":
		v := n.Literal()
		c.equals, c.source = &v, shown(v)
		return true
	case "bound":
		if n.Kind == yaml.Scalar && n.Value.Kind() == value.Bool {
			is := n.Value.Bool()
			c.bound, c.text = &is, name+" "+strconv.FormatBool(is)
			return true
		}
		r.errorf(n, "expected true or false for 'bound', found %s", n.Describe())
	case "layers":
		if names, ok := texts(n); ok {
			c.layers, c.source = names, "the layer "+diag.AnyOf(names)
			return true
		}
		r.errorf(n, "expected layer names for 'layers', such as [security], found %s", describe(n, nil))
	case "type":
		t, err := types.Parse(text)
		if isText && err == nil {
			c.typ, c.source, c.text = t, t.String(), name+" "+text
			return true
		}
		r.errorf(n, "expected a type such as Array[String, 2] for 'type', found %s", describe(n, err))
	default:
		return r.lambda(n, c)
	}
	return false
}

func describe(n *yaml.Node, err error) string {
	if n.Kind == yaml.Sequence && len(n.Kids) == 0 {
		return "an empty list"
	}
	if err == nil {
		return n.Describe()
	}
	return n.Describe() + ": " + err.Error()
}

// lambda reads the lambda of 'satisfies' into c. It returns false if n is invalid.
func (r *reader) lambda(n *yaml.Node, c *claim) bool {
	text, isText := n.Text()
	if !isText {
		r.errorf(n, "expected a lambda such as '|$x| { $x > 4 }' for 'satisfies', found %s", n.Describe())
		return false
	}
	l, errs := syntax.ParseLambda(text)
	if len(errs) == 0 {
		errs = syntax.CheckWithoutLookup(syntax.Around(l), "a policy decides about one value")
	}
	if len(errs) == 0 && (!l.Takes(1) || len(l.Params) != 1) {
		r.errorf(n, "expected a lambda with one parameter for 'satisfies'")
		return false
	}
	c.satisfies, c.source = l, text
	return r.syntax(n, errs)
}

// syntax adds diagnostics for syntax errors in the string n. It reports whether there are none.
func (r *reader) syntax(n *yaml.Node, errs []syntax.SyntaxError) bool {
	for _, e := range errs {
		r.diags.Add(diag.Diagnostic{Pos: r.doc.PosIn(n, e.Off), Code: Code, Message: e.Message, Hint: e.Hint})
	}
	return len(errs) == 0
}
