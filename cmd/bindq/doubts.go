package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/syntax"
)

// addStrict adds --strict, which makes doubts errors. A doubt is a sentence about a request that looks wrong: a name or
// value seems misspelt, or the answer depends on an unset variable. Without the flag, doubts are printed as notes.

func (s *source) addStrict(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.strict, "strict", false, "refuse a request that looks incomplete or misspelt (status 2)")
}

// A merging function looks up a key with a merge. It is nil if lookups do not merge.
type merging func(r *lookup.Request, key string)

// checkDoubts prints the doubts about looking up keys in r. With --strict it returns them as an error.
func (s *source) checkDoubts(cmd *cobra.Command, r *lookup.Request, keys []string, merged merging) error {
	if !s.hasFacts() && !s.strict {
		note(cmd, "no facts are given (--facts, --fact, --node); data bound only for some nodes is not found")
		return nil
	}
	doubts, err := s.misspeltNames(r)
	if err != nil {
		return err
	}
	if text := s.inFile.Contradiction(); text != "" && (s.node == "" || s.inFile.File != "") && s.trustedFile == "" {
		doubts = append(doubts, text)
	}
	doubts = append(doubts, s.contradictions...)
	more, err := doubtsOf(r, keys, merged)
	if err != nil {
		return err
	}
	doubts = append(doubts, more...)
	if s.strict && len(doubts) > 0 {
		return strictError(doubts)
	}
	for _, text := range doubts {
		note(cmd, text)
	}
	return nil
}

func strictError(doubts []string) error { return factsError("%s", strings.Join(doubts, "; ")) }

// doubtsOf returns the doubts about the categories of r, and about the values and bindings of keys.
func doubtsOf(r *lookup.Request, keys []string, merged merging) ([]string, error) {
	out := append(report.WrongValues(r), unsetDoubts(r, keys, merged)...)
	if len(r.Unset()) == 0 {
		return out, nil
	}
	d := dependents{}
	for _, key := range keys {
		e, err := r.ExplainUnset(key)
		if err != nil {
			return nil, err
		}
		d.add(e, merged != nil)
	}
	return append(out, d.sentences()...), nil
}

// unsetDoubts returns a doubt for each unset variable, and each key without a value, that the values of keys use.
func unsetDoubts(r *lookup.Request, keys []string, merged merging) (out []string) {
	look := merged
	if look == nil {
		look = func(r *lookup.Request, key string) { r.Lookup(key) } // another lookup of key reports the error
	}
	users := map[lookup.Miss][]string{}
	for _, key := range keys {
		for _, miss := range r.Missed(func(r *lookup.Request) { look(r, key) }) {
			users[miss] = append(users[miss], key)
		}
	}
	for _, miss := range slices.SortedFunc(maps.Keys(users), lookup.Miss.Compare) {
		out = append(out, unsetDoubt(miss, users[miss]))
	}
	return out
}

// unsetDoubt returns the doubt about something that the values of keys miss.
func unsetDoubt(miss lookup.Miss, keys []string) string {
	who, use, lookUp := keys[0], "uses", "looks up"
	if len(keys) > 1 {
		who, use, lookUp = diag.Count(len(keys), "key"), "use", "look up"
	}
	if miss.IsKey {
		return fmt.Sprintf("%s %s %s, which is not bound for this node and gives an empty string", who, lookUp, miss.Name)
	}
	text := fmt.Sprintf("%s %s %s, which is not set%s", who, use, miss.Name,
		howToSet(strings.TrimPrefix(miss.Name, "$")))
	if miss.Near != "" {
		text += "; did you mean '" + miss.Near + "'?"
	}
	return text
}

// dependents lists the positions of bindings that depend on an unset variable, by variable and then by key.
type dependents map[string]map[string][]string

// add adds the bindings considered by a lookup and by its nested lookups. Only a merging lookup depends on the winner
// and on the bindings below it.
func (d dependents) add(e *lookup.Explanation, merged bool) {
	key := cmp.Or(e.Root, e.Key)
	for _, c := range e.Candidates {
		if c.State == lookup.Wins && !merged {
			break
		}
		d.addUnset(key, c)
	}
	for _, c := range e.Contributions {
		d.addUnset(key, c)
	}
	for _, inner := range e.Lookups {
		d.add(inner, false)
	}
}

