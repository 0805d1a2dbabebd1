package bindingsfile

import (
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Compiled is a binding by itself, without the site around it.
type Compiled struct {
	Key       string         // "" for a contribution without a name
	Pos       diag.Pos       // of the key
	Recipe    *recipe.Recipe // nil after an error, which is reported
	Literal   *Literal       // the value of a contribution, if it is a constant without a transformer
	In        *Reference     // the multibinding it contributes to, if it binds no key
	Multibind *Multibind     // set if it collects contributions
	Type      *types.Type    // the type it declares, or nil
	Rebinds   *Reference     // the key it is an alias, a new name or a rebinding of; or nil
	Erases    bool           // the key in Rebinds is no longer bound by anything lower
	Abstract  bool
	Override  bool
}

// Reference names a multibinding by its id, or a key.
type Reference struct {
	ID  string
	Pos diag.Pos
}

// Multibind describes the contributions that a binding collects.
type Multibind struct {
	ID      string
	Options *recipe.Options // nil after an error, which is reported
}

// Compile compiles a binding: a statement with attributes. It reports errors to diags; the other bindings are still
// checked. It returns nil if the key is unknown.
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

// missingKey returns the error of a binding without a key.
func (s *Statement) missingKey() diag.Diagnostic {
	if len(s.Producers) == 1 && s.Producers[0].Name == "rebind" {
		l := s.Producers[0].Argument
		return diag.Diagnostic{Pos: l.Pos, Code: "rebind", InValue: true,
			Message: "expected the name of a key as 'rebind', found " + value.Describe(l.Value),
			Hint:    "write the key to rebind: {rebind: 'ntp::host'}"}
	}
	const message = "expected 'name', the key to bind"
	return diag.Diagnostic{Pos: s.Pos, Code: "attribute", Message: message, Discreet: message}
}

// compiler compiles one binding.
type compiler struct {
	*Statement
	diags  *diag.List
	out    Compiled
	broken bool // there was an error, and it is reported
}

// errorf reports an error of this binding. The other bindings are still checked.
func (c *compiler) errorf(at diag.Pos, code diag.Code, format string, args ...any) {
	c.add(diag.Diagnostic{Pos: at, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) add(d diag.Diagnostic) {
	d.InValue = true
	c.diags.Add(d)
	c.broken = true
}
