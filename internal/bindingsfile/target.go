package bindingsfile

import "strings"

// SplitTarget splits a class, a type or an instance: ntp, Web, Web[one], Web['a, b']. It does not check the name.
// instance is "" for a class or a type. ok is false for malformed brackets and for several instances.
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

// joinTarget is the reverse of SplitTarget. It puts the instance in quotes if necessary. ok is false if the instance
// needs quotes but contains both kinds.
func joinTarget(name, instance string) (text string, ok bool) {
	for _, quote := range []string{"", "'", `"`} {
		text = name + "[" + quote + instance + quote + "]"
		if _, again, ok := SplitTarget(text); ok && again == instance {
			return text, true
		}
	}
	return "", false
}
