package value

import "testing"

func TestRepeatedFindsDuplicateNames(t *testing.T) {
	for text, want := range map[string]string{`{"a":1,"b":2}`: "", `{"a":1,"a":1}`: "", `{"a":1,"a":2}`: "a",
		`{"a":"b","b":2,"A":"c"}`: "A", `{"a":{"b":1},"b":2}`: "", `{"a":["b:1",{"c":"}"}],"b":2,"b":3}`: "b",
		`{"a" : "x" , "a" : "x"}`: "", `{"a":"\"", "a":"\"", "b":1}`: "", `{"a":"b","c":":"}`: "",
		`{"x":1,"y":"x","z":3}`: "", `{}`: "",
		`{"a:{":1,"b":2,"b":3}`: "b", `{"\u0061":1,"a":2}`: "a", `{"a":1,"\u0061":1}`: "",
		`{"a":"\\","b":"\\\"","b":1}`: "b"} {
		if name, twice := RepeatedMember([]byte(text)); name != want || twice != (want != "") {
			t.Errorf("%s: '%s' %v, expected '%s'", text, name, twice, want)
		}
	}
	r := memberReader{text: []byte(`{"a":1, "b" : [2] }`)}
	for _, want := range []string{"a=1", "b=[2]"} {
		if name, val, ok := r.next(); !ok || string(name)+"="+string(val) != want {
			t.Errorf("%s=%s, expected %s", name, val, want)
		}
	}
}
