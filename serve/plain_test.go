package serve

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

// Questions that decodePlain decodes, and questions that it leaves to encoding/json.
var (
	plain = []string{`{"ask":"keys","session":1,"keys":["a","b::c"]}`, `{"session":-7,"keys":["a b"],"ask":"keys"}`,
		`{"keys":[""],"ask":"keys","session":9223372036854775807}`}
	notPlain = []string{``, `{`, `{}`, `{"ask":"keys"}`, `{"ask":"keys","session":1,"keys":[]}`,
		`{"ask":"keys","session":1,"keys":["a"]} `, `{"ask":"keys","session":1,"keys":["a"],"merge":"hash"}`,
		`{"ask":"keys", "session":1,"keys":["a"]}`, `{"ask":"keys","session":1,"keys":["\u0061"]}`,
		`{"ask":"keys","session":01,"keys":["a"]}`, `{"ask":"keys","session":1,"keys":["a"],}`,
		`{"ask":"keys","session":1,"keys":["a",]}`, `{"ask":"keys","session":1,"keys":["a"`,
		`{"ask":"keys","session":1,"session":2,"keys":["a"]}`, `{"ask":"keys","session":1,"keys":["a"],"keys":["b"]}`,
		`{"ask":"node","session":1,"keys":["a"]}`, "{\"ask\":\"keys\",\"session\":1,\"keys\":[\"a\tb\"]}",
		`{"ask":"keys","session":1.0,"keys":["a"]}`, `{"ask":"keys","session":,"keys":["a"]}`,
		`{"Ask":"keys","session":1,"keys":["a"]}`, `{"session":-7,"keys":["é"],"ask":"keys"}`,
		"{\"ask\":\"keys\",\"session\":1,\"keys\":[\"\xff\"]}"}
)

func TestDecodePlainLeavesOtherQuestionsToJSON(t *testing.T) {
	for _, text := range plain {
		if _, ok := decodePlain(text); !ok {
			t.Errorf("not decoded: %s", text)
		}
	}
	for _, text := range notPlain {
		if q, ok := decodePlain(text); ok {
			t.Errorf("%s is decoded to %+v", text, q)
		}
	}
}

// If decodePlain decodes a text, encoding/json decodes it to the same question.
func FuzzDecodePlain(f *testing.F) {
	for _, text := range append(plain, notPlain...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, ok := decodePlain(text)
		if !ok {
			return
		}
		if !utf8.ValidString(text) {
			t.Errorf("%q is decoded", text)
		}
		want := question{plainKeys: true}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(q, want) {
			t.Errorf("%s: decoded to %+v, encoding/json says %+v, %v", text, q, want, err)
		}
	})
}
