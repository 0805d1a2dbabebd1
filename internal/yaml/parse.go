package yaml

import (
	"bytes"
	"errors"
	"io"

	goyaml "go.yaml.in/yaml/v4"

	"bindc/internal/diag"
	"bindc/internal/value"
)

// Parse reads a YAML file. It is false when the file has an error, which is then in diags.
func Parse(file string, src []byte, opts Options, diags *diag.List) (*Document, bool) {
	d := &Document{File: file, src: string(src)}
	var n goyaml.Node
	err := goyaml.NewDecoder(bytes.NewReader(src)).Decode(&n)
	if errors.Is(err, io.EOF) {
		return d, true
	}
	if err != nil {
		diags.Errorf(diag.Pos{File: file, Line: 1, Col: 1}, "yaml_syntax", "%v", err)
		return nil, false
	}
	root := convert(n.Content[0])
	d.Root = &root
	return d, true
}

func convert(n *goyaml.Node) Node {
	if n.Kind == goyaml.AliasNode {
		return convert(n.Alias)
	}
	out := Node{Line: uint32(n.Line), Col: uint32(n.Column)}
	switch n.Kind {
	case goyaml.ScalarNode:
		out.Value = value.FromString(n.Value)
		return out
	case goyaml.MappingNode:
		out.Kind = Mapping
	default:
		out.Kind = Sequence
	}
	for _, k := range n.Content {
		out.Kids = append(out.Kids, convert(k))
	}
	return out
}
