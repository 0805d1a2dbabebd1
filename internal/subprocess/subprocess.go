// Package subprocess runs external programs without a shell, with a time limit and a limit on their output. When such a
// program ends, so do the processes it left running.
package subprocess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Limits for a program.
const (
	DefaultTimeout = 30 * time.Second // if Run gets no timeout
	maxOutput      = 64 << 20
	maxErrors      = 4 << 10 // bytes of standard error that the message shows
)

// Run runs command in the directory dir and returns its output. The output is never nil, so that a caller can tell
// empty output from no output. The program is stopped after timeout (0 means the default), or when ctx is done, which
// may be nil.
func Run(ctx context.Context, dir string, timeout time.Duration, command []string) ([]byte, error) {
	parent, timeout := ctx, cmp.Or(timeout, DefaultTimeout)
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	stopWithChildren(cmd)
	stdout, stderr := &limited{max: maxOutput}, &limited{max: maxErrors, drop: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	endChildren(cmd)
	message := strings.TrimSpace(stderr.kept.String())
	switch {
	case parent.Err() != nil:
		return nil, fmt.Errorf("the program %s was stopped: %w", command[0], parent.Err())
	case ctx.Err() != nil:
		err = fmt.Errorf("the program %s was stopped after %s", command[0], timeout)
	case stdout.full:
		err = fmt.Errorf("the program %s printed more than %d bytes", command[0], maxOutput)
	case errors.Is(err, exec.ErrWaitDelay):
		err = fmt.Errorf("the program %s ended but left a child process that keeps printing", command[0])
	case err != nil:
		err = fmt.Errorf("the program %s failed: %w", command[0], err)
	default:
		return append([]byte{}, stdout.kept.Bytes()...), nil
	}
	if message != "" {
		err = fmt.Errorf("%w: %s", err, message)
	}
	return nil, err
}

// limited keeps up to max bytes of what is written. Beyond that it fails or, if drop is set, discards. The buffer is
// not embedded, because its ReadFrom would bypass the limit.
type limited struct {
	kept bytes.Buffer
	max  int
	drop bool
	full bool // more than max was written
}

func (b *limited) Write(p []byte) (int, error) {
	room := b.max - b.kept.Len()
	if len(p) <= room {
		return b.kept.Write(p)
	}
	b.full = true
	if !b.drop {
		return 0, io.ErrShortWrite
	}
	b.kept.Write(p[:room])
	return len(p), nil
}
