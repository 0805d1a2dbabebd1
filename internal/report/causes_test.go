package report

import (
	"testing"

	"bindc/internal/report/decision"
)

// A key has a cause if all its changes come from one file or level that only one snapshot has. Values that only move to
// other requests do not matter.
func TestCauseSharedByAllChangesBelongsToKey(t *testing.T) {
	at := func(place string) *decision.Row {
		if place == "" {
			return nil
		}
		return &decision.Row{At: place, Layer: "layer"}
	}
	const both, other, gone, gone2, made = "both.yaml:1:1", "both.yaml:2:1", "gone.yaml:1:1", "gone2.yaml:1:1",
		"made.yaml:1:1"
	for name, c := range map[string]struct {
		changes [][2]string // the places of the old and the new value; "" is not found
		want    string
	}{
		"the file is removed":                      {[][2]string{{gone, ""}}, "removed gone.yaml"},
		"the file is added":                        {[][2]string{{"", made}}, "added made.yaml"},
		"a lower value takes its place":            {[][2]string{{gone, both}}, "removed gone.yaml"},
		"a lower value moves up":                   {[][2]string{{gone, both}, {both, ""}}, "removed gone.yaml"},
		"a value moves down":                       {[][2]string{{both, made}, {"", both}}, "added made.yaml"},
		"another value is not found any more":      {[][2]string{{gone, both}, {other, ""}}, ""},
		"another value is found now":               {[][2]string{{both, made}, {"", other}}, ""},
		"a value that moves up is replaced, too":   {[][2]string{{gone, both}, {both, other}}, ""},
		"a value that moves down is replaced, too": {[][2]string{{both, made}, {other, both}}, ""},
		"two files are removed":                    {[][2]string{{gone, ""}, {gone2, ""}}, ""},
		"one is removed and one added":             {[][2]string{{gone, ""}, {"", made}}, ""},
		"no file is removed":                       {[][2]string{{both, other}}, ""},
		"a file with a colon in its name stays":    {[][2]string{{"a:b.yaml:1:1", "a:b.yaml:2:1"}}, ""},
	} {
		found := causes{files: [2]map[string]bool{{"both.yaml": true, "a:b.yaml": true, "gone.yaml": true,
			"gone2.yaml": true}, {"both.yaml": true, "a:b.yaml": true, "made.yaml": true}}}
		for i := range found.levels {
			found.levels[i] = map[string]bool{"layer": true}
		}
		k := &decision.KeyChanges{Key: "k"}
		for _, places := range c.changes {
			k.Changes = append(k.Changes, decision.Change{Old: at(places[0]), New: at(places[1])})
		}
		got := ""
		if one := found.ofKey(k); one != nil {
			got = one.What + " " + one.File
		}
		if got != c.want {
			t.Errorf("%s: '%s', expected '%s'", name, got, c.want)
		}
	}
}

// Keys with the same cause are grouped if there are more than three.
func TestShowsOnlyCausesOfManyKeys(t *testing.T) {
	c := causes{list: []*Cause{{What: "three", Keys: []string{"a", "b", "c"}},
		{What: "four", Keys: []string{"d", "e", "f", "g"}}}}
	if got := c.shown(); len(got) != 1 || got[0].What != "four" {
		t.Errorf("%+v", got)
	}
}
