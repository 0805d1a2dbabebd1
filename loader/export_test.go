package loader

import "bindc/internal/fsx"

// On returns o with d as the file system.
func (o Options) On(d fsx.Disk) Options {
	o.Disk = d
	return o
}

// FindingAgain returns o with another limit in place of maxFoundAgain.
func (o Options) FindingAgain(limit int) Options {
	o.foundAgain = limit
	return o
}
