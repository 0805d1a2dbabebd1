package merge

import (
	"errors"
	"slices"
	"strings"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// Level holds the compiled lookup_options of one level of a hierarchy.
type Level struct {
	Entries []*Entry // in the order of the data
	exact   map[string]*Entry
	index   patternIndex
	none    bool // the lookup_options are undef
	module  bool // the lookup_options belong to a module
	single  bool // the lookup_options cannot be merged with those of other levels
}

// Entry holds the lookup_options of a key, or of all keys that match a pattern. A lookup with a nil Entry returns the
// first value unchanged.
type Entry struct {
	Name          string // the key, or the source of the pattern
	value         value.Value
	pattern       *onigmo.Matcher // nil if Name is a key
	strategy      Strategy
	strategyErr   error
	conversion    *conversion // nil if there is no convert_to
	conversionErr error
}

// Compile compiles the lookup_options of the named module, or of the environment or the global layer if module is "".
// If v is undef, there are no options. The error joins one *MergeError for each mistake. The Level refers to v.
func Compile(v value.Value, module string) (*Level, error) {
	if v.IsUndef() {
		return &Level{none: true, single: true, module: module != ""}, nil
	} else if v.Kind() != value.Hash {
		return nil, failf(Malform, "lookup_options must be a Hash, found a value of type %s", v.Kind())
	}
	l := &Level{exact: map[string]*Entry{}, single: !Strategy{kind: hash}.merges(v)}
	var errs []error
	for k, opts := range v.Pairs() {
		e, err := compileEntry(k, opts, module)
		if err != nil {
			err.Entry = k.Text()
			errs = append(errs, err)
			continue
		}
		l.Entries = append(l.Entries, e)
		if e.pattern == nil {
			l.exact[e.Name] = e
		} else {
			l.index.add(len(l.Entries)-1, e.Name)
		}
	}
	return l, errors.Join(errs...)
}

func compileEntry(name, opts value.Value, module string) (*Entry, *MergeError) {
	if name.Kind() != value.String {
		return nil, failf(Malform, "a key in lookup_options must be a String, found a value of type %s", name.Kind())
	}
	e := &Entry{Name: name.Text(), value: opts}
	text, isPattern := strings.CutPrefix(e.Name, "^")
	if module != "" && !strings.HasPrefix(text, module+"::") {
		return nil, failf(Malform, "'%s' in the lookup_options of the module '%s' must begin with its name: %s",
			e.Name, module, strings.TrimSuffix(e.Name, text)+module+"::")
	}
	if isPattern {
		var err error
		if e.pattern, err = onigmo.CompileMatcher(e.Name); err != nil {
			return nil, failf(Malform, "the pattern '%s' in lookup_options does not compile: %s", e.Name, err)
		}
	}
	var merge value.Value
	if merge, e.strategyErr = e.option("merge"); e.strategyErr == nil {
		e.strategy, e.strategyErr = Parse(merge)
	}
	e.conversion, e.conversionErr = e.parseConversion()
	return e, nil
}

// option returns the named option, or undef if it is missing.
func (e *Entry) option(name string) (value.Value, error) {
	switch v := e.value; v.Kind() {
	case value.Hash:
		opt, _ := v.Get(value.FromString(name))
		return opt, nil
	case value.String: // as in Ruby, where 'text'['part'] returns 'part'
		if strings.Contains(v.Text(), name) {
			return value.FromString(name), nil
		}
		return value.Value{}, nil
	default:
		if v.Truthy() {
			return value.Value{}, failf(Malform, "the lookup_options of '%s' must be a Hash, found a value of type %s",
				e.Name, v.Kind())
		}
		return value.Value{}, nil
	}
}

// Pattern reports whether the name of e is a pattern.
func (e *Entry) Pattern() bool { return e.pattern != nil }

// matches reports whether the pattern of e matches root, and subtracts the steps of the match from left. The error is a
// *MergeError.
func (e *Entry) matches(root string, left *int) (bool, error) {
	ok, err := e.pattern.Match(root, left)
	if err != nil {
		wrong := failf(Malform, "matching the key '%s' with the pattern '%s' in lookup_options takes too many steps",
			shortened(root), e.Name)
		wrong.Entry = e.Name
		return false, wrong
	}
	return ok, nil
}

func shortened(key string) string {
	const most = 80
	if len(key) <= most {
		return key
	}
	return strings.ToValidUTF8(key[:most], "") + "…"
}

// Strategy returns the strategy for lookups that do not specify one. As in Puppet, an invalid strategy is an error even
// if the key is not found. The error is a *MergeError.
func (e *Entry) Strategy() (Strategy, error) {
	if e == nil {
		return Strategy{}, nil
	}
	return e.strategy, e.strategyErr
}

// Check returns all errors that a lookup with e could report, joined, each as a *MergeError.
func (e *Entry) Check() error {
	if _, err := e.option("merge"); err != nil {
		return err
	}
	return errors.Join(e.strategyErr, e.conversionErr)
}

// Value returns the options as written in the data.
func (e *Entry) Value() value.Value { return e.value }

// Plain reports whether a lookup with e returns the first value unchanged.
func (e *Entry) Plain() bool {
	if e == nil {
		return true
	}
	return e.strategyErr == nil && e.strategy.kind == first && e.conversionErr == nil && e.conversion == nil
}

// Sound reports whether l cannot make a lookup fail. It returns false for undef, which cannot be merged.
func (l *Level) Sound() bool {
	return !l.single && !slices.ContainsFunc(l.Entries, func(e *Entry) bool { return e.strategyErr != nil })
}

// Touches reports whether l has an entry that applies to root. left is the number of remaining steps for matching, or
// nil for no limit. If matching exceeds the limit, the error is a *MergeError.
func (l *Level) Touches(root string, left *int) (bool, error) {
	if l.exact[root] != nil {
		return true, nil
	}
	e, err := l.first(root, left)
	return e != nil, err
}

func (l *Level) first(root string, left *int) (*Entry, error) {
	for _, i := range l.index.candidates(root) {
		e := l.Entries[i]
		if ok, err := e.matches(root, left); ok || err != nil {
			return e, err
		}
	}
	return nil, nil
}

// UsedPatterns returns the patterns of l that match at least one of the roots. It includes patterns that take too many
// steps to match.
func (l *Level) UsedPatterns(roots []string, left *int) map[*Entry]bool {
	used := map[*Entry]bool{}
	if !slices.ContainsFunc(l.Entries, (*Entry).Pattern) {
		return used
	}
	for _, root := range roots {
		for _, i := range l.index.candidates(root) {
			if e := l.Entries[i]; !used[e] {
				if ok, err := e.matches(root, left); ok || err != nil {
					used[e] = true
				}
			}
		}
	}
	return used
}

// Options holds the lookup_options of several levels, as if merged by the strategy 'hash'. The zero Options has no
// entries.
type Options struct{ levels []*Level }

// Erases reports whether l discards all lookup_options for the keys of its module. In Puppet, a module whose
// lookup_options are null has this effect (retrieve_lookup_options in LookupAdapter).
func (l *Level) Erases() bool { return l.none && l.module }

// Combine merges the levels of layers: the global layer, the environment, and a module, in this order of precedence.
// The error is a *MergeError.
func Combine(layers ...[]*Level) (Options, error) {
	var all []*Level
	erased := false
	for _, levels := range layers {
		if len(levels) == 1 && levels[0].none {
			erased = levels[0].Erases()
			continue
		}
		all = append(all, levels...)
	}
	for i, l := range all {
		if l.single && len(all) > 1 {
			return Options{}, &MergeError{Class: Malform, Candidate: i,
				Message: "lookup_options that are merged must be " + needs[hash]}
		}
	}
	if erased {
		return Options{}, nil
	}
	return Options{all}, nil
}

// For returns the entry that applies to root, or nil. An entry for the key itself wins, from the highest level that has
// one. Otherwise the first pattern that matches wins. Patterns are ordered as in a merged hash, with the lowest level's
// patterns first. left and the error are as in Touches.
func (o Options) For(root string, left *int) (*Entry, error) {
	if e := o.named(root); e != nil && !e.value.IsUndef() {
		return e, nil
	}
	for i := len(o.levels) - 1; i >= 0; i-- {
		e, err := o.levels[i].first(root, left)
		if err != nil {
			return nil, err
		}
		if e != nil {
			return o.highest(e.Name), nil
		}
	}
	return nil, nil
}

func (o Options) named(root string) *Entry {
	for _, l := range o.levels {
		if e := l.exact[root]; e != nil {
			return e
		}
	}
	return nil
}

// highest returns the entry called name from the highest level that has one.
func (o Options) highest(name string) *Entry {
	for _, l := range o.levels {
		for _, e := range l.Entries {
			if e.Name == name {
				return e
			}
		}
	}
	return nil
}
