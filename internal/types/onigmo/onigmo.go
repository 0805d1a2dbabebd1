// Package onigmo compiles Ruby's regular expressions. Compile uses Go's engine, whose matching time is linear in the
// text. It rejects what that engine cannot do, mainly lookaround and backreferences, with a message that names the
// construct. CompileMatcher accepts these, too, but only reports whether a text matches, within a limited number of
// steps.
package onigmo

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// Regexp is a compiled expression. Cost is the size of its program: matching takes at most Cost steps per byte of text.
type Regexp struct {
	*regexp.Regexp
	Cost int
}

// Limits of compiled expressions. A longer source or program is an attack rather than a sensible
// expression.
const (
	maxSource  = 32 << 10
	maxProgram = 10_000
	maxCached  = 512
)

var cache struct {
	sync.RWMutex
	compiled map[string]*Regexp
}

// Compile compiles src. Results are cached, so that compiling a source again is cheap.
func Compile(src string) (*Regexp, error) {
	cache.RLock()
	re := cache.compiled[src]
	cache.RUnlock()
	if re != nil {
		return re, nil
	}
	re, err := compile(src)
	if err != nil {
		return nil, err
	}
	cache.Lock()
	defer cache.Unlock()
	if cache.compiled == nil || len(cache.compiled) >= maxCached {
		cache.compiled = make(map[string]*Regexp)
	}
	cache.compiled[strings.Clone(src)] = re // src may point into a mapped file
	return re, nil
}

func compile(src string) (*Regexp, error) {
	if len(src) > maxSource {
		return nil, errors.New("the regular expression is too long")
	}
	translated, err := translate(src)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, plain(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, plain(err)
	}
	if len(prog.Inst) > maxProgram {
		return nil, errors.New("the regular expression is too large")
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, plain(err)
	}
	return &Regexp{re, len(prog.Inst)}, nil
}

// plain rewords an error of Go's parser, which would otherwise mention Go.
func plain(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return errors.New("invalid regular expression")
	}
	if e.Expr == "" {
		return errors.New(string(e.Code))
	}
	return errors.New(string(e.Code) + ": " + e.Expr)
}
