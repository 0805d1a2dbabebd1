package bindingsfile

import (
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Compiled is a compiled binding. It does not depend on the rest of the site.
type Compiled struct {
	Key       string         // "" for a contribution without a name
	Pos       diag.Pos       // position of the key
	Recipe    *recipe.Recipe // nil after an error, which is reported
	Literal   *Literal       // constant value of a contribution that is neither optional nor transformed; otherwise nil
	In        *Reference     // the multibinding that a contribution is for; nil for a binding of a key
	Multibind *Multibind     // set for a multibinding
	Type      *types.Type    // the declared type, or nil
	Rebinds   *Reference     // the other key of an alias, a renamed key or a rebinding; or nil
	Erases    bool           // the statement hides lower bindings of the key in Rebinds
	Abstract  bool
	Override  bool
}

// Reference is a use of a multibinding's id or of a key.
type Reference struct {
	ID  string
	Pos diag.Pos
}

// Multibind describes what contributions to a multibinding must be.
type Multibind struct {
	ID      string
	Options *recipe.Options // nil after an error, which is reported
}

// Compile compiles a statement with attributes. It adds errors to diags. It returns nil if the key is unknown.
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

// takeKeyOfRebind makes the argument of `rebind` the key of the binding.
func (s *Statement) takeKeyOfRebind() {
	i := slices.IndexFunc(s.Producers, func(p Producer) bool { return p.Name == "rebind" })
	if i >= 0 && s.Key == "" {
		p := s.Producers[i].Argument
		s.Key, _ = p.text()
		s.KeyPos = p.Pos
	}
}

// missingKey returns the error for a binding without a key.
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
	broken bool // an error was reported
}

// errorf reports an error in the value of this binding. The key and the condition of the binding are still known.
func (c *compiler) errorf(at diag.Pos, code diag.Code, format string, args ...any) {
	c.add(diag.Diagnostic{Pos: at, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) add(d diag.Diagnostic) {
	d.InValue = true
	c.diags.Add(d)
	c.broken = true
}
