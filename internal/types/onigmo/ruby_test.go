package onigmo

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// rubyMatches reads pairs of a pattern and a string. For each pair, it prints 1 for a match, 0 for no match, e for an
// invalid pattern, and t if Ruby times out.
const rubyMatches = `
require 'json'
require 'timeout'
$VERBOSE = nil
STDIN.each_line do |line|
  pattern, text = JSON.parse(line)
  begin
    re = (($seen ||= {})[pattern] ||= Regexp.new(pattern))
    puts(Timeout.timeout(0.2) { re.match?(text) } ? '1' : '0')
  rescue Timeout::Error
    puts 't'
  rescue RegexpError
    puts 'e'
  end
end`

// asRuby returns the output of rubyMatches. It skips the test if Ruby is not installed.
func asRuby(t *testing.T, pairs [][2]string) []byte {
	t.Helper()
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("ruby is not installed")
	}
	var in bytes.Buffer
	for _, p := range pairs {
		if err := json.NewEncoder(&in).Encode(p); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(ruby, "-e", rubyMatches)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := bytes.ReplaceAll(out, []byte("\n"), nil)
	if len(answers) != len(pairs) {
		t.Fatalf("Ruby answers %d of %d", len(answers), len(pairs))
	}
	return answers
}

// writer generates random patterns.
type writer struct {
	*rand.Rand
	groups, depth int
	closed        []string // groups that backreferences may refer to
	fixed         bool     // within a lookbehind, which needs a fixed length
}

func (w *writer) pick(all ...string) string { return all[w.IntN(len(all))] }

func (w *writer) alternation() string {
	out := w.sequence()
	for !w.fixed && w.IntN(3) == 0 {
		out += "|" + w.sequence()
	}
	return out
}

func (w *writer) sequence() string {
	out := ""
	for range w.IntN(4) {
		out += w.item()
		if !w.fixed && w.IntN(3) == 0 {
			out += w.pick("*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{,2}", "{2,}", "{0,1}?", "{2}?",
				"{1,2}+")
		}
	}
	return out
}

