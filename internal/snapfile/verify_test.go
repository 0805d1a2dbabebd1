package snapfile

import (
	"testing"

	"bindc/internal/recipe"
)

func TestConstantIsNotEncryptedByEyaml(t *testing.T) {
	if isOfEyaml(&recipe.Recipe{Kind: recipe.Constant}) {
		t.Error("expected a constant not to count as encrypted by eyaml")
	}
}
