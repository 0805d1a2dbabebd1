package lookup

import (
	"bytes"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// pathPart is a piece of a Hiera 5 path: text, or a variable and the keys to look up in its value.
type pathPart struct {
	text     string
	variable string // "" for text
	keys     []value.Value
}

// hieraPath is a Hiera 5 path that consists only of text and variables, as nearly all do. dir is the variable part of
// its datadir, and path the rest. Evaluating a hieraPath is ten times as fast as evaluating the dimension's program.
type hieraPath struct{ dir, path []pathPart }

// plainPath converts a dimension's program to a hieraPath. It returns nil if the program has other parts than text and
// variables.
func plainPath(n *expr.Node) *hieraPath {
	dir, path, ok := n.AsHieraPath()
	if !ok {
		return nil
	}
	p := &hieraPath{}
	if p.dir, ok = pathParts(dir); !ok {
		return nil
	}
	if p.path, ok = pathParts(path); !ok {
		return nil
	}
	return p
}

func pathParts(n *expr.Node) (out []pathPart, ok bool) {
	kids := []*expr.Node{n}
	if n.Op == expr.Concat {
		kids = n.Kids
	}
	for _, k := range kids {
		if v, _ := k.Constant(); v.Kind() == value.String {
			out = append(out, pathPart{text: v.Text()})
			continue
		}
		if k.Op != expr.Call || k.Name != expr.HieraScope {
			return nil, false
		}
		part := pathPart{}
		for i, key := range k.Kids {
			v, _ := key.Constant()
			switch {
			case v.Kind() != value.String:
				return nil, false
			case i == 0:
				part.variable = v.Text()
			default:
				part.keys = append(part.keys, v)
			}
		}
		if strings.TrimPrefix(part.variable, "::") == "" {
			return nil, false
		}
		out = append(out, part)
	}
	return out, true
}

// append appends the path for facts to dst. It returns false if only the dimension's program can evaluate the path.
func (p *hieraPath) append(dst []byte, facts *Facts) ([]byte, bool) {
	dst, ok := appendParts(dst, p.dir, facts)
	if !ok {
		return nil, false
	}
	below := len(dst)
	dst, ok = appendParts(dst, p.path, facts)
	if !ok || len(dst) == below || dst[below] == '/' {
		return nil, false
	}
	clean := dst[0] != '.' && dst[0] != '/' && !bytes.Contains(dst, []byte("//")) && !bytes.Contains(dst, []byte("/."))
	return dst, clean
}

func appendParts(dst []byte, parts []pathPart, facts *Facts) ([]byte, bool) {
	for i := range parts {
		p := &parts[i]
		if p.variable == "" {
			dst = append(dst, p.text...)
			continue
		}
		v := facts.given(p.variable)
		for _, key := range p.keys {
			if !isPlain(v, value.Hash) {
				return nil, false
			}
			v, _ = v.Get(key)
		}
		if !isPlain(v, value.String) || strings.IndexByte(v.Text(), '%') >= 0 { // may need another interpolation
			return nil, false
		}
		dst = append(dst, v.Text()...)
	}
	return dst, true
}

// isPlain reports whether v is undef or has the given kind, and is not sensitive.
func isPlain(v value.Value, kind value.Kind) bool { return v.Kind() == kind || v.IsUndef() }
