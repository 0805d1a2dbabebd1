package place

import (
	"encoding/binary"
	"slices"

	"bindc/loader"
)

// Ranking holds the precedence of each condition of a site.
type Ranking struct {
	Shapes  []shape
	ShapeOf []int // index in Shapes, by condition
	classes int   // number of distinct values of shape.class
}

// shape is the set of dimensions in a condition.
type shape struct {
	Dims  []int
	class int // precedence of the shape's categories; 0 is the highest
}

// RankConditions ranks conditions by their categories (language.md, section 6). It compares the lists of categories
// element by element, highest first. A list that continues another list has higher precedence. Guards do not count.
func RankConditions(site *loader.Site) *Ranking {
	r := findShapes(site.Conditions)
	categories := make([][]int, len(r.Shapes))
	for i, s := range r.Shapes {
		for _, dim := range s.Dims {
			if d := site.Dimensions[dim].Category; d >= 0 {
				categories[i] = append(categories[i], d)
			}
		}
		slices.Sort(categories[i])
		categories[i] = slices.Compact(categories[i])
	}
	distinct := slices.Clone(categories)
	slices.SortFunc(distinct, comparePrecedence)
	distinct = slices.CompactFunc(distinct, slices.Equal)
	r.classes = len(distinct)
	for i, list := range categories {
		r.Shapes[i].class, _ = slices.BinarySearchFunc(distinct, list, comparePrecedence)
	}
	return r
}

// findShapes returns a Ranking with the shape of each condition. It does not set the classes of shapes.
func findShapes(conditions []loader.Condition) *Ranking {
	r := &Ranking{ShapeOf: make([]int, len(conditions))}
	seen := map[string]int{}
	var key []byte
	for i, condition := range conditions {
		key = key[:0]
		for _, t := range condition {
			key = AppendDim(key, t.Dimension)
		}
		n, ok := seen[string(key)]
		if !ok {
			n = len(r.Shapes)
			seen[string(key)] = n
			r.Shapes = append(r.Shapes, shape{Dims: DimsOf(condition)})
		}
		r.ShapeOf[i] = n
	}
	return r
}

// comparePrecedence compares two lists of categories. The result is negative if the first has higher precedence.
func comparePrecedence(a, b []int) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return len(b) - len(a)
}

// Rank returns the precedence of a layer's bindings under a condition. 0 is the highest.
func (r *Ranking) Rank(layer, condition int) int {
	return layer*r.classes + r.Shapes[r.ShapeOf[condition]].class
}

func DimsOf(c loader.Condition) []int {
	out := make([]int, len(c))
	for i, t := range c {
		out[i] = t.Dimension
	}
	return out
}

// AppendDim appends the encoding of a dimension to a map key.
func AppendDim(dst []byte, dim int) []byte { return binary.AppendUvarint(dst, uint64(dim)) }

func AppendDims(dst []byte, dims []int) []byte {
	for _, d := range dims {
		dst = AppendDim(dst, d)
	}
	return dst
}
