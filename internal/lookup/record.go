package lookup

import (
	"bindc/internal/recipe"
)

// recorder records a lookup for its explanation.
type recorder struct {
	at      *Explanation // the running lookup; nil if it is not recorded
	left    int          // number of further lookups to record
	omitted int          // number of lookups not recorded
	counted map[*Explanation][]contributed
	derived map[*Explanation]bool // whether the key may be computed from sensitive data
}

// contributed is a contribution that a multibinding evaluated, with its outcome.
type contributed struct {
	part    recipe.Part
	outcome Outcome
}
