package lookup

import "sync"

// manyExplanations is the number of explanations after which decoding all bindings of a large snapshot at once takes
// less time than searching them for each key.
const manyExplanations = 30

// Explainer explains many lookups in one snapshot. After the first explanations, it decodes the bindings of the
// snapshot, see Index. The zero Explainer is ready for use. It is safe for concurrent use.
type Explainer struct {
	mu    sync.Mutex
	snap  *Snapshot
	count int
	index Index
}

// Briefly is like ExplainBriefly. Use is fastest if consecutive requests have the same snapshot.
func (x *Explainer) Briefly(r *Request, key string, others int) (*Explanation, error) {
	return r.ExplainBriefly(key, others, x.indexFor(r.Snapshot()))
}

func (x *Explainer) indexFor(s *Snapshot) Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s != x.snap {
		x.snap, x.count, x.index = s, 0, Index{}
	}
	if x.count++; x.count == manyExplanations {
		// If a part of the snapshot is damaged, the explanations that read this part return an error.
		x.index, _ = s.Index()
	}
	return x.index
}
