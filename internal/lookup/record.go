package lookup

import (
	"bindc/internal/recipe"
)

// recorder is what a lookup notes while it is explained.
type recorder struct {
	at      *Explanation // of the lookup that is running; nil: not recorded
	left    int          // how many more lookups to record
	omitted int          // how many lookups were not recorded
	counted map[*Explanation][]contributed
	derived map[*Explanation]bool // the key may be computed from something sensitive
}

// contributed is a contribution that a multibinding took, and what came of it.
type contributed struct {
	part    recipe.Part
	outcome Outcome
}
