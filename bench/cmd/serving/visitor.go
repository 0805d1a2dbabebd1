package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"bindc/bench/built"
	"bindc/serve/client"
)

// talk contains the messages that a client sends. It sends before once, if that is not nil, and
// then ask repeatedly.
type talk struct {
	before, ask []byte
	answer      int // length in bytes of each answer to ask
}

// visitor contains the messages for one node: to bindq in a session, to bindq with a new session
// each time, and to Redis.
type visitor struct{ keys, session, mget talk }

type object = map[string]any

func frame(question any) []byte {
	text, err := json.Marshal(question)
	if err != nil {
		panic(err) // unreachable: a question has only strings and numbers
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// prepare asks bindq for the values of n nodes and stores them in Redis. It returns a visitor for
// each node.
func prepare(site *built.Site, keys, n int, ours, redis *server) ([]*visitor, error) {
	names := slices.Clone(site.KeyNames())
	if len(names) < keys {
		return nil, fmt.Errorf("the site has %d keys, fewer than %d", len(names), keys)
	}
	step := len(names) / keys
	asked := make([]string, keys)
	for i := range asked {
		asked[i] = names[i*step]
	}
	conn, err := net.Dial("unix", ours.socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	c := client.New(conn, conn)
	hello, err := c.Ask(object{"ask": "hello", "protocol": 1})
	if err != nil {
		return nil, err
	}
	var has struct{ Snapshot struct{ Digest string } }
	if err := json.Unmarshal(hello, &has); err != nil || has.Snapshot.Digest == "" {
		return nil, fmt.Errorf("hello: %s", hello)
	}
	store, err := net.Dial("unix", redis.socket)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	replies := bufio.NewReader(store)
	visitors := make([]*visitor, n)
	for i := range visitors {
		v, err := meet(c, site.Facts(i), asked, has.Snapshot.Digest, i, store, replies)
		if err != nil {
			return nil, err
		}
		visitors[i] = v
	}
	return visitors, nil
}

// meet asks bindq for the values of one node and stores them in Redis.
func meet(c *client.Client, facts map[string]any, asked []string, digest string, i int, store io.Writer,
	replies *bufio.Reader) (*visitor, error) {
	node := object{"ask": "node", "session": 1, "digest": digest, "facts": facts}
	opened, err := c.Ask(node)
	if err != nil || !bytes.Contains(opened, []byte(`"session"`)) {
		return nil, fmt.Errorf("node: %s, %w", opened, err)
	}
	question := object{"ask": "keys", "session": 1, "keys": asked}
	answer, err := c.Ask(question)
	if err != nil {
		return nil, err
	}
	var has struct{ Values map[string]json.RawMessage }
	if err := json.Unmarshal(answer, &has); err != nil || len(has.Values) != len(asked) {
		return nil, fmt.Errorf("keys: %d of %d keys have values, %w", len(has.Values), len(asked), err)
	}
	set, get, length := []string{"MSET"}, []string{"MGET"}, len(fmt.Sprintf("*%d\r\n", len(asked)))
	for _, key := range asked {
		name, value := fmt.Sprintf("node%d/%s", i, key), string(has.Values[key])
		set, get = append(set, name, value), append(get, name)
		length += len("$\r\n\r\n") + len(strconv.Itoa(len(value))) + len(value)
	}
	if _, err := store.Write(command(set)); err != nil {
		return nil, err
	}
	if line, err := replies.ReadString('\n'); err != nil || line != "+OK\r\n" {
		return nil, fmt.Errorf("MSET: %q, %w", line, err)
	}
	first := append(frame(object{"ask": "hello", "protocol": 1}), frame(node)...)
	both := append(frame(node), frame(question)...)
	return &visitor{
		keys:    talk{first, frame(question), 4 + len(answer)},
		session: talk{first, both, 4 + len(opened) + 4 + len(answer)},
		mget:    talk{nil, command(get), length},
	}, nil
}

func command(words []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return []byte(b.String())
}
