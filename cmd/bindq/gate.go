package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"bindc/internal/decision"
	"bindc/internal/lookup"
	bindings "bindc/runtime"
	"bindc/ship"
	"bindc/snapshot"
)

// keysFound refuses the snapshot at path if it does not find every key that the queries in the file ask for.
func keysFound(file, path string) error {
	if file == "" {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("--check-keys: %w", err)
	}
	defer in.Close()
	var any source
	return any.ask(path, func(snap *lookup.Snapshot) error {
		b := batch{source: &any, begin: beginIn(snap), maxLine: maxFacts, types: map[string]*bindings.Type{}}
		r := bufio.NewReader(in)
		asked := 0
		for n, last := 1, false; !last; n++ {
			line, long, err := readLine(r, b.maxLine)
			if last = errors.Is(err, io.EOF); err != nil && !last {
				return fmt.Errorf("--check-keys: %w", err)
			}
			if long {
				return fmt.Errorf("--check-keys: %s:%d: expected a query of at most %d bytes", file, n, b.maxLine)
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if err := b.mustFind(line, fmt.Sprintf("%s:%d", file, n)); err != nil {
				return err
			}
			asked++
		}
		if asked == 0 {
			return noQueries(file)
		}
		return nil
	})
}

func noQueries(file string) error {
	return fmt.Errorf("--check-keys: %s has no query: every snapshot would pass; expected one per line, "+
		`such as {"key": "ntp::servers", "facts": {...}}`, file)
}

// mustFind returns an error unless the key of a query is found. An encrypted value counts as found, because this
// machine may not have the key to decrypt it.
func (b *batch) mustFind(line []byte, at string) error {
	a := b.answer(line)
	all := a.Answers
	if len(all) == 0 { // one key, or an error
		all = []answer{a}
	}
	for _, a := range all {
		switch {
		case a.Error != nil && a.Error.Code == bindings.CodeUsage:
			return fmt.Errorf("--check-keys: %s: %s", at, a.Error.Message)
		case a.Error != nil && a.Error.Code != bindings.CodeEncrypted:
			return &ship.Refusal{Reason: fmt.Sprintf("%s: %s [%s]", at, a.Error.Message, a.Error.Code)}
		case a.Error == nil && !*a.Found:
			return &ship.Refusal{Reason: fmt.Sprintf("%s: '%s' is not found", at, *a.Key)}
		}
	}
	return nil
}

// changesLittle refuses the snapshot at path if more than a share of the bindings differs from those of the active one.
// What differs bindq diff counts.
func changesLittle(active, path string, share float64) error {
	if active == "" || share >= 1 {
		return nil
	}
	var d *decision.Difference
	all := 0
	var anybody trust
	err := anybody.report(active, func(before *snapshot.Snapshot) error {
		return anybody.report(path, func(after *snapshot.Snapshot) (err error) {
			all = max(int(before.Info().Bindings), 1)
			old, err := decision.NewBook(before, true, nil)
			if err != nil {
				return err
			}
			now, err := decision.NewBook(after, true, nil)
			if err != nil {
				return err
			}
			d, err = decision.Diff(old, now, func() {})
			return err
		})
	})
	if err != nil {
		return err
	}
	changed := 0
	for _, k := range d.Keys {
		changed += len(k.Changes) + len(k.Contributions)
	}
	if float64(changed) > share*float64(all) {
		return &ship.Refusal{Reason: fmt.Sprintf(
			"%d of %d bindings change, more than %g%%: raise --max-change if that is meant",
			changed, all, share*100)}
	}
	return nil
}
