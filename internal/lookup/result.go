package lookup

import (
	"errors"
	"strings"

	"bindc/internal/value"
)

// View converts v, the result of a lookup by r, to a Value. The Value keeps the file mapped that v may refer to.
func (r *Request) View(v value.Value) Value { return Value(r.snap.values.Own(v)) }

// end finishes a lookup that start began, and returns its result.
func (l *lookup) end(v value.Value, found bool, err error) (value.Value, bool, error) {
	v, found, err = l.result(v, found, err)
	v = l.r.snap.values.Own(v)
	l.done()
	return v, found, err
}

// result marks the result of a lookup as sensitive if l read sensitive values.
func (l *lookup) result(v value.Value, found bool, err error) (value.Value, bool, error) {
	if v, err = l.unveiled(v, err); err == nil && l.sensitive {
		v = v.Sensitive()
	}
	return v, found && err == nil, err
}

func (l *lookup) outcome(v value.Value, found bool, err error) Outcome {
	v, found, err = l.result(v, found, err)
	return Outcome{l.r.View(v), found, err}
}

// unveiled removes sensitive marks from the parts of v, and records whether v had any. It passes err through.
func (l *lookup) unveiled(v value.Value, err error) (value.Value, error) {
	if err != nil || !l.veiled {
		return v, err
	}
	v, sensitive, err := v.Unveiled()
	l.sensitive = l.sensitive || sensitive
	return v, err
}

// open removes the sensitive mark of v, and records whether v had one. It passes err through.
func (l *lookup) open(v value.Value, err error) (value.Value, error) {
	if !v.IsSensitive() {
		return v, err
	}
	l.sensitive = true
	return v.Read()
}

// hides reports whether messages must not show the values that the lookup read.
func (l *lookup) hides() bool { return l.sensitive || l.hidden }

// needsBinding reports whether the lookup must know which binding its value comes from.
func (l *lookup) needsBinding() bool { return l.r.mayFail || l.notesStructure }

// explain converts an error in an expression to an *Error. It keeps an *Error from a lookup in the expression. If the
// lookup read sensitive data, explain replaces a message that might quote it.
func (l *lookup) explain(key string, err error) error {
	var failure *Error
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		return damage
	case !errors.As(err, &failure):
		failure = failed(key, CodeEvaluation, "'"+strings.TrimLeft(key, "\x00")+"': "+err.Error())
		failure.Err = err
	}
	if l.hides() && (failure.Code == CodeEvaluation || failure.Code == CodeProducer) {
		return failed(key, failure.Code, "'"+key+"': the value is sensitive, so the error is not shown")
	}
	return failure
}

// damaged reports whether err is about the file rather than a binding.
func damaged(err error) bool {
	_, ofBinding := err.(*Error)
	return err != nil && !ofBinding
}

func onlyDamage(err error) error {
	if damaged(err) {
		return err
	}
	return nil
}

// internal reports whether only the snapshot itself uses key, such as the key for contributions to a multibinding.
// Lookups cannot use such a key, not even in Hiera 5's quotes.
func internal(key string) bool { return strings.HasPrefix(key, "\x00") }
