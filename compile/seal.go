package compile

import (
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/snapshot"
)

// Seal encrypts each sensitive value in content with key, separately for every binding key that has the value. wrapped
// is the encryption key, encrypted for the recipients. Seal also removes the hashes of the input files, because an
// attacker could use them to test guesses of their content.
func Seal(content *snapshot.Content, key, wrapped []byte) error {
	box, err := seal.New(key)
	if err != nil {
		return err
	}
	s := sealer{content: content, box: box, sealed: map[boundTo]uint32{}}
	for i := range content.Values {
		s.secret = append(s.secret, content.Values[i].Computed && recipe.IsSecret(content.Values[i].Bytes))
	}
	for l := range content.Levels {
		for i := range content.Levels[l].Scopes {
			entries := content.Levels[l].Scopes[i].Entries
			for j := range entries {
				entries[j].Value = s.value(entries[j].Key, entries[j].Value)
			}
		}
	}
	for i := range content.Keys {
		s.key(uint32(i))
	}
	for i, secret := range s.secret {
		if secret {
			content.Values[i] = snapshot.Stored{} // nothing refers to this value any more
		}
	}
	for i := range content.Inputs {
		content.Inputs[i].Hash = 0
	}
	content.Seal = wrapped
	return nil
}

type sealer struct {
	content *snapshot.Content
	box     *seal.Box
	secret  []bool // whether a value is sensitive, by its original number
	sealed  map[boundTo]uint32
}

// boundTo is a binding key together with the number of its value.
type boundTo struct{ key, value uint32 }

func (s *sealer) key(i uint32) {
	k := &s.content.Keys[i]
	if k.Default >= 0 {
		k.Default = int(s.value(i, uint32(k.Default)))
	}
	for j := range k.Cold {
		if !k.Cold[j].Contribution {
			k.Cold[j].Value = s.value(i, k.Cold[j].Value)
		}
	}
}

// value encrypts a sensitive value for a binding key, and returns the number of the encrypted value. It returns the
// number of any other value unchanged.
func (s *sealer) value(key, value uint32) uint32 {
	if !s.secret[value] {
		return value
	}
	n, ok := s.sealed[boundTo{key, value}]
	if !ok {
		n = uint32(len(s.content.Values))
		name := s.content.Keys[key].Name
		text := recipe.Seal(s.content.Values[value].Bytes, name, s.box)
		s.content.Values = append(s.content.Values, snapshot.Stored{Computed: true, Bytes: text})
		s.sealed[boundTo{key, value}] = n
	}
	return n
}
