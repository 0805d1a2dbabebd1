package lint

// Files contains the results of a Check for reuse in the next Check, which must have the same
// Options.Codes. It is not safe for concurrent use.
type Files struct {
	known map[string]*file // by path
}

// find returns the results of the last Check for a file. It returns nil if the file has changed.
// hash is the hash of the current content.
func (k *Files) find(f *file, hash uint64) *file {
	if k == nil {
		return nil
	}
	if known := k.known[f.path]; known != nil && known.hash == hash && known.kind == f.kind {
		return known
	}
	return nil
}

func (k *Files) keep(files []*file) {
	if k == nil {
		return
	}
	k.known = make(map[string]*file, len(files))
	for _, f := range files {
		k.known[f.path] = f
	}
}

// hash returns the hash of a file's content when the loader read it.
func (l *linter) hash(path string) uint64 { return l.site.Inputs[l.site.InputOf[path]].Hash }
