package syntax

import (
	"strings"
	"testing"
	"time"

	"bindc/internal/testmode"
)

// A search of the line's start for each layer would take minutes. The limit leaves room for busy machines.
func TestLayersOnOneLineTakeLinearTime(t *testing.T) {
	testmode.SkipUnderRace(t)
	const layers = 150_000
	layer := "layer { 'l': include => 'confdir:/default' }, "
	start := time.Now()
	s, errs := ParseSite("site { bindings => [" + strings.Repeat(layer, layers) + "] }")
	if len(errs) > 0 || len(s.Layers) != layers {
		t.Fatalf("expected %d layers, found %d, %v", layers, len(s.Layers), errs)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
