package bindingsfile

import (
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Compiled is a compiled binding. It depends only on the binding's own attributes, not on the rest
// of the site.
type Compiled struct {
	Key       string         // "" for a contribution without a name
	Pos       diag.Pos       // position of the key
	Recipe    *recipe.Recipe // nil if an error was reported
	Literal   *Literal       // value of a contribution if it is constant and neither optional nor transformed
	In        *Reference     // multibinding to which the binding contributes; nil if it binds a key
	Multibind *Multibind     // nil unless it is a multibinding
	Type      *types.Type    // nil if no type is declared
	Rebinds   *Reference     // key to which an alias, a renamed key or a rebinding refers; otherwise nil
	Erases    bool           // whether it hides lower bindings of the key in Rebinds
	Abstract  bool
	Override  bool
}

// Reference refers to a key or, by its id, to a multibinding.
type Reference struct {
	ID  string
	Pos diag.Pos
}

// Multibind describes a multibinding and its requirements for contributions.
type Multibind struct {
	ID      string
	Options *recipe.Options // nil if an error was reported
}

// Compile compiles a binding with attributes and adds errors to diags. It returns nil if the key is
// unknown.
func (s *Statement) Compile(diags *diag.List) *Compiled {
	s.takeKeyOfRebind()
	if s.Key == "" && s.In == nil {
		if !s.Unsure {
			diags.Add(s.missingKey())
		}
		return nil
	}
	c := compiler{Statement: s, diags: diags, broken: s.Broken || s.Unsure}
	c.out = Compiled{Key: s.Key, Pos: s.KeyPos, Abstract: s.Abstract, Override: s.Override}
	c.contribution()
	r := c.recipe()
	if !c.broken {
		c.out.Recipe = r
	}
	return &c.out
}

// takeKeyOfRebind sets the key of the binding to the argument of rebind, if the binding has no
// other key.
func (s *Statement) takeKeyOfRebind() {
	i := slices.IndexFunc(s.Producers, func(p Producer) bool { return p.Name == "rebind" })
	if i >= 0 && s.Key == "" {
		p := s.Producers[i].Argument
		s.Key, _ = p.text()
		s.KeyPos = p.Pos
	}
}

// missingKey returns the error for a binding that does not say which key it binds.
func (s *Statement) missingKey() diag.Diagnostic {
	if len(s.Producers) == 1 && s.Producers[0].Name == "rebind" {
		l := s.Producers[0].Argument
		return diag.Diagnostic{Pos: l.Pos, Code: "rebind", InValue: true,
			Message: "expected a key name for 'rebind', found " + value.Describe(l.Value),
			Hint:    "write the key to rebind: {rebind: 'ntp::host'}"}
	}
	const message = "expected 'name', the key to bind"
	return diag.Diagnostic{Pos: s.Pos, Code: "attribute", Message: message, Discreet: message}
}

type compiler struct {
	*Statement
	diags  *diag.List
	out    Compiled
	broken bool // whether an error was reported
}

// errorf reports an error in the value of the binding. The key and the condition of the binding
// remain valid.
func (c *compiler) errorf(at diag.Pos, code diag.Code, format string, args ...any) {
	c.add(diag.Diagnostic{Pos: at, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) add(d diag.Diagnostic) {
	d.InValue = true
	c.diags.Add(d)
	c.broken = true
}
