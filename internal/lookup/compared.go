package lookup

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"
)

// Compared returns, by the name of each fact or category, the sorted values that conditions compare it with. For a
// hierarchy path such as role/%{facts.role}.yaml, these are the values of role for which a file exists. Certnames are
// under the name node.
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

// certnames lists the variables that hierarchies use for the certname of a node.
var certnames = []string{"trusted.certname", "clientcert", "certname", "fqdn", "networking.fqdn"}

// inPath returns the fact that a hierarchy path interpolates, and the text before and after it. It returns empty
// strings unless the path interpolates exactly one fact. For any of certnames, the fact is "node".
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
