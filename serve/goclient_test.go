package serve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"bindc/serve/client"
)

// goClient is a client that follows the rules of docs/serve.md, "Rules for clients".
type goClient struct {
	socket  string
	conn    net.Conn
	frames  *client.Client
	opening int // number of the connection
	session int64
	needs   goNeeds // needs of the active snapshot
	nodes   map[int]*goNode
}

// goNode is a node, whose values come from one snapshot.
type goNode struct {
	facts, vars map[string]json.RawMessage
	opening     int
	session     int64
	needs       goNeeds // needs of the snapshot that the node uses
}

type goNeeds struct {
	Digest    string
	Variables []string
}

type goAnswer struct {
	Session  *int64
	Snapshot *goNeeds
	Values   map[string]json.RawMessage
	Rich     map[string]json.RawMessage
	Errors   map[string]codedError
	Error    codedError
}

type codedError struct{ Code, Message string }

func (e codedError) Error() string { return e.Code }

// errLost means that the connection or the session has ended.
var errLost = codedError{Code: "connection"}

func (c *goClient) step(text string) (string, error) {
	var step struct {
		Do          string
		Node        int
		Key         string
		Facts, Vars map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &step); err != nil {
		return "", err
	}
	if step.Do == "node" {
		c.nodes[step.Node] = &goNode{facts: step.Facts, vars: step.Vars}
		return "{}", nil
	}
	var failed codedError
	answer, err := c.lookup(c.nodes[step.Node], step.Key)
	if errors.As(err, &failed) {
		return fmt.Sprintf(`{"error":"%s"}`, failed.Code), nil
	}
	return answer, err
}

func (c *goClient) lookup(n *goNode, key string) (string, error) {
	a, err := goAnswer{}, error(errLost)
	for try := 0; try < 3 && errors.Is(err, errLost); try++ {
		if err = c.enter(n); err == nil {
			a, err = c.ask(object{"ask": "keys", "session": n.session, "keys": []string{key}})
		}
		if err == (codedError{Code: "session"}) {
			n.opening, err = 0, errLost
		}
	}
	if err != nil {
		return "", err
	}
	if e, ok := a.Errors[key]; ok {
		return "", codedError{Code: e.Code}
	}
	if value, ok := a.Rich[key]; ok {
		return `{"value":` + string(value) + `}`, checkTypes(string(value))
	}
	if value, ok := a.Values[key]; ok {
		return `{"value":` + string(value) + `}`, nil
	}
	return `{"absent":true}`, nil
}

// checkTypes returns an error if a rich value has an unknown type.
func checkTypes(value string) error {
	_, after, _ := strings.Cut(value, `"__ptype":"`)
	kind, _, _ := strings.Cut(after, `"`)
	if after != "" && !strings.Contains("Sensitive Hash Regexp Type Default Float Binary", kind) {
		return codedError{Code: "protocol"}
	}
	return nil
}

// enter opens the session of a node, if it is not open.
func (c *goClient) enter(n *goNode) error {
	if err := c.open(); err != nil || n.opening == c.opening {
		return err
	}
	for range 8 {
		needs := n.needs
		if needs.Digest == "" {
			needs = c.needs
		}
		c.session++
		facts, vars := object{}, object{}
		for _, name := range needs.Variables {
			if value, ok := n.facts[name]; ok {
				facts[name] = value
			}
			if value, ok := n.vars[name]; ok {
				vars[name] = value
			}
		}
		a, err := c.ask(object{"ask": "node", "session": c.session, "digest": needs.Digest, "facts": facts,
			"vars": vars})
		if err != nil {
			return err
		}
		if a.Session != nil {
			n.session, n.opening, n.needs = c.session, c.opening, needs
			return nil
		}
		c.needs = *a.Snapshot
		if n.needs.Digest != "" {
			return codedError{Code: "replaced"}
		}
	}
	return codedError{Code: "replaced"}
}

// open connects, if the client is not connected.
func (c *goClient) open() error {
	if c.conn != nil {
		return nil
	}
	conn, err := net.Dial("unix", c.socket)
	if err != nil {
		return err
	}
	c.conn, c.frames = conn, client.New(conn, conn)
	c.opening++
	_, err = c.ask(hello())
	if code := fmt.Sprint(err); code == "busy" || code == "protocol" {
		c.close()
		return err
	}
	return nil
}

func (c *goClient) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// ask returns the answer to a question, or its error. It closes the connection after the deadline.
func (c *goClient) ask(question object) (a goAnswer, _ error) {
	c.conn.SetDeadline(time.Now().Add(time.Second))
	text, err := c.frames.Ask(question)
	if err != nil {
		c.close()
		return a, errLost
	}
	if err := json.Unmarshal(text, &a); err != nil {
		c.close()
		return a, codedError{Code: "protocol"}
	}
	if a.Error.Code != "" {
		return a, codedError{Code: a.Error.Code}
	}
	return a, nil
}
