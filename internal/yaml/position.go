package yaml

import "bindc/internal/diag"

// Pos is the place of n in the file.
func (d *Document) Pos(n *Node) diag.Pos {
	return diag.Pos{File: d.File, Line: int(n.Line), Col: int(n.Col)}
}

// PosIn is the place in the file of byte off of the text of the string n.
func (d *Document) PosIn(n *Node, off int) diag.Pos {
	return d.Pos(n)
}
