package explore

import (
	"cmp"
	"slices"
	"strconv"
)

type rect struct{ X, Y, W, H float64 }

// cell is a rectangle of a treemap: one level of one module.
type cell struct {
	rect
	area
	Color    int // index of the level's colour
	Label    string
	SubLabel string // name of the level, or ""
}

// These constants determine the size and detail of a treemap.
const (
	maxCells    = 400
	mapWidth    = 1000
	mapHeight   = 360
	levelColors = 8
)

// treemap divides the rectangle of the map among modules, and each module's rectangle among its levels. It leaves out
// the smallest areas if there are more than maxCells.
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
		inside := inModule(areas, names[i], levels)
		parts := make([]float64, len(inside))
		for k := range inside {
			parts[k] = inside[k].Size
		}
		for k, r := range squarify(parts, r) {
			out = append(out, labelled(cell{rect: r, area: inside[k], Color: colorOf(inside[k].Level, levels)}))
		}
	}
	return out
}

// otherLevels is the label for the levels that share the last colour.
const otherLevels = "other levels"

// colorOf returns the index of a level's colour. levels is sorted by size, largest first; the smallest levels share a
// colour.
func colorOf(level string, levels []string) int {
	i := slices.Index(levels, level)
	if i < 0 || len(levels) > levelColors && i >= levelColors-1 {
		return levelColors - 1
	}
	return i
}

// Link returns the address of the list of the area's keys.
func (a area) Link(v *view) string {
	prefix, bare, level := a.Module+"::", "", a.Level
	if a.Module == noModule {
		prefix, bare = "", "1"
	}
	if a.Level == otherLevels {
		level = ""
	}
	return v.With("/k", "prefix", prefix, "level", level, "bare", bare)
}

// inModule returns the areas of a module, largest first. It combines the levels that share the last colour into one
// area.
func inModule(areas []area, module string, levels []string) (out []area) {
	other := area{Module: module, Level: otherLevels}
	for _, a := range areas {
		switch {
		case a.Module != module:
		case len(levels) > levelColors && colorOf(a.Level, levels) == levelColors-1:
			other.Size += a.Size
		default:
			out = append(out, a)
		}
	}
	if other.Size > 0 {
		out = append(out, other)
	}
	slices.SortStableFunc(out, func(a, b area) int { return cmp.Compare(b.Size, a.Size) })
	return out
}

// These sizes, in the units of mapWidth, decide which labels fit into a cell.
const (
	letterWidth = 7.0
	labelMargin = 12.0
	lineHeight  = 16.0
)

// labelled returns c with the labels that fit into it. If the level's name does not fit, its number in the legend is
// used.
func labelled(c cell) cell {
	letters, number := int((c.W-labelMargin)/letterWidth), strconv.Itoa(c.Color+1)
	isTall := c.H > 2*lineHeight+4
	switch {
	case letters < 1 || c.H < lineHeight+4:
	case letters < 4 || letters < 7 && !isTall:
		c.Label = number
	case !isTall:
		c.Label = short(c.Module, letters-2) + " " + number
	case letters > 7:
		c.Label, c.SubLabel = short(c.Module, letters), short(c.Level, letters)
	default:
		c.Label, c.SubLabel = short(c.Module, letters), number
	}
	return c
}

// squarify divides r into nearly square rectangles whose areas are proportional to sizes. sizes must be sorted in
// descending order. It fills r with rows along the shorter side. Each row takes further rectangles until another one
// would make the row's worst aspect ratio worse.
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

// worst returns the worst aspect ratio in a row of rectangles along a side of the given length.
func worst(sizes []float64, sum, scale, side float64) (ratio float64) {
	depth := sum * scale / side
	for _, s := range sizes {
		length := s * scale / depth
		ratio = max(ratio, depth/length, length/depth)
	}
	return ratio
}

// divide cuts a row of rectangles with the given sizes off r, along the shorter side of r. rest is the remainder of r.
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
