package explore

// tally has the numbers of what bindings reach, by file and by module.
type tally struct{ ready chan struct{} }

func newTally() *tally { return &tally{ready: make(chan struct{})} }

// difference has the changes from the old version.
type difference struct{ ready chan struct{} }

func newDifference() *difference { return &difference{ready: make(chan struct{})} }
