package main

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Without permission to read the active file, status reports the damage that the last pull found, or an empty file.
// --verify fails.
func TestStatusReportsRecordedDamageIfFileIsUnreadable(t *testing.T) {
	st, _ := storeWith(t, "[a, 1]")
	s := st.Status("production", time.Now())
	path := st.Path(s.Active)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	asNobody := func(do func()) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				t.Fatal(err)
			}
			defer syscall.Setfsuid(0)
		}
		do()
	}
	damage := func(whole bool) (text string) {
		asNobody(func() {
			s.Damaged = "earlier"
			text = damageNow(&s, path, whole)
		})
		return text
	}
	for p := path; p != "/"; p = p[:max(strings.LastIndexByte(p, '/'), 1)] { // others may enter the directories
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			os.Chmod(p, info.Mode().Perm()|0o055)
		}
	}
	if got := damage(false); got != "earlier" {
		t.Errorf("found '%s'", got)
	}
	if got := damage(true); !strings.Contains(got, "permission denied") {
		t.Errorf("as a whole: found '%s'", got)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if got := damage(false); !strings.Contains(got, "is empty") {
		t.Errorf("an empty file: found '%s'", got)
	}
}
