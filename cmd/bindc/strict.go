package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
)

// strictness selects the warnings to treat as errors. It is a pflag.Value for --strict.
type strictness struct {
	all   bool
	codes []diag.Code
}

func (s *strictness) add(cmd *cobra.Command) {
	cmd.Flags().Var(s, "strict", "treat warnings as errors: all, or only those with `CODES`")
	cmd.Flags().Lookup("strict").NoOptDefVal = allCodes
	words := []string{allCodes}
	for _, rule := range diag.Catalogue() {
		words = append(words, string(rule.Code))
	}
	cli.Words(cmd, "strict", words)
}

// Set adds the codes in text, a comma-separated list. "all" and "true" select all codes, and "false" selects none.
func (s *strictness) Set(text string) error {
	switch text {
	case allCodes, "true":
		s.all = true
		return nil
	case "false":
		*s = strictness{}
		return nil
	}
	for _, code := range strings.Split(text, ",") {
		rule, err := diag.Find(code)
		if err != nil {
			return err
		}
		s.codes = append(s.codes, rule.Code)
	}
	return nil
}

// String returns the selected codes, separated by commas.
func (s *strictness) String() string {
	if s.all {
		return allCodes
	}
	var out []string
	for _, code := range s.codes {
		out = append(out, string(code))
	}
	return strings.Join(out, ",")
}

// Type returns the placeholder for the value in the help.
func (s *strictness) Type() string { return "CODES" }

func (s *strictness) includes(code diag.Code) bool { return s.all || slices.Contains(s.codes, code) }

// refuses reports whether d is a warning that --strict treats as an error.
func (s *strictness) refuses(d diag.Diagnostic) bool {
	return d.Severity == diag.Warning && s.includes(d.Code)
}
