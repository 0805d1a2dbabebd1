package explore

// overviewContent is the data of the first page.
type overviewContent struct {
	Warnings string
}

// overview shows what the site has.
func (v *view) overview() (any, error) {
	v.Title = "Overview"
	return &overviewContent{Warnings: v.d.warnings}, nil
}
