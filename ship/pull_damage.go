package ship

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"bindc/internal/fsx"
)

// reverify is the time after which a pull reads the active file again even if it seems unchanged.
const reverify = time.Hour

// proof records when a file was last found undamaged.
type proof struct {
	digest Digest
	file   fsx.FileID
	at     time.Time
}

// lostError is the error for an active file that is missing or has other content.
type lostError struct {
	name, path string
	digest     Digest
}

func (l *lostError) Error() string {
	return "the active snapshot of '" + l.name + "' is " + l.what() +
		"; a pull replaces it if the source has it; otherwise run 'bindsync rollback " + l.name +
		"' or activate another one"
}

func (l *lostError) what() string {
	return fmt.Sprintf("missing or damaged: %s does not have the SHA-256 %s", l.path, l.digest)
}

// damage returns an error if the active file is damaged or missing. It does not read a file that seems unchanged and
// was undamaged less than reverify ago.
func (p *Pull) damage(active Digest) error {
	if active == "" {
		return nil
	}
	path := p.Store.Path(active)
	id, _ := fsx.FileIDAt(path)
	if p.sound.digest == active && p.sound.file == id && p.Now().Sub(p.sound.at) < reverify {
		return nil
	}
	whole, err := p.Store.has(active)
	if err != nil {
		return fmt.Errorf("cannot read the active snapshot of '%s': %w", p.Name, err)
	}
	if !whole {
		return &lostError{p.Name, path, active}
	}
	p.sound = proof{active, id, p.Now()}
	return nil
}

// withoutRoom adds a fix to the error for a full disk or an exceeded quota.
func withoutRoom(err error) error {
	var full *noRoom
	if errors.As(err, &full) {
		return err
	}
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return &noRoom{err}
		}
	}
	return err
}

// noRoom is the error of a full disk. join keeps only the first such error.
type noRoom struct{ error }

func (n *noRoom) Error() string {
	return n.error.Error() + ": the store needs more room; 'bindsync gc' removes snapshots that no name needs"
}

func (n *noRoom) Unwrap() error { return n.error }
