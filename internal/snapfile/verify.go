package snapfile

import (
	"slices"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// Inspect verifies the snapshot at path and reports whether it has sensitive values.
func Inspect(path string) (isSensitive bool, err error) {
	err = Use(path, func(f *snapshot.Snapshot) error {
		if err := Verify(f); err != nil {
			return err
		}
		n, _, err := SensitiveValues(f)
		isSensitive = n > 0
		return err
	})
	return isSensitive, err
}

// Verify performs the checks of runtime.Open and runtime.Snapshot.Verify on f.
func Verify(f *snapshot.Snapshot) error {
	for _, d := range f.Dimensions() {
		if _, err := expr.Decode(string(d.Program)); err != nil {
			return &snapshot.DamageError{Section: "meta", Expected: "the expression of " + d.Name}
		}
	}
	_, sealed := f.Seal()
	features := recipe.Features{Sealed: sealed, Hiera: len(f.Hiera()) > 0, ARM8: f.ARM8()}
	return f.Verify(func(encoded string) (contributes, alone bool, err error) {
		return recipe.Check(encoded, features)
	})
}

// SensitiveValues returns the number of sensitive values in f. ofEyaml is the number of those that eyaml encrypted.
func SensitiveValues(f *snapshot.Snapshot) (n, ofEyaml int, err error) {
	for encoded, err := range f.AllRecipes() {
		if err != nil {
			return 0, 0, err
		}
		if !recipe.IsSecret(encoded) {
			continue
		}
		n++
		r, err := recipe.Decode(encoded)
		if err == nil && isOfEyaml(r) { // err is not nil for a sealed recipe
			ofEyaml++
		}
	}
	return n, ofEyaml, nil
}

// isOfEyaml reports whether eyaml encrypted all sensitive parts of a recipe.
func isOfEyaml(r *recipe.Recipe) bool {
	if r.Kind == recipe.Contributions {
		inClear := func(p recipe.Part) bool { return p.Recipe.Secret() && !isOfEyaml(p.Recipe) }
		return !slices.ContainsFunc(r.Parts, inClear)
	}
	return r.Kind == recipe.Expression && r.Expr.HasHieraSecret()
}
