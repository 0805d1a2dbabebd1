package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"bindc/internal/decision"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

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
