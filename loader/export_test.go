package loader

// FindingAgain returns o with another limit in place of maxFoundAgain.
func (o Options) FindingAgain(limit int) Options {
	o.foundAgain = limit
	return o
}
