package rich

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

const qualifiers = `([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)`

var (
	semVer = pattern.Lazy(`\A((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:-` + qualifiers + `)?(?:\+` +
		qualifiers + `)?\n?\z`)
	qualifier = pattern.Lazy(`\A` + qualifiers + `\n?\z`)
)

// newSemVer makes a version from a string, a hash, or the version's parts as separate arguments.
func newSemVer(args []value.Value) (string, error) {
	if len(args) == 1 && args[0].Kind() == value.String {
		return parseSemVer(args[0].Text())
	}
	parts := args
	if len(args) == 1 && args[0].Kind() == value.Hash {
		var err error
		if parts, err = semVerParts(args[0]); err != nil {
			return "", err
		}
	}
	if len(parts) < 3 || len(parts) > 5 {
		return "", errArguments
	}
	var b strings.Builder
	for i, v := range parts {
		switch {
		case i < 3 && isVersionNumber(v):
			b.WriteString([]string{"", ".", "."}[i] + strconv.FormatInt(v.Int(), 10))
		case i >= 3 && isQualifier(v):
			b.WriteString([]string{"-", "+"}[i-3] + v.Text())
		case i < 3 || !v.IsUndef() || args[0].Kind() != value.Hash:
			return "", errArguments
		}
	}
	return b.String(), nil
}

func parseSemVer(text string) (string, error) {
	m := semVer().FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("'%s' is not a version: expected MAJOR.MINOR.PATCH, such as 1.2.3 or 1.2.3-rc1",
			shortened(text))
	}
	for part := range strings.SplitSeq(m[2], ".") {
		if len(part) > 1 && part[0] == '0' && strings.Trim(part, "0123456789") == "" {
			return "", errors.New("a number in the pre-release must not begin with 0")
		}
	}
	return strings.TrimSuffix(text, "\n"), nil
}

func isVersionNumber(v value.Value) bool { return v.Kind() == value.Int && v.Int() >= 0 }

func isQualifier(v value.Value) bool {
	return v.Kind() == value.String && qualifier().MatchString(v.Text())
}

// semVerParts returns the five parts of a version in a hash. Missing parts are undef.
func semVerParts(v value.Value) ([]value.Value, error) {
	names := []string{"major", "minor", "patch", "prerelease", "build"}
	allowed := map[string]func(value.Value) bool{"prerelease": isQualifier, "build": isQualifier}
	for _, name := range names[:3] {
		allowed[name] = isVersionNumber
	}
	found, ok := fields(v, "major", allowed)
	if !ok {
		return nil, errArguments
	}
	parts := make([]value.Value, len(names))
	for i, name := range names {
		parts[i] = found[name]
	}
	return parts, nil
}

func shortened(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
