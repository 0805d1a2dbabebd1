package loader

import "bindc/internal/fsx"

// On is o with a site that is read from d.
func (o Options) On(d fsx.Disk) Options {
	o.disk = d
	return o
}

// FindingAgain returns o with another limit than maxFoundAgain.
func (o Options) FindingAgain(limit int) Options {
	o.foundAgain = limit
	return o
}
