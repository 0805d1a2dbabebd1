package lookupkey

import (
	"fmt"

	"bindc/internal/value"
)

// DigError reports that a segment of a key cannot be looked up in a value, for example because the value is a string.
// The message does not contain the value.
type DigError struct {
	Key     string
	Segment value.Value // segment of Key that Dig did not find
	Found   value.Kind  // kind of the value that has no such segment
}

func (e *DigError) Error() string {
	expected := fmt.Sprintf("a Hash with the key '%s'", e.Segment.Text())
	if e.Segment.Kind() == value.Int {
		expected = fmt.Sprintf("an Array with element %d or a Hash with that key", e.Segment.Int())
	}
	found := e.Found.String()
	if e.Found == value.Undef { // only a sensitive value, because Dig does not fail on undef
		found = "something sensitive"
	}
	return fmt.Sprintf("'%s' needs %s, found %s", e.Key, expected, found)
}

// Dig returns the value at k.Path inside v, which is the value of k.Root. It returns false if an entry or element is
// missing. The error is a *DigError, or an error from reading v. If v is sensitive, so is the result.
func (k Key) Dig(v value.Value) (value.Value, bool, error) { return Dig(k.Text, k.Path, v) }

// Dig is like Key.Dig. text is the whole key, for error messages.
func Dig(text string, path []value.Value, v value.Value) (value.Value, bool, error) {
	if len(path) == 0 {
		return v, true, nil
	}
	sensitive := v.IsSensitive()
	v, err := v.Read()
	if err != nil {
		return value.Value{}, false, err
	}
	for _, segment := range path {
		var found bool
		if v, found, err = inside(text, segment, v); !found || err != nil {
			return value.Value{}, false, err
		}
	}
	if sensitive {
		v = v.Sensitive()
	}
	return v, true, nil
}

func inside(text string, segment, v value.Value) (value.Value, bool, error) {
	switch k := v.Kind(); {
	case v.IsUndef():
		return value.Value{}, false, nil
	case k == value.Hash:
		e, found := v.Get(segment)
		return e, found, nil
	case k == value.Array && segment.Kind() == value.Int:
		n := segment.Int()
		if n < 0 || n >= int64(v.Len()) {
			return value.Value{}, false, nil
		}
		return v.Index(int(n)), true, nil
	}
	return value.Value{}, false, &DigError{text, segment, v.Kind()}
}

// Dotted formats a variable and the keys to look up in it, joined with dots, as in os.family.
func Dotted(name string, path []value.Value) string {
	text := []byte(name)
	for _, key := range path {
		text = value.AppendText(append(text, '.'), key)
	}
	return string(text)
}
