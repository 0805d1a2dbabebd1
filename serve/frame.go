package serve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	bindings "bindc/runtime"
)

// headBytes is the size of the header of a frame. The header contains the length of the body.
const headBytes = 4

// keptBytes is the capacity up to which a buffer is reused for the next frame.
const keptBytes = 1 << 20

var (
	errLong = fmt.Errorf("expected a question of at most %d bytes", maxQuestion)
	errLate = errors.New("the client was idle for too long or too slow")
)

// frames reads questions and writes answers, each in a frame.
type frames struct {
	in        *bufio.Reader
	out       io.Writer
	timer     *time.Timer   // closes the connection; nil for no time limits
	idle      time.Duration // how long to wait for a question
	frameTime time.Duration // how long a frame may take
	buf       bytes.Buffer  // the current question; reused
	answer    []byte        // begins with room for the header
}

// setTimeout makes the timer close the connection after d. If d is 0, it stops the timer.
func (f *frames) setTimeout(d time.Duration) {
	switch {
	case f.timer == nil:
	case d == 0:
		f.timer.Stop()
	default:
		f.timer.Reset(d)
	}
}

// read returns the next question, which is valid until the next call. read allocates memory only as bytes arrive,
// whatever the length in the header. If the input ends between frames, the error is io.EOF.
func (f *frames) read() ([]byte, error) {
	f.setTimeout(f.idle)
	if _, err := f.in.Peek(1); err != nil {
		return nil, err
	}
	f.setTimeout(f.frameTime)
	var head [headBytes]byte
	if n, err := io.ReadFull(f.in, head[:]); err != nil {
		return nil, inputEnded(err, int64(n), headBytes)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxQuestion {
		return nil, errLong
	}
	if f.buf.Cap() > keptBytes {
		f.buf = bytes.Buffer{}
	}
	f.buf.Reset()
	if got, err := io.CopyN(&f.buf, f.in, int64(n)); err != nil {
		return nil, inputEnded(err, headBytes+got, headBytes+int64(n))
	}
	f.setTimeout(0)
	return f.buf.Bytes(), nil
}

// inputEnded replaces the error for an input that ends inside a frame with an error that contains the number of bytes.
// It returns other errors unchanged.
func inputEnded(err error, got, total int64) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &bindings.Error{Code: codeProtocol, Err: io.ErrUnexpectedEOF, Message: fmt.Sprintf(
			"the input ended in the middle of a question, after %d of at least %d bytes", got, total)}
	}
	return err
}

// resetAnswer empties the answer, except for the room for the header.
func (f *frames) resetAnswer() {
	if cap(f.answer) > keptBytes {
		f.answer = nil
	}
	f.answer = append(f.answer[:0], make([]byte, headBytes)...)
}

// write sends the answer as a frame.
func (f *frames) write() error {
	binary.BigEndian.PutUint32(f.answer, uint32(len(f.answer)-headBytes))
	f.setTimeout(f.frameTime)
	_, err := f.out.Write(f.answer)
	return err
}
