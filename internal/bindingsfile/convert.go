// Package convert says a set of bindings in the other syntax: one in YAML in that of Puppet, and back. What it makes is
// read again and has to mean the same.
package bindingsfile

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/layout"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// File is the set in src in the other syntax than that of the file. It is false when it cannot be read, or cannot be
// said there: that is in diags then. Comments are with the bindings they were with. The set may have any of names by
// its path, the first of which is the whole one, that YAML wants.
func Convert(file string, src []byte, names []string, diags *diag.List) ([]byte, bool) {
	toYAML := strings.HasSuffix(file, ".pp")
	s := parseAndRead(file, src, toYAML, diags)
	if diags.Failed() {
		return nil, false
	}
	if s.Name == nil || s.Name.Value.Kind() != value.String {
		diags.Errorf(s.Pos, "bindings", "expected 'name', which the bindings have in the other syntax too")
		return nil, false
	}
	name := s.Name.Value.Text()
	if toYAML && slices.Contains(names, name) {
		name = names[0]
	}
	if out, err := inOther(s, name, remarksOf(src, s, toYAML), toYAML); err == nil {
		return formatted(out, !toYAML), true
	}
	if !reportRefused(s.Statements, toYAML, diags) {
		diags.Add(diag.Diagnostic{Pos: s.Pos, Code: "convert", Message: errOther.Error()})
	}
	return nil, false
}

var errOther = errors.New("this cannot be said in the other syntax")

// said is a set in the other syntax, if what is read there is the same.
func inOther(s *Set, name string, remarks Remarks, toYAML bool) ([]byte, error) {
	out, err := write(s, name, remarks, toYAML)
	if err != nil {
		return nil, err
	}
	var own diag.List
	if again := parseAndRead("", out, !toYAML, &own); own.Failed() || canonical(again) != canonical(s) {
		return nil, errOther
	}
	return out, nil
}

// refused reports the statements that cannot be said in the other syntax, each by itself, and whether there are any.
func reportRefused(list []Statement, toYAML bool, diags *diag.List) (any bool) {
	for _, s := range list {
		_, err := inOther(&Set{Statements: []Statement{s}}, "set", Remarks{}, toYAML)
		if err == nil {
			continue
		}
		any = true
		if w, ok := s.(*When); ok && reportRefused(w.Statements, toYAML, diags) {
			continue
		}
		diags.Add(diag.Diagnostic{Pos: At(s), Code: "convert", Message: err.Error()})
	}
	return any
}

// read is the set in src, nil if there is none: then that has failed.
func parseAndRead(file string, src []byte, puppet bool, diags *diag.List) *Set {
	if puppet {
		if p := ParsePuppet(file, src, diags); p != nil {
			return p.Read(nil, diags)
		}
		return nil
	}
	parse := yaml.Parse
	if strings.HasSuffix(file, ".json") {
		parse = yaml.ParseJSON
	}
	doc, ok := parse(file, src, yaml.Options{}, diags)
	if !ok {
		return nil
	}
	return YAML{Document: doc}.Read(nil, diags)
}

func write(s *Set, name string, remarks Remarks, toYAML bool) ([]byte, error) {
	if toYAML {
		return ToYAML(s, name, remarks)
	}
	b, err := ToPuppet(s, name, remarks)
	if err != nil {
		return nil, err
	}
	return []byte(syntax.PrintBindings(b)), nil
}

// laid is src laid out, if that is possible: of YAML some is not.
func formatted(src []byte, puppet bool) []byte {
	lay := layout.YAML
	if puppet {
		lay = layout.Puppet
	}
	var own diag.List
	if out, ok := lay("", src, &own); ok {
		return out
	}
	return src
}

// canonical is what a set says, in one way. It can be said so: it was, or is to be.
func canonical(s *Set) string {
	b, _ := ToPuppet(s, "", Remarks{})
	return syntax.PrintBindings(b)
}

// remarksOf is the comments of src with the statements they are about.
func remarksOf(src []byte, s *Set, puppet bool) Remarks {
	read := layout.YAMLComments
	if puppet {
		read = layout.PuppetComments
	}
	comments, _ := read(src)
	r := remarks{lines: strings.Split(string(src), "\n"), alone: map[int]bool{},
		Remarks: Remarks{Above: map[diag.Pos][]string{}, Beside: map[diag.Pos]string{}}}
	r.places(s.Statements)
	slices.SortFunc(r.at, func(a, b diag.Pos) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	for i, at := range r.at { // an empty line above is that of the first statement of a line
		if i > 0 && r.at[i-1].Line < at.Line && strings.TrimSpace(r.lines[at.Line-2]) == "" {
			r.Above[at] = []string{""}
		}
	}
	for _, c := range comments {
		begins := slices.ContainsFunc(r.at, func(p diag.Pos) bool { return p.Line == c.Line })
		r.alone[c.Line] = r.alone[c.Line] || c.Alone && !begins
	}
	for _, c := range comments {
		r.add(c)
	}
	return r.Remarks
}

// remarks deals comments out to statements.
type remarks struct {
	Remarks
	lines []string
	at    []diag.Pos   // of all statements, in order
	alone map[int]bool // the lines with nothing but a comment
}

func (r *remarks) places(list []Statement) {
	for _, s := range list {
		r.at = append(r.at, At(s))
		if w, ok := s.(*When); ok {
			r.places(w.Statements)
		}
	}
}

// add gives a comment to the statement it is beside, to that which follows it, or to the one it is in.
func (r *remarks) add(c layout.Comment) {
	line := c.Line
	for line < len(r.lines) && r.isRemark(line) {
		line++
	}
	next := slices.IndexFunc(r.at, func(p diag.Pos) bool { return p.Line >= line })
	begins := next >= 0 && (r.at[next].Line == line || strings.HasPrefix(strings.TrimSpace(r.lines[line-1]), "- "))
	if !begins {
		if next < 0 {
			next = len(r.at)
		}
		next--
	}
	if next < 0 {
		r.Head = append(r.Head, c.Text)
		return
	}
	at := r.at[next]
	switch {
	case begins && !c.Alone && r.Beside[at] == "":
		r.Beside[at] = c.Text
	case begins && r.Above[at] == nil && next > 0 && strings.TrimSpace(r.lines[c.Line-2]) == "":
		r.Above[at] = []string{"", c.Text}
	default:
		r.Above[at] = append(r.Above[at], c.Text)
	}
}

func (r *remarks) isRemark(line int) bool {
	return r.alone[line] || strings.TrimSpace(r.lines[line-1]) == ""
}
