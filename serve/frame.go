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

// headBytes is the length of the header of a frame.
const headBytes = 4

// keptBytes is the size up to which a buffer is kept for the next frame.
const keptBytes = 1 << 20

var (
	errLong = fmt.Errorf("expected a question of at most %d bytes", maxQuestion)
	errLate = errors.New("the client was idle for too long, or too slow")
)

// frames reads and writes frames.
type frames struct {
	in     *bufio.Reader
	out    io.Writer
	timer  *time.Timer   // closes the connection; nil: nobody waits
	idle   time.Duration // that a question may be waited for
	whole  time.Duration // that a frame may take
	buf    bytes.Buffer  // of the question
	answer []byte        // with room for the head
}

// within sets the time after which the connection is closed.
func (f *frames) within(d time.Duration) {
	switch {
	case f.timer == nil:
	case d == 0:
		f.timer.Stop()
	default:
		f.timer.Reset(d)
	}
}

// read returns the next question, which is valid until the next call. It does not trust the length in the header, and
// allocates memory only as bytes arrive. If the input ends between frames, the error is io.EOF.
func (f *frames) read() ([]byte, error) {
	f.within(f.idle)
	if _, err := f.in.Peek(1); err != nil {
		return nil, err
	}
	f.within(f.whole)
	var head [headBytes]byte
	if n, err := io.ReadFull(f.in, head[:]); err != nil {
		return nil, cut(err, int64(n), headBytes)
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
		return nil, cut(err, headBytes+got, headBytes+int64(n))
	}
	f.within(0)
	return f.buf.Bytes(), nil
}

// cut returns err, or if the input ended inside a frame, an error with the number of bytes.
func cut(err error, got, of int64) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &bindings.Error{Code: codeProtocol, Err: io.ErrUnexpectedEOF, Message: fmt.Sprintf(
			"the input ended in the middle of a question, after %d of at least %d bytes", got, of)}
	}
	return err
}

// begin empties the answer.
func (f *frames) begin() {
	if cap(f.answer) > keptBytes {
		f.answer = nil
	}
	f.answer = append(f.answer[:0], make([]byte, headBytes)...)
}

// write sends the answer.
func (f *frames) write() error {
	binary.BigEndian.PutUint32(f.answer, uint32(len(f.answer)-headBytes))
	f.within(f.whole)
	_, err := f.out.Write(f.answer)
	return err
}
