// Package tiny has a mutant of each kind.
package tiny

// Largest has an equivalent mutant, because replacing a number with an equal one makes no difference.
func Largest(list []int) int {
	largest := 0
	for _, n := range list {
		if n > largest {
			largest = n
		}
	}
	return largest
}

// Halvings does not terminate without the division.
func Halvings(n int) int {
	steps := 0
	for n > 1 {
		n /= 2
		steps++
	}
	return steps
}

// Clamp is tested, but not with a number that is too small.
func Clamp(n int) int {
	switch {
	case n > 9:
		return 9
	case n < 0:
		return 0
	}
	return n
}

// Sizes has a mutant that does not compile, because the length of an array must be a constant.
func Sizes() (int, bool) {
	type pair [2]int
	list := [...]string{3: "d"}
	return len(list) + len(pair{}), true
}

func untested() bool { return true }
