package compile_test

import (
	"os"
	"testing"

	"bindc/internal/testmode"
)

func TestMain(m *testing.M) {
	testmode.TempInMemory()
	os.Exit(m.Run())
}
