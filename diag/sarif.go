package diag

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
)

// renderSARIF writes a log with one run in the Static Analysis Results Interchange Format, version 2.1.0.
func renderSARIF(w io.Writer, list []Diagnostic) error {
	type m = map[string]any
	location := func(p, end Pos, message string) m {
		l := m{"physicalLocation": m{"artifactLocation": artifact(p.File), "region": region(p, end)}}
		if message != "" {
			l["message"] = m{"text": message}
		}
		return l
	}
	results := []m{}
	for _, d := range list {
		level := map[Severity]string{Error: "error", Warning: "warning"}[d.Severity]
		if level == "" {
			level = "note"
		}
		text := d.Message
		if d.Hint != "" {
			text += " (hint: " + d.Hint + ")"
		}
		related := []m{}
		for _, n := range d.Notes {
			related = append(related, location(n.Pos, Pos{}, n.Message))
		}
		result := m{"ruleId": d.Code, "level": level, "message": m{"text": text},
			"locations": []m{location(d.Pos, d.End, "")}, "relatedLocations": related}
		if len(d.Edits) > 0 {
			result["fixes"] = []m{fixOf(d)}
		}
		results = append(results, result)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(m{"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"runs": []m{{"tool": m{"driver": m{"name": "bindc", "rules": rules(list)}},
			"columnKind": "unicodeCodePoints", "results": results}}})
}

func artifact(file string) map[string]any {
	uri := url.URL{Path: filepath.ToSlash(file)}
	return map[string]any{"uri": uri.String()}
}

// region returns SARIF's region for the text from p to end. If end is zero, the region has no end.
func region(p, end Pos) map[string]any {
	r := map[string]any{"startLine": max(p.Line, 1), "startColumn": max(p.Col, 1)}
	if end.Line > 0 {
		r["endLine"], r["endColumn"] = end.Line, end.Col
	}
	return r
}

func fixOf(d Diagnostic) map[string]any {
	type m = map[string]any
	var changes []m
	for _, e := range d.Edits {
		replacement := m{"deletedRegion": region(e.Pos, e.End), "insertedContent": m{"text": e.Text}}
		changes = append(changes, m{"artifactLocation": artifact(e.Pos.File), "replacements": []m{replacement}})
	}
	return m{"description": m{"text": d.Hint}, "artifactChanges": changes}
}

// rules returns SARIF's descriptions of the codes that occur in list.
func rules(list []Diagnostic) []map[string]any {
	out := []map[string]any{}
	for _, r := range catalogue {
		if !slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Code == r.Code }) {
			continue
		}
		text := r.Sentence
		if r.Section > 0 {
			text += " Rule: " + r.Source() + "."
		}
		out = append(out, map[string]any{"id": r.Code, "shortDescription": map[string]any{"text": r.Sentence},
			"fullDescription": map[string]any{"text": text}, "help": map[string]any{"text": r.Remedy}})
	}
	return out
}
