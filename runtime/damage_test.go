package runtime_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/testmode"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// damagedSite has everything that a lookup can read: structured bindings above and below a
// hierarchy of Hiera 5, merges by constant and by computed options, and bindings that decline,
// collect, rename and dig.
const damagedSite = `
-- binder_config.yaml --
version: 1
layers:
- {name: above, include: 'confdir:/above'}
- {name: hiera, include: 'hiera:/'}
- {name: below, include: 'confdir:/below'}
categories: [[node, '${fqdn}']]
-- bindings/above.yaml --
bindings_version: 1
name: above
bind:
- {name: optional, to_expression: '$nothing', optional: true}
- {name: alias, to_alias_of: merged}
- {name: new, to_renamed: old}
- {rebind: again, sensitive: true}
- {name: asks, to: "${lookup('merged')} ${lookup('computed')}"}
- {name: first, to_first_found: [absent, optional]}
- {name: entry, to_hash_lookup: {name: hash, key: a}}
- {when: {node: n1}, bind: [[here, {x: [1]}], [a.b, [5]], {in: list, name: two, to: '${word}'}]}
- {when: {node: n2}, bind: [[here, {x: [2]}], {in: list, name: there, to_lookup_of: list2}]}
- [here, [3]]
- {name: list, multibind_id: list, type: Array}
- {in: list, name: one, to_lookup_of: optional}
- {in: list, to: [4]}
- {name: list2, multibind_id: list2, type: Array}
- [a.b, [6]]
-- bindings/below.yaml --
bindings_version: 1
name: below
bind: [[optional, [below]], [merged, [below]], [here, [below]], [low, {x: 1}]]
-- hiera.yaml --
version: 5
hierarchy:
- {name: O, path: "only/%{word}.yaml"}
- {name: N, path: "%{facts.os.family}.yaml"}
- {name: C, path: common.yaml}
-- data/only/w.yaml --
lookup_options: {hash: {merge: deep}}
-- data/n1.yaml --
merged: [node]
old: {a: 1}
again: {a: 2}
optional: [node]
hash: {a: [node]}
plain: [node]
m::list: [node]
lookup_options: {merged: {merge: unique}, plain: {convert_to: Array}}
-- data/common.yaml --
merged: [common]
old: {b: 1}
again: {b: 2}
hash: {b: [common]}
plain: [common]
computed: ["%{word}"]
copy: "%{alias('hash')}"
lookup_options: {old: {merge: hash}, again: {merge: hash}, computed: {merge: unique}}
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
default_hierarchy: [{name: D, path: default.yaml}]
-- modules/m/data/common.yaml --
m::list: [module]
lookup_options: {m::list: {merge: unique}}
-- modules/m/data/default.yaml --
m::list: [default]
m::only: [default]
lookup_options: {m::only: {merge: unique}}
`

