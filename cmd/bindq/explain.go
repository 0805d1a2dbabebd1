package main

import (
	"encoding/json"
	"fmt"
	"io"

	"bindc/internal/lookup"
	"bindc/internal/report"
)

// explain prints, for each key, which binding wins and why.
func (f *lookupFlags) explain(w io.Writer, r *lookup.Request, keys []string) error {
	s := styleOf(f.showSensitive, f.format)
	explain := s.Explain
	if f.format == "text" && !f.every {
		explain = s.ExplainForPage
	}
	var reports []*report.Explanation
	for _, key := range keys {
		e, err := explain(r, key)
		if err != nil {
			return err
		}
		reports = append(reports, e)
	}
	if f.format != "text" {
		return printReports(w, f.output, keys, reports)
	}
	return onPage(w, func(p *report.Page) {
		p.All = f.every
		for i, e := range reports {
			if i > 0 {
				fmt.Fprintln(p)
			}
			p.Explanation(e)
		}
	})
}

// printAll prints the values of all bindings that apply to the request, highest precedence first.
func (f *lookupFlags) printAll(w io.Writer, r *lookup.Request, keys []string) error {
	s := styleOf(f.showSensitive, f.format)
	outcomes := make([][]report.Outcome, len(keys))
	for i, key := range keys {
		var err error
		if outcomes[i], err = s.Outcomes(r, key); err != nil {
			return err
		}
	}
	if f.format != "text" {
		return printReports(w, f.output, keys, outcomes)
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

// onPage prints the page that draw writes. Its colors and width suit w.
func onPage(w io.Writer, draw func(p *report.Page)) error {
	return report.Print(w, report.ScreenOf(w), draw)
}

func styleOf(sensitive bool, format string) report.Style {
	return report.Style{Sensitive: sensitive, Form: report.FormOf(format)}
}

// printReport prints v as YAML if format is "yaml", and as JSON otherwise.
func printReport(w io.Writer, format string, v any) error {
	return report.Write(w, format == "yaml", v)
}

// printReports prints a hash that maps keys to reports. If o.bare is set, a single report is printed without the hash.
func printReports[T any](w io.Writer, o output, keys []string, reports []T) error {
	if o.bare && len(keys) == 1 {
		return printReport(w, o.format, reports[0])
	}
	out := []byte{'{'}
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, report.Marshal(key)...), ':'), report.Marshal(reports[i])...)
	}
	return printReport(w, o.format, json.RawMessage(append(out, '}')))
}
