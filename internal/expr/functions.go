package expr

import (
	"fmt"
	"strings"

	"bindc/internal/value"
)

// Function is a function that expressions can call.
type Function struct {
	Name     string
	Min, Max int // range of the number of arguments; Max may be Unbounded
	Lambda   LambdaUse
	Varies   bool // the result depends on more than the arguments
	Run      func(*Invocation) (value.Value, error)
}

// Unbounded is the Max of functions that take any number of arguments.
const Unbounded = -1

// LambdaUse specifies whether a function needs or accepts a lambda.
type LambdaUse uint8

const (
	NoLambda LambdaUse = iota
	OptionalLambda
	RequiredLambda
)

// Functions is a list of functions, sorted by name.
type Functions []Function

// Find returns the function called name. It returns false if there is none, or if fs is nil.
func (fs *Functions) Find(name string) (f Function, ok bool) {
	if fs == nil {
		return Function{}, false
	}
	low, high := 0, len(*fs)
	for low < high {
		middle := (low + high) / 2
		switch order := strings.Compare((*fs)[middle].Name, name); {
		case order == 0:
			return (*fs)[middle], true
		case order < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return Function{}, false
}

// Names returns the names of all functions, sorted.
func (fs *Functions) Names() []string {
	names := make([]string, len(*fs))
	for i := range *fs {
		names[i] = (*fs)[i].Name
	}
	return names
}

// check returns an error if f cannot be called with this number of arguments, or with or without a lambda.
func (f *Function) check(args int, lambda bool) error {
	switch {
	case args < f.Min || f.Max >= 0 && args > f.Max:
		return fmt.Errorf("%s() takes %s, found %d", f.Name, f.arity(), args)
	case lambda && f.Lambda == NoLambda:
		return fmt.Errorf("%s() takes no lambda", f.Name)
	case !lambda && f.Lambda == RequiredLambda:
		return fmt.Errorf("%s() needs a lambda", f.Name)
	}
	return nil
}

func (f *Function) arity() string {
	switch {
	case f.Max < 0:
		return fmt.Sprintf("%d or more arguments", f.Min)
	case f.Min == f.Max:
		return count(f.Min, "argument")
	}
	return fmt.Sprintf("%d to %d arguments", f.Min, f.Max)
}

// count returns a number with a noun: "1 argument", "2 arguments".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (ev *Evaluator) call(n *Node) (value.Value, error) {
	args, err := ev.list(n.Kids)
	if err != nil {
		return value.Value{}, err
	}
	var c *Closure
	if n.Lambda != nil {
		c = &Closure{n.Lambda, ev.locals}
	}
	return ev.callFunction(n, n.Name, args, c)
}

func (ev *Evaluator) callFunction(n *Node, name string, args []value.Value, c *Closure) (value.Value, error) {
	f, ok := ev.function(name)
	if !ok {
		return value.Value{}, failf(n, "unknown function '%s'", name)
	}
	if err := f.check(len(args), c != nil); err != nil {
		return value.Value{}, at(n, err)
	}
	if f.Varies {
		ev.varies()
	}
	for _, a := range args { // only strings: functions themselves count the steps of visiting collections
		if err := ev.Spend(len(a.Text()) / BytesPerStep); err != nil {
			return value.Value{}, at(n, err)
		}
	}
	return f.Run(&Invocation{ev, n, name, args, c})
}

// function returns the function called name. Names that begin with % are interpolations of Hiera 5.
func (ev *Evaluator) function(name string) (Function, bool) {
	if strings.HasPrefix(name, "%") {
		return hieraFunction(name)
	}
	return ev.functions.Find(name)
}
