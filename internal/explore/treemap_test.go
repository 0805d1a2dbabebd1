package explore

import (
	"strconv"
	"strings"
	"testing"
)

func TestAreaWithoutRoomForLevelHasItsNumber(t *testing.T) {
	wide := rect{W: 200, H: 100}
	for name, c := range map[string]struct {
		rect
		label, sub string
	}{
		"wide":           {wide, "wiki", "site: node"},
		"low":            {rect{W: 200, H: 22}, "wiki 3", ""},
		"narrow":         {rect{W: 50, H: 100}, "wiki", "3"},
		"low and narrow": {rect{W: 50, H: 22}, "3", ""},
		"small":          {rect{W: 20, H: 22}, "3", ""},
		"tiny":           {rect{W: 10, H: 10}, "", ""},
	} {
		found := labelled(cell{rect: c.rect, area: area{"wiki", "site: node", 1}, Color: 2})
		if found.Label != c.label || found.SubLabel != c.sub {
			t.Errorf("a %s area has the labels '%s' and '%s', expected '%s' and '%s'", name, found.Label, found.SubLabel, c.label,
				c.sub)
		}
	}
}

func TestLegendHasNumbersOfLevels(t *testing.T) {
	d := open(t, ranked, Source{})
	v := &view{d: d}
	c, err := v.overview()
	if err != nil {
		t.Fatal(err)
	}
	_, page := get(t, "GET", served(t, Access{}, d)+"/s/"+d.ID+"/", nil)
	levels := c.(*overviewContent).Levels
	for i, level := range levels {
		if legend := "</svg> " + strconv.Itoa(i+1) + " " + level.Name + "</li>"; !strings.Contains(page, legend) {
			t.Errorf("the legend lacks '%s':\n%s", legend, page)
		}
	}
	if len(levels) < 3 {
		t.Errorf("there are %d levels", len(levels))
	}
}
