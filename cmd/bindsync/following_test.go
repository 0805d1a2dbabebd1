package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/internal/snapfile"
	"bindc/ship"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The table in docs/deploy.md has every key of the configuration of follow, with its default.
func TestDeployDocumentListsAllConfigurationKeys(t *testing.T) {
	keys, defaults := []string{}, map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|(?: `([^`]*)`)?[^|]*\\| .+ \\|$")
	_, table, _ := strings.Cut(read(t, "../../docs/deploy.md"), "`follow.yaml` has these keys:")
	table, _, _ = strings.Cut(table, "### ")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		keys = append(keys, m[1])
		defaults[m[1]] = m[2]
	}
	want := append(slices.Clone(followKeys), nameKeys...)
	slices.Sort(want)
	slices.Sort(keys)
	if !slices.Equal(keys, want) {
		t.Errorf("docs/deploy.md has the keys %q, expected %q", keys, want)
	}
	for key, is := range map[string]time.Duration{"interval": defaultInterval, "timeout": pollTimeout,
		"stall_timeout": ship.StallTimeout, "younger": defaultYounger} {
		if d, err := time.ParseDuration(defaults[key]); d != is || err != nil {
			t.Errorf("the default of %s is '%s' in docs/deploy.md, %v in the program", key, defaults[key], is)
		}
	}
	for key, is := range map[string]any{"downloads": downloads, "keep": defaultKeep, "max_size": defaultMaxSize,
		"store": defaultStore, "plain_http": false} {
		if defaults[key] != fmt.Sprint(is) {
			t.Errorf("the default of %s is '%s' in docs/deploy.md, %v in the program", key, defaults[key], is)
		}
	}
}

// The packaged configuration is valid, also with all of its commented-out keys.
func TestPackagedConfigurationIsValid(t *testing.T) {
	text := read(t, "../../packaging/follow.yaml")
	all := regexp.MustCompile(`(?m)^(\s*)# (\s*[a-z_]+:)`).ReplaceAllString(text, "$1$2")
	for _, text := range []string{text, all} {
		c := followed{path: filepath.Join(t.TempDir(), "follow.yaml")}
		if err := os.WriteFile(c.path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		root, err := c.parse()
		if err != nil {
			t.Fatal(err)
		}
		var p policy
		c.readPolicy(root, &p)
		if err := c.joinedProblems(); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	for _, key := range slices.Concat(followKeys, nameKeys) {
		if !strings.Contains(all, key+":") && key != "plain_http" && key != "signed_as" {
			t.Errorf("packaging/follow.yaml does not have %s", key)
		}
	}
}

// A release that is rejected at each poll is logged once. A later release is logged, too.
func TestFollowLogsRefusedReleaseOnce(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "site.snap"), &bytes.Buffer{}
	store, err := ship.OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := following{store: store}
	f.report(slog.New(slog.NewTextHandler(log, nil)), make(chan struct{}))
	pull := &ship.Pull{Store: store, Name: "production", Source: ship.File{Path: path}, MaxBytes: 100, Now: time.Now,
		Checks: ship.Checks{Inspect: snapfile.Inspect}}
	for _, text := range []string{"nonsense", "something else"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			r, err := pull.Run(t.Context())
			f.follow.Report(pull, r, err)
		}
	}
	if n := strings.Count(log.String(), "not a snapshot"); n != 2 {
		t.Errorf("the log has %d lines on two releases that were refused three times:\n%s", n, log)
	}
}

