package manifest

import (
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/pattern"
)

// ClassNames describes the class names that an expression can produce.
type ClassNames struct {
	Source   string   // source text of the expression
	Patterns []string // possible names, in which * stands for any text
	Keys     []string // roots of the keys whose values are class names
	Values   []string // variables whose value is a class name, such as facts.role; "" for other expressions
}

// nameReader finds the class names that an expression can produce. It does not evaluate conditions, but considers all
// values that the manifest assigns to a variable.
type nameReader struct {
	parser
	block block // block that contains the expression
	out   ClassNames
	seen  map[string]bool // variables already followed
	depth int             // nesting depth of the current expression
}

// namesIn returns the class names that the expression in tokens[from:to] can produce, or nil if the expression is
// constant. isConditional reports whether the code may not run even if the variables that it depends on have values.
func (d *declarationReader) namesIn(from, to int) (names *ClassNames, isConditional bool) {
	tokens := d.tokens[from:to]
	if !slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == variable || t.kind == computed || t.kind == name && isLookup(t.text)
	}) {
		return nil, false
	}
	r := nameReader{parser: d.parser, block: d.block, seen: map[string]bool{}}
	r.out.Source = strings.Join(strings.Fields(d.src[tokens[0].at:tokens[len(tokens)-1].end]), " ")
	r.expression(tokens, true)
	for _, list := range []*[]string{&r.out.Patterns, &r.out.Keys, &r.out.Values} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return &r.out, d.block.isUncertain(r.seen)
}

func isLookup(function string) bool { return function == "lookup" || ofHiera[function] != "" }

// choosing lists the functions whose result consists of arguments, or parts of them.
var choosing = []string{"concat", "downcase", "flatten", "pick", "pick_default", "sort", "union", "unique"}

// expression reads an expression. isName says that constants in it are class names.
func (r *nameReader) expression(tokens []token, isName bool) {
	if r.depth == maxNesting {
		r.out.Values = append(r.out.Values, "")
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	tokens = mapped(tokens)
	for i := 0; i < len(tokens); {
		t := &tokens[i]
		args, end, isCall := callAt(tokens, i)
		switch {
		case isCall && isLookup(t.text):
			r.lookup(t.text, args, isName)
			i = end
			continue
		case isCall:
			for _, arg := range args {
				r.expression(arg, isName && slices.Contains(choosing, t.text))
			}
			i = end
			continue
		case t.kind == variable:
			i = r.variable(tokens, i)
			continue
		case t.kind == computed:
			r.interpolated(t)
		case t.kind == text && isName && className().MatchString(t.text):
			r.out.Patterns = append(r.out.Patterns, strings.TrimPrefix(t.text, "::"))
		}
		i++
	}
}

var className = pattern.Lazy(`^(::)?[a-z]\w*(::[a-z]\w*)*$`)

// mapped returns the body of the lambda if tokens call map. Otherwise, it returns tokens.
func mapped(tokens []token) []token {
	for i := 0; i < len(tokens); i++ {
		switch t := &tokens[i]; {
		case t.kind == punct && strings.Contains("([{", t.text):
			i = closing(tokens, i) - 1
		case t.kind == name && t.text == "map":
			for j := i; j+1 < len(tokens); j++ {
				if isPunct(tokens[j], "|") && isPunct(tokens[j+1], "{") {
					return tokens[j+1:]
				}
			}
		}
	}
	return tokens
}

func isPunct(t token, text string) bool { return t.kind == punct && t.text == text }

// callAt returns the arguments of the call at token i, and the index after the call. ok is false if there is no call.
func callAt(tokens []token, i int) (args [][]token, end int, ok bool) {
	if tokens[i].kind != name || i+1 >= len(tokens) || !isPunct(tokens[i+1], "(") {
		return nil, 0, false
	}
	end = closing(tokens, i+1)
	args, ok = split(tokens[i+2 : end])
	return args, end, ok
}

// closing returns the index after the bracket that matches the opening bracket at i.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch t := &tokens[i]; {
		case t.kind != punct:
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return i
}

// lookup reads the arguments of a lookup: the keys and the default value.
func (r *nameReader) lookup(function string, args [][]token, isName bool) {
	if len(args) == 0 {
		return
	}
	keys := args[0]
	if pairs, isHash := pairsOf(keys); isHash {
		keys = pairs["name"]
	}
	found := keysOf(keys)
	if len(keys) == 1 && keys[0].kind == computed { // an interpolated key such as "classes.${tag}"
		root, _, isPath := strings.Cut(r.pattern(&keys[0]), ".")
		if k, err := lookupkey.Parse(root); err == nil && isPath && !strings.Contains(root, "*") {
			quoted, _ := lookupkey.Quoted(k.Root)
			found = []string{quoted}
		}
	}
	if r.out.Keys = append(r.out.Keys, found...); found == nil {
		r.out.Values = append(r.out.Values, "")
	}
	for i, arg := range args[1:] {
		pairs, isOptions := pairsOf(arg)
		switch {
		case isOptions:
			r.expression(pairs["default_value"], isName)
		case function != "lookup" || i == 2: // the default; for lookup, it follows the type and the merge
			r.expression(arg, isName)
		}
	}
}

