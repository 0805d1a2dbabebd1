package lookup

import (
	"errors"
	"strings"

	"bindc/internal/value"
)

// View returns a value that a lookup by r has found, with the file that it may be a view of.
func (r *Request) View(v value.Value) Value { return Value{v, r.file} }

// end finishes a lookup and returns its result.
func (l *lookup) end(v value.Value, found bool, err error) (value.Value, bool, error) {
	v, found, err = l.result(v, found, err)
	l.done()
	return v, found, err
}

// result marks the result of a lookup, or of one inside it, if it is sensitive.
func (l *lookup) result(v value.Value, found bool, err error) (value.Value, bool, error) {
	if v, err = l.unveiled(v, err); err == nil && l.sensitive {
		v = v.Sensitive()
	}
	return v, found && err == nil, err
}

// outcome converts the result of a lookup, or of one inside it, to an Outcome.
func (l *lookup) outcome(v value.Value, found bool, err error) Outcome {
	v, found, err = l.result(v, found, err)
	return Outcome{l.r.View(v), found, err}
}

// unveiled returns v with its veiled parts in the clear, and records whether one was sensitive.
func (l *lookup) unveiled(v value.Value, err error) (value.Value, error) {
	if err != nil || !l.veiled {
		return v, err
	}
	v, sensitive, err := v.Unveiled()
	l.sensitive = l.sensitive || sensitive
	return v, err
}

// open returns v without its mark, and records that it was sensitive. It returns err as it is.
func (l *lookup) open(v value.Value, err error) (value.Value, error) {
	if !v.IsSensitive() {
		return v, err
	}
	l.sensitive = true
	return v.Read()
}

// hides reports whether messages must not show what the lookup found on the way.
func (l *lookup) hides() bool { return l.sensitive || l.hidden }

// looksCloser reports whether the lookup must know which binding answers, not only the value.
func (l *lookup) looksCloser() bool { return l.r.mayFail || l.notesStructure }

// explain makes an *Error of what went wrong in an expression, keeping one that came from a lookup in it. Where
// something sensitive was involved, a message that may quote it is not handed on.
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
		return failed(key, failure.Code, "'"+key+"': the value is sensitive, and so is what went wrong")
	}
	return failure
}

// damaged reports whether err is about the file and not about a binding.
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

// internal reports whether key is used only by the snapshot itself, such as the key for contributions to a
// multibinding. It cannot be looked up, not even in the quotes of Hiera 5.
func internal(key string) bool { return strings.HasPrefix(key, "\x00") }

// digs reports whether a key without bindings may lead into a value.
func digs(key string) bool {
	return strings.IndexByte(key, '.') >= 0 || strings.IndexByte(key, '\'') >= 0 || strings.IndexByte(key, '"') >= 0
}
