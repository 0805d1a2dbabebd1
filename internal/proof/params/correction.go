package params

import (
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// isWritten reports whether a file contains the refused value as a whole, so that it can be corrected there. It returns
// false for parts of values and for results of lookups.
func (p *prover) isWritten(s *suspect, e *lookup.Explanation, at diag.Pos, m *types.Mismatch) bool {
	b, known := s.places[at]
	return known && !s.merged && e.Options == nil && len(m.Path) == 0 &&
		p.site.Values[b.value][0] == recipe.CompiledConstant
}

// correction returns the edit that makes the scalar v fit, if the hint about m suggests one. v must not be sensitive.
func correction(m *types.Mismatch, v lookup.Value) diag.Fix {
	whole, err := v.Whole()
	if err != nil {
		return diag.Fix{}
	}
	text := whole.Text() // "" unless the value is a string
	switch kind := m.Expected.Kind(); {
	case kind == types.Integer && m.Found == "String" && isNumber(v, nil):
		return diag.Fix{Old: text, New: text, Value: true}
	case kind == types.Boolean && m.Found == "String":
		if meant := truth[similarTruth(text)]; meant != "" {
			return diag.Fix{Old: text, New: meant, Value: true}
		}
	case whole.Kind() == value.String && m.Expected.Choices() != nil:
		return quoted(text, diag.Correct(text, m.Expected.Choices()).New)
	case kind == types.String && whole.Kind() == value.Int:
		number := strconv.FormatInt(whole.Int(), 10)
		return diag.Fix{Old: number, New: "'" + number + "'", Value: true}
	}
	return diag.Fix{}
}

// truth maps YAML 1.1 words for booleans to true and false.
var truth = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false",
	"off": "false"}

// similarTruth returns the boolean word that equals or resembles text, or "".
func similarTruth(text string) string {
	lower := strings.ToLower(text)
	if truth[lower] != "" {
		return lower
	}
	words := []string{"true", "false", "yes", "no", "on", "off"}
	return diag.Correct(lower, words).New
}

// quoted returns the edit that replaces old by text in quotes. It returns no edit if text is empty or not safe in
// quotes.
func quoted(old, text string) diag.Fix {
	isOdd := func(r rune) bool { return r < ' ' || strings.ContainsRune("'%$", r) }
	if text == "" || strings.ContainsFunc(text, isOdd) {
		return diag.Fix{}
	}
	return diag.Fix{Old: old, New: "'" + text + "'", Value: true}
}
