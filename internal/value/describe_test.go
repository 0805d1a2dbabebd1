package value

import "testing"

func TestDescribeUsesWordsOfDataAuthors(t *testing.T) {
	for _, c := range []struct {
		of   Value
		want string
	}{
		{Value{}, "null"}, {FromBool(false), "the boolean false"}, {FromInt(-1), "the integer -1"},
		{FromFloat(1), "the float 1.0"}, {FromString(""), "an empty string"}, {FromString("a\nb"), "the string 'a…'"},
		{FromRegexp("^a"), "the regular expression /^a/"}, {FromRegexp("a\nb"), "the regular expression /a…/"},
		{TheDefault(), "default"}, {FromSlice(nil), "an empty list"}, {FromPairs(), "an empty hash"},
		{FromType(nil), "a type"},
	} {
		if got := Describe(c.of); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
