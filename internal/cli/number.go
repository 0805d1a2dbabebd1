package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// number implements pflag.Value for AtLeastOne.
type number struct{ n *int }

// AtLeastOne returns the value of a flag that accepts integers from 1 and stores them in n. A
// default of 0 is not shown in help.
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

// Type returns the placeholder for the value in help.
func (v number) Type() string { return "N" }
