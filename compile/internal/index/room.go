package index

// room allocates small lists in chunks, because separate allocations would cost more.
type room[T any] struct{ free []T }

const roomItems = 1 << 12

func (r *room[T]) take(n int) []T {
	if n > len(r.free) {
		if n > roomItems/4 {
			return make([]T, 0, n)
		}
		r.free = make([]T, roomItems)
	}
	out := r.free[:0:n]
	r.free = r.free[n:]
	return out
}
