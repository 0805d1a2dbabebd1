// Package client is a client of bindq serve, for tests. docs/serve.md specifies the protocol.
package client

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
)

// Client sends questions to a server and receives answers. It is not safe for concurrent use.
type Client struct {
	in  *bufio.Reader
	out io.Writer
}

// New returns a client that reads answers from in and writes questions to out.
func New(in io.Reader, out io.Writer) *Client { return &Client{bufio.NewReader(in), out} }

// Send sends text as one frame. It does not check the text.
func (c *Client) Send(text []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text)))
	_, err := c.out.Write(append(frame, text...))
	return err
}

// Receive returns the body of the next frame. It returns io.EOF if the server has closed the connection.
func (c *Client) Receive() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(head[:])) // the frame may be shorter
	text, err := io.ReadAll(io.LimitReader(c.in, length))
	if err == nil && int64(len(text)) < length {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// Ask sends a question, which it encodes as JSON, and returns the answer.
func (c *Client) Ask(question any) ([]byte, error) {
	text, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	if err := c.Send(text); err != nil {
		return nil, err
	}
	return c.Receive()
}
