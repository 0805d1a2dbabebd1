package rich

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// zoneList has a line for each offset from UTC in seconds. It lists the names that Ruby's Date knows for the offset.
//
//go:embed zones.txt
var zoneList string

var zones = sync.OnceValue(func() map[string]int64 {
	out := map[string]int64{}
	for line := range strings.Lines(zoneList) {
		seconds, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, _ := strconv.ParseInt(seconds, 10, 64)
		for name := range strings.SplitSeq(names, ",") {
			out[name] = n
		}
	}
	return out
})

// zoneDifference returns the offset of a time zone from UTC in nanoseconds. It accepts what Ruby's %z accepts.
func zoneDifference(zone string) (int64, bool) {
	name, summer := zoneName(strings.Join(strings.FieldsFunc(strings.ToLower(zone), unicodeSpace), " "))
	if seconds, ok := zones()[name]; ok {
		if summer {
			seconds += 3600
		}
		return seconds * nsPerSecond, true
	}
	if len(name) > 3 && (name[:3] == "gmt" || name[:3] == "utc") {
		name = name[3:]
	}
	if name == "" || name[0] != '+' && name[0] != '-' {
		return 0, false
	}
	ns, ok := numericZone(name[1:])
	if name[0] == '-' {
		ns = -ns
	}
	return ns, ok
}

func unicodeSpace(r rune) bool { return r < 128 && isSpace(byte(r)) }

// zoneName removes 'standard time', 'daylight time' or 'dst' from a name. It reports whether the name is for daylight
// saving time.
func zoneName(name string) (string, bool) {
	if short, ok := strings.CutSuffix(name, " standard time"); ok {
		return short, false
	}
	if short, ok := strings.CutSuffix(name, " daylight time"); ok {
		return short, true
	}
	return strings.CutSuffix(name, " dst")
}

// numericZone parses an offset without its sign: 1, 01, 0130, 01:30, 01:30:15, or hours with a fraction, as in 1.5 or
// 1,5.
func numericZone(text string) (int64, bool) {
	if i := strings.IndexAny(text, ":,."); i >= 0 && text[i] != ':' {
		return fractionalZone(text[:i], text[i+1:])
	} else if i >= 0 {
		return sumZone(strings.Split(text, ":"))
	}
	if len(text) <= 2 {
		return sumZone([]string{text})
	}
	parts := []string{text[:2-len(text)%2]}
	for text = text[len(parts[0]):]; text != "" && len(parts) < 3; text = text[2:] {
		parts = append(parts, text[:2])
	}
	return sumZone(parts)
}

// zoneDigits is the largest number of digits in the fraction of an offset. Puppet has no limit.
const zoneDigits = 9

// sumZone adds up hours, minutes and seconds. As in Ruby, they may exceed 59.
func sumZone(parts []string) (int64, bool) {
	var seconds int64
	factor := int64(3600)
	for _, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n > 1_000_000 {
			return 0, false
		}
		seconds += n * factor
		factor /= 60
	}
	return seconds * nsPerSecond, true
}

// fractionalZone returns the offset for a number of hours with a fraction, given as two texts of digits.
func fractionalZone(hours, fraction string) (int64, bool) {
	ns, ok := sumZone([]string{hours})
	n, err := strconv.ParseInt((fraction + strings.Repeat("0", zoneDigits))[:zoneDigits], 10, 64)
	return ns + n*3600, ok && err == nil && len(fraction) <= zoneDigits
}
