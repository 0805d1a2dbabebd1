package value

import "strconv"

// describeMax is the number of characters that Describe shows of a string.
const describeMax = 40

// Describe describes v in messages for people who write data: "a list", "a hash", "the string 'x'".
func Describe(v Value) string {
	switch kind := v.Kind(); {
	case kind == String && v.Text() == "":
		return "an empty string"
	case kind == Array && v.Len() == 0:
		return "an empty list"
	case kind == Hash && v.Len() == 0:
		return "an empty hash"
	}
	switch v.Kind() {
	case Undef:
		return "null"
	case Default:
		return "default"
	case Bool:
		return "the boolean " + strconv.FormatBool(v.Bool())
	case Int:
		return "the integer " + strconv.FormatInt(v.Int(), 10)
	case Float:
		return "the float " + string(AppendFloat(nil, v.Float()))
	case Regexp:
		return "the regular expression /" + Shorten(v.Text()) + "/"
	case Type:
		return "a type"
	case Array:
		return "a list"
	case Hash:
		return "a hash"
	}
	return "the string '" + Shorten(v.Text()) + "'"
}

// Shorten cuts text for a message, at the first line break or after describeMax characters.
func Shorten(text string) string {
	chars := 0
	for i, r := range text {
		if r == '\n' || chars == describeMax {
			return text[:i] + "…"
		}
		chars++
	}
	return text
}