// variable reads the variable at token i and its subscripts. It returns the index of the next token.
func (r *nameReader) variable(tokens []token, i int) (next int) {
	root := rootOf(&tokens[i])
	path := root
	for i++; i+2 < len(tokens) && isPunct(tokens[i], "["); i = closing(tokens, i) {
		if tokens[i+1].kind == text {
			path += "." + tokens[i+1].text
		}
	}
	r.named(root, path)
	return i
}

// named adds the values of a variable. path is root followed by its subscripts.
func (r *nameReader) named(root, path string) {
	known := r.seen[root]
	r.seen[root] = true
	switch {
	case path != root:
		r.out.Values = append(r.out.Values, path)
	case known:
	case r.isClassName(root):
		r.out.Patterns = append(r.out.Patterns, r.block.within)
	case strings.Contains(root, "::"): // a parameter of another class
		r.out.Keys = append(r.out.Keys, root)
	default:
		if !r.assigned(root) {
			r.out.Values = append(r.out.Values, root)
		}
		if r.block.isClass { // possibly a class parameter
			r.out.Keys = append(r.out.Keys, r.block.within+"::"+root)
		}
	}
}

// isClassName reports whether the variable contains the name of the enclosing class.
func (r *nameReader) isClassName(variable string) bool {
	return r.block.isClass && (variable == "title" || variable == "name")
}

// assigned adds the values that the manifest assigns to a variable. ok is false if there are none.
func (r *nameReader) assigned(root string) (ok bool) {
	for i := range r.tokens {
		if r.tokens[i].kind != variable || strings.TrimPrefix(r.tokens[i].text, "$") != root {
			continue
		}
		if r.is(i+1, "=") && i+2 < len(r.tokens) && !r.is(i+2, "=") && !r.is(i+2, "~") {
			r.expression(r.tokens[i+2:r.expressionEnd(i+2)], true)
			ok = true
		} else if from, to, is := r.iterated(i); is {
			r.expression(r.tokens[from:to], true)
			ok = true
		}
	}
	return ok
}

// iterated returns the range of the expression over which a lambda iterates, if the variable at token i is a parameter
// of that lambda.
func (r *nameReader) iterated(i int) (from, to int, ok bool) {
	for i--; i >= 0 && (r.tokens[i].kind == variable || r.tokens[i].kind == name || r.is(i, ",")); i-- {
	}
	if !r.is(i, "|") || i == 0 {
		return 0, 0, false
	}
	if function := r.opening(i - 1); r.is(i-1, ")") && !r.is(function-2, ".") {
		return function + 1, i - 1, true
	} else if r.is(i-1, ")") {
		i = function
	}
	if r.is(i-2, ".") {
		return r.expressionStart(i - 2), i - 2, true
	}
	return 0, 0, false
}

// interpolated adds the values of a string with interpolations.
func (r *nameReader) interpolated(t *token) {
	names := r.pattern(t)
	inner := r.interpolations(t)
	if names == "*" && len(inner) > 0 {
		r.expression(inner, false)
		return
	}
	for i := range inner {
		if inner[i].kind == variable {
			r.seen[rootOf(&inner[i])] = true
		}
	}
	if strings.Trim(names, "*:") != "" {
		r.out.Patterns = append(r.out.Patterns, strings.TrimPrefix(names, "::"))
	} else {
		r.out.Values = append(r.out.Values, "")
	}
}

// rootOf returns the name of the variable in t, without $ and leading ::.
func rootOf(t *token) string { return strings.TrimPrefix(strings.TrimPrefix(t.text, "$"), "::") }

var interpolation = pattern.Lazy(`\$\{[^{}]*\}|\$(::)?\w+(::\w+)*`)

// pattern returns the text of a string, with * for each interpolation. In a class, it replaces the class's name.
func (r *nameReader) pattern(t *token) string {
	src := strings.Trim(r.src[t.at:t.end], `"`)
	return interpolation().ReplaceAllStringFunc(src, func(s string) string {
		switch s = strings.Trim(s, "${}"); {
		case r.isClassName(s):
			return r.block.within
		case r.block.isClass && s == "module_name":
			module, _, _ := strings.Cut(r.block.within, "::")
			return module
		}
		return "*"
	})
}

// interpolations returns the code in a string. Names at the start of the code are variables.
func (r *nameReader) interpolations(t *token) (out []token) {
	for _, s := range interpolation().FindAllString(r.src[t.at:t.end], -1) {
		code := strings.TrimSuffix(strings.TrimPrefix(s, "${"), "}")
		streams, _ := scan(code)
		tokens := streams[0]
		if len(tokens) > 0 && tokens[0].kind == name && (len(tokens) == 1 || !isPunct(tokens[1], "(")) {
			tokens[0].kind = variable
		}
		out = append(out, tokens...)
	}
	return out
}
