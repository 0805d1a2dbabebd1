package bindingsfile

import "strings"

// SplitTarget splits the name of a class, type or instance, such as ntp, Web, Web[one] or Web['a,
// b']. instance is "" for a class or type. SplitTarget returns false if the brackets are malformed
// or contain several instances. It does not check the name itself.
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

// joinTarget reverses SplitTarget. It quotes the instance if necessary. It returns false if neither
// kind of quotes works.
func joinTarget(name, instance string) (text string, ok bool) {
	for _, quote := range []string{"", "'", `"`} {
		text = name + "[" + quote + instance + quote + "]"
		if _, again, ok := SplitTarget(text); ok && again == instance {
			return text, true
		}
	}
	return "", false
}
