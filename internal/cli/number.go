package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// number is a flag of a number that is at least 1.
type number struct{ n *int }

// AtLeastOne is the value of a flag: a number from 1 on, kept in n. The default is what n is, none if that is 0.
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

// Type is the word that stands for the value in help.
func (v number) Type() string { return "N" }
