package serve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// hierarchy explains the lookup of a key in the entries that q asks for. The lines are like the output of 'puppet
// lookup --explain', with the positions of the values. There are none unless q asks for values.
func (c *conn) hierarchy(s *session, q *question, e *lookup.Explanation) ([]string, error) {
	if !q.Values || q.Entries == "" {
		return nil, nil
	}
	from, to, err := parseEntries(q.Entries)
	if err != nil {
		return nil, err
	}
	strategy, err := strategyOf(q)
	if err != nil {
		return nil, err
	}
	p := entryPrinter{key: *q.Key, from: from, to: to, merge: strategyName(strategy),
		lookup: func(key string, from, to int) (bindings.Value, bool) {
			v, found, err := s.request().LookupEntries(key, from, to, lookup.Value(strategy))
			return bindings.Value(v), found && err == nil
		}}
	if p.key == lookupOptions { // Puppet always merges lookup_options as hashes
		p.merge = "hash"
	}
	p.printEntries(e, "")
	if v, ok := p.lookup(p.key, from, to); ok && p.merge != "" {
		p.printResult("", "Merged result: ", v, "")
	}
	return p.lines, nil
}

// strategyName returns the name of a merge strategy, or "" if values are not merged.
func strategyName(strategy bindings.Value) string {
	if name, ok := strategy.Get("strategy"); ok {
		strategy = name
	}
	if text := strategy.String(); !strategy.IsUndef() && text != "first" && text != "default" {
		return text
	}
	return ""
}

// entryPrinter prints explanations of lookups in a hierarchy, in the words of Puppet.
type entryPrinter struct {
	key      string
	from, to int    // first and last entry of the environment's hierarchy; to < 0 means its last one
	merge    string // name of the merge strategy; "" if the first value wins
	lookup   func(key string, from, to int) (bindings.Value, bool)
	lines    []string
}

func (p *entryPrinter) printf(indent, format string, args ...any) {
	p.lines = append(p.lines, indent+fmt.Sprintf(format, args...))
}

// includes reports whether the client asked for the entry with location l. The data of modules belongs to the last
// entry.
func (p *entryPrinter) includes(l lookup.Location) bool {
	switch l.Part {
	case "environment":
		return l.Number >= p.from && (p.to < 0 || l.Number <= p.to)
	case "module":
		return p.to < 0 && p.merge == ""
	}
	return false
}

// printEntries prints the entries up to the first one with a value, or all entries if values are merged.
func (p *entryPrinter) printEntries(x *lookup.Explanation, indent string) {
	config := ""
	for from := 0; from < len(x.Locations); {
		first := x.Locations[from]
		to := from + 1
		for to < len(x.Locations) && x.Locations[to].Config == first.Config && x.Locations[to].Number == first.Number {
			to++
		}
		entry := x.Locations[from:to]
		from = to
		if !p.includes(first) {
			continue
		}
		if first.Config != config {
			config = first.Config
			p.printf(indent, "Using configuration %s", strconv.Quote(config))
			if p.merge != "" {
				p.printf(indent, "Merge strategy %s", p.merge)
			}
		}
		if p.printEntry(entry, x, indent) && p.merge == "" {
			return
		}
	}
}

// printEntry prints an entry with the given locations, and reports whether it has a value.
func (p *entryPrinter) printEntry(all []lookup.Location, x *lookup.Explanation, indent string) bool {
	p.printf(indent, "Hierarchy entry %s", strconv.Quote(all[0].Entry))
	indent += "  "
	merges := p.merge != "" && len(all) > 1
	if merges {
		p.printf(indent, "Merge strategy %s", p.merge)
		indent += "  "
	}
	found := false
	for _, l := range all {
		if l.Kind == "" {
			continue
		}
		p.printLocation(l, x, indent)
		if found = found || len(l.Found) > 0; found && p.merge == "" {
			return true
		}
	}
	if merges && found && all[0].Part == "environment" {
		if v, ok := p.lookup(p.key, all[0].Number, all[0].Number); ok {
			p.printResult(indent, "Merged result: ", v, "")
		}
	}
	return found
}

