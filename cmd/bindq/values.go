package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/decision"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// tableFlags are the flags of the verbs that show decision tables.
type tableFlags struct {
	source
	render        string
	showSensitive bool
}

func (f *tableFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.render, "render-as", "s", "`FORM` to print the answer in: s for text, json, yaml")
	cli.Words(cmd, "render-as", renderings)
	f.completeKeys(cmd, 1)
	cmd.Flags().BoolVar(&f.showSensitive, "show-sensitive", false, "show sensitive values")
}

// table hands on the decision table of a key. The error is errNotFound where there is none.
func (f *tableFlags) table(cmd *cobra.Command, key string, do func(*decision.Table) error) error {
	if err := checkRendering(f.render); err != nil {
		return err
	}
	path, err := f.path()
	if err != nil {
		return err
	}
	return f.trust.report(path, func(file *snapshot.Snapshot) error {
		book, err := f.book(file, false)
		if err != nil {
			return err
		}
		table, err := book.Values(key)
		if err != nil {
			return err
		}
		if len(table.Rows) == 0 || recipe.IsInternal(key) {
			return unbound(cmd, file, key)
		}
		return do(table)
	})
}

// unbound says that nothing binds key.
func unbound(cmd *cobra.Command, file *snapshot.Snapshot, key string) error {
	text := key + ": nothing binds this key"
	if hint := diag.DidYouMean(key, slices.Collect(file.Keys())); hint != "" {
		text += "; " + hint
	}
	say(cmd, text)
	return errNotFound
}

func valuesCommand() *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "values KEY",
		Short: "Show who gets which value of a key, and where it is written",
		Long: "values prints all bindings of a key in order of precedence: a node gets the\n" +
			"value of the first whose condition holds for it.\n\n" +
			"Exit status: 0 the key is bound, 1 it is not, 2 an error.",
		Example: "  bindq values ntp::package -s site.bsnap",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.table(cmd, args[0], func(t *decision.Table) error {
				return f.values(cmd.OutOrStdout(), args[0], t)
			})
		},
	}
	f.addSnapshot(cmd)
	f.addIdentity(cmd)
	f.add(cmd)
	return cmd
}

type valuesShape struct {
	Key           string           `json:"key"`
	Options       json.RawMessage  `json:"lookup_options,omitempty"`
	Bindings      []candidateShape `json:"bindings"`
	Contributions []candidateShape `json:"contributions,omitempty"`
}

func (f *tableFlags) values(out io.Writer, key string, t *decision.Table) error {
	s := shower{f.showSensitive, formOf(f.render)}
	shape := valuesShape{key, options(t, s.form), s.rows(t.Rows), s.rows(t.Contributions)}
	if f.render != "s" {
		return printShape(out, f.render, shape)
	}
	return onPage(out, func(p *page) {
		fmt.Fprintln(p, p.paint(bold, key))
		p.options(t)
		p.rows(shape.Bindings)
		if len(shape.Contributions) > 0 {
			fmt.Fprintf(p, "\n%s\n", p.paint(bold, "contributions to "+key))
			p.rows(shape.Contributions)
		}
	})
}

// options is what lookup_options say, or true where that depends on the request; nil where they say nothing.
func options(t *decision.Table, f form) json.RawMessage {
	switch {
	case !t.Touched:
		return nil
	case t.Options.IsUndef():
		return json.RawMessage("true")
	}
	return appendForm(nil, t.Options, f) // the keys of options are strings, so their texts differ
}

// options says what lookup_options say, and so whether it is the first row that counts.
func (p *page) options(t *decision.Table) {
	text := "lookup_options: " + string(value.AppendJSON(nil, t.Options))
	switch {
	case !t.Touched:
		return
	case t.Options.IsUndef():
		text = "lookup_options depend on the node: all that hold for it may count"
	case t.Merged:
		text += ", so all count that hold for a node"
	}
	p.wrapped(2, yellow, strings.Fields(text))
}

// rows is a table of conditions, values and places.
func (p *page) rows(rows []candidateShape) {
	for i := range rows {
		r := &rows[i]
		p.wrapped(2, "", condition(r.Name, r.When, "always"))
		p.line(6, p.outcomeStyle(r.Outcome), "= "+r.Outcome.text())
		fmt.Fprint(p, "      ")
		p.place(6, r.At, r.Layer)
	}
}

func (p *page) outcomeStyle(o outcome) string {
	if o.Error != nil {
		return red
	}
	return green
}

