package rich

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// zoneList has a line for each difference to UTC in seconds, with the names that Ruby's Date knows for it.
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

// zoneDifference returns the difference of a time zone to UTC in nanoseconds, as Ruby reads what %z has found.
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

// zoneName takes 'standard time', 'daylight time' and 'dst' off a name.
func zoneName(name string) (string, bool) {
	if short, ok := strings.CutSuffix(name, " standard time"); ok {
		return short, false
	}
	if short, ok := strings.CutSuffix(name, " daylight time"); ok {
		return short, true
	}
	return strings.CutSuffix(name, " dst")
}

// numericZone reads 1, 01, 0130, 01:30, 01:30:15 and, in hours, 1.5 or 1,5.
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

// zoneDigits is how many digits a fraction of the hours of a time zone may have. Puppet reads more.
const zoneDigits = 9

// sumZone adds up hours, minutes and seconds. They have no limits in Ruby.
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

// fractionalZone reads hours with a fraction.
func fractionalZone(hours, fraction string) (int64, bool) {
	ns, ok := sumZone([]string{hours})
	n, err := strconv.ParseInt((fraction + strings.Repeat("0", zoneDigits))[:zoneDigits], 10, 64)
	return ns + n*3600, ok && err == nil && len(fraction) <= zoneDigits
}
