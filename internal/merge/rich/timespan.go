package rich

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"bindc/internal/value"
)

const nsPerSecond = 1_000_000_000

// defaultSpans lists the formats to try if none is given.
var defaultSpans = []string{"%D-%H:%M:%S.%-N", "%H:%M:%S.%-N", "%M:%S.%-N", "%S.%-N", "%D-%H:%M:%S", "%H:%M:%S",
	"%D-%H:%M", "%S"}

var spanFields = []string{"days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"}

// newTimespan makes a time span from a number of seconds, a string with formats, a hash, or separate arguments.
func newTimespan(args []value.Value) (string, error) {
	ns, err := spanOf(args)
	if err != nil {
		return "", err
	}
	return printSpan(ns), nil
}

func spanOf(args []value.Value) (*big.Int, error) {
	v := args[0]
	switch {
	case len(args) == 1 && isNumber(v):
		return nanoseconds(v)
	case v.Kind() == value.String:
		return spanOfText(args)
	case len(args) == 1 && v.Kind() == value.Hash:
		return spanOfHash(v)
	case len(args) < 4 || len(args) > 7:
		return nil, errArguments
	}
	for _, arg := range args {
		if !isInt(arg) {
			return nil, errArguments
		}
	}
	return sumSpan(args), nil
}

func isInt(v value.Value) bool { return v.Kind() == value.Int }

func isBool(v value.Value) bool { return v.Kind() == value.Bool }

func isFilled(v value.Value) bool { return isText(v, 1) }

func isFormats(v value.Value) bool {
	_, _, ok := formatsOf(v)
	return ok
}

// nanoseconds converts a number of seconds to nanoseconds. Like Ruby, it drops fractions of a nanosecond.
func nanoseconds(v value.Value) (*big.Int, error) {
	if v.Kind() == value.Int {
		return new(big.Int).Mul(big.NewInt(v.Int()), big.NewInt(nsPerSecond)), nil
	}
	f := v.Float() * nsPerSecond
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("expected a finite number of seconds")
	}
	ns, _ := big.NewFloat(f).Int(nil)
	return ns, nil
}

// sumSpan adds up a time span that is given in days, hours, minutes and so on, in the order of spanFields.
func sumSpan(parts []value.Value) *big.Int {
	sum := new(big.Int)
	for i, factor := range []int64{1, 24, 60, 60, 1000, 1000, 1000} {
		sum.Mul(sum, big.NewInt(factor))
		if i < len(parts) && isInt(parts[i]) {
			sum.Add(sum, big.NewInt(parts[i].Int()))
		}
	}
	return sum
}

func spanOfHash(v value.Value) (*big.Int, error) {
	text := map[string]func(value.Value) bool{"string": isFilled, "format": isFormats}
	if found, ok := fields(v, "string", text); ok {
		args := []value.Value{found["string"]}
		if format, ok := found["format"]; ok {
			args = append(args, format)
		}
		return spanOfText(args)
	}
	allowed := map[string]func(value.Value) bool{"negative": isBool}
	for _, name := range spanFields {
		allowed[name] = isInt
	}
	found, ok := fields(v, "", allowed)
	if !ok {
		return nil, errArguments
	}
	parts := make([]value.Value, len(spanFields))
	for i, name := range spanFields {
		parts[i] = found[name]
	}
	sum := sumSpan(parts)
	if negative, ok := found["negative"]; ok && negative.Bool() {
		sum.Neg(sum)
	}
	return sum, nil
}

func spanOfText(args []value.Value) (*big.Int, error) {
	formats, single := defaultSpans, false
	if len(args) == 2 {
		var ok bool
		if formats, single, ok = formatsOf(args[1]); !ok {
			return nil, errArguments
		}
	}
	switch {
	case len(args) > 2:
		return nil, errArguments
	case !isFilled(args[0]):
		return nil, errEmpty
	}
	text := args[0].Text()
	for _, format := range formats {
		f, err := parseSpanFormat(format)
		if err != nil {
			return nil, err
		}
		ns, err := f.parse(text)
		if err == nil || single {
			return ns, err
		}
	}
	return nil, noFormat(text, formats)
}

func noFormat(text string, formats []string) error {
	return fmt.Errorf("'%s' does not have the format %s", shortened(text), strings.Join(formats, " or "))
}

// checkTimespan returns an error for formats that only Puppet supports.
func checkTimespan(args []value.Value) error {
	if len(args) == 0 {
		return nil
	}
	formats, _, _ := formatsOf(args[0])
	for _, format := range formats {
		if _, err := parseSpanFormat(format); errors.Is(err, errWidth) {
			return err
		}
	}
	return nil
}

// printSpan prints a time span in Puppet's format %D-%H:%M:%S.%-N. Like Puppet, it drops zeros at both ends of the
// fraction: 50 nanoseconds are printed as .5.
func printSpan(ns *big.Int) string {
	sign := ""
	if ns.Sign() < 0 {
		sign = "-"
	}
	seconds, rest := new(big.Int).QuoRem(new(big.Int).Abs(ns), big.NewInt(nsPerSecond), new(big.Int))
	days, inDay := new(big.Int).QuoRem(seconds, big.NewInt(86400), new(big.Int))
	s := inDay.Int64()
	fraction := strings.TrimRight(rest.String(), "0")
	if fraction == "" {
		fraction = "0"
	}
	return fmt.Sprintf("%s%s-%02d:%02d:%02d.%s", sign, days, s/3600, s/60%60, s%60, fraction)
}
