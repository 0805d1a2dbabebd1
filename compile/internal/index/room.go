package index

// room has memory for many small lists, which would cost more one by one.
type room[T any] struct{ free []T }

// roomItems is the number of items that are allocated together.
const roomItems = 1 << 12

// take returns an empty list with room for exactly n items.
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
