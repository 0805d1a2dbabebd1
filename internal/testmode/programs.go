package testmode

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// BuildPrograms builds bindc, bindq and bindsync into a directory. All packages build them in the same way, so Go
// compiles them once.
func BuildPrograms(dir string) error {
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator),
		"bindc/cmd/bindc", "bindc/cmd/bindq", "bindc/cmd/bindsync")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	return nil
}