func whyNotCommand() *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "why-not KEY VALUE",
		Short: "Say for whom a value would win, and what hides it",
		Long: "why-not finds the bindings of a key to a value, JSON or else text, and says for\n" +
			"whom each would win and which others hide it; of a multibinding also what is\n" +
			"contributed. With facts it also says what became of them for that node.\n\n" +
			"Exit status: 0 something binds the key to the value, 1 nothing does, 2 an error.",
		Example: "  bindq why-not ntp::package ntp -s site.bsnap --facts web1.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.table(cmd, args[0], func(t *decision.Table) error {
				return f.forNode(cmd, args[0], func(e *lookup.Explanation) error {
					return f.whyNot(cmd.OutOrStdout(), args[0], args[1], t, e)
				})
			})
		},
	}
	f.addRequest(cmd)
	f.add(cmd)
	return cmd
}

// boundShape is a binding of a key to the value that was asked for.
type boundShape struct {
	candidateShape
	HiddenBy []candidateShape `json:"hidden_by"`
	Never    bool             `json:"never,omitempty"` // one of them hides it for all
}

type whyNotShape struct {
	Key      string           `json:"key"`
	Value    json.RawMessage  `json:"value"`
	Options  json.RawMessage  `json:"lookup_options,omitempty"`
	Bindings []boundShape     `json:"bindings"`
	Parts    []candidateShape `json:"contributions,omitempty"` // that are the value
	Outcome  *outcome         `json:"outcome,omitempty"`       // for the node, where there are facts
	Computed []candidateShape `json:"computed,omitempty"`      // where there are none
}

// whyNot prints which rows of a table bind its key to a value, and which parts contribute it; e is what became of them
// for the node, if there are facts.
func (f *tableFlags) whyNot(out io.Writer, key, text string, t *decision.Table, e *lookup.Explanation) error {
	s, rows := shower{f.showSensitive, formOf(f.render)}, t.Rows
	want, err := defaultValue(text).MarshalJSON()
	if err != nil {
		return err
	}
	shape := whyNotShape{Key: key, Value: want, Options: options(t, s.form), Bindings: []boundShape{}}
	var cs []lookup.Candidate
	if e != nil {
		of := s.outcome(e.Outcome)
		cs, shape.Outcome = e.Candidates, &of
	}
	shape.Parts = s.contributing(key, t.Contributions, e, text)
	for i := range rows {
		var found *lookup.Candidate
		if i < len(cs) {
			found = &cs[i]
		}
		switch {
		case has(&rows[i], found, text):
			shape.Bindings = append(shape.Bindings, s.bound(t, i, found))
		case rows[i].Computed != "" && found == nil:
			shape.Computed = append(shape.Computed, s.rows(rows[i:i+1])...)
		}
	}
	shape.Bindings = oncePer(shape.Bindings, func(b *boundShape) *candidateShape { return &b.candidateShape })
	shape.Computed = once(shape.Computed)
	if f.render != "s" {
		err = printShape(out, f.render, shape)
	} else {
		err = onPage(out, func(p *page) { p.whyNot(&shape, text, t.Merged) })
	}
	if err == nil && len(shape.Bindings)+len(shape.Parts) == 0 {
		err = errNotFound
	}
	return err
}

// contributing are the contributions to key that are the value which text is, or say something of the class of that
// name, and what became of them for the node, if there is one.
func (s shower) contributing(key string, parts []decision.Row, e *lookup.Explanation,
	text string) (out []candidateShape) {
	for i := range parts {
		var found *lookup.Candidate
		if e != nil && len(e.Contributions) == len(parts) {
			found = &e.Contributions[i]
		}
		if !has(&parts[i], found, text) && (key != recipe.ClassesKey || parts[i].Name != text) {
			continue
		}
		c := s.rows(parts[i : i+1])[0]
		if found != nil {
			c.State, c.Why = found.State, found.Why
		}
		out = append(out, c)
	}
	return out
}

// forNode hands on what becomes of the bindings of key for the node of the flags, if they give any.
func (f *tableFlags) forNode(cmd *cobra.Command, key string, do func(*lookup.Explanation) error) error {
	if !f.hasFacts() {
		return do(nil)
	}
	return f.request(cmd, func(_ *lookup.Snapshot, r *lookup.Request) error {
		if err := f.doubt(cmd, r, []string{key}, nil); err != nil {
			return err
		}
		e, err := r.Explain(key)
		if err != nil {
			return err
		}
		return do(e)
	})
}

// has tells whether a row binds its key to the value that text is, as JSON or as it stands: for the node, if there is
// one.
func has(r *decision.Row, c *lookup.Candidate, text string) bool {
	if c == nil || r.Computed == "" && !r.Sealed {
		want, _ := defaultValue(text).MarshalJSON() // of what was parsed
		if r.Computed != "" || r.Abstract || r.Erased || r.Sealed {
			return false
		}
		return r.Value.Kind() == value.String && r.Value.Text() == text ||
			string(value.AppendJSON(nil, r.Value)) == string(want)
	}
	v := bindings.Value(c.Outcome.Value.Reveal())
	got, err := v.MarshalJSON()
	want, _ := defaultValue(text).MarshalJSON()
	same := string(got) == string(want) || v.Kind() == bindings.String && v.String() == text
	return err == nil && c.Outcome.Found && same
}

