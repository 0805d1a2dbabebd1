package explore

import (
	"cmp"
	"slices"
)

// rect is a rectangle of a drawing.
type rect struct{ X, Y, W, H float64 }

// cell is a rectangle of a treemap.
type cell struct {
	rect
	area
	Color int // number of the colour of its level
	Label string
}

// Limits of a treemap.
const (
	maxCells    = 400
	mapWidth    = 1000
	mapHeight   = 360
	levelColors = 8
)

// treemap draws the largest areas: modules, and in each of them its levels.
func treemap(areas []area, levels []string) []cell {
	areas = areas[:min(len(areas), maxCells)]
	modules := map[string]float64{}
	for _, a := range areas {
		modules[a.Module] += a.Size
	}
	var names []string
	for name := range modules {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(modules[b], modules[a]), cmp.Compare(a, b))
	})
	sizes := make([]float64, len(names))
	for i, name := range names {
		sizes[i] = modules[name]
	}
	var out []cell
	for i, r := range squarify(sizes, rect{0, 0, mapWidth, mapHeight}) {
		var inside []area
		var parts []float64
		for _, a := range areas {
			if a.Module == names[i] {
				inside, parts = append(inside, a), append(parts, a.Size)
			}
		}
		for k, r := range squarify(parts, r) {
			c := cell{rect: r, area: inside[k], Color: min(slices.Index(levels, inside[k].Level), levelColors-1)}
			if k == 0 && r.W > 10+7*float64(min(len(names[i]), 14)) && r.H > 18 {
				c.Label = short(names[i], 14)
			}
			out = append(out, c)
		}
	}
	return out
}

// squarify divides a rectangle among sizes, which decrease, into rectangles that are nearly squares. It fills the
// shorter side with a row of sizes as long as that makes the worst of them more like a square.
func squarify(sizes []float64, r rect) (out []rect) {
	total := 0.0
	for _, s := range sizes {
		total += s
	}
	for len(sizes) > 0 && total > 0 {
		scale := r.W * r.H / total
		n, sum := 1, sizes[0]
		for n < len(sizes) && worst(sizes[:n+1], sum+sizes[n], scale, min(r.W, r.H)) <=
			worst(sizes[:n], sum, scale, min(r.W, r.H)) {
			sum += sizes[n]
			n++
		}
		var row []rect
		row, r = divide(sizes[:n], sum, scale, r)
		out = append(out, row...)
		sizes, total = sizes[n:], total-sum
	}
	return out
}

// worst returns the largest ratio of the sides of a row of rectangles along a side.
func worst(sizes []float64, sum, scale, side float64) (ratio float64) {
	depth := sum * scale / side
	for _, s := range sizes {
		length := s * scale / depth
		ratio = max(ratio, depth/length, length/depth)
	}
	return ratio
}

// divide cuts a row of rectangles from r along its shorter side.
func divide(sizes []float64, sum, scale float64, r rect) (row []rect, rest rect) {
	at := 0.0
	if r.W >= r.H {
		depth := sum * scale / r.H
		for _, s := range sizes {
			row = append(row, rect{r.X, r.Y + at, depth, s * scale / depth})
			at += s * scale / depth
		}
		return row, rect{r.X + depth, r.Y, r.W - depth, r.H}
	}
	depth := sum * scale / r.W
	for _, s := range sizes {
		row = append(row, rect{r.X + at, r.Y, s * scale / depth, depth})
		at += s * scale / depth
	}
	return row, rect{r.X, r.Y + depth, r.W, r.H - depth}
}
