package serve

import (
	"slices"
	"strconv"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// lookupOptions is the key under which Puppet looks up the merge strategies of other keys.
const lookupOptions = "lookup_options"

// values appends an answer with the value that look returns for each of keys. plainKeys means that all keys are plain,
// see value.IsPlain.
func (c *conn) values(keys []string, plainKeys bool, look lookFunc) error {
	w := newValueWriter(c.answer)
	w.plainKeys = plainKeys
	for _, key := range keys {
		v, found, _, err := look(key)
		if err := w.add(key, v, found, err); err != nil {
			return err
		}
	}
	c.answer = w.end()
	return nil
}

// candidates appends an answer with all values that key is bound to in the session.
func (c *conn) candidates(s *session, key string) error {
	all, err := s.effective(key)
	if err != nil {
		return err
	}
	c.answer = append(c.answer, `{"candidates":[`...)
	for i, o := range all {
		if i > 0 {
			c.answer = append(c.answer, ',')
		}
		w := newValueWriter(c.answer)
		if err := w.add(key, o.Value, o.Found, o.Err); err != nil {
			return err
		}
		c.answer = w.end()
	}
	c.answer = append(c.answer, "]}"...)
	return nil
}

// A lookFunc looks up a key. secret reports whether the outcome depends on anything sensitive. The results are not a
// struct, because Go would return a struct of this size in memory instead of registers.
type lookFunc func(key string) (v lookup.Value, found, secret bool, err error)

func (s *session) lookFuncFor(q *question) (lookFunc, error) {
	if q.Merge == nil && q.Entries == "" {
		return func(key string) (v lookup.Value, found, secret bool, err error) {
			v, found, err = s.lookup(key)
			return v, found, v.Sensitive(), err
		}, nil
	}
	strategy, err := strategyOf(q)
	if err != nil {
		return nil, err
	}
	look := func(key string) (v lookup.Value, found, secret bool, err error) {
		v, found, err = s.request().LookupMerged(key, lookup.Value(strategy))
		return v, found, v.Sensitive(), err
	}
	if q.Entries != "" {
		from, to, err := parseEntries(q.Entries)
		if err != nil {
			return nil, err
		}
		look = func(key string) (v lookup.Value, found, secret bool, err error) {
			return s.request().LookupEntriesSecret(key, from, to, lookup.Value(strategy))
		}
	}
	return func(key string) (v lookup.Value, found, secret bool, err error) {
		v, found, secret, err = look(key)
		if key == lookupOptions {
			v, found, err = s.info.withMergedKeys(v, found, err)
		}
		return v, found, secret, err
	}, nil
}

func strategyOf(q *question) (strategy bindings.Value, err error) {
	if q.Merge == nil {
		return strategy, nil
	}
	if err = strategy.UnmarshalJSON(q.Merge); err != nil {
		return strategy, failed(bindings.CodeUsage, "merge: "+err.Error())
	}
	return strategy, nil
}

// parseEntries parses a range of entries, such as "2-4". For a range without an end, such as "5-", to is -1.
func parseEntries(text string) (from, to int, err error) {
	first, last, ok := strings.Cut(text, "-")
	low, err := strconv.ParseInt(first, 10, 32)
	high := int64(-1)
	if err == nil && last != "" {
		high, err = strconv.ParseInt(last, 10, 32)
	}
	if !ok || err != nil || last != "" && high < low {
		return from, to, failed(bindings.CodeUsage, "entries: expected FROM-TO, two numbers, or FROM-, found '"+text+"'")
	}
	return int(low), int(high), nil
}

// lookup looks up key. In lookup_options, it changes the strategy of merged keys, see withMergedKeys.
func (s *session) lookup(key string) (lookup.Value, bool, error) {
	v, found, err := s.request().Lookup(key)
	if key == lookupOptions {
		v, found, err = s.info.withMergedKeys(v, found, err)
	}
	return v, found, err
}

// effective returns all values that key is bound to for the node, for Puppet to merge. If the snapshot has merged them
// already, it returns the merged value only. It omits an abstract binding unless it is the winning one.
func (s *session) effective(key string) ([]lookup.Outcome, error) {
	v, found, err := s.lookup(key)
	if !found && err == nil {
		return nil, nil
	}
	first := lookup.Outcome{Value: v, Found: found, Err: err}
	if _, merged := slices.BinarySearch(s.info.merged, key); merged {
		return []lookup.Outcome{first}, nil
	}
	candidates, err := s.request().Effective(key)
	if err != nil {
		return nil, err
	}
	out := []lookup.Outcome{first}
	for _, o := range candidates[min(1, len(candidates)):] {
		if e, ok := o.Err.(*bindings.Error); !ok || e.Code != bindings.CodeAbstract {
			out = append(out, o)
		}
	}
	return out, nil
}

// withMergedKeys returns lookup_options v with the strategy 'first' for keys that are already merged, so that Puppet
// does not merge their values again.
func (k *snapshotInfo) withMergedKeys(v lookup.Value, found bool, err error) (lookup.Value, bool, error) {
	own := bindings.Value(v)
	if len(k.merged) == 0 || err != nil || found && (own.Sensitive() || own.Kind() != bindings.Hash) {
		return v, found, err
	}
	options := map[string]any{}
	for key, v := range own.Entries() {
		if key.Kind() != bindings.String {
			return lookup.Value(own), found, nil
		}
		options[key.String()] = v
	}
	for _, key := range k.merged {
		options[key] = map[string]string{"merge": "first"}
	}
	own, err = bindings.ValueOf(options)
	return lookup.Value(own), true, err
}

// valueWriter writes the values of an answer. Values that need Puppet's rich data format, errors, and keys without a
// value have members of their own.
type valueWriter struct {
	plain, rich, errors []byte
	absent, withheld    []byte // lists of keys that are not bound, and of keys whose values are not sent
	valuesStart         int    // length of plain before the first value
	plainKeys           bool   // whether all keys are plain, see value.IsPlain
}

func newValueWriter(dst []byte) valueWriter {
	dst = append(dst, `{"values":{`...)
	return valueWriter{plain: dst, valuesStart: len(dst)}
}

func (w *valueWriter) size() int { return len(w.plain) + len(w.rich) + len(w.errors) }

// add adds the result of a lookup of key. It returns an error only if the whole answer fails.
func (w *valueWriter) add(key string, v lookup.Value, found bool, err error) error {
	switch e := err.(type) {
	case nil:
	case *bindings.Error:
		w.errors = appendError(appendKey(w.errors, w.errors != nil, key), e.Code, e.Message)
		return w.fits()
	default:
		return err
	}
	if !found {
		return nil
	}
	before := len(w.plain)
	if w.plainKeys {
		w.plain = appendPlainKey(w.plain, before > w.valuesStart, key)
	} else {
		w.plain = appendKey(w.plain, before > w.valuesStart, key)
	}
	from := len(w.plain)
	plain, rich, err := v.Reveal().AppendRich(w.plain)
	if err != nil {
		return err
	}
	w.plain = plain
	if rich || v.Sensitive() {
		w.rich = appendKey(w.rich, w.rich != nil, key)
		w.rich = appendMarked(w.rich, plain[from:], v.Sensitive())
		w.plain = plain[:before]
	}
	return w.fits()
}

// appendMarked appends the text of a value. If sensitive is set, it marks the value with Puppet's type Sensitive.
func appendMarked(dst, text []byte, sensitive bool) []byte {
	if !sensitive {
		return append(dst, text...)
	}
	dst = append(append(dst, `{"__ptype":"Sensitive","__pvalue":`...), text...)
	return append(dst, '}')
}

func (w *valueWriter) fits() error {
	if w.size() > maxAnswer-1<<10 {
		return failed(codeTooLarge, "the answer does not fit into a frame; ask for fewer keys at a time")
	}
	return nil
}

func (w *valueWriter) end() []byte {
	out := append(w.plain, '}')
	if w.rich != nil {
		out = append(append(append(out, `,"rich":{`...), w.rich...), '}')
	}
	if w.errors != nil {
		out = append(append(append(out, `,"errors":{`...), w.errors...), '}')
	}
	if w.absent != nil {
		out = append(append(append(out, `,"absent":[`...), w.absent...), ']')
	}
	if w.withheld != nil {
		out = append(append(append(out, `,"held":[`...), w.withheld...), ']')
	}
	return append(out, '}')
}

// appendItem appends text as a JSON string to a list, after a comma unless the list is empty.
func appendItem(dst []byte, text string) []byte {
	if dst != nil {
		dst = append(dst, ',')
	}
	return appendText(dst, text)
}

func appendKey(dst []byte, more bool, key string) []byte {
	if more {
		dst = append(dst, ',')
	}
	return append(appendText(dst, key), ':')
}

// appendPlainKey is appendKey for a key that is plain, see value.IsPlain.
func appendPlainKey(dst []byte, more bool, key string) []byte {
	if more {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), key...), `":`...)
}

func appendText(dst []byte, text string) []byte { return value.AppendJSON(dst, value.FromString(text)) }

func appendError(dst []byte, code bindings.Code, message string) []byte {
	dst = appendText(append(dst, `{"code":`...), string(code))
	return append(appendText(append(dst, `,"message":`...), message), '}')
}
