package lookup

import (
	"bindc/internal/recipe"
)

// recorder records a lookup and its nested lookups for an explanation.
type recorder struct {
	at      *Explanation // the running lookup; nil if it is not recorded
	left    int          // number of lookups that may still be recorded
	omitted int          // number of lookups not recorded because left was 0
	counted map[*Explanation][]contributed
	derived map[*Explanation]bool // whether the key may have been computed from sensitive data
}

// contributed is a contribution that a multibinding evaluated, with its outcome.
type contributed struct {
	part    recipe.Part
	outcome Outcome
}
