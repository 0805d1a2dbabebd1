package testmode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildPrograms builds bindc, bindq and bindsync into dir. It disables cgo, so that the programs
// need no dynamic linker: otherwise, tests that inject faults would hit the linker. All tests
// should use it, so that Go compiles the programs only once.
func BuildPrograms(dir string) error {
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator),
		"bindc/cmd/bindc", "bindc/cmd/bindq", "bindc/cmd/bindsync")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	return nil
}
