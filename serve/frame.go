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

// headBytes is the size of the header of a frame, which is the length of the body.
const headBytes = 4

// keptBytes is the largest capacity of a buffer that is kept for the next frame.
const keptBytes = 1 << 20

var (
	errLong = fmt.Errorf("expected a question of at most %d bytes", maxQuestion)
	errLate = errors.New("the client was idle for too long or too slow")
)

// frames reads questions and writes answers, each in a frame.
type frames struct {
	in        *bufio.Reader
	out       io.Writer
	timer     *time.Timer   // closes the connection when it fires; nil for no time limits
	idle      time.Duration // time limit for waiting for a question
	frameTime time.Duration // time limit for reading or writing a frame
	buf       bytes.Buffer  // the current question; reused
	answer    []byte        // the current answer, after headBytes for the header
}

// setTimeout makes the connection close after d. If d is 0, there is no time limit.
func (f *frames) setTimeout(d time.Duration) {
	switch {
	case f.timer == nil:
	case d == 0:
		f.timer.Stop()
	default:
		f.timer.Reset(d)
	}
}

// read returns the next question, which is valid until the next call. It allocates memory only as bytes arrive,
// whatever length the header claims. If the input ends between frames, the error is io.EOF.
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

// inputEnded returns a more detailed error if err means that the input ended inside a frame. Otherwise it returns err.
func inputEnded(err error, got, total int64) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &bindings.Error{Code: codeProtocol, Err: io.ErrUnexpectedEOF, Message: fmt.Sprintf(
			"the input ended in the middle of a question, after %d of at least %d bytes", got, total)}
	}
	return err
}

// resetAnswer empties the answer, leaving headBytes for the header.
func (f *frames) resetAnswer() {
	if cap(f.answer) > keptBytes {
		f.answer = nil
	}
	f.answer = append(f.answer[:0], make([]byte, headBytes)...)
}

// write completes the header of the answer and sends it.
func (f *frames) write() error {
	binary.BigEndian.PutUint32(f.answer, uint32(len(f.answer)-headBytes))
	f.setTimeout(f.frameTime)
	_, err := f.out.Write(f.answer)
	return err
}
