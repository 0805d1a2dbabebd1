// Package tiny has a mutant of each kind.
package tiny

// Largest: whether equal numbers replace one another does not matter.
func Largest(list []int) int {
	largest := 0
	for _, n := range list {
		if n > largest {
			largest = n
		}
	}
	return largest
}

// Halvings never ends without the division.
func Halvings(n int) int {
	steps := 0
	for n > 1 {
		n /= 2
		steps++
	}
	return steps
}

// Clamp is tested, but never with a number that is too small.
func Clamp(n int) int {
	switch {
	case n > 9:
		return 9
	case n < 0:
		return 0
	}
	return n
}

// Sizes has a mutant that does not compile: what an array is made of must be a constant.
func Sizes() (int, bool) {
	type pair [2]int
	list := [...]string{3: "d"}
	return len(list) + len(pair{}), true
}

func untested() bool { return true }
