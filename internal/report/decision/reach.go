package decision

import (
	"bindc/internal/recipe"
)

// Reaching returns a request that meets the condition of r and, where possible, no other condition. ok is false if
// there is none.
func (s *Sampler) Reaching(r *Row) (sample Sample, ok bool) {
	values := s.solve(r.binding.Terms)
	return Sample{values, true}, values != nil
}

// Varies reports whether the row that wins for key can give different values for different facts.
func (s *Sampler) Varies(key string) (bool, error) {
	queue, queued := []string{key}, map[string]bool{key: true}
	for i := 0; i < len(queue); i++ {
		if i == maxUsed {
			return true, nil
		}
		rows, err := s.rowsOf(queue[i])
		if err != nil {
			return false, err
		}
		for n := range rows {
			if rows[n].varies || rows[n].dynamic || rows[n].Sealed {
				return true, nil
			}
			for _, used := range rows[n].uses {
				if !queued[used] {
					queued[used] = true
					queue = append(queue, used)
				}
			}
		}
	}
	return false, nil
}

// rowsOf is like Tables.rowsOf, with a cache.
func (s *Sampler) rowsOf(name string) (rows []Row, err error) {
	rows, known := s.rows[name]
	if !known {
		if rows, err = s.tables.rowsOf(name); err == nil {
			s.rows[name] = rows
		}
	}
	return rows, err
}

// readsVariables reports whether the value of x depends on the request's variables or on a private key.
func readsVariables(x *recipe.Recipe) (reads bool) {
	x.Variables(func(string) { reads = true })
	for _, n := range x.Expressions() {
		reads = reads || n.HasHieraSecret()
	}
	return reads
}
