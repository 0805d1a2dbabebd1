package loader

import "bindc/internal/disk"

// On is o with a site that is read from d.
func (o Options) On(d disk.Disk) Options {
	o.disk = d
	return o
}
