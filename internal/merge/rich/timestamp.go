package rich

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"bindc/internal/value"
)

// zonelessStamps lists the default formats without a time zone.
var zonelessStamps = []string{"%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"}

var defaultStamps = append([]string{"%FT%T.%N %Z", "%FT%T %Z", "%F %T.%N %Z", "%F %T %Z", "%F %Z"}, zonelessStamps...)

// errCurrent is the error for the time zone of a Puppet server. Neither the build nor a lookup knows it.
var errCurrent = fmt.Errorf("the time zone 'current' of a Puppet server %w", ErrUnsupported)

var errFar = fmt.Errorf("a year beyond 1,000,000,000 %w", ErrUnsupported)

// newTimestamp makes a time from a number of seconds, a hash, or a string with formats and a time zone.
func newTimestamp(args []value.Value) (string, error) {
	v := args[0]
	switch {
	case len(args) == 1 && isNumber(v):
		ns, err := nanoseconds(v)
		if err != nil {
			return "", err
		}
		return printStamp(ns)
	case len(args) == 1 && v.Kind() == value.Hash:
		allowed := map[string]func(value.Value) bool{"string": isFilled, "format": isFormats, "timezone": isFilled}
		found, ok := fields(v, "string", allowed)
		if !ok {
			return "", errArguments
		}
		return stampOfText(found["string"].Text(), found["format"], found["timezone"])
	case len(args) > 3 || v.Kind() != value.String:
		return "", errArguments
	case !isFilled(v):
		return "", errEmpty
	case len(args) > 1 && !isFormats(args[1]), len(args) > 2 && !isFilled(args[2]):
		return "", errArguments
	}
	args = append(args, value.Value{}, value.Value{})
	return stampOfText(v.Text(), args[1], args[2])
}

// checkTimestamp returns an error for the time zone 'current', which only a Puppet server knows.
func checkTimestamp(args []value.Value) error {
	if len(args) < 2 || args[1].Kind() != value.String {
		return nil
	}
	if _, err := zoneOffset(args[1].Text()); errors.Is(err, errCurrent) {
		return err
	}
	return nil
}

// stampOfText parses text by one format, or by the first matching format of a list. format and zone may be undef.
func stampOfText(text string, format, zone value.Value) (string, error) {
	own := !zone.IsUndef()
	formats, single := defaultStamps, false
	switch {
	case !format.IsUndef():
		formats, single, _ = formatsOf(format)
	case own:
		formats = zonelessStamps
	}
	parsed, err := parseStamp(text, formats, own)
	if err != nil {
		return "", err
	}
	if single && own && parsed.zone != "" {
		return "", errors.New("the time zone is given twice: in the format and as an argument")
	}
	name := parsed.zone
	if own {
		name = zone.Text()
	}
	return parsed.format(name)
}

// parseStamp parses text by the first format that matches. If zoned is set, it skips formats of a list that read a time
// zone from text.
func parseStamp(text string, formats []string, zoned bool) (*moment, error) {
	for _, format := range formats {
		m, ok := strptime(text, format)
		if ok && (len(formats) == 1 || !zoned || m.zone == "") {
			return m, nil
		}
	}
	return nil, noFormat(text, formats)
}

// format converts the moment to UTC and formats it. zone is the moment's time zone.
func (m *moment) format(zone string) (string, error) {
	year, ok := m.numbers['Y']
	if !ok {
		return "", errors.New("the Timestamp format has no year")
	}
	hour, minute, second := m.numbers['H'], m.numbers['M'], m.numbers['S']
	fraction, inRange := m.fractionNanoseconds()
	switch {
	case year < -farYear || year > farYear:
		return "", errFar
	case hour == 24 && minute+second > 0, !inRange:
		return "", errors.New("the time is out of range")
	}
	var offset int64
	if zone != "" {
		var err error
		if offset, err = zoneOffset(zone); err != nil {
			return "", err
		}
	}
	seconds := daysBefore(year, m.number('m', 1), m.number('d', 1))*86400 + hour*3600 + minute*60 + second
	ns := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(nsPerSecond))
	return printStamp(ns.Add(ns, big.NewInt(fraction-offset)))
}

// number returns the number that a directive has read, or def if it has read none.
func (m *moment) number(letter byte, def int64) int64 {
	if n, ok := m.numbers[letter]; ok {
		return n
	}
	return def
}

// fractionNanoseconds converts the fraction of a second. inRange is false if the fraction is negative.
func (m *moment) fractionNanoseconds() (ns int64, inRange bool) {
	if m.minus && strings.Trim(m.fraction, "0") != "" {
		return 0, false
	}
	for i := range 9 {
		ns *= 10
		if i < len(m.fraction) {
			ns += int64(m.fraction[i] - '0')
		}
	}
	return ns, true
}

// zoneOffset returns the offset of a time zone from UTC in nanoseconds.
func zoneOffset(name string) (int64, error) {
	if strings.EqualFold(name, "current") {
		return 0, errCurrent
	}
	zone := zonePattern().FindString(name)
	if ns, ok := zoneDifference(zone); ok && zone != "" {
		return ns, nil
	}
	return 0, fmt.Errorf("'%s' is not a time zone; expected for example UTC, CET or +01:00", shortened(name))
}

const farYear = 1_000_000_000

// daysBefore returns the number of days from 1970-01-01 to a date. If the month has fewer days, counting continues in
// the next month.
func daysBefore(year, month, day int64) int64 {
	if month <= 2 { // treat January and February as the last months of the previous year, so that leap days come last
		year, month = year-1, month+12
	}
	leapDays := floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400)
	return 365*year + leapDays + (153*(month-3)+2)/5 + day - 1 - 719468
}

func floorDiv(n, by int64) int64 {
	if n < 0 {
		return -((by - 1 - n) / by)
	}
	return n / by
}

// dateOf returns the date that is the given number of days after 1970-01-01.
func dateOf(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	inEra := days - era*146097
	inYear := (inEra - inEra/1460 + inEra/36524 - inEra/146096) / 365
	rest := inEra - (365*inYear + inYear/4 - inYear/100)
	month = (5*rest + 2) / 153
	year, day = era*400+inYear, rest-(153*month+2)/5+1
	if month += 3; month > 12 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

// printStamp prints a time as Puppet does: 2024-01-31T10:11:12.000000000 UTC.
func printStamp(ns *big.Int) (string, error) {
	seconds, rest := new(big.Int).DivMod(ns, big.NewInt(nsPerSecond), new(big.Int))
	days, inDay := new(big.Int).DivMod(seconds, big.NewInt(86400), new(big.Int))
	if days.CmpAbs(big.NewInt(farYear*366)) > 0 {
		return "", errFar
	}
	year, month, day := dateOf(days.Int64())
	width := 4
	if year < 0 {
		width = 5
	}
	s := inDay.Int64()
	return fmt.Sprintf("%0*d-%02d-%02dT%02d:%02d:%02d.%09d UTC", width, year, month, day, s/3600, s/60%60, s%60,
		rest.Int64()), nil
}
