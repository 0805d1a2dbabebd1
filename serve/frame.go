package serve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// headBytes are those of a frame before what it holds.
const headBytes = 4

// keptBytes is how large a buffer may be that is kept for the next frame.
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

// within has the connection closed after d.
func (f *frames) within(d time.Duration) {
	switch {
	case f.timer == nil:
	case d == 0:
		f.timer.Stop()
	default:
		f.timer.Reset(d)
	}
}

// read is the next question, valid until the one after it. What a frame says of its length is not believed: memory is
// taken as bytes arrive. The error is io.EOF between frames, where the client ends.
func (f *frames) read() ([]byte, error) {
	f.within(f.idle)
	if _, err := f.in.Peek(1); err != nil {
		return nil, err
	}
	f.within(f.whole)
	var head [headBytes]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxQuestion {
		return nil, errLong
	}
	if f.buf.Cap() > keptBytes {
		f.buf = bytes.Buffer{}
	}
	f.buf.Reset()
	if _, err := io.CopyN(&f.buf, f.in, int64(n)); err != nil {
		return nil, noEOF(err)
	}
	f.within(0)
	return f.buf.Bytes(), nil
}

// noEOF is err, where an end is one too early.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
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
	f.within(0)
	return err
}
