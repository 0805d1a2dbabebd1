package expr

import (
	"slices"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// HieraSecret returns a node that decrypts the parts of text that eyaml encrypted, and then interpolates the text.
func HieraSecret(text string) *Node {
	return &Node{Op: Call, Name: hieraSecret, Kids: []*Node{constText(0, text)}}
}

// aroundSecret parses the text of n, a HieraSecret node, without decrypting it. The result has the interpolations
// outside the encrypted parts. For other nodes, aroundSecret returns nil.
func (n *Node) aroundSecret() *Node {
	if n.Op != Call || n.Name != hieraSecret {
		return nil
	}
	around, _ := ParseHiera(n.Kids[0].Value.Text())
	return around
}

// HasHieraSecret reports whether n contains a string encrypted by eyaml.
func (n *Node) HasHieraSecret() bool {
	return n.any(true, func(n *Node) bool { return n.Op == Call && (n.Name == hieraSecret || n.Name == decrypted) })
}

// SecretMethod returns the encryption method of a string in n that lookups cannot decrypt. It returns "" if there is
// none.
func (n *Node) SecretMethod() (method string) {
	n.any(true, func(n *Node) bool {
		if n.Op == Call && n.Name == hieraSecret {
			method = OtherMethod(n.Kids[0].Value.Text())
		}
		return method != ""
	})
	return method
}

// Encrypted returns the encrypted text in n if Decrypting created n.
func (n *Node) Encrypted() (*Node, bool) {
	if n.Op != Call || n.Name != decrypted || len(n.Kids) != 1 {
		return nil, false
	}
	return n.Kids[0], true
}

// seemsEncrypted matches a string that contains a part encrypted by eyaml.
var seemsEncrypted = pattern.Lazy(`^\s*ENC\[(?:[\w+/ ]|$)|ENC\[\w+,`)

// SeemsEncrypted reports whether a string of data other than Hiera 5 contains a part that eyaml encrypted with PKCS7.
func SeemsEncrypted(text string) bool {
	return strings.Contains(text, "ENC[") && seemsEncrypted().MatchString(text) && OtherMethod(text) == ""
}

var encryptedBy = pattern.Lazy(`ENC\[(\w+),`)

// OtherMethod returns the encryption method of text if no part uses PKCS7, the only method that lookups support.
// Otherwise it returns "".
func OtherMethod(text string) string {
	methods := encryptedBy().FindAllStringSubmatch(text, -1)
	if len(methods) == 0 || len(methods) != strings.Count(text, "ENC[") {
		return ""
	}
	for _, m := range methods {
		if strings.EqualFold(m[1], "PKCS7") {
			return ""
		}
	}
	return methods[0][1]
}

// Decrypting returns n with its encrypted strings replaced by calls that decrypt them. The plaintext is not
// interpolated. Keys of hashes remain unchanged.
func (n *Node) Decrypting() *Node {
	if v, ok := n.Constant(); ok && v.Kind() == value.String && SeemsEncrypted(v.Text()) {
		return &Node{Op: Call, Name: decrypted, Off: n.Off, Kids: []*Node{n}}
	}
	if len(n.Kids) == 0 {
		return n
	}
	out := *n
	out.Kids = slices.Clone(n.Kids)
	for i, kid := range n.Kids {
		if n.Op != HashLit || i%2 == 1 {
			out.Kids[i] = kid.Decrypting()
		}
	}
	return &out
}
