package serve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// hierarchy returns what the entries of the hierarchy that a client asks for have of a key, in lines like those of
// 'puppet lookup --explain', with the places of what is found. A client that did not ask for values gets no lines.
func (c *conn) hierarchy(s *session, q *question, e *lookup.Explanation) ([]string, error) {
	if !q.Values || q.Entries == "" {
		return nil, nil
	}
	from, to, err := parseEntries(q.Entries)
	if err != nil {
		return nil, err
	}
	strategy, err := strategyIn(q)
	if err != nil {
		return nil, err
	}
	p := levels{key: *q.Key, from: from, to: to, merge: strategyName(strategy),
		lookup: func(key string, from, to int) (bindings.Value, bool) {
			v, found, err := s.request().LookupEntries(key, from, to, lookup.Value(strategy))
			return bindings.Value(v), found && err == nil
		}}
	if p.key == lookupOptions { // which are always merged like this
		p.merge = "hash"
	}
	p.explain(e, "")
	if v, ok := p.lookup(p.key, from, to); ok && p.merge != "" {
		p.result("", "Merged result: ", v, "")
	}
	return p.lines, nil
}

// strategyName returns the name of a merge strategy, "" for none and for the first value.
func strategyName(strategy bindings.Value) string {
	if of, ok := strategy.Get("strategy"); ok {
		strategy = of
	}
	if name := strategy.String(); !strategy.IsUndef() && name != "first" && name != "default" {
		return name
	}
	return ""
}

// levels prints entries.
type levels struct {
	key      string
	from, to int    // of the hierarchy of the environment; to is negative for the last
	merge    string // the strategy; "": the first value counts
	lookup   func(key string, from, to int) (bindings.Value, bool)
	lines    []string
}

func (p *levels) add(indent, format string, args ...any) {
	p.lines = append(p.lines, indent+fmt.Sprintf(format, args...))
}

// asked reports whether the client asked for an entry: of the environment, one in the range. The data of modules belong
// to the last entry.
func (p *levels) asked(l lookup.Location) bool {
	switch l.Part {
	case "environment":
		return l.Number >= p.from && (p.to < 0 || l.Number <= p.to)
	case "module":
		return p.to < 0 && p.merge == ""
	}
	return false
}

// explain prints the entries until one is found that counts alone.
func (p *levels) explain(x *lookup.Explanation, indent string) {
	config := ""
	for from := 0; from < len(x.Locations); {
		first := x.Locations[from]
		to := from + 1
		for to < len(x.Locations) && x.Locations[to].Config == first.Config && x.Locations[to].Number == first.Number {
			to++
		}
		entry := x.Locations[from:to]
		from = to
		if !p.asked(first) {
			continue
		}
		if first.Config != config {
			config = first.Config
			p.add(indent, "Using configuration %s", strconv.Quote(config))
			if p.merge != "" {
				p.add(indent, "Merge strategy %s", p.merge)
			}
		}
		if p.entry(entry, x, indent) && p.merge == "" {
			return
		}
	}
}

// entry prints an entry, and reports whether it has the key.
func (p *levels) entry(all []lookup.Location, x *lookup.Explanation, indent string) bool {
	p.add(indent, "Hierarchy entry %s", strconv.Quote(all[0].Entry))
	indent += "  "
	merges := p.merge != "" && len(all) > 1
	if merges {
		p.add(indent, "Merge strategy %s", p.merge)
		indent += "  "
	}
	found := false
	for _, l := range all {
		if l.Kind == "" {
			continue
		}
		p.location(l, x, indent)
		if found = found || len(l.Found) > 0; found && p.merge == "" {
			return true
		}
	}
	if merges && found && all[0].Part == "environment" {
		if v, ok := p.lookup(p.key, all[0].Number, all[0].Number); ok {
			p.result(indent, "Merged result: ", v, "")
		}
	}
	return found
}

// location prints a location and what it has.
func (p *levels) location(l lookup.Location, x *lookup.Explanation, indent string) {
	p.add(indent, "%s %s", title(l.Kind), strconv.Quote(shownPath(l)))
	indent += "  "
	p.add(indent, "Original %s: %s", strings.ReplaceAll(l.Kind, "_", " "), strconv.Quote(l.Original))
	switch {
	case len(l.Found) == 0 && !l.Exists:
		p.add(indent, "Path not found")
	case len(l.Found) == 0:
		p.add(indent, "No such key: %s", strconv.Quote(p.key))
	}
	for _, v := range l.Found {
		p.value(v, x, indent)
		if p.merge == "" {
			return
		}
	}
}

func title(kind string) string {
	return strings.ToUpper(kind[:1]) + strings.ReplaceAll(kind[1:], "_", " ")
}

// shownPath is the path of a location, or that of its hiera.yaml where the request has none.
func shownPath(l lookup.Location) string {
	if l.Path == "" {
		return l.Original
	}
	return l.Path
}

// value prints what a location has, after the variables and lookups that it interpolates.
func (p *levels) value(v lookup.Candidate, x *lookup.Explanation, indent string) {
	if v.Text != "" {
		p.add(indent, "Interpolation on %s", strconv.Quote(v.Text))
		for _, of := range v.Variables {
			p.add(indent+"  ", "Global Scope")
			if of.Outcome.Found {
				found := "Found key: " + strconv.Quote(of.Name) + " value: "
				p.result(indent+"    ", found, bindings.Value(of.Outcome.Value), "")
			} else {
				p.add(indent+"    ", "No such variable: %s", strconv.Quote(of.Name))
			}
		}
		p.lookups(x, indent+"  ")
	}
	if v.Outcome.Err != nil {
		p.add(indent, "Error: %s at %s", v.Outcome.Err, v.At)
		return
	}
	p.result(indent, "Found key: "+strconv.Quote(p.key)+" value: ", bindings.Value(v.Outcome.Value), " at "+v.At)
}

// lookups prints the lookups that computing the value took.
func (p *levels) lookups(x *lookup.Explanation, indent string) {
	for _, inner := range x.Lookups {
		p.add(indent, "Searching for %s", strconv.Quote(inner.Key))
		below := levels{key: inner.Key, from: 0, to: -1, merge: mergeOf(inner), lookup: p.lookup}
		if inner.Root != "" {
			below.key = inner.Root
		}
		below.explain(inner, indent+"  ")
		p.lines = append(p.lines, below.lines...)
	}
}

// mergeOf returns the name of the strategy by which a lookup merged its value, "" if it did not.
func mergeOf(x *lookup.Explanation) string {
	merged := func(c lookup.Candidate) bool { return c.State == lookup.Merged }
	if !slices.ContainsFunc(x.Candidates, merged) || x.Options == nil {
		return ""
	}
	strategy, _ := bindings.Value(x.Options.Outcome.Value).Get("merge")
	return strategyName(strategy)
}

// result prints a value as Puppet does, which may take several lines.
func (p *levels) result(indent, before string, v bindings.Value, after string) {
	text := "[value redacted]"
	if !v.Sensitive() {
		text = puppetText(v, "")
	}
	for _, line := range strings.Split(before+text+after, "\n") {
		p.lines = append(p.lines, indent+line)
	}
}

// puppetText is a value as Puppet's explanations have it.
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
