package serve

import (
	"io/fs"
	"strings"
	"testing"
)

func TestUnreadableSnapshotNamesTheUserAndTheFix(t *testing.T) {
	f := unusable("a.snap", &fs.PathError{Op: "open", Path: "a.snap", Err: fs.ErrPermission})
	if f.code != codeMissing || !strings.Contains(f.message, "open a.snap: permission denied; let the user ") ||
		!strings.HasSuffix(f.message, " read the file and enter its directories") {
		t.Errorf("%s: %s", f.code, f.message)
	}
}
