package stdlib

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/pattern"
	"bindc/internal/types"
	"bindc/internal/value"
)

func runDig(c *call) (value.Value, error) {
	v := c.Args[0]
	if k := v.Kind(); k != value.Array && k != value.Hash && k != value.Undef {
		return v, c.Wrong(0, "an Array or a Hash")
	}
	return dig(c, v, c.Args[1:])
}

// dig follows path from v. If there is nothing at a key, the result is undef. If a value on the path is not a
// collection, dig returns an error.
func dig(c *call, v value.Value, path []value.Value) (value.Value, error) {
	for i, key := range path {
		if err := c.Search(v, key); err != nil {
			return v, err
		}
		switch k := v.Kind(); {
		case v.IsUndef() || key.IsUndef():
			return value.Value{}, nil
		case k == value.Hash:
			v, _ = v.Get(key)
		case k == value.Array && key.Kind() == value.Int:
			v = ruby.At(v, key.Int())
		case k == value.Array:
			return v, c.Failf("key %d selects an element of an Array and must be an Integer, found %s", i+1,
				expr.Describe(key))
		default:
			return v, c.Failf("key %d selects from %s; expected an Array or a Hash", i+1, expr.Describe(v))
		}
	}
	return v, nil
}

func runGet(c *call) (value.Value, error) {
	path, err := c.Text(1)
	if err != nil {
		return value.Value{}, err
	}
	return getPath(c, c.Args[0], path)
}

// getPath returns the value at a dotted path in v, or the default in argument 2. If the path does not fit v and there
// is a lambda, getPath calls the lambda with the error message.
func getPath(c *call, v value.Value, path string) (value.Value, error) {
	if err := c.Needs(1); err != nil {
		return v, err
	}
	otherwise := c.Arg(2)
	if v.IsUndef() {
		return otherwise, nil
	}
	keys, err := pathSegments(c, path)
	if err == nil && len(keys) > 0 && !expr.IsCollection(v) { // the lambda does not receive this error
		err = c.Failf("'%s' leads into %s", path, expr.Describe(v))
	}
	if err != nil {
		return v, err
	}
	found, err := dig(c, v, keys)
	switch {
	case err != nil && c.Lambda != nil:
		return c.Yield(value.FromString(err.Error()))
	case err == nil && found.IsUndef():
		return otherwise, nil
	}
	return found, err
}

var (
	segment   = pattern.Lazy(`^(?:\s*"([^"]+)"\s*|\s*'([^']+)'\s*|([^'".]+))(\.|$)`)
	wholeText = pattern.Lazy(`^[+-]?[0-9]+$`)
)

// pathSegments splits a dotted path such as a.'b.c'.0 into its keys.
func pathSegments(c *call, path string) ([]value.Value, error) {
	if path == "" {
		return nil, nil
	}
	var out []value.Value
	for rest := path; ; {
		m := segment().FindStringSubmatch(rest)
		if m == nil {
			return nil, c.Failf("syntax error in the path '%s'", path)
		}
		key := value.FromString(m[1] + m[2])
		if bare := strings.TrimSpace(m[3]); bare != "" {
			key = value.FromString(bare)
			if n, err := strconv.ParseInt(bare, 10, 64); err == nil && wholeText().MatchString(bare) {
				key = value.FromInt(n)
			}
		}
		out = append(out, key)
		err := c.Spend(1)
		if err == nil {
			err = c.Produce(expr.SizeOfElement)
		}
		if err != nil {
			return nil, err
		}
		if m[4] == "" {
			return out, nil
		}
		rest = rest[len(m[0]):]
	}
}

var variablePath = pattern.Lazy(`^((?:::)?(?:[a-z]\w*::)*[a-z_]\w*)(?:\.(.*)|)$`)

// runGetvar returns the value at a dotted path that begins with a variable. If the variable is not defined, the
// result is the default, and never an error.
func runGetvar(c *call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	if err := c.Spend(len(text)); err != nil { // parsing the path takes steps
		return value.Value{}, err
	}
	m := variablePath().FindStringSubmatch(text)
	if m == nil {
		return value.Value{}, c.Failf("'%s' does not begin with the name of a variable", text)
	}
	v, _ := c.Variable(m[1])
	inner := *c
	inner.Args = append([]value.Value{v, value.FromString(m[2])}, c.Args[1:]...)
	return getPath(&inner, v, m[2])
}

