// Package manifest finds lookups, class definitions and class declarations in Puppet manifests. It works on tokens
// rather than a full grammar, and reports manifests that it cannot read completely.
package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// Call is a call of a lookup function with a merge strategy.
type Call struct {
	At         diag.Pos
	Function   string
	Keys       []string    // roots of the keys, quoted if necessary; nil if computed
	Merge      value.Value // name of a strategy, or hash with options
	MergeKnown bool        // false if Merge is computed
}

// Calls lists the lookups in the manifests of a site.
type Calls struct {
	Files    int
	All      []Call
	Wrong    []diag.Pos // files that are too large or end inside a string, comment or call
	Uses     []Use
	Computed []diag.Pos // lookups with computed keys
}

// AnyMerge reports whether some lookup may merge any key in any way, because both its key and its merge are computed.
func (c *Calls) AnyMerge() bool {
	return slices.ContainsFunc(c.All, func(c Call) bool { return c.Keys == nil && !c.MergeKnown })
}

// MaxSize is the size in bytes up to which manifests are read.
const MaxSize = 4 << 20

// Read finds the lookups in all manifests below dirs. It skips directories that are called spec or begin with a dot.
func Read(dirs []string) (Calls, error) {
	var out Calls
	seen := map[string]bool{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && path != dir && (strings.HasPrefix(e.Name(), ".") || e.Name() == "spec") {
				return filepath.SkipDir
			}
			if !e.Type().IsRegular() || filepath.Ext(path) != ".pp" || seen[path] {
				return nil
			}
			seen[path] = true
			return out.read(path, e)
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (c *Calls) read(path string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	c.Files++
	if info.Size() > MaxSize {
		c.Wrong = append(c.Wrong, diag.Pos{File: path})
		return nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c.Add(path, string(src))
	return nil
}

// Add adds the lookups in the manifest with the text src.
func (c *Calls) Add(path, src string) {
	streams, whole := scan(src)
	for _, tokens := range streams {
		p := parser{path: path, src: src, tokens: tokens, calls: c}
		for i := range tokens {
			whole = p.call(i) && whole
			whole = p.class(i) && whole
		}
	}
	if !whole {
		c.Wrong = append(c.Wrong, diag.Pos{File: path})
	}
	slices.SortStableFunc(c.All, func(a, b Call) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(c.Uses, func(a, b Use) int { return a.At.Compare(b.At) })
}

// ofHiera maps the lookup functions of Hiera 3 to the merge strategies that they use.
var ofHiera = map[string]string{"hiera": "first", "hiera_array": "unique", "hiera_hash": "hash",
	"hiera_include": "unique"}

// parser reads a manifest that was split into tokens.
type parser struct {
	path, src string
	tokens    []token
	calls     *Calls

	counted, newlines int // src[:counted] contains this many newlines
}

// call reads the lookup that begins at token i, if any. ok is false if the end of the call is missing.
func (p *parser) call(i int) (ok bool) {
	function := p.tokens[i]
	merge, hiera := ofHiera[function.text]
	if function.kind != name || !hiera && function.text != "lookup" || !p.is(i+1, "(") || p.isWord(i-1, "function") {
		return true
	}
	args, ok := split(p.tokens[i+2:])
	if !ok {
		return false
	}
	if p.is(i-1, ".") { // method call, with the key before the dot
		var receiver []token
		if i >= 2 {
			receiver = p.tokens[i-2 : i-1]
		}
		args = append([][]token{receiver}, args...)
	}
	if len(args) == 0 {
		return true
	}
	c := Call{At: p.pos(function.at), Function: function.text}
	if hiera {
		c.Keys, c.Merge, c.MergeKnown = keysOf(args[0]), value.FromString(merge), true
		p.calls.All = append(p.calls.All, c)
	} else if c.lookup(args) {
		p.calls.All = append(p.calls.All, c)
	}
	p.calls.use(&c)
	return true
}

func (p *parser) is(i int, text string) bool {
	return 0 <= i && i < len(p.tokens) && p.tokens[i].kind == punct && p.tokens[i].text == text
}

func (p *parser) isWord(i int, text string) bool {
	return 0 <= i && i < len(p.tokens) && p.tokens[i].kind == name && p.tokens[i].text == text
}

// pos returns the position of a byte offset. It is fast if offsets are passed in ascending order.
func (p *parser) pos(at int) diag.Pos {
	if at < p.counted {
		p.counted, p.newlines = 0, 0
	}
	p.newlines += strings.Count(p.src[p.counted:at], "\n")
	p.counted = at
	line := p.src[1+strings.LastIndexByte(p.src[:at], '\n') : at]
	return diag.Pos{File: p.path, Line: 1 + p.newlines, Col: 1 + utf8.RuneCountInString(line)}
}

// lookup reads the arguments of lookup(). It reports whether they request a merge.
func (c *Call) lookup(args [][]token) (merges bool) {
	c.Keys = keysOf(args[0])
	for i, arg := range args {
		if len(arg) > 0 && arg[0].kind == punct && arg[0].text == "*" { // the splat makes all arguments unknown
			c.Keys, c.MergeKnown = nil, false
			return true
		}
		pairs, isHash := pairsOf(arg)
		switch {
		case isHash && i == 0:
			c.Keys = keysOf(pairs["name"])
			fallthrough
		case isHash && pairs["merge"] != nil:
			if pairs["merge"] == nil {
				return false
			}
			c.Merge, c.MergeKnown = constant(pairs["merge"])
			return true
		case i == 2 && !isUndef(arg):
			c.Merge, c.MergeKnown = constant(arg)
			return true
		}
	}
	return false
}

func isUndef(arg []token) bool { return len(arg) == 1 && arg[0].kind == name && arg[0].text == "undef" }

// split splits tokens at top-level commas, up to the closing bracket. ok is false if that is missing.
func split(tokens []token) (args [][]token, ok bool) {
	depth, start := 0, 0
	for i, t := range tokens {
		if t.kind != punct {
			continue
		}
		switch {
		case strings.Contains("([{", t.text):
			depth++
		case depth == 0 && (strings.Contains(")]}", t.text) || t.text == ","):
			if i > start {
				args = append(args, tokens[start:i])
			}
			if start = i + 1; t.text != "," {
				return args, true
			}
		case strings.Contains(")]}", t.text):
			depth--
		}
	}
	return nil, false
}

// pairsOf returns the values of a hash literal by key. ok is false if arg is not a hash literal.
func pairsOf(arg []token) (pairs map[string][]token, ok bool) {
	if len(arg) < 2 || arg[0].kind != punct || arg[0].text != "{" {
		return nil, false
	}
	entries, ok := split(arg[1:])
	pairs = map[string][]token{}
	for _, e := range entries {
		if len(e) > 2 && e[1].text == "=>" && (e[0].kind == name || e[0].kind == text) {
			pairs[e[0].text] = e[2:]
		}
	}
	return pairs, ok
}

// keysOf returns the roots of the keys in an argument, quoted if necessary. It returns nil if a key is computed.
func keysOf(arg []token) []string {
	if len(arg) > 1 && arg[0].kind == punct && arg[0].text == "[" {
		elems, ok := split(arg[1:])
		var out []string
		for _, e := range elems {
			keys := keysOf(e)
			if keys == nil {
				return nil
			}
			out = append(out, keys...)
		}
		if !ok {
			return nil
		}
		return out
	}
	if len(arg) != 1 || arg[0].kind != name && arg[0].kind != text {
		return nil
	}
	k, err := lookupkey.Parse(arg[0].text)
	if err != nil {
		return []string{arg[0].text}
	}
	root, _ := lookupkey.Quoted(k.Root)
	return []string{root}
}

// constant returns the value of a constant argument. It returns false if the argument is computed.
func constant(arg []token) (value.Value, bool) {
	if pairs, ok := pairsOf(arg); ok {
		var b value.Builder
		entries, _ := split(arg[1:])
		if len(entries) != len(pairs) { // some keys are computed or occur twice
			return value.Value{}, false
		}
		for _, e := range entries {
			v, ok := constant(pairs[e[0].text])
			if !ok {
				return value.Value{}, false
			}
			b.Set(value.FromString(e[0].text), v)
		}
		return b.Hash(), true
	}
	if len(arg) != 1 || arg[0].kind != name && arg[0].kind != text {
		return value.Value{}, false
	}
	switch word := arg[0]; {
	case word.kind == name && word.text == "true":
		return value.FromBool(true), true
	case word.kind == name && word.text == "false":
		return value.FromBool(false), true
	case word.kind == name && word.text == "undef":
		return value.Value{}, true
	case word.text != "":
		return value.FromString(word.text), true
	}
	return value.Value{}, false
}
