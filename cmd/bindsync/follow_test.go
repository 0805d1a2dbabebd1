package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bindc/internal/testsite"
)

// buffer is a log that is read while it is written.
type buffer struct {
	sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.text.String()
}

// waitFor waits until the result of text contains part.
func waitFor(t *testing.T, part string, text func() string) {
	t.Helper()
	for range 6000 { // up to a minute; it usually takes milliseconds
		if strings.Contains(text(), part) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("expected %q, found\n%s", part, text())
}

// follow polls the configured sources, writes the textfile, removes old snapshots, and reads the configuration again
// on SIGHUP.
func TestFollowPollsCollectsAndReloads(t *testing.T) {
	synctest.Test(t, followPollsCollectsAndReloads) // the pauses take no time
}

func followPollsCollectsAndReloads(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("one/bindings/default.yaml", "{bindings_version: 1, name: default, bind: [[motd, one]]}")
	testsite.Build(t, "one", "one.snap")
	config := "store: " + filepath.Join(dir, "st") + "\ntextfile: " + filepath.Join(dir, "metrics") + `
interval: 1h
names:
  production: {source: 'file:one.snap'}
  lost: {source: 'file:nowhere.snap'}
`
	write("follow.yaml", config)
	var log buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	read := func() (*following, error) { return readFollowing(storeFlag{config: "follow.yaml"}, nil) }
	f, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if n := cap(f.follow.Pulls[0].Turns); n != downloads {
		t.Errorf("%d downloads at once, expected %d", n, downloads)
	}
	ctx, stop := context.WithCancel(t.Context())
	hup := make(chan os.Signal, 1)
	ended := make(chan *following)
	go func() { ended <- f.run(ctx, logger, hup, read) }()
	waitFor(t, "is active now", log.String)
	waitFor(t, `level=ERROR msg="open nowhere.snap: no such file or directory" name=lost source=file:nowhere.snap `+
		"reason=network", log.String)
	metrics := func() string {
		text, _ := os.ReadFile("metrics")
		return string(text)
	}
	waitFor(t, `bindc_polls_total{name="production",result="ok"} 1`, metrics)
	waitFor(t, `bindc_polls_total{name="lost",result="network"} 1`, metrics)

	// An unchanged configuration polls the names again. An invalid one is ignored. A changed one is returned.
	hup <- os.Interrupt
	waitFor(t, `bindc_polls_total{name="production",result="ok"} 2`, metrics)
	write("follow.yaml", "names: []")
	hup <- os.Interrupt
	waitFor(t, "the configuration cannot be used; follow.yaml:1:1: expected 'names'", log.String)
	waitFor(t, `bindc_polls_total{name="production",result="ok"} 3`, metrics)
	write("keys.jsonl", `{"key": "unbound"}`)
	write("follow.yaml", strings.NewReplacer("  lost: {source: 'file:nowhere.snap'}\n", "", "'file:one.snap'",
		"'file:one.snap', check_keys: keys.jsonl").Replace(config))
	hup <- os.Interrupt
	next := <-ended
	if next == nil || len(next.follow.Pulls) != 1 {
		t.Fatalf("expected the configuration that was read last, found %v", next)
	}
	waitFor(t, `level=INFO msg="the configuration has changed" names=1`, log.String)
	go func() { ended <- next.run(ctx, logger, hup, read) }()
	waitFor(t, "does not pass the checks, but stays active: keys.jsonl:1: 'unbound' is not found", log.String)
	stop()
	if last := <-ended; last != nil {
		t.Errorf("expected no configuration after the end, found %v", last)
	}
	if text := metrics(); strings.Contains(text, "lost") {
		t.Errorf("expected metrics of production at the end, found\n%s", text)
	}
}