func (w *writer) item() string {
	if w.depth > 3 || w.IntN(5) < 2 {
		if w.fixed { // some sets match several characters in Ruby, so their length is not fixed
			return w.pick("a", "b", "B", ":", ".", `\w`, `\h`, "é")
		}
		return w.pick("a", "a", "b", "c", "B", ":", ".", "[ab]", "[^a]", `\w`, `\d`, `\s`, `\h`, "é", "\n", `\n`, `[[:alpha:]]`)
	}
	if w.IntN(6) == 0 {
		return w.pick("^", "$", `\A`, `\z`, `\Z`, `\b`, `\B`, `\G`, `\K`, `\R`)
	}
	if len(w.closed) > 0 && !w.fixed && w.IntN(4) == 0 {
		n := w.pick(w.closed...)
		return w.pick(`\`+n, `\k<`+n+`>`, "(?:(?("+n+")a|b))", "(?i:\\"+n+")")
	}
	w.depth++
	defer func() { w.depth-- }()
	open := w.pick("(", "(?:", "(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?m:", "(?i)", "(?x: ")
	before, group := w.fixed, 0
	switch open {
	case "(":
		if w.fixed {
			open = "(?:"
		} else {
			w.groups++
			group = w.groups
		}
	case "(?<=", "(?<!":
		w.fixed = true
	case "(?i)":
		return "(?:" + open + w.alternation() + ")"
	}
	out := open + w.alternation() + ")"
	if w.fixed = before; group > 0 && group < 10 {
		w.closed = append(w.closed, strconv.Itoa(group))
	}
	return out
}

// The patterns and strings are random.
func TestMatcherAgreesWithRuby(t *testing.T) {
	testmode.SkipUnderRace(t)
	patterns := 3000
	if !testmode.Thorough() {
		patterns = 500
	}
	w := writer{Rand: rand.New(rand.NewPCG(1, 2))}
	var pairs [][2]string
	for range patterns {
		w.groups, w.closed = 0, nil
		pattern := w.alternation()
		for range 12 {
			var text strings.Builder
			for range w.IntN(9) {
				text.WriteString(w.pick("a", "a", "b", "B", "c", "A", ":", "1", " ", "\n", "é", "\r\n"))
			}
			pairs = append(pairs, [2]string{pattern, text.String()})
		}
	}
	compare(t, pairs)
}

// Go's engine differs from Ruby at the end of a text, within \r\n, and next to characters outside ASCII.
func TestMatcherAgreesWithRubyWhereGoDiffers(t *testing.T) {
	var pairs [][2]string
	for _, text := range []string{"a\n", "a\r\n", "\r\n", "a\n\n", "é", "éa", "a", "\n"} {
		for _, pattern := range []string{`^$`, `\n^`, `^\z`, `^a`, `a\Z`, `a\Z\n`, `\Z$`, `\R\n`, `a\R\z`, `\R$`, `\ba`, `a\b`,
			`\b`, `\B`, `é\b`, `^\B`} {
			pairs = append(pairs, [2]string{pattern, text})
		}
	}
	compare(t, pairs)
}

// Where backtracking would take too many steps, the answer is the one of Go's engine.
func TestMatcherOfLongTextIsBounded(t *testing.T) {
	m, err := CompileMatcher(`^-----BEGIN`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{strings.Repeat("a", 300_000) + "\n": false,
		strings.Repeat("a\n", 300_000) + "-----BEGIN\n": true} {
		if got, err := m.Match(text, nil); got != want || err != nil {
			t.Errorf("%d bytes: %t, %v", len(text), got, err)
		}
	}
}

// compare checks that the matcher agrees with Ruby, and that it rejects few of the patterns.
func compare(t *testing.T, pairs [][2]string) {
	t.Helper()
	answers := asRuby(t, pairs)
	refused, matched := 0, 0
	for i, p := range pairs {
		if answers[i] == 't' {
			continue
		}
		m, err := backtracking(p[0])
		got := byte('e')
		if err == nil {
			ok, _, err := m.backtrack(p[1])
			switch {
			case err != nil: // Ruby has no limit of steps
				refused++
				continue
			case ok:
				got = '1'
				matched++
			default:
				got = '0'
			}
		}
		if got == 'e' && answers[i] != 'e' {
			refused++
			t.Logf("refused: %q: %v", p[0], err)
			continue
		}
		if got != answers[i] {
			t.Errorf("%q in %q: %c, and in Ruby %c", p[0], p[1], got, answers[i])
		}
		if m, err = CompileMatcher(p[0]); err != nil || m.linear == nil {
			continue
		}
		if ok, err := m.Match(p[1], nil); err != nil || ok != (answers[i] == '1') {
			t.Errorf("Go's engine, %q in %q: %t, %v, and in Ruby %c", p[0], p[1], ok, err, answers[i])
		}
	}
	t.Logf("%d pairs, %d match, %d are refused", len(pairs), matched, refused)
	if refused*20 > len(pairs) || matched*10 < len(pairs) {
		t.Error("too many are refused, or too few match")
	}
}

// Plain backtracking would take 2ⁿ steps. An atomic group that can begin anywhere takes a quadratic number.
func TestStepsGrowLinearlyWithText(t *testing.T) {
	for src, square := range map[string]bool{`^(?!z)(?:(?:a|aa)+[bd]|a+c$)`: false, `^(?=(a+)+$)`: false,
		`(?>(a|aa)+)$(?<!b)b`: true, `^(a?|aa)*+(?!c)(a*)*[xy]`: false, `(?<=a)(?:(?:a*)*)*b`: false} {
		m, err := CompileMatcher(src)
		if err != nil {
			t.Fatal(err)
		}
		steps := func(n int) int {
			left := maxSteps
			if _, err := m.Match(strings.Repeat("a", n)+"e", &left); err != nil {
				t.Errorf("%s with %d characters: %v", src, n, err)
			}
			return maxSteps - left
		}
		if one, two := steps(100), steps(200); two > one*9/4 && !square || two > one*9/2 {
			t.Errorf("%s takes %d steps for 100 characters, %d for 200", src, one, two)
		}
	}
}

// With backreferences, the matcher cannot remember states, so a match has a limit in addition to the caller's.
func TestMatchStopsAtLimits(t *testing.T) {
	m, err := CompileMatcher(`^(a?)(?:(?:a|aa)+[bd]|a+c$)\1`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Match(strings.Repeat("a", 60), nil); err != ErrSteps {
		t.Errorf("60 a's: %v", err)
	}
	for _, src := range []string{`(?!b)a`, `a`} {
		if m, err = CompileMatcher(src); err != nil {
			t.Fatal(err)
		}
		left := 0
		if ok, err := m.Match("a", &left); ok || err != ErrSteps {
			t.Errorf("%s without a step left: %t, %v", src, ok, err)
		}
	}
}

func TestErrorNamesUnsupportedConstruct(t *testing.T) {
	for src, want := range map[string]string{
		`(?!a)(?~b)`: "absence operators", `(a\1)`: "refers to itself", `(?!a)\2`: "no group 2", `(?<=a+)b`: "look-behind",
		`(?<x>a)(?!b)\1`: "by number", `(?=a`: "unmatched (", `(?=a))`: "unmatched )", `(?!a){2}{3}*+*`: "",
		`(?=a)\g<1>`: `\g`, `(?=a)\X`: `\X`, `(?=a)[a&&b]`: "&&", `(?=)(?:){99999}`: "too large", `(?!)+*`: "",
		`(?=a){2,1}`: "nothing to repeat", `{2}(?=a)`: "target of repeat", `(?!a)(b)(?(1)c|d|e)`: "more than two",
	} {
		switch _, err := CompileMatcher(src); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", src, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: expected an error with %q, found %v", src, want, err)
		}
	}
}
