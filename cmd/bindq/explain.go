package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/report"
)

// explain prints why each key has its outcome.
func (f *lookupFlags) explain(w io.Writer, r *lookup.Request, keys []string) error {
	s := styleOf(f.showSensitive, f.render)
	var reports []*report.Explanation
	for _, key := range keys {
		e, err := s.Explain(r, key)
		if err != nil {
			return err
		}
		reports = append(reports, e)
	}
	if f.render != "s" {
		return printReports(w, f.render, keys, reports)
	}
	return onPage(w, func(p *report.Page) {
		for i, e := range reports {
			if i > 0 {
				fmt.Fprintln(p)
			}
			p.Explanation(e)
		}
	})
}

// all prints the outcomes of all bindings that are effective in the request, in order of precedence.
func (f *lookupFlags) all(w io.Writer, r *lookup.Request, keys []string) error {
	s := styleOf(f.showSensitive, f.render)
	outcomes := make([][]report.Outcome, len(keys))
	for i, key := range keys {
		var err error
		if outcomes[i], err = s.Outcomes(r, key); err != nil {
			return err
		}
	}
	if f.render != "s" {
		return printReports(w, f.render, keys, outcomes)
	}
	return onPage(w, func(p *report.Page) {
		for i, key := range keys {
			if len(keys) == 1 {
				key = ""
			}
			p.Outcomes(key, outcomes[i])
		}
	})
}

// onPage prints a page to w, in colour if w is a terminal.
func onPage(w io.Writer, draw func(p *report.Page)) error {
	f, ok := w.(*os.File)
	return report.Print(w, ok && cli.Color(f), draw)
}

// styleOf returns the style of values in reports with the given --render-as.
func styleOf(sensitive bool, render string) report.Style {
	forms := map[string]report.Form{"s": report.People, "yaml": report.YAML, "json": report.JSON}
	return report.Style{Sensitive: sensitive, Form: forms[render]}
}

// printReport prints a report as JSON or YAML.
func printReport(w io.Writer, render string, of any) error {
	return report.Write(w, render == "yaml", of)
}

// printReports prints the one report, or an object of those of several keys.
func printReports[T any](w io.Writer, render string, keys []string, reports []T) error {
	if len(keys) == 1 {
		return printReport(w, render, reports[0])
	}
	out := []byte{'{'}
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, report.Marshal(key)...), ':'), report.Marshal(reports[i])...)
	}
	return printReport(w, render, json.RawMessage(append(out, '}')))
}
