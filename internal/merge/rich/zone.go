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
	if i := strings.IndexAny(text, ",."); i >= 0 && !strings.Contains(text[:i], ":") {
		return fractionalZone(text[:i], text[i+1:])
	}
	if strings.Contains(text, ":") {
		return colonZone(strings.Split(text, ":"))
	}
	if len(text) <= 2 {
		n, err := strconv.ParseInt(text, 10, 64)
		return n * 3600 * nsPerSecond, err == nil
	}
	var seconds int64
	width, factor := 2-len(text)%2, int64(3600)
	for ; factor > 0 && text != ""; factor /= 60 {
		n, err := strconv.ParseInt(text[:width], 10, 64)
		if err != nil {
			return 0, false
		}
		seconds += n * factor
		text, width = text[width:], 2
	}
	return seconds * nsPerSecond, true
}

func colonZone(parts []string) (int64, bool) {
	var seconds int64
	limit, factor := int64(23), int64(3600)
	for _, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n > limit {
			return 0, false
		}
		seconds += n * factor
		limit, factor = 59, factor/60
	}
	return seconds * nsPerSecond, true
}

// fractionalZone reads hours with a fraction, of which seven digits count. The last is rounded half to even.
func fractionalZone(hours, fraction string) (int64, bool) {
	const most = 7
	h, err := strconv.ParseInt(hours, 10, 64)
	if err != nil || h > 23 {
		return 0, false
	}
	next := byte('0')
	if len(fraction) > most {
		next, fraction = fraction[most], fraction[:most]
	}
	n, err := strconv.ParseInt(fraction, 10, 64)
	if err != nil {
		return 0, false
	}
	if next > '5' || next == '5' && n%2 == 1 {
		n++
	}
	for range most - len(fraction) {
		n *= 10
	}
	return h*3600*nsPerSecond + n*360_000, true
}