// The systemd unit may write to the paths in the packaged configuration.
func TestUnitMayWriteToConfiguredPaths(t *testing.T) {
	unit := read(t, "../../packaging/bindsync-follow.service")
	tmpfiles := read(t, "../../packaging/bindc.tmpfiles")
	configured := regexp.MustCompile(`(?m)^(?:# )?(?:textfile|store): (\S+)`)
	paths := configured.FindAllStringSubmatch(read(t, "../../packaging/follow.yaml"), -1)
	if len(paths) != 2 {
		t.Fatalf("packaging/follow.yaml has %q, expected a store and a textfile", paths)
	}
	for _, m := range paths {
		dir := m[1]
		if strings.HasSuffix(dir, ".prom") {
			dir = filepath.Dir(dir)
		}
		state := "StateDirectory=" + strings.TrimPrefix(dir, "/var/lib/") + "\n"
		if !strings.Contains(unit, state) && !strings.Contains(unit, "ReadWritePaths=-"+dir+"\n") {
			t.Errorf("packaging/bindsync-follow.service does not let the program write %s", m[1])
		}
		owns := regexp.MustCompile(`(?m)^(d ` + dir + ` \d+ bindc bindc|a\+ ` + dir + ` .* user:bindc:rwx)`)
		if !owns.MatchString(tmpfiles) {
			t.Errorf("packaging/bindc.tmpfiles does not let the user bindc write %s", m[1])
		}
	}
	if !strings.Contains(unit, "Environment=DOCKER_CONFIG=/etc/bindc/docker\n") ||
		!strings.Contains(tmpfiles, "d /etc/bindc/docker 0750 root bindc") {
		t.Error("the unit does not find docker's credentials where docs/deploy.md has them")
	}
}

// Each value of a configuration is parsed or reported with its position. A missing value gets its default.
func TestReadsConfigurationValuesOrReportsTheirPlace(t *testing.T) {
	c := followed{path: filepath.Join(t.TempDir(), "follow.yaml")}
	text := "set: true\nunset: false\ntext: word\nnumber: 3\none: 1\nzero: 0\nhalf: 0.5\ntime: 90s\n" +
		"never: 0s\nback: -1s\nlist: []\nempty: ''\ninterval: 5\n"
	if err := os.WriteFile(c.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := c.parse()
	if err != nil {
		t.Fatal(err)
	}
	flag := func(key string) any { return c.flag(root, key) }
	word := func(key string) any { return c.text(root, key) }
	number := func(key string) any { return c.number(root, key, 7) }
	duration := func(key string) any { return c.duration(root, key, time.Hour) }
	for _, v := range []struct {
		read func(string) any
		key  string
		want any
		says string
	}{
		{flag, "set", true, ""}, {flag, "unset", false, ""}, {flag, "none", false, ""},
		{flag, "text", false, ":3:7: text: expected true or false, found "},
		{word, "text", "word", ""}, {word, "none", "", ""}, {word, "list", "", ":11:7: list: expected text, found "},
		{word, "empty", "", ":12:8: empty: expected text, found an empty string; remove the key to leave it unset"},
		{duration, "empty", time.Hour, ":12:8: empty: expected text, found an empty string; "},
		{number, "number", 3, ""}, {number, "one", 1, ""}, {number, "none", 7, ""},
		{number, "zero", 7, ":6:7: zero: expected a number above 0, found "},
		{number, "half", 7, ":7:7: half: expected a number above 0, found "},
		{number, "text", 7, ":3:7: text: expected a number above 0, found "},
		{duration, "time", 90 * time.Second, ""}, {duration, "none", time.Hour, ""},
		{duration, "never", time.Duration(0), ":9:8: never: expected a time such as 30s or 5m, found '0s'"},
		{duration, "back", -time.Second, ":10:7: back: expected a time such as 30s or 5m, found '-1s'"},
		{duration, "text", time.Duration(0), ":3:7: text: expected a time such as 30s or 5m, found 'word'"},
	} {
		c.problems = nil
		got := v.read(v.key)
		said := ""
		if err := c.joinedProblems(); err != nil {
			said = err.Error()
		}
		if got != v.want || (said == "") != (v.says == "") || !strings.Contains(said, v.says) {
			t.Errorf("%s: %v, '%s'; expected %v, '%s'", v.key, got, said, v.want, v.says)
		}
	}
	// A unit is suggested for a number only if the key has one.
	for key, want := range map[string]string{"number": "the integer 3", "interval": "the integer 5; write 5s"} {
		c.problems = nil
		c.text(root, key)
		if err := c.joinedProblems(); err == nil || !strings.HasSuffix(err.Error(), "expected text, found "+want) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
