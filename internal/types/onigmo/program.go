package onigmo

import "errors"

type operation byte

const (
	opRunes     operation = iota
	opSplit               // tries the next instruction first, then target
	opSplitLazy           // tries target first, then the next instruction
	opJump
	opBegin // begins an iteration of a loop that may match the empty text
	opEnd   // ends an iteration; leaves the loop if the iteration matched no text
	opOpen  // begins a capturing group
	opClose
	opBackref
	opAssert
	opInside // runs the nested program up to its opMatch, then continues at target
	opChoice // continues with the next instruction if one of the groups has matched, otherwise at target
	opMatch
)

type instruction struct {
	op     operation
	node   *node
	target int
	bit    uint // opBegin, opEnd: number of the loop, counted from the outermost one
}

type compiler struct {
	prog  []instruction
	nodes int  // number of compiled nodes, including those without an instruction
	loops uint // number of enclosing loops that may match the empty text
	plain bool
}

func (c *compiler) add(i instruction) int {
	c.prog = append(c.prog, i)
	return len(c.prog) - 1
}

// here makes the next emitted instruction the target of instruction number from.
func (c *compiler) here(from int) { c.prog[from].target = len(c.prog) }

func (c *compiler) emit(n *node) error {
	if c.nodes++; c.nodes > maxProgram {
		return errors.New("the regular expression is too large")
	}
	switch n.kind {
	case sequence:
		return c.emitAll(n.kids)
	case alternatives:
		return c.alternatives(n.kids)
	case runes:
		c.add(instruction{op: opRunes, node: n})
	case repeat:
		return c.repeat(n)
	case capture:
		c.add(instruction{op: opOpen, node: n})
		err := c.emitAll(n.kids)
		c.add(instruction{op: opClose, node: n})
		return err
	case backref:
		c.plain = false
		c.add(instruction{op: opBackref, node: n})
	case conditional:
		c.plain = false
		return c.either(instruction{op: opChoice, node: n}, n.kids[0], n.kids[1])
	case ahead, behind, atomic:
		inside := c.add(instruction{op: opInside, node: n})
		err := c.emitAll(n.kids)
		c.add(instruction{op: opMatch})
		c.here(inside)
		return err
	default:
		c.add(instruction{op: opAssert, node: n})
	}
	return nil
}

func (c *compiler) emitAll(nodes []*node) error {
	for _, n := range nodes {
		if err := c.emit(n); err != nil {
			return err
		}
	}
	return nil
}

// either emits the instruction by and the two nodes that it chooses between.
func (c *compiler) either(by instruction, first, second *node) error {
	split := c.add(by)
	if err := c.emit(first); err != nil {
		return err
	}
	jump := c.add(instruction{op: opJump})
	c.here(split)
	err := c.emit(second)
	c.here(jump)
	return err
}

func (c *compiler) alternatives(nodes []*node) error {
	if len(nodes) == 1 {
		return c.emit(nodes[0])
	}
	var jumps []int
	for i, n := range nodes {
		split := -1
		if i < len(nodes)-1 {
			split = c.add(instruction{op: opSplit})
		}
		if err := c.emit(n); err != nil {
			return err
		}
		if split >= 0 {
			jumps = append(jumps, c.add(instruction{op: opJump}))
			c.here(split)
		}
	}
	for _, jump := range jumps {
		c.here(jump)
	}
	return nil
}

func (c *compiler) repeat(n *node) error {
	split := instruction{op: opSplit}
	if n.lazy {
		split.op = opSplitLazy
	}
	for range n.min {
		if err := c.emit(n.kids[0]); err != nil {
			return err
		}
	}
	if n.max < 0 {
		return c.loop(n.kids[0], split)
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, c.add(split))
		if err := c.emit(n.kids[0]); err != nil {
			return err
		}
	}
	for _, s := range splits {
		c.here(s)
	}
	return nil
}

func (c *compiler) loop(n *node, split instruction) error {
	nullable := n.nullable()
	begin := c.add(split)
	if !nullable {
		err := c.emit(n)
		c.add(instruction{op: opJump, target: begin})
		c.here(begin)
		return err
	}
	if c.loops == 64 {
		return errors.New("too many nested loops")
	}
	bit := c.loops
	c.add(instruction{op: opBegin, bit: bit})
	c.loops++
	err := c.emit(n)
	c.loops--
	c.add(instruction{op: opEnd, bit: bit, target: begin})
	c.here(begin)
	return err
}
