package lookup

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"
)

// Compared returns, for each fact or category, the sorted values that conditions compare it with. For a hierarchy
// path such as role/%{facts.role}.yaml, these are the values of role in the names of the files. The values for node
// are certnames.
func (s *Snapshot) Compared() (out map[string][]string, err error) {
	if s.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(s)
	out = map[string][]string{}
	err = s.file.Protect(func() error {
		for i := range s.dimensions {
			s.compared(i, out)
		}
		return nil
	})
	for name, values := range out {
		slices.Sort(values)
		out[name] = slices.Compact(values)
	}
	return out, err
}

// compared adds the values of a dimension.
func (s *Snapshot) compared(dimension int, out map[string][]string) {
	d := &s.dimensions[dimension]
	name, before, after := strings.Clone(d.name), "", ""
	if d.guard {
		name, before, after = inPath(d.name)
	}
	if d.variable != "" {
		name, before, after = d.variable, "", ""
	}
	if name == "" {
		return
	}
	for text := range s.file.ValuesOf(dimension) {
		text, begins := strings.CutPrefix(text, before)
		text, ends := strings.CutSuffix(text, after)
		if begins && ends {
			out[name] = append(out[name], strings.Clone(text))
		}
	}
}

// certnames are the ways in which hierarchies write the name of a node.
var certnames = []string{"trusted.certname", "clientcert", "certname", "fqdn", "networking.fqdn"}

// inPath returns the only fact in the path of a hierarchy and the text before and after it. If the path has no fact
// or several, fact is "".
func inPath(path string) (fact, before, after string) {
	before, rest, _ := strings.Cut(path, "%{")
	fact, after, found := strings.Cut(rest, "}")
	if !found || strings.Contains(after, "%{") {
		return "", "", ""
	}
	fact = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(fact), "::"), "facts.")
	if slices.Contains(certnames, fact) {
		fact = "node"
	}
	return strings.Clone(fact), strings.Clone(before), strings.Clone(after)
}