func (p *entryPrinter) printLocation(l lookup.Location, x *lookup.Explanation, indent string) {
	p.printf(indent, "%s %s", title(l.Kind), strconv.Quote(shownPath(l)))
	indent += "  "
	p.printf(indent, "Original %s: %s", strings.ReplaceAll(l.Kind, "_", " "), strconv.Quote(l.Original))
	switch {
	case len(l.Found) == 0 && !l.Exists:
		p.printf(indent, "Path not found")
	case len(l.Found) == 0:
		p.printf(indent, "No such key: %s", strconv.Quote(p.key))
	}
	for _, v := range l.Found {
		p.printValue(v, x, indent)
		if p.merge == "" {
			return
		}
	}
}

func title(kind string) string {
	return strings.ToUpper(kind[:1]) + strings.ReplaceAll(kind[1:], "_", " ")
}

// shownPath returns the path of l for the request, or as written in hiera.yaml if the request has none.
func shownPath(l lookup.Location) string {
	if l.Path == "" {
		return l.Original
	}
	return l.Path
}

// printValue prints v, after the variables and lookups that v interpolates.
func (p *entryPrinter) printValue(v lookup.Candidate, x *lookup.Explanation, indent string) {
	if v.Text != "" {
		p.printf(indent, "Interpolation on %s", strconv.Quote(v.Text))
		for _, variable := range v.Variables {
			p.printf(indent+"  ", "Global Scope")
			if variable.Outcome.Found {
				found := "Found key: " + strconv.Quote(variable.Name) + " value: "
				p.printResult(indent+"    ", found, bindings.Value(variable.Outcome.Value), "")
			} else {
				p.printf(indent+"    ", "No such variable: %s", strconv.Quote(variable.Name))
			}
		}
		p.printLookups(x, indent+"  ")
	}
	if v.Outcome.Err != nil {
		p.printf(indent, "Error: %s at %s", v.Outcome.Err, v.At)
		return
	}
	p.printResult(indent, "Found key: "+strconv.Quote(p.key)+" value: ", bindings.Value(v.Outcome.Value), " at "+v.At)
}

func (p *entryPrinter) printLookups(x *lookup.Explanation, indent string) {
	for _, inner := range x.Lookups {
		p.printf(indent, "Searching for %s", strconv.Quote(inner.Key))
		nested := entryPrinter{key: inner.Key, from: 0, to: -1, merge: mergeOf(inner), lookup: p.lookup}
		if inner.Root != "" {
			nested.key = inner.Root
		}
		nested.printEntries(inner, indent+"  ")
		p.lines = append(p.lines, nested.lines...)
	}
}

// mergeOf returns the name of the merge strategy of lookup x, or "" if it merged nothing.
func mergeOf(x *lookup.Explanation) string {
	merged := func(c lookup.Candidate) bool { return c.State == lookup.Merged }
	if !slices.ContainsFunc(x.Candidates, merged) || x.Options == nil {
		return ""
	}
	strategy, _ := bindings.Value(x.Options.Outcome.Value).Get("merge")
	return strategyName(strategy)
}

func (p *entryPrinter) printResult(indent, before string, v bindings.Value, after string) {
	text := "[value redacted]"
	if !v.Sensitive() {
		text = puppetText(v, "")
	}
	for _, line := range strings.Split(before+text+after, "\n") {
		p.lines = append(p.lines, indent+line)
	}
}

func puppetText(v bindings.Value, indent string) string {
	inner := indent + "  "
	var items []string
	switch v.Kind() {
	case bindings.Array:
		for e := range v.Elems() {
			items = append(items, inner+puppetText(e, inner))
		}
		return bracketed("[", items, indent, "]")
	case bindings.Hash:
		for k, e := range v.Entries() {
			items = append(items, inner+puppetText(k, inner)+" => "+puppetText(e, inner))
		}
		return bracketed("{", items, indent, "}")
	case bindings.String:
		return strconv.Quote(v.String())
	case bindings.Undef:
		return "nil"
	}
	return v.String()
}

func bracketed(begin string, items []string, indent, end string) string {
	if len(items) == 0 {
		return begin + end
	}
	return begin + "\n" + strings.Join(items, ",\n") + "\n" + indent + end
}
