package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// counts returns a function that returns the listed counts of each operation in turn.
func counts(of map[string][]int) func(operation) (int, error) {
	return func(op operation) (int, error) {
		n := of[op.name][0]
		of[op.name] = of[op.name][1:]
		return n, nil
	}
}

var lookups = []operation{{name: "hot"}, {name: "absent"}}

func TestCompareFailsForMoreThanTheTolerance(t *testing.T) {
	kept := &recorded{counts: map[string]int{"hot": 200, "absent": 100}}
	var out bytes.Buffer
	err := compare(&out, kept, lookups, counts(map[string][]int{"hot": {204}, "absent": {400, 401, 399, 400}}), 2)
	if err == nil || !strings.Contains(err.Error(), "absent takes 400 instructions instead of 100") ||
		strings.Contains(err.Error(), "hot") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(out.String(), "+300.0 %") {
		t.Errorf("printed %s", &out)
	}
}

func TestCompareFailsForFewerInstructionsToo(t *testing.T) {
	kept := &recorded{counts: map[string]int{"hot": 200}}
	err := compare(&bytes.Buffer{}, kept, lookups[:1], counts(map[string][]int{"hot": {190, 190, 190, 190}}), 2)
	if err == nil {
		t.Error("an unrecorded gain would hide the next loss")
	}
}

func TestCompareCountsAgainBeforeItFails(t *testing.T) {
	kept := &recorded{counts: map[string]int{"hot": 200}}
	err := compare(&bytes.Buffer{}, kept, lookups[:1], counts(map[string][]int{"hot": {205, 201, 207, 200}}), 2)
	if err != nil {
		t.Error(err)
	}
}

func TestCompareFailsWithoutARecordedFigure(t *testing.T) {
	err := compare(&bytes.Buffer{}, &recorded{}, lookups[:1], nil, 2)
	if err == nil || !strings.Contains(err.Error(), "hot has no recorded figure") {
		t.Errorf("got %v", err)
	}
}

func TestReadFiguresInvertsWriteFigures(t *testing.T) {
	at := filepath.Join(t.TempDir(), "figures")
	if err := writeFigures(at, lookups, map[string]int{"hot": 1, "absent": 2}); err != nil {
		t.Fatal(err)
	}
	kept, err := readFigures(at)
	if err != nil || !kept.comparable() || kept.counts["hot"] != 1 || kept.counts["absent"] != 2 {
		t.Errorf("%+v, %v", kept, err)
	}
	if err := os.WriteFile(at, []byte("hot many\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readFigures(at); err == nil {
		t.Error("a figure that is not a number was read")
	}
}

// Each operation must find its keys, otherwise the figures would count errors. Building the sites
// takes a few seconds.
func TestOperationsFindTheirKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two sites")
	}
	dir := t.TempDir()
	if err := prepare(dir); err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		if err := perform(op.name, 3, dir); err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
	}
}
