package diag

import (
	"encoding/json"
	"io"
)

// jsonPlace is the JSON form of a position, with the message of a diagnostic or a note.
type jsonPlace struct {
	File string `json:"file"`
	jsonRange
	Message string `json:"message,omitempty"`
}

type jsonRange struct {
	Line      int `json:"line,omitempty"`
	Column    int `json:"column,omitempty"`
	EndLine   int `json:"endLine,omitempty"`
	EndColumn int `json:"endColumn,omitempty"`
}

type jsonEdit struct {
	File string `json:"file"`
	jsonRange
	Text string `json:"text"`
}

func rangeOf(pos, end Pos) jsonRange { return jsonRange{pos.Line, pos.Col, end.Line, end.Col} }

type jsonDiagnostic struct {
	jsonPlace
	Severity string      `json:"severity"`
	Code     string      `json:"code"`
	Hint     string      `json:"hint,omitempty"`
	Notes    []jsonPlace `json:"notes,omitempty"`
	Edits    []jsonEdit  `json:"edits,omitempty"`
}

func renderJSON(w io.Writer, list []Diagnostic) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, d := range list {
		j := jsonDiagnostic{jsonPlace{d.Pos.File, rangeOf(d.Pos, d.End), d.Message},
			d.Severity.String(), string(d.Code), d.Hint, nil, nil}
		for _, n := range d.Notes {
			j.Notes = append(j.Notes, jsonPlace{n.Pos.File, rangeOf(n.Pos, Pos{}), n.Message})
		}
		for _, e := range d.Edits {
			j.Edits = append(j.Edits, jsonEdit{e.Pos.File, rangeOf(e.Pos, e.End), e.Text})
		}
		if err := e.Encode(j); err != nil {
			return err
		}
	}
	return nil
}