// lookupOptions lists the keys of lookup() options that are given as a hash.
var lookupOptions = map[string]bool{"name": true, "value_type": true, "default_value": true, "override": true,
	"default_values_hash": true, "merge": true}

type query struct {
	names      []string
	typ        *types.Type
	otherwise  value.Value
	hasDefault bool
}

// runLookup looks up another key. If there is a lambda, runLookup calls it with the value or undef, and returns its
// result.
func runLookup(c *call) (value.Value, error) {
	q, err := readQuery(c)
	if err != nil {
		return value.Value{}, err
	}
	v, err := findFirst(c, q)
	if err != nil || c.Lambda == nil {
		return v, err
	}
	if err := c.Needs(1); err != nil {
		return v, err
	}
	return c.Yield(v)
}

// runFail returns an error whose message consists of the arguments, joined by spaces.
func runFail(c *call) (value.Value, error) {
	message, err := joinDeep(c, value.FromSlice(c.Args), " ")
	if err == nil {
		err = errors.New(cmp.Or(message, c.Name+"() was called"))
	}
	return value.Value{}, err
}

func findFirst(c *call, q query) (value.Value, error) {
	for _, name := range q.names {
		if v, found, err := c.Lookup(name, q.typ); found || err != nil {
			return v, err
		}
	}
	if q.hasDefault && q.typ != nil {
		if m := q.typ.Check(q.otherwise); m != nil {
			return q.otherwise, c.Failf("the default value: %s", m.Shown())
		}
	}
	return q.otherwise, nil
}

// readQuery reads the arguments of lookup(name, type, merge, default), lookup(name, options) or lookup(options).
func readQuery(c *call) (q query, err error) {
	args := c.Args
	if args[0].Kind() == value.Hash && len(args) == 1 {
		name, _ := args[0].Get(value.FromString("name"))
		args = []value.Value{name, args[0]}
	}
	if q.names, err = keyNames(c, args[0]); err != nil {
		return q, err
	}
	if len(args) == 2 && args[1].Kind() == value.Hash {
		err = readOptions(c, &q, args[1])
		return q, err
	}
	if len(args) > 1 {
		if q.typ, err = valueType(c, args[1]); err != nil {
			return q, err
		}
	}
	if len(args) > 2 {
		if err := checkMerge(c, args[2]); err != nil {
			return q, err
		}
	}
	if len(args) > 3 {
		q.otherwise, q.hasDefault = args[3], true
	}
	return q, nil
}

func keyNames(c *call, v value.Value) ([]string, error) {
	var out []string
	for _, name := range ruby.Flatten([]value.Value{v}, 1) {
		if name.Kind() != value.String {
			return nil, c.Failf("the name must be a String or an Array of strings, found %s", expr.Describe(v))
		}
		out = append(out, name.Text())
	}
	return out, nil
}

// valueType returns the type v. The type may also be given as text. For undef, valueType returns nil.
func valueType(c *call, v value.Value) (*types.Type, error) {
	switch v.Kind() {
	case value.Undef:
		return nil, nil
	case value.Type:
		return types.FromValue(v)
	case value.String:
		t, err := types.Parse(v.Text())
		if err != nil {
			return nil, c.Fail(err)
		}
		return t, nil
	}
	return nil, c.Failf("the type must be a Type or its text, found %s", expr.Describe(v))
}

// checkMerge returns an error unless the merge strategy is 'first'. Only multibindings merge values.
func checkMerge(c *call, v value.Value) error {
	if v.IsUndef() || v.Kind() == value.String && v.Text() == "first" {
		return nil
	}
	return c.Failf("the only supported merge strategy is 'first'; use a multibinding to merge")
}

func readOptions(c *call, q *query, options value.Value) (err error) {
	for k, v := range options.Pairs() {
		switch name := k.Text(); {
		case !lookupOptions[name]:
			return c.Failf("unknown option %s", ruby.Inspect(k))
		case v.IsUndef() && name != "default_value", name == "name":
		case name == "value_type":
			if q.typ, err = valueType(c, v); err != nil {
				return err
			}
		case name == "merge":
			if err := checkMerge(c, v); err != nil {
				return err
			}
		case name == "default_value":
			q.otherwise, q.hasDefault = v, true
		default:
			return c.Failf("the option '%s' is not supported", name)
		}
	}
	return nil
}
