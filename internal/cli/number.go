package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// number is the value of a flag that is a whole number of at least 1.
type number struct{ n *int }

// AtLeastOne returns the value of a flag that stores a number of at least 1 in n. If n is 0, the flag has no default.
func AtLeastOne(n *int) pflag.Value { return number{n} }

var errNumber = errors.New("expected a whole number, at least 1")

func (v number) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errNumber
	}
	*v.n = n
	return nil
}

func (v number) String() string {
	if v.n == nil || *v.n == 0 {
		return ""
	}
	return strconv.Itoa(*v.n)
}

// Type returns the placeholder of the value in help.
func (v number) Type() string { return "N" }
