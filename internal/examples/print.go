package examples

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
)

// Formats lists the names of the formats that Print supports.
var Formats = []string{"text", "junit", "tap", "json"}

func Failed(results []Result) (n int) {
	for _, r := range results {
		if len(r.Failures) > 0 {
			n++
		}
	}
	return n
}

// Print writes results in the given format, one of Formats.
func Print(w io.Writer, format string, results []Result) error {
	switch format {
	case "junit":
		return printJUnit(w, results)
	case "tap":
		return printTAP(w, results)
	case "json":
		return report.Write(w, false, struct {
			Tests []Result `json:"tests"`
		}{results})
	}
	return printText(w, results)
}

func printText(w io.Writer, results []Result) error {
	var b strings.Builder
	for _, r := range results {
		if r.Updated != "" {
			fmt.Fprintf(&b, "%s: written for '%s'\n", diag.Visible(r.Updated), diag.Visible(r.Name))
		}
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "%s: note: '%s': %s\n", diag.Visible(r.At), diag.Visible(r.Name), diag.Visible(note))
		}
		for _, f := range r.Failures {
			fmt.Fprintf(&b, "%s: '%s' fails: %s\n", diag.Visible(f.At), diag.Visible(r.Name), diag.Visible(f.subject()))
			b.WriteString(indented(f.Explanation, "    "))
		}
	}
	fmt.Fprintf(&b, "%s, %d failed\n", diag.Count(len(results), "test"), Failed(results))
	_, err := io.WriteString(w, b.String())
	return err
}

// subject returns the message after the key, as in "KEY: MESSAGE".
func (f *Failure) subject() string {
	if f.Key == "" {
		return f.Message
	}
	return f.Key + ": " + f.Message
}

// indented inserts by before each line of text that is not empty.
func indented(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// printTAP writes results as TAP version 13.
func printTAP(w io.Writer, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 13\n1..%d\n", len(results))
	for i, r := range results {
		state := "ok"
		if len(r.Failures) > 0 {
			state = "not ok"
		}
		fmt.Fprintf(&b, "%s %d - %s\n", state, i+1, strings.ReplaceAll(diag.Visible(r.Name), "#", "\\#"))
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "# note: %s\n", diag.Visible(note))
		}
		for _, f := range r.Failures {
			b.WriteString(indented(f.At+": "+f.subject()+"\n"+f.Explanation, "# "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// suite is the root element of a JUnit report.
type suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Cases    []caseOf `xml:"testcase"`
}

type caseOf struct {
	Name      string    `xml:"name,attr"`
	ClassName string    `xml:"classname,attr"`
	Failures  []failure `xml:"failure"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// printJUnit writes results as JUnit XML, which most CI systems can read.
func printJUnit(w io.Writer, results []Result) error {
	out := suite{Name: "bindc test", Tests: len(results), Failures: Failed(results)}
	for _, r := range results {
		c := caseOf{Name: diag.Visible(r.Name), ClassName: diag.ParsePos(r.At).File}
		for _, f := range r.Failures {
			c.Failures = append(c.Failures, failure{diag.Visible(f.subject()), f.At + "\n" + f.Explanation})
		}
		out.Cases = append(out.Cases, c)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
