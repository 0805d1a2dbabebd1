package lint

// Files keeps what a Check has read from files for the next Check, which must check the same codes. It is not safe for
// concurrent use.
type Files struct {
	known map[string]*file // by path
}

// find returns the results for f from the last Check, or nil if the content has changed. hash is the hash of the
// content.
func (k *Files) find(f *file, hash uint64) *file {
	if k == nil {
		return nil
	}
	if known := k.known[f.path]; known != nil && known.hash == hash && known.kind == f.kind {
		return known
	}
	return nil
}

// keep replaces the results of the last Check.
func (k *Files) keep(files []*file) {
	if k == nil {
		return
	}
	k.known = make(map[string]*file, len(files))
	for _, f := range files {
		k.known[f.path] = f
	}
}

// hash returns the hash of the content that the loader read from a file.
func (l *linter) hash(path string) uint64 { return l.site.Inputs[l.site.InputOf[path]].Hash }
