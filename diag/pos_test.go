package diag_test

import (
	"testing"

	"bindc/diag"
)

func TestParsePosReadsWhatStringPrints(t *testing.T) {
	for text, want := range map[string]diag.Pos{
		"data/a.yaml:3:14":     {File: "data/a.yaml", Line: 3, Col: 14},
		"data/00:11.yaml:3:14": {File: "data/00:11.yaml", Line: 3, Col: 14},
		"data/a:1:3:14":        {File: "data/a:1", Line: 3, Col: 14},
		"data/a.yaml":          {File: "data/a.yaml"},
		"data/00:11.yaml":      {File: "data/00:11.yaml"},
		"an unknown place":     {File: "an unknown place"},
		"only a line:3":        {File: "only a line:3"},
		"":                     {},
	} {
		got := diag.ParsePos(text)
		if got != want || got.String() != text {
			t.Errorf("%s: found %#v, expected %#v", text, got, want)
		}
	}
}
