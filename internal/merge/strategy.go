// Package merge combines several values into one as Hiera 5 does. It implements merge strategies, convert_to, and
// lookup_options, which choose strategies by key. It does not know where values come from.
package merge

import (
	"fmt"
	"regexp"
	"slices"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// Class is the kind of mistake that an error reports.
type Class string

// The classes of MergeError.
const (
	Mismatch Class = "merge"   // the strategy cannot merge a value
	Malform  Class = "options" // the strategy or the lookup_options are invalid
	Convert  Class = "convert" // convert_to cannot convert the value
)

// MergeError reports an error in a merge or in its options. It does not include the merged values.
type MergeError struct {
	Class     Class
	Message   string
	Candidate int    // for Mismatch: number of the candidate that cannot be merged
	Absent    bool   // Puppet supports the type in convert_to, but bindc does not
	Entry     string // the invalid key or pattern in lookup_options; "" if the error is not about one entry
}

func (e *MergeError) Error() string { return e.Message }

func failf(class Class, format string, args ...any) *MergeError {
	return &MergeError{Class: class, Message: fmt.Sprintf(format, args...)}
}

type kind uint8

const (
	first kind = iota
	unique
	hash
	deep
)

// Strategy is a merge strategy with its options. The zero Strategy takes the first value.
type Strategy struct {
	name string
	kind kind
	deep deepOptions
}

type deepOptions struct {
	prefix       string // knockout_prefix, or ""
	knockout     *regexp.Regexp
	err          error // an error in the options, which every merge reports
	sort         bool
	mergeHashes  bool // merges hashes at the same position of two arrays
	reverse      bool
	preserve     bool // keeps values that cannot be merged
	overwrite    bool // replaces arrays instead of merging them
	extend       bool // appends values that are not arrays to arrays
	split        bool // joins arrays and splits them at separator before merging
	separator    string
	unrestrained bool // accepts all combinations of options
}

// strategies lists Puppet's strategies by name. The last three belong to Hiera 3.
var strategies = map[string]Strategy{
	"first":              {kind: first},
	"default":            {kind: first},
	"unique":             {kind: unique},
	"hash":               {kind: hash},
	"deep":               {kind: deep},
	"unconstrained_deep": {kind: deep, deep: deepOptions{unrestrained: true}},
	"reverse_deep":       {kind: deep, deep: deepOptions{unrestrained: true, reverse: true}},
}

// offered lists the strategies that messages suggest.
const offered = "first, unique, hash or deep"

// Parse parses the option merge in lookup_options or in a call of lookup(): the name of a strategy, or a hash with the
// strategy and its options. undef and false mean 'first'. The error is a *MergeError.
func Parse(v value.Value) (Strategy, error) {
	if !v.Truthy() {
		return Strategy{}, nil
	}
	name := v
	if v.Kind() == value.Hash {
		if name, _ = v.Get(value.FromString("strategy")); name.IsUndef() {
			return Strategy{}, failf(Malform, "a merge given as a Hash needs the key 'strategy'; expected %s", offered)
		}
	}
	s, ok := strategies[name.Text()]
	if name.Kind() != value.String || !ok {
		return Strategy{}, failf(Malform, "unknown merge strategy %s, expected %s", quoted(name), offered)
	}
	s.name = name.Text()
	err := s.setAll(v)
	return s, err
}

func quoted(v value.Value) string {
	if v.Kind() == value.String {
		return "'" + value.Shorten(v.Text()) + "'"
	}
	return "of the kind " + v.Kind().String()
}

// First reports whether s returns the first value and merges nothing.
func (s Strategy) First() bool { return s.kind == first }

func (s Strategy) String() string {
	if s.kind == first {
		return "first"
	}
	return s.name
}

func (s *Strategy) setAll(v value.Value) error {
	for k, opt := range v.Pairs() {
		if k.Kind() == value.String && k.Text() == "strategy" {
			continue
		}
		if err := s.set(k, opt); err != nil {
			return err
		}
	}
	d := &s.deep
	if d.prefix == "" {
		return nil
	}
	switch knockout, err := onigmo.Compile("^" + d.prefix); {
	case d.preserve:
		d.err = failf(Malform, "knockout_prefix and preserve_unmergeables cannot be combined")
	case err != nil:
		d.err = failf(Malform, "the knockout_prefix '%s' is not a valid regular expression: %s", d.prefix, err)
	default:
		d.knockout = knockout.Regexp
	}
	return nil
}

// hiera3 lists options that only Hiera 3 strategies have.
var hiera3 = []string{"preserve_unmergeables", "overwrite_arrays", "extend_existing_arrays", "unpack_arrays"}

func (s *Strategy) set(name, opt value.Value) error {
	d := &s.deep
	option := name.Text()
	if s.kind != deep || name.Kind() != value.String || slices.Contains(hiera3, option) && !d.unrestrained {
		return s.unknown(name)
	}
	switch option {
	case "knockout_prefix":
		return s.setPrefix(opt)
	case "unpack_arrays":
		d.split, d.separator = opt.Truthy(), opt.Text()
		if d.split && opt.Kind() != value.String {
			return s.wrong(option, "a String", opt)
		}
		return nil
	}
	flag := map[string]*bool{"merge_hash_arrays": &d.mergeHashes, "sort_merged_arrays": &d.sort,
		"preserve_unmergeables": &d.preserve, "overwrite_arrays": &d.overwrite,
		"extend_existing_arrays": &d.extend, "merge_debug": new(bool)}[option]
	switch {
	case d.unrestrained && flag == nil && option != "":
		return nil
	case flag == nil:
		return s.unknown(name)
	case !d.unrestrained && !opt.IsUndef() && opt.Kind() != value.Bool:
		return s.wrong(option, "a Boolean", opt)
	}
	*flag = opt.Truthy()
	return nil
}

func (s *Strategy) setPrefix(opt value.Value) error {
	d := &s.deep
	switch {
	case d.unrestrained && !opt.Truthy(), opt.IsUndef():
		return nil
	case opt.Kind() != value.String:
		return s.wrong("knockout_prefix", "a String", opt)
	case opt.Text() == "":
		d.err = failf(Malform, "knockout_prefix must not be empty, because it would knock out everything")
	}
	d.prefix = opt.Text()
	return nil
}

func (s *Strategy) unknown(name value.Value) error {
	var expected string
	switch {
	case s.kind != deep:
		expected = "it has none"
	case s.deep.unrestrained:
		expected = "its options are non-empty Strings"
	default:
		expected = "expected knockout_prefix, merge_hash_arrays or sort_merged_arrays"
	}
	return failf(Malform, "the merge strategy '%s' has no option %s, %s", s, quoted(name), expected)
}

func (s *Strategy) wrong(option, expected string, found value.Value) error {
	return failf(Malform, "the option '%s' of the merge strategy '%s' must be %s, found a value of type %s", option, s,
		expected, found.Kind())
}
