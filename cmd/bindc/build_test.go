package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bindc/internal/fsx"
)

func TestFailedSigningAlsoReportsUnsyncedDirectory(t *testing.T) {
	unsynced, failed := fmt.Errorf("dir: %w", fsx.ErrUnsynced), errors.New("no key")
	for _, c := range []struct {
		unsynced, signed error
		inPlace          bool
		messages         []string
	}{
		{nil, nil, true, nil},
		{unsynced, nil, true, []string{"dir"}},
		{nil, unsynced, true, []string{"dir"}},
		{nil, failed, false, []string{"no key"}},
		{unsynced, failed, false, []string{"no key", "dir", fsx.ErrUnsynced.Error()}},
	} {
		err := worst(c.unsynced, c.signed)
		if fsx.InPlace(err) != c.inPlace || (err == nil) != (c.messages == nil) {
			t.Errorf("%v and %v give %v", c.unsynced, c.signed, err)
		}
		for _, message := range c.messages {
			if !strings.Contains(err.Error(), message) {
				t.Errorf("%v and %v give %q, which does not contain %q", c.unsynced, c.signed, err, message)
			}
		}
	}
}
