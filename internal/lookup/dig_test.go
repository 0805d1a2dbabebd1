package lookup

import (
	"strings"
	"testing"
)

func TestWordsBeginWithLetterOrUnderscore(t *testing.T) {
	const begin = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for c := range 256 {
		key := "." + string([]byte{byte(c)})
		if got := beginsWord(key, 1); got != strings.Contains(begin, key[1:]) {
			t.Errorf("%q begins a word: %t", key[1:], got)
		}
	}
	if beginsWord("a.", 2) {
		t.Error("the end of a key begins a word")
	}
}