// damagedQuestions looks each key up in every way, also as Puppet does, explains it, and returns the results as
// text.
func damagedQuestions(t *testing.T, req *bindings.Request) (answers []string) {
	t.Helper()
	note := func(what, key string, v bindings.Value, found bool, err error) {
		answers = append(answers, what+" "+key+": "+resultText(v, found, err))
	}
	strategy, err := parseJSON([]byte(`"unique"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"optional", "alias", "new", "new.b", "old", "again", "again.b", "asks", "first",
		"entry", "here", "here.x", "list", "list2", "a.b", "merged", "merged.0", "hash", "hash.b", "'hash'", "plain",
		"computed", "copy", "low.x", "m::list", "m::list.0", "m::only", "m::only.0", "m::absent", "absent",
		"lookup_options"} {
		v, found, err := req.Lookup(key)
		note("lookup", key, v, found, err)
		v, found, err = lookupMerged(req, key, strategy)
		note("merged", key, v, found, err)
		for from := range 2 {
			v, found, err = lookupEntries(req, key, from, -1, bindings.Value{})
			note(fmt.Sprint("entries from ", from), key, v, found, err)
			v, found, err = lookupEntries(req, key, from, 1, strategy)
			note(fmt.Sprint("merged entries from ", from), key, v, found, err)
		}
		outcomes, err := engine(req).Effective(key)
		answers = append(answers, fmt.Sprintf("effective %s: %v %v", key, outcomes, err))
		candidates, err := engine(req).Candidates(key)
		answers = append(answers, fmt.Sprintf("candidates %s: %+v %v", key, candidates, err))
		e, err := engine(req).Explain(key)
		text := fmt.Sprintf("explained %s: %v", key, err)
		if err == nil {
			if errors.As(e.Outcome.Err, new(*bindings.DamageError)) {
				t.Errorf("%s is damaged, but is explained", key)
			}
			text += strings.Join(explanationText(e, ""), "\n") + fmt.Sprintf("%+v", e.Options)
		}
		answers = append(answers, text)
	}
	return answers
}

// One part of a file after the other is damaged. Each call returns its normal result or reports the damage.
func TestDamageOfEachPartIsReported(t *testing.T) {
	testmode.SkipUnderRace(t)
	doubtful := strings.Replace(damagedSite, "{merge: deep}", `{merge: "%{how}"}`, 1) // these options may be wrong
	const nothingAbove = "- {name: above, include: 'confdir:/above'}\n"
	const facts, unevaluable = `{"word": "w", "how": "deep", "os": {"family": "n1"}}`, `{"word": "w", "os": "n1"}`
	for name, c := range map[string]struct {
		files, facts string
		all          bool // some call reads each value
	}{"plain": {damagedSite, facts, true}, "computed options": {doubtful, facts, true},
		"a path that cannot be evaluated": {damagedSite, unevaluable, false},
		"nothing above":                   {strings.Replace(damagedSite, nothingAbove, "", 1), facts, false},
		"renamed below":                   {reboundSite, `{"node": "n1", "role": "web"}`, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // mostly waits for the disk
			eachPart(t, hieraContent(t, c.files), c.facts, c.all)
		})
	}
}

func eachPart(t *testing.T, content *snapshot.Content, facts string, all bool) {
	ask := func(s *bindings.Snapshot) []string {
		f, err := parseFacts([]byte(facts), bindings.FactsOptions{Node: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		req, err := s.Request(f)
		if err != nil {
			return []string{err.Error()}
		}
		return damagedQuestions(t, req)
	}
	sound := ask(openFile(t, content, bindings.Options{}, nil))
	holds := func(what string, s *bindings.Snapshot, asked bool, section string) {
		t.Helper()
		told := false
		answers := ask(s)
		for i, got := range answers {
			damaged := strings.Contains(got, "snapshot damaged: ")
			told = told || damaged
			if damaged && !strings.Contains(got, "snapshot damaged: section "+section) {
				t.Errorf("%s: %s, expected damage of section %s", what, got, section)
			}
			if len(answers) == len(sound) && !damaged && got != sound[i] {
				t.Errorf("%s:\n%s\nexpected\n%s", what, got, sound[i])
			}
		}
		var damage *bindings.DamageError
		if _, _, _, err := (*lookup.Snapshot)(s).Needs(); err != nil && !errors.As(err, &damage) {
			t.Errorf("%s: Needs says %v", what, err)
		}
		// A reported damage makes Verify fail. If a call must report the damage but none does, the file must be
		// valid: not every value of the content is written.
		if err := s.Verify(); told && err == nil || asked && !told && err != nil {
			t.Errorf("%s: reported: %t, Verify returns %v", what, told, err)
		}
		s.Close()
	}
	for i := 0; i < len(content.Values); i += testmode.Number(24, 1) {
		v := content.Values[i]
		damages := []string{"\x0b", "\x09\x02\x01\x0b"} // an unknown tag, and an array with such an element
		if v.Computed {
			damages = []string{"\xff\x00"}
		}
		for _, bytes := range damages {
			c := *content
			c.Values = slices.Clone(c.Values)
			c.Values[i].Bytes = bytes
			holds(fmt.Sprintf("value %q is %q", v.Bytes, bytes), openFile(t, &c, bindings.Options{}, nil), all, "")
		}
	}
	holds("the inputs", openFile(t, content, bindings.Options{}, func(of func(string) []byte) {
		clear(of("inputs"))
	}), true, "inputs")
	blocks := 0
	for i := 0; i == 0 || i < blocks; i += testmode.Number(24, 1) {
		holds(fmt.Sprint("block of origins ", i), openFile(t, content, bindings.Options{},
			func(of func(string) []byte) {
				blocks = len(of("origintab")) / 24
				for j := range 8 {
					of("origins")[binary.LittleEndian.Uint64(of("origintab")[24*i:])+uint64(j)] ^= 0xff
				}
			}), false, "")
	}
	eachList(t, content, holds)
	for i := 0; i < len(content.Keys); i += testmode.Number(24, 1) {
		for at, name := range map[int]string{8: "default", 12: "list"} {
			var key string
			s := openFile(t, content, bindings.Options{}, func(of func(string) []byte) {
				record := of("keys")[64*i:]
				field := record[at:]
				ref := binary.LittleEndian.Uint32(field)
				if ref == 0 || ref == 1 || ref == 1<<32-1 {
					return
				}
				key = string(record[17 : 17+int(record[16])%48])
				binary.LittleEndian.PutUint32(field, 1<<30-2|ref&1) // a list outside the file
			})
			if key != "" {
				holds(fmt.Sprintf("the %s of %q", name, key), s, all, "")
			}
		}
	}
}

// eachList moves the list of a key's bindings to the end of the file, so that the file ends after the first, second
// or third reference. Only calls that need the next reference report damage.
func eachList(t *testing.T, content *snapshot.Content, holds func(what string, s *bindings.Snapshot, asked bool,
	section string)) {
	unasked := strings.Repeat("nobody asks for this ", 4) // too long for the record of the key
	c, atEnd := *content, false
	for n := 0; !atEnd; n++ { // finds a key that is written at the end of the file
		if n == 1000 {
			t.Fatal("no key is the last")
		}
		c.Keys = append(slices.Clone(content.Keys), snapshot.Key{Name: fmt.Sprint("zz", n),
			Default: len(content.Values), Cold: []snapshot.Cold{{}}})
		c.Values = append(slices.Clone(content.Values), constant(value.FromString(unasked)))
		openFile(t, &c, bindings.Options{}, func(of func(string) []byte) {
			keys := of("keys")
			atEnd = strings.Contains(string(keys[len(keys)-len(unasked)-4:]), unasked)
		})
	}
	for i := range content.Keys {
		for kept := range 3 {
			var key string
			s := openFile(t, &c, bindings.Options{}, func(of func(string) []byte) {
				keys := of("keys")
				record := keys[64*i:]
				list := binary.LittleEndian.Uint32(record[12:])
				if list < 64 {
					return
				}
				end := len(keys) - 4*(kept+1)
				key = string(record[17 : 17+int(record[16])%48])
				copy(keys[end:], keys[list&^1:][:4*(kept+1)])
				binary.LittleEndian.PutUint32(record[12:], uint32(end)|list&1)
			})
			if key != "" {
				holds(fmt.Sprintf("%q has no more than %d references", key, kept+1), s, false, "keys")
			}
		}
	}
}
