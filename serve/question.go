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
	"bindc/internal/members"
	bindings "bindc/runtime"
)

// question is a decoded question from a client. Missing members are nil or empty.
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
}

// questions lists the values of the member ask.
var questions = []string{"hello", "node", "ahead", "keys", "prefix", "candidates", "explain", "end"}

// decodeError returns the answer to a question that is not a JSON object, or has a member of the wrong type.
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
	errors.As(err, &syntax) // any other error is a *json.SyntaxError
	return protocolError(fmt.Sprintf("expected a JSON object: invalid or incomplete JSON at byte %d", syntax.Offset))
}

// typeWord describes the expected type of a member of a question.
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

// jsonWord describes the value that an error of encoding/json names by kind and sometimes by text.
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

// knownMembers returns the names of the members of a question.
var knownMembers = sync.OnceValue(func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[question]()) {
		names = append(names, f.Tag.Get("json"))
	}
	return names
})

// checkMembers rejects a question with a repeated or a misspelt member. It accepts other unknown members, which may
// belong to a later version of the protocol.
func checkMembers(text []byte) error {
	known := knownMembers()
	var seen [32][]byte // the value of each known member
	for name, val := range members.All(text) {
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