func (d dependents) addUnset(key string, c lookup.Candidate) {
	for _, name := range c.Unset {
		if d[name] == nil {
			d[name] = map[string][]string{}
		}
		if !slices.Contains(d[name][key], c.At) {
			d[name][key] = append(d[name][key], c.At)
		}
	}
}

// sentences returns a doubt for each variable, with the number of bindings that depend on it.
func (d dependents) sentences() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		n, of := 0, diag.Count(len(d[name]), "key")
		for key, places := range d[name] {
			n += len(places)
			if len(d[name]) == 1 {
				of = key
			}
		}
		depend := "depend"
		if n == 1 {
			depend = "depends"
		}
		out = append(out, fmt.Sprintf("%s is not set%s; %s of %s %s on it", name, howToSet(name),
			diag.Count(n, "binding"), of, depend))
	}
	return out
}

// howToSet returns a hint if --node sets name. Other names are set by --fact or --var and need no hint.
func howToSet(name string) string {
	switch name {
	case "fqdn", "clientcert", "trusted":
		return " (--node NAME sets it)"
	}
	return ""
}

// misspeltNames returns doubts about fact names in flags and in the facts file. Names that Facter sends are accepted at
// once. Only other names are compared with the names in the snapshot, because that reads the whole snapshot.
func (s *source) misspeltNames(r *lookup.Request) ([]string, error) {
	if len(s.facts)+len(s.variables) == 0 && s.factsFile == "" {
		return nil, nil
	}
	var failure error
	used := sync.OnceValue(func() (names []string) {
		names, _, _, failure = r.Snapshot().Needs()
		return names
	})
	isKnown := func(name string) bool { return syntax.Everywhere(name) || slices.Contains(used(), name) }
	var out []string
	for _, flag := range []struct {
		name  string
		given []string
	}{{"--fact", s.facts}, {"--var", s.variables}} {
		for _, text := range flag.given {
			name := text[:strings.IndexAny(text+"=", ".:=")]
			if isKnown(name) {
				out = append(out, misnamedPart(flag.name, text, r.Unset())...)
				continue
			}
			if near := diag.Misspelt(name, used()); near != "" {
				out = append(out, fmt.Sprintf("%s %s: nothing in the snapshot uses that name; did you mean '%s'?",
					flag.name, name, near))
			}
		}
	}
	out = append(out, s.misnamedInFile(r.Unset(), isKnown)...)
	return out, failure
}

// misnamedPart returns a doubt if text sets a part of a structured fact, such as os.famly, and its name resembles one
// in unset.
func misnamedPart(flag, text string, unset []string) []string {
	path, _, _ := strings.Cut(text, "=")
	path = strings.TrimSuffix(path, ":")
	near := diag.Misspelt(path, unset)
	if near == "" || !strings.Contains(path, ".") {
		return nil
	}
	return []string{fmt.Sprintf("%s %s: conditions use %s, which is not set; did you mean '%s'?", flag, path, near, near)}
}

// nameOfFacts returns the name of the facts file, which --facts or the facts directory gives.
func (s *source) nameOfFacts() string {
	if s.factsFile == "" {
		return s.inFile.File
	}
	return inputName(s.factsFile)
}

// misnamedInFile returns a doubt for each name in the facts file that resembles an unset variable. If there are none,
// and no name in the file is known, it returns a doubt about the file.
func (s *source) misnamedInFile(unset []string, isKnown func(name string) bool) (out []string) {
	var names []string
	for k := range s.inFile.Facts.Entries() {
		names = append(names, k.String())
	}
	for _, name := range names {
		if near := diag.Misspelt(name, unset); near != "" && !isKnown(name) {
			out = append(out, fmt.Sprintf("%s: nothing in the snapshot uses the fact '%s'; did you mean '%s'?",
				s.nameOfFacts(), name, near))
		}
	}
	if len(names) > 0 && len(out) == 0 && !slices.ContainsFunc(names, syntax.Everywhere) &&
		!slices.ContainsFunc(names, isKnown) {
		out = append(out, s.nameOfFacts()+" contains no fact that Facter sends or the snapshot uses; is "+
			"it a facts file?")
	}
	return out
}
