package stdlib

import (
	"slices"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// runTreeEach visits the values in nested arrays and hashes, with the path of each value.
func runTreeEach(c *call) (value.Value, error) {
	if k := c.Args[0].Kind(); k != value.Array && k != value.Hash {
		return value.Value{}, c.Wrong(0, "an Array or a Hash")
	}
	w, err := newWalker(c)
	if err != nil {
		return value.Value{}, err
	}
	if err := w.walk(); err != nil {
		return value.Value{}, err
	}
	if c.Lambda == nil {
		out := make([]value.Value, 0, len(w.found))
		for _, f := range w.found {
			out = append(out, value.FromSlice([]value.Value{value.FromSlice(f.path), f.val}))
		}
		return c.MakeArray(out)
	}
	two := c.Lambda.Takes(2)
	for _, f := range w.found {
		args := []value.Value{f.val}
		if two {
			args = []value.Value{value.FromSlice(f.path), f.val}
		}
		if _, err := c.Yield(args...); err != nil {
			return value.Value{}, err
		}
	}
	return c.Args[0], nil
}

type treeNode struct {
	path []value.Value
	val  value.Value
}

type walker struct {
	c                       *call
	root                    value.Value
	inside                  *types.Type // search only containers of this type
	withRoot, inner, leaves bool
	breadthFirst            bool
	found                   []treeNode
}

var treeOptions = []string{"container_type", "include_root", "include_containers", "include_values", "order",
	"include_refs"}

func newWalker(c *call) (*walker, error) {
	containers, err := types.Of(types.Variant).With(types.Of(types.Array).Value(), types.Of(types.Hash).Value())
	if err != nil {
		return nil, err
	}
	w := &walker{c: c, root: c.Args[0], inside: containers, withRoot: true, inner: true, leaves: true}
	if len(c.Args) > 1 && c.Args[1].Kind() != value.Hash {
		return nil, c.Wrong(1, "a Hash")
	}
	for k, v := range c.Arg(1).Pairs() {
		if !slices.Contains(treeOptions, k.Text()) {
			return nil, c.Failf("unknown option %s", ruby.Inspect(k))
		}
		if err := w.option(c, k.Text(), v); err != nil {
			return nil, err
		}
	}
	w.withRoot = w.withRoot && w.inner
	if !w.inner && !w.leaves {
		return nil, c.Failf("the options 'include_containers' and 'include_values' cannot both be false")
	}
	if !containers.Accepts(w.inside) {
		return nil, c.Failf("the option 'container_type' must be a type of arrays and hashes, found %s", w.inside)
	}
	return w, nil
}

func (w *walker) option(c *call, name string, v value.Value) error {
	flags := map[string]*bool{"include_root": &w.withRoot, "include_containers": &w.inner, "include_values": &w.leaves}
	flag := flags[name]
	switch {
	case v.IsUndef():
	case flag != nil && v.Kind() == value.Bool:
		*flag = v.Bool()
	case name == "order" && (v.Text() == "depth_first" || v.Text() == "breadth_first"):
		w.breadthFirst = v.Text() == "breadth_first"
	case name == "container_type" && v.Kind() == value.Type:
		t, err := types.FromValue(v)
		w.inside = t
		return err
	case name != "include_refs":
		return c.Failf("the option '%s' cannot be %s", name, expr.Describe(v))
	}
	return nil
}

func (w *walker) walk() error {
	if w.withRoot {
		w.found = append(w.found, treeNode{val: w.root})
	}
	if !w.inside.Instance(w.root) {
		return nil
	}
	if !w.breadthFirst {
		return w.descend(treeNode{val: w.root})
	}
	for queue := []treeNode{{val: w.root}}; len(queue) > 0; queue = queue[1:] {
		for _, p := range children(queue[0]) {
			into, err := w.visit(p)
			if err != nil {
				return err
			}
			if into {
				queue = append(queue, p)
			}
		}
	}
	return nil
}

func (w *walker) descend(from treeNode) error {
	if len(from.path) > value.MaxDepth {
		return expr.ErrDepth
	}
	for _, p := range children(from) {
		into, err := w.visit(p)
		if err == nil && into {
			err = w.descend(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visit adds p to found unless the options exclude it. It reports whether the values inside p must be visited.
func (w *walker) visit(p treeNode) (into bool, err error) {
	if err := w.c.Traverse(p.val); err != nil {
		return false, err
	}
	into = w.inside.Instance(p.val)
	if into && w.inner || !into && w.leaves {
		w.found = append(w.found, p)
	}
	if err := w.c.Spend(1); err != nil {
		return into, err
	}
	return into, w.c.Produce(expr.SizeOfElement * (2 + len(p.path)))
}

func children(p treeNode) []treeNode {
	var out []treeNode
	below := func(k, v value.Value) {
		out = append(out, treeNode{append(p.path[:len(p.path):len(p.path)], k), v})
	}
	i := int64(0)
	for e := range p.val.Elems() {
		below(value.FromInt(i), e)
		i++
	}
	for k, e := range p.val.Pairs() {
		below(k, e)
	}
	return out
}
