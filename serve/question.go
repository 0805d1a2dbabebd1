package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// question is a question from a client. Fields of missing members have their zero value.
type question struct {
	Ask         string          `json:"ask"`
	Protocol    *int            `json:"protocol"`
	Environment string          `json:"environment"`
	Session     *int64          `json:"session"`
	Digest      string          `json:"digest"`
	Facts       json.RawMessage `json:"facts"`
	Vars        json.RawMessage `json:"vars"`
	Trusted     json.RawMessage `json:"trusted"`
	Strict      bool            `json:"strict_variables"`
	Keys        []string        `json:"keys"`
	Key         *string         `json:"key"`
	Prefix      *string         `json:"prefix"`
	Direct      bool            `json:"direct"`
	Entries     string          `json:"entries"`
	Merge       json.RawMessage `json:"merge"`
	Values      bool            `json:"values"`
	From        int             `json:"from"`
	To          int             `json:"to"`
	Asked       []askedKeys     `json:"asked"`

	plainKeys bool // whether all Keys are plain, see value.IsPlain
}

// questions lists the valid values of question.Ask.
var questions = []string{"hello", "node", "ahead", "keys", "prefix", "candidates", "explain", "end"}

// decodeError converts an error of encoding/json to the answer for a question that is not a JSON object, or that has a
// member of the wrong type.
func decodeError(err error) *failure {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return failed(bindings.CodeUsage, "the member '"+kind.Field+"' of the question: expected "+typeWord(kind.Type)+
			", found "+jsonWord(kind.Value))
	case errors.As(err, &kind):
		return protocolError("expected a JSON object, found " + jsonWord(kind.Value))
	}
	errors.As(err, &syntax) // all other errors are of type *json.SyntaxError
	return protocolError(fmt.Sprintf("expected a JSON object: invalid or incomplete JSON at byte %d", syntax.Offset))
}

func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list of strings"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	}
	return "a 64-bit integer"
}

// jsonWord describes found, the Value of a json.UnmarshalTypeError, for messages. found is a kind, sometimes followed
// by a text.
func jsonWord(found string) string {
	word, _, _ := strings.Cut(found, " ")
	switch word {
	case "array", "object":
		return "an " + word
	case "bool":
		return "true or false"
	}
	return "a " + word
}

var knownMembers = sync.OnceValue(func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[question]()) {
		if f.IsExported() {
			names = append(names, f.Tag.Get("json"))
		}
	}
	return names
})

// checkMembers returns an error if a member of a question is misspelt, or appears twice with different values. It
// accepts other unknown members, which later versions of the protocol may add.
func checkMembers(text []byte) error {
	known := knownMembers()
	var seen [32][]byte // by index in known, the value of the member
	for name, val := range value.Members(text) {
		i := indexOf(known, name)
		switch {
		case i < 0:
			if near := diag.Misspelt(string(name), known); near != "" {
				return failed(bindings.CodeUsage, "unknown member '"+string(name)+"' of the question; did you mean '"+
					near+"'?")
			}
		case seen[i] != nil && !bytes.Equal(seen[i], val):
			return protocolError("the question has two different values for the member '" + string(name) + "'")
		default:
			seen[i] = val
		}
	}
	return nil
}

// indexOf returns the index of name in known, or -1. Like encoding/json, it ignores case.
func indexOf(known []string, name []byte) int {
	for i, k := range known {
		if k == string(name) {
			return i
		}
	}
	return slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, string(name)) })
}
