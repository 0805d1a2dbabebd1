package lookup

// IsDecoded reports whether x has decoded the bindings of s.
func (x *Explainer) IsDecoded(s *Snapshot) bool { return x.snap == s && x.index.Bindings != nil }

const ManyExplanations = manyExplanations
