// Package gate decides whether a snapshot may become active. It checks that certain queries find a
// value, that not too many bindings have changed, and that required policies were proven. It is
// separate from package ship because that package does not know the content of snapshots.
package gate

import (
	"fmt"

	"bindc/internal/report/decision"
	"bindc/ship"
	"bindc/snapshot"
)

// CheckChanges returns an error if the snapshot after changes too many bindings. share is the
// largest allowed proportion of changes to the bindings in before. Changes are counted as in bindq
// diff.
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
