//go:build !purego

package serve_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bindc/internal/testmode"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/serve"
	"bindc/snapshot"
)

// A server survives a file that is truncated while it reads the keys. The test runs in a separate process, because an
// unguarded read would crash it.
func TestSurveySurvivesTruncation(t *testing.T) {
	testmode.SkipUnderRace(t)
	if dir := os.Getenv("SURVEYED_DIR"); dir != "" {
		surveyTruncated(t, dir+"/production.snap")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "SURVEYED_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulator runs this program, which cannot start itself here")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// surveyTruncated makes a server survey a file of many long keys, which takes a while, and truncates the file during
// the survey.
func surveyTruncated(t *testing.T, path string) {
	c := &snapshot.Content{Layers: []string{"site"}, Values: []snapshot.Stored{
		{Bytes: string(value.Append(nil, value.FromInt(1)))}}}
	for i := range 60_000 {
		c.Keys = append(c.Keys, snapshot.Key{Name: fmt.Sprintf("%06d%s", i, strings.Repeat("k", 60))})
	}
	for i := range testmode.Number(4, 12) {
		if _, err := snapshot.Write(path, c); err != nil {
			t.Fatal(err)
		}
		snap, err := bindings.Open(path, bindings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var surveys sync.WaitGroup
		surveys.Go(func() {
			for err == nil {
				err = serve.Survey(snap)
			}
		})
		time.Sleep(time.Duration(10+7*i) * time.Millisecond)
		if err := os.Truncate(path, 4096); err != nil {
			t.Fatal(err)
		}
		if surveys.Wait(); !errors.As(err, new(*bindings.DamageError)) {
			t.Errorf("the survey ends with %v", err)
		}
		snap.Close()
	}
}
