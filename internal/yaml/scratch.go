package yaml

// Scratch is memory that a goroutine reuses for each file that it parses. The zero Scratch is ready to use.
type Scratch struct {
	open  []Node // nodes of unfinished hashes and lists, the outermost first
	done  []Node // nodes of finished hashes and lists
	lines []int  // buffer for Document.lines
	top   mapping
	inUse bool // top is in use for the outermost hash of the document
}

func (o Options) scratch() *Scratch {
	if o.Scratch == nil {
		return &Scratch{}
	}
	return o.Scratch
}

// reset prepares s for a document with about the given number of nodes.
func (s *Scratch) reset(nodes int) {
	if cap(s.open) == 0 {
		s.open, s.done = make([]Node, 0, nodes), make([]Node, 0, nodes)
	}
	s.open, s.done, s.inUse = s.open[:0], s.done[:0], false
}

// mapping returns an empty mapping. The outermost hash of a document is usually the largest, so its mapping reuses
// the memory of the previous document.
func (s *Scratch) mapping() *mapping {
	if s.inUse {
		return &mapping{}
	}
	s.inUse = true
	s.top.clear()
	return &s.top
}

// close moves the nodes of a finished hash or list, open[from:], to done and returns them. They stay valid when done
// grows.
func (s *Scratch) close(from int) []Node {
	start := len(s.done)
	s.done = append(s.done, s.open[from:]...)
	s.open = s.open[:from]
	return s.done[start:len(s.done):len(s.done)]
}
