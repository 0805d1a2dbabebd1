package yaml

// Scratch is memory that is used again for each file that one goroutine parses. The zero Scratch is empty.
type Scratch struct {
	open  []Node // the nodes of unfinished hashes and lists, the outermost first
	done  []Node // those of finished ones
	lines []int  // see Document
	top   mapping
	inUse bool // top is the outermost hash of the document
}

// scratch returns the memory to use for a file.
func (o Options) scratch() *Scratch {
	if o.Scratch == nil {
		return &Scratch{}
	}
	return o.Scratch
}

// reset begins a document of about that many nodes.
func (s *Scratch) reset(nodes int) {
	if cap(s.open) == 0 {
		s.open, s.done = make([]Node, 0, nodes), make([]Node, 0, nodes)
	}
	s.open, s.done, s.inUse = s.open[:0], s.done[:0], false
}

// mapping returns an empty mapping. The outermost one of a document, which usually is the largest, uses the memory of
// the one before.
func (s *Scratch) mapping() *mapping {
	if s.inUse {
		return &mapping{}
	}
	s.inUse = true
	s.top.clear()
	return &s.top
}

// close moves the nodes of a finished hash or list from the open nodes to the others, and returns them. If the others
// have to be moved to a larger array, the nodes that were returned before stay where they are.
func (s *Scratch) close(from int) []Node {
	start := len(s.done)
	s.done = append(s.done, s.open[from:]...)
	s.open = s.open[:from]
	return s.done[start:len(s.done):len(s.done)]
}
