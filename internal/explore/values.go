package explore

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/report"
)

// maxShown is the number of bytes after which a page cuts off a value.
const maxShown = 4096

// maxLine is the number of bytes up to which a page shows a list or hash on one line.
const maxLine = 72

// shownValue is the result of a lookup, formatted for a page.
type shownValue struct {
	Kind string // value, computed, sensitive, missing or error
	Text string
	Cut  bool // Text is only the beginning of the value
	Tall bool // Text has several lines
}

func shown(o report.Outcome) shownValue { return shownText(described(o)) }

// described returns the kind of an outcome, as in shownValue.Kind, and its full text.
func described(o report.Outcome) (kind, text string) {
	switch {
	case o.Error != nil:
		return "error", o.Error.Message + " [" + string(o.Error.Code) + "]"
	case o.Found != nil:
		return "missing", "not found"
	case o.Computed != "":
		return "computed", o.Computed
	case o.Value == nil:
		return "sensitive", "sensitive"
	}
	return "value", string(o.Value)
}

// shownText formats a text: it cuts off long text and breaks lists and hashes into lines.
func shownText(kind, text string) shownValue {
	out := shownValue{Kind: kind, Text: text}
	if len(text) > maxShown {
		out.Text, out.Cut = text[:maxShown], true
		for !utf8.ValidString(out.Text) && len(out.Text) > maxShown-utf8.UTFMax {
			out.Text = out.Text[:len(out.Text)-1]
		}
	}
	out.Text = diag.Visible(out.Text)
	var lines bytes.Buffer
	if len(out.Text) > maxLine && !out.Cut && json.Indent(&lines, []byte(out.Text), "", "  ") == nil {
		out.Text = lines.String()
	}
	out.Tall = strings.Contains(out.Text, "\n")
	return out
}

// short returns text, cut off after the given number of runes.
func short(text string, runes int) string {
	text = diag.Visible(text)
	if utf8.RuneCountInString(text) <= runes {
		return text
	}
	return string([]rune(text)[:runes-1]) + "…"
}
