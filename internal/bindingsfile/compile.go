// Package binding compiles one structured binding by itself (language.md, sections 5 and 8): its attributes, in
// whatever syntax they are written, become a recipe and what else there is to know of it. Which of several bindings
// wins is decided when they are composed.
package bindingsfile

import (
	"fmt"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Attributes holds the attributes of a binding as the reader of its syntax finds them. Absent ones are nil.
type Attributes struct {
	Pos    diag.Pos // of the binding
	Key    string   // "" where no name is given
	KeyPos diag.Pos // of the name

	Producers      []Producer // there should be one
	Type           *Literal   // the text of a type
	Transformer    *expr.Lambda
	TransformerPos diag.Pos
	Options        *Literal
	Combinator     *expr.Lambda // the combinator in Options, or nil
	In             *Literal     // the multibinding that the binding contributes to
	Abstract       bool
	Override       bool
	Sensitive      bool
	Optional       bool // the producer may yield nothing

	Broken bool // a part of it could not be read; the error is reported
}

// Producer is an attribute that produces the value.
type Producer struct {
	Name     string     // that of the attribute in YAML; `rebind` names the key itself
	Argument *Literal   // what it says; of `to` and `to_expression` their value, if that is known now
	Expr     *expr.Node // of those, what computes the value, if it is not: Argument is how that is written
}

// Compiled is what a binding says by itself.
type Compiled struct {
	Key       string         // "" for a contribution without a name
	Pos       diag.Pos       // of the key
	Recipe    *recipe.Recipe // nil if it could not be compiled: that is reported
	Literal   *Literal       // the value of what contributes, as it is written, if it is a constant with no transformer
	In        *Reference     // what it contributes to, if it binds no key
	Multibind *Multibind     // if it collects contributions
	Type      *types.Type    // that it states, or nil
	Rebinds   *Reference     // the key it is an alias, a new name or a rebinding of; or nil
	Erases    bool           // and what is found by that name below it, is so no more
	Abstract  bool
	Override  bool
}

// Reference names a multibinding by its id, or a key.
type Reference struct {
	ID  string
	Pos diag.Pos
}

// Multibind is what a binding collects.
type Multibind struct {
	ID      string
	Options *recipe.Options // nil if something is wrong with them: that is reported
}

// Compile compiles what a binding says. What is wrong with it goes to diags, and leaves the others to be judged. The
// result is nil if it cannot even be told what it binds.
func Compile(a *Attributes, diags *diag.List) *Compiled {
	a.rebound()
	if a.Key == "" && a.In == nil {
		diags.Add(a.nameless())
		return nil
	}
	c := compiler{Attributes: a, diags: diags, broken: a.Broken}
	c.out = Compiled{Key: a.Key, Pos: a.KeyPos, Abstract: a.Abstract, Override: a.Override}
	c.contribution()
	r := c.recipe()
	if !c.broken {
		c.out.Recipe = r
	}
	return &c.out
}

// rebound makes what `rebind` says the key of the binding.
func (a *Attributes) rebound() {
	if len(a.Producers) == 1 && a.Producers[0].Name == "rebind" && a.Key == "" {
		p := a.Producers[0].Argument
		a.Key, _ = p.text()
		a.KeyPos = p.Pos
	}
}

// nameless is the error of a binding of which nobody can tell what it binds.
func (a *Attributes) nameless() diag.Diagnostic {
	if len(a.Producers) == 1 && a.Producers[0].Name == "rebind" {
		l := a.Producers[0].Argument
		return diag.Diagnostic{Pos: l.Pos, Code: "rebind", InValue: true,
			Message: "expected the name of a key as 'rebind', found " + value.Describe(l.Value),
			Hint:    "write the key that is to be here what it is below: {rebind: 'ntp::host'}"}
	}
	const message = "expected 'name', the key to bind"
	return diag.Diagnostic{Pos: a.Pos, Code: "attribute", Message: message, Discreet: message}
}

// compiler compiles one binding.
type compiler struct {
	*Attributes
	diags  *diag.List
	out    Compiled
	broken bool // something is wrong, and reported
}

// errorf reports an error of this binding, which leaves the others to be judged.
func (c *compiler) errorf(at diag.Pos, code diag.Code, format string, args ...any) {
	c.add(diag.Diagnostic{Pos: at, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) add(d diag.Diagnostic) {
	d.InValue = true
	c.diags.Add(d)
	c.broken = true
}
