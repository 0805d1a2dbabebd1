package merge

import (
	"errors"
	"fmt"
	"slices"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/merge/rich"
	"bindc/internal/pattern"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Convert applies the convert_to of e to v and returns a value of the named type. For Sensitive, the result is v,
// marked as sensitive. Without convert_to, it is v. The error is a *MergeError, whose text may include v unless v is
// sensitive.
func (e *Entry) Convert(v value.Value, bounds expr.Options) (value.Value, error) {
	if e == nil || e.conversionErr == nil && e.conversion == nil {
		return v, nil
	} else if e.conversionErr != nil {
		return value.Value{}, e.conversionErr
	}
	out, err := e.conversion.apply(v, bounds)
	if err != nil {
		return value.Value{}, failf(Convert, "convert_to of '%s' to %s: %s", e.Name, e.conversion, err)
	}
	return out, nil
}

// Convertible returns the error of Convert for v with the default limits, or nil.
func (e *Entry) Convertible(v value.Value) error {
	_, err := e.Convert(v, expr.Options{Functions: stdlib.Functions})
	return err
}

type conversion struct {
	to        *types.Type // the target type; for Sensitive, the type that the value must have, or nil for any
	rich      *rich.Type  // the target type from package rich; nil: to is the target
	optional  bool        // for rich: undef stays undef
	args      []value.Value
	sensitive bool
}

func (c *conversion) String() string {
	switch {
	case c.optional:
		return "Optional[" + c.rich.Name + "]"
	case c.rich != nil:
		return c.rich.Name
	case !c.sensitive:
		return c.to.String()
	case c.to == nil:
		return "Sensitive"
	}
	return "Sensitive[" + c.to.String() + "]"
}

// Secret reports whether an entry of l that applies to root makes the value sensitive. It also returns true if matching
// would take more than the remaining steps, or if the convert_to is invalid: the type may be a misspelt Sensitive.
func (l *Level) Secret(root string, left *int) bool {
	secret := func(e *Entry) bool {
		var invalid *MergeError
		return errors.As(e.conversionErr, &invalid) && !invalid.Absent || e.conversion != nil && e.conversion.sensitive
	}
	if e := l.exact[root]; e != nil && secret(e) {
		return true
	}
	return slices.ContainsFunc(l.index.candidates(root), func(i int) bool {
		e := l.Entries[i]
		if !secret(e) {
			return false
		}
		ok, err := e.matches(root, left)
		return ok || err != nil
	})
}

// sensitiveType matches the type Sensitive. A conversion to Sensitive marks the value and does not change its type.
var sensitiveType = pattern.Lazy(`^\s*Sensitive\s*(\[(?s:.*)\])?\s*$`)

// parseConversion parses the convert_to of e. It returns nil if e has no convert_to.
func (e *Entry) parseConversion() (*conversion, error) {
	to, err := e.option("convert_to")
	if err != nil || to.IsUndef() {
		return nil, err
	}
	c, err := parseConversion(to)
	if err != nil {
		failed := failf(Convert, "convert_to of '%s': %s", e.Name, err)
		failed.Absent = errors.Is(err, types.ErrAbsent) || errors.Is(err, rich.ErrUnsupported)
		return nil, failed
	}
	return c, nil
}

// richType matches the name of a type, optionally in Optional[].
var richType = pattern.Lazy(`^\s*(?:(Optional)\s*\[\s*(\w+)\s*\]|(\w+))\s*$`)

// parseRich parses a conversion to a type of package rich. It returns nil if text names any other type.
func parseRich(text string, args []value.Value) (*conversion, error) {
	m := richType().FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	t := rich.Named(m[2] + m[3])
	if t == nil {
		return nil, nil
	}
	return &conversion{rich: t, optional: m[1] != "", args: args}, t.Check(args)
}

func parseConversion(to value.Value) (*conversion, error) {
	list := []value.Value{to}
	if to.Kind() == value.Array {
		list = to.Slice()
	}
	if len(list) == 0 || list[0].Kind() != value.String {
		return nil, errors.New("expected a type, or a list of a type and arguments")
	}
	c := &conversion{args: list[1:]}
	text := list[0].Text()
	if made, err := parseRich(text, c.args); made != nil || err != nil {
		return made, err
	}
	if m := sensitiveType().FindStringSubmatch(text); m != nil {
		c.sensitive = true
		if m[1] == "" {
			return c, nil
		}
		text = m[1][1 : len(m[1])-1]
	}
	var err error
	c.to, err = types.Parse(text)
	return c, err
}

var (
	errArguments = errors.New("the type Sensitive takes no arguments")
	errHidden    = errors.New("the sensitive value cannot be converted")
)

func (c *conversion) apply(v value.Value, bounds expr.Options) (value.Value, error) {
	sensitive := v.IsSensitive()
	v, err := v.Read()
	if err != nil {
		return value.Value{}, err
	}
	arguments := append([]value.Value{v}, c.args...)
	switch {
	case c.sensitive:
		err = c.check(v)
	case c.optional && v.IsUndef() && len(c.args) == 0:
	case c.rich != nil:
		v, err = c.rich.New(arguments...)
	default:
		v, err = stdlib.New(c.to, bounds, arguments...)
	}
	switch {
	case err == nil && (sensitive || c.sensitive):
		v = v.Sensitive()
	case sensitive:
		err = errHidden
	}
	return v, err
}

// check checks the type of a value that convert_to Sensitive[T] marks as sensitive.
func (c *conversion) check(v value.Value) error {
	if len(c.args) > 0 {
		return errArguments
	}
	if !c.to.Generalize().Instance(v) {
		return fmt.Errorf("the value is of type %s", v.Kind())
	}
	return nil
}