// bound is a row and the higher ones that can be effective where it is, and hide it. What is merged hides nothing.
func (s shower) bound(t *decision.Table, i int, c *lookup.Candidate) boundShape {
	rows := t.Rows
	out := boundShape{candidateShape: s.rows(rows[i : i+1])[0], HiddenBy: []candidateShape{}}
	if c != nil {
		out.State, out.Why = c.State, c.Why
	}
	for k := range rows[:i] {
		higher := s.rows(rows[k : k+1])
		if t.Merged || !rows[k].Meets(&rows[i]) || higher[0].id() == out.id() {
			continue
		}
		out.HiddenBy = append(out.HiddenBy, higher...)
		if rows[k].Covers(&rows[i]) && !rows[k].Declines {
			out.Never = true
			out.HiddenBy = out.HiddenBy[len(out.HiddenBy)-1:]
			break
		}
	}
	out.HiddenBy = once(out.HiddenBy)
	return out
}

// unmatched says that no value of the key is text, and shows the values that only a request can decide.
func (p *page) unmatched(w *whyNotShape, text string) {
	if len(w.Computed) == 0 {
		p.line(0, yellow, "Nothing binds "+w.Key+" to "+text+".")
		return
	}
	p.line(0, yellow, "No constant value of "+w.Key+" is "+text+".")
	p.line(0, "", "These are computed or encrypted (--facts, --node and --eyaml-key show them):")
	p.rows(w.Computed)
}

func (p *page) whyNot(w *whyNotShape, text string, merged bool) {
	if w.Outcome != nil {
		const intro, is = "For this node ", " = "
		left := room(len(intro) + columns(w.Key) + len(is))
		fmt.Fprint(p, intro, p.paint(bold, w.Key), is, p.paint("", fitted(w.Outcome.text(), left)), "\n")
	}
	if len(w.Bindings)+len(w.Parts) == 0 {
		p.unmatched(w, text)
	}
	for i := range w.Bindings {
		b := &w.Bindings[i]
		if i > 0 || w.Outcome != nil {
			fmt.Fprintln(p)
		}
		p.bound(b, merged)
	}
	for i := range w.Parts {
		if i > 0 || len(w.Bindings) > 0 || w.Outcome != nil {
			fmt.Fprintln(p)
		}
		p.contributed(&w.Parts[i])
	}
}

// contributed is a contribution that is the value asked about.
func (p *page) contributed(c *candidateShape) {
	p.place(0, c.At, c.Layer)
	p.line(2, "", "= "+c.Outcome.text())
	p.became(c, "is collected")
	words := []string{"contributes"}
	if c.Name != "" {
		words = append(words, "as", c.Name)
	}
	intro := strings.Join(append(words, "for", "all"), " ")
	if len(c.When) > 0 {
		intro = strings.Join(append(words, "when"), " ")
	}
	p.wrapped(2, green, conditionWords(intro, c.When))
}

// became says what became of a candidate for the node, if there is one.
func (p *page) became(c *candidateShape, wins string) {
	if c.State == "" {
		return
	}
	said := []string{"for this node it " + map[string]string{lookup.Wins: wins, lookup.Hidden: "is",
		lookup.Merged: "is one of those that make the value", lookup.NotEffective: "is not effective:",
		lookup.Declined: "declines:", lookup.Renames: "gives a name:"}[c.State]}
	p.wrapped(2, stateStyles[c.State], append(said, strings.Fields(c.Why)...))
}

func (p *page) bound(b *boundShape, merged bool) {
	p.place(0, b.At, b.Layer)
	p.line(2, "", "= "+b.Outcome.text())
	p.became(&b.candidateShape, "wins")
	switch {
	case b.Never:
		p.line(2, yellow, "never wins; this is higher, and holds wherever it does:")
	case merged && len(b.When) == 0:
		p.line(2, green, "takes part for all")
	case merged:
		p.wrapped(2, green, conditionWords("takes part when", b.When))
	case len(b.When) == 0:
		p.line(2, green, "wins for all")
	default:
		p.wrapped(2, green, conditionWords("wins when", b.When))
	}
	if len(b.HiddenBy) > 0 && !b.Never {
		p.line(2, yellow, "but is hidden by these where they hold:")
	}
	for i := range b.HiddenBy {
		if i == shownRows {
			p.line(4, dim, fmt.Sprintf("and %d more (--render-as json has all)", len(b.HiddenBy)-shownRows))
			return
		}
		h := &b.HiddenBy[i]
		p.wrapped(4, "", condition("", h.When, "always"))
		p.line(8, "", "= "+h.Outcome.text())
		fmt.Fprint(p, "        ")
		p.place(8, h.At, h.Layer)
	}
}
