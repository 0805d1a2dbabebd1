package lookup

import (
	"slices"

	"bindc/internal/recipe"
)

// newNames applies and then removes the renames and aliases in parts, which must be in order of precedence. A rename
// applies to contributions of lower precedence, an alias to all contributions. The order does not change.
func newNames(parts []recipe.Part) []recipe.Part {
	if !slices.ContainsFunc(parts, func(p recipe.Part) bool { return p.Recipe.Renames() }) {
		return parts
	}
	rename(parts)
	aliases := map[string][]string{}
	for _, p := range parts {
		if p.Recipe.Kind == recipe.AliasedPart {
			aliases[p.Recipe.Name] = append(aliases[p.Recipe.Name], p.Name)
		}
	}
	var out []recipe.Part
	for _, p := range parts {
		if p.Recipe.Renames() {
			continue
		}
		out = append(out, p)
		seen := []string{p.Name}
		for i := 0; i < len(seen); i++ {
			for _, name := range aliases[seen[i]] {
				if !slices.Contains(seen, name) {
					seen = append(seen, name)
					p.Name = name
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// rename applies renames from the lowest to the highest precedence. It applies renames of equal precedence together.
func rename(parts []recipe.Part) {
	below := map[string][]int{} // indexes of parts of lower precedence, by current name
	for to := len(parts); to > 0; {
		from := to - 1
		for from > 0 && parts[from-1].Precedence == parts[to-1].Precedence {
			from--
		}
		moved := map[string][]int{}
		for i := from; i < to; i++ {
			if r := parts[i].Recipe; r.Kind == recipe.RenamedPart {
				moved[parts[i].Name] = append(moved[parts[i].Name], below[r.Name]...)
				delete(below, r.Name)
			}
		}
		for name, list := range moved {
			for _, i := range list {
				parts[i].Name = name
			}
			below[name] = append(below[name], list...)
		}
		for i := from; i < to; i++ {
			if p := parts[i]; !p.Recipe.Renames() {
				below[p.Name] = append(below[p.Name], i)
			}
		}
		to = from
	}
}
