package report

import (
	"errors"
	"os"
	"strings"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/origin"
	bindings "bindc/runtime"
)

// CodeRefused is the code that CodeOf returns for an *origin.Rejection.
const CodeRefused bindings.Code = "snapshot_refused"

// CodeOf returns the error's stable code, or "" if it has none.
func CodeOf(err error) bindings.Code {
	var coded *bindings.Error
	var refusal *origin.Rejection
	var external *cli.External
	var link *os.LinkError
	code := lookup.CodeOf(err)
	switch {
	case errors.As(err, &coded):
		return code
	case errors.As(err, &refusal):
		return CodeRefused
	case code == bindings.CodeUsage && (errors.As(err, &external) || errors.As(err, &link)):
		return ""
	}
	return code
}

// Message formats an error as the programs print it: "KEY: message [code]". It escapes control characters.
func Message(err error, code bindings.Code) string {
	text := err.Error()
	var e *bindings.Error
	if errors.As(err, &e) && e.Key != "" {
		text = e.Key + ": " + strings.TrimPrefix(text, "'"+e.Key+"': ")
	}
	if code != "" {
		text += " [" + string(code) + "]"
	}
	return diag.Visible(text)
}
