package bindingsfile

import "strings"

// SplitTarget takes apart how a class, a type or an instance is written as text: ntp, Web, Web[one], Web['a, b']. The
// name of the instance is "" where there is none. Not ok is what is none of these, several instances too.
func SplitTarget(text string) (name, instance string, ok bool) {
	name, instance, ok = strings.Cut(text, "[")
	if !ok {
		return name, "", true
	}
	if instance, ok = strings.CutSuffix(instance, "]"); !ok || instance == "" {
		return "", "", false
	}
	if quote := instance[:1]; quote == "'" || quote == `"` {
		instance, ok = strings.CutSuffix(instance[1:], quote)
		return name, instance, ok && instance != "" && !strings.Contains(instance, quote)
	}
	return name, instance, !strings.Contains(instance, ",")
}

// JoinTarget writes an instance as text, its name in quotes where it needs some. Not ok is one that has both kinds of
// them in a name that does.
func JoinTarget(name, instance string) (text string, ok bool) {
	for _, quote := range []string{"", "'", `"`} {
		text = name + "[" + quote + instance + quote + "]"
		if _, again, ok := SplitTarget(text); ok && again == instance {
			return text, true
		}
	}
	return "", false
}
