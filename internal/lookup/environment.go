package lookup

import (
	"errors"
	"slices"
	"strings"

	"bindc/internal/legacy"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Lookup looks up key for an expression. It implements expr.Env.
func (l *lookup) Lookup(key string, t *types.Type) (value.Value, bool, error) {
	v, found, err := l.find(key)
	v, err = l.unveiled(v, err)
	if err == nil && v.IsSensitive() { // the expression drops the mark
		l.sensitive = true
		v, err = v.Read()
	}
	if err == nil && found {
		err = l.checkType(key, t, v)
	}
	return v, found && err == nil, err
}

// Hiera looks up key for a Hiera 5 string. It implements expr.HieraEnv. If key is already being looked up, Hiera
// reports a loop, even if the lookup would end.
func (l *lookup) Hiera(key string) (value.Value, bool, error) {
	if slices.Contains(l.chain, key) {
		return value.Value{}, false, l.enter(key)
	}
	before := l.sensitive
	l.sensitive = false
	v, found, err := l.find(key)
	// Puppet only gets the marks of structured bindings; Hiera 5 values are at most decrypted. If nothing was found,
	// the sensitive value came from a structured binding that declined.
	l.marked = l.marked || l.sensitive && (!found || l.structured)
	l.sensitive = l.sensitive || before
	l.veiled = l.veiled || v.IsSensitive()
	if !found && err == nil {
		l.missedKey(key)
	}
	return v, found, err
}

// Given returns a variable for Hiera 5 data. It implements expr.GivenEnv. Unless variables are strict, an unset
// variable is undef.
func (l *lookup) Given(name string) (value.Value, error) {
	v, set := l.r.facts.lookup(name)
	if set {
		return v, nil
	}
	l.Missed(strings.TrimPrefix(name, "::"))
	if l.strictHiera() && !alwaysSet(strings.TrimPrefix(name, "::")) {
		return v, errors.New(undefined(name))
	}
	return v, nil
}

// strictHiera reports whether an unset variable in Hiera 5 data is an error.
func (l *lookup) strictHiera() bool { return l.r.snap.opts.StrictVariables || l.r.facts.strict }

func undefined(name string) string {
	message := "undefined variable '" + name + "'"
	if modern := legacy.Structured(strings.TrimPrefix(name, "::")); modern != "" {
		message += "; it is a legacy fact: write %{facts." + modern + "}"
	}
	return message
}

// alwaysSet reports whether Puppet sets the variable in every scope, even if only to undef.
func alwaysSet(name string) bool {
	return name == "module_name" || name == "caller_module_name" || strings.Trim(name, "0123456789") == ""
}

// Decrypt decrypts the parts of text that eyaml encrypted. It implements expr.HieraEnv.
func (l *lookup) Decrypt(text string) (string, error) {
	l.sensitive = true
	if decrypt := l.r.snap.opts.Decrypt; decrypt != nil {
		plain, err := decrypt(text)
		if err != nil { // the error does not reveal the encrypted text
			failure := failed("", CodeEncrypted, err.Error())
			failure.Err = err
			return "", failure
		}
		return plain, nil
	}
	if method := otherMethod(text); method != "" {
		return "", failed("", CodeEncrypted, "the value is encrypted with the method "+method+": expected PKCS7")
	}
	return "", failed("", CodeEncrypted,
		"the value is encrypted for hiera-eyaml, but no key was given; give bindq the private key with --eyaml-key FILE")
}

// otherMethod returns the encryption method of text if eyaml does not support it, such as GPG for 'ENC[GPG,...]'.
func otherMethod(text string) string {
	_, token, _ := strings.Cut(text, "ENC[")
	token, _, _ = strings.Cut(token, "]")
	method, _, named := strings.Cut(token, ",")
	if !named || strings.EqualFold(method, "PKCS7") {
		return ""
	}
	return method
}

// Variable returns a variable in the scope of the caller. It implements expr.Env.
func (l *lookup) Variable(name string) (value.Value, bool) {
	v, ok := l.r.facts.variables[name]
	return v, ok
}

// TopVariable returns a variable of the top scope, written ::name. It implements expr.TopEnv.
func (l *lookup) TopVariable(name string) (value.Value, bool) { return l.r.facts.top(name) }
