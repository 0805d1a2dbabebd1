package yaml

import "bindc/internal/diag"

// ParseJSON reads a JSON file.
func ParseJSON(file string, src []byte, opts Options, diags *diag.List) (*Document, bool) {
	return Parse(file, src, opts, diags)
}
