// Package subprocess runs programs without a shell. It limits their time and their output. When a
// program exits, its remaining child processes are killed.
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

const (
	DefaultTimeout = 30 * time.Second // used if the timeout is 0
	maxOutput      = 64 << 20
	maxErrors      = 4 << 10 // bytes of standard error that an error message may contain
)

// Run runs command in dir and returns its standard output, which is never nil. It kills the program
// after timeout, or after DefaultTimeout if timeout is 0, and when ctx is done. ctx may be nil.
func Run(ctx context.Context, dir string, timeout time.Duration, command []string) ([]byte, error) {
	return RunIn(ctx, nil, dir, timeout, command)
}

// RunIn is like Run, but sets the environment variables of the program. If environment is nil, the
// program inherits those of this process.
func RunIn(ctx context.Context, environment []string, dir string, timeout time.Duration, command []string) (
	[]byte, error) {
	parent, timeout := ctx, cmp.Or(timeout, DefaultTimeout)
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment, time.Second
	stopWithChildren(cmd)
	stdout, stderr := &limitedBuffer{max: maxOutput}, &limitedBuffer{max: maxErrors, drop: true}
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
		err = fmt.Errorf("the program %s has ended, but left a process that keeps its output open", command[0])
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

// limitedBuffer keeps at most max bytes. If drop is set, it discards further bytes; otherwise,
// writing them fails. It does not embed bytes.Buffer, whose ReadFrom would bypass the limit.
type limitedBuffer struct {
	kept bytes.Buffer
	max  int
	drop bool
	full bool // whether more than max bytes were written
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
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
