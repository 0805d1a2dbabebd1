// Package gate decides whether a snapshot may become active. The snapshot must have the keys of given queries, and must
// not change too many bindings. Package ship calls these checks as functions, because it does not know the content of
// snapshots.
package gate

import (
	"fmt"

	"bindc/internal/report/decision"
	"bindc/ship"
	"bindc/snapshot"
)

// CheckChanges rejects a snapshot that changes more bindings than the given share of the bindings in the old snapshot.
// It counts the differences that bindq diff prints.
func CheckChanges(before, after *snapshot.Snapshot, share float64) error {
	old, err := decision.NewTables(before, true, nil)
	if err != nil {
		return err
	}
	now, err := decision.NewTables(after, true, nil)
	if err != nil {
		return err
	}
	d, err := decision.Diff(old, now, func() {})
	if err != nil {
		return err
	}
	changed := 0
	for _, k := range d.Keys {
		changed += len(k.Changes) + len(k.Contributions)
	}
	all := max(int(before.Info().Bindings), 1)
	if float64(changed) > share*float64(all) {
		return &ship.Refusal{Reason: fmt.Sprintf(
			"%d of %d bindings change, more than %g%%: raise --max-change if this is intended",
			changed, all, share*100)}
	}
	return nil
}
