package testmode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// BuildPrograms builds bindc, bindq and bindsync into a directory. Without cgo, all files that they read are their own:
// tests that inject faults must not hit the dynamic linker. All packages build them in the same way, so Go compiles them
// once.
func BuildPrograms(dir string) error {
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator),
		"bindc/cmd/bindc", "bindc/cmd/bindq", "bindc/cmd/bindsync")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	return nil
}
