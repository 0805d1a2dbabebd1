// Package envfile reads and writes the file .environments in a directory of snapshots. The file
// lists the environments. It also contains a program that selects the environment for a request.
package envfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/snapshot"
)

// A directory of snapshots contains File, and for each environment a snapshot whose name ends in
// Extension.
const (
	File      = ".environments"
	Extension = ".snap"
)

// Production is the environment of requests for which the program selects none.
const Production = "production"

// Choice is the content of the file .environments.
type Choice struct {
	Program      *expr.Node // its value is the name of an environment, or undef for Production
	Environments []Environment
}

// Environment is an environment that existed when the file was written.
type Environment struct {
	Name    string
	Written bool // whether it has a snapshot, even if an earlier build wrote it
}

// maxName limits the length of an environment's name, so that the file name of the snapshot is
// valid.
const maxName = 200

// IsName reports whether text is a valid name for an environment. A name consists of letters,
// digits, '_', '.' and '-'; the first character is neither '.' nor '-'.
func IsName(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '_', '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		case i > 0 && (c == '.' || c == '-'):
		default:
			return false
		}
	}
	return text != "" && len(text) <= maxName
}

// The file consists of the following parts. Numbers are little-endian.
//
//	magic     8 bytes
//	version   u32
//	program   u32: its length in bytes; environments u32: their number
//	program   an encoded expression
//	list      per environment: u8, 1 if it has a snapshot; u8, the length of its name; the name
//	sum       u64, xxhash64 of everything before it
const (
	magic    = "BINDENVS"
	version  = 1
	headSize = len(magic) + 3*4
	sumSize  = 8
	maxFile  = 16 << 20
)

// Encode returns the content of the file for c. All names must be valid, see IsName.
func Encode(c *Choice) []byte {
	program := expr.Append(nil, c.Program)
	out := binary.LittleEndian.AppendUint32([]byte(magic), version)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(program)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(c.Environments)))
	out = append(out, program...)
	for _, e := range c.Environments {
		written := byte(0)
		if e.Written {
			written = 1
		}
		out = append(append(out, written, byte(len(e.Name))), e.Name...)
	}
	return binary.LittleEndian.AppendUint64(out, xxhash.Sum64(out))
}

// Decode decodes the content of the file. Its errors are snapshot.ErrFormat, snapshot.ErrVersion
// and *snapshot.DamageError, as for a snapshot.
func Decode(b string) (*Choice, error) {
	switch {
	case len(b) < headSize+sumSize || b[:len(magic)] != magic:
		return nil, snapshot.ErrFormat
	case u32(b[len(magic):]) != version:
		return nil, snapshot.ErrVersion
	}
	body, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if binary.LittleEndian.Uint64([]byte(sum)) != xxhash.Sum64String(body) {
		return nil, damaged("the checksum of its content")
	}
	length, count, rest := u32(b[len(magic)+4:]), u32(b[len(magic)+8:]), body[headSize:]
	if uint64(length) > uint64(len(rest)) {
		return nil, damaged("a program")
	}
	program, err := expr.Decode(rest[:length])
	if err != nil {
		return nil, damaged("a program: " + err.Error())
	}
	c := &Choice{Program: program}
	for rest = rest[length:]; count > 0; count-- {
		if len(rest) < 2 || rest[0] > 1 || len(rest) < 2+int(rest[1]) || !IsName(rest[2:2+int(rest[1])]) {
			return nil, damaged("an environment name")
		}
		c.Environments = append(c.Environments, Environment{rest[2 : 2+int(rest[1])], rest[0] == 1})
		rest = rest[2+int(rest[1]):]
	}
	if rest != "" {
		return nil, damaged("nothing after the last environment")
	}
	return c, nil
}

func u32(b string) uint32 { return binary.LittleEndian.Uint32([]byte(b[:4])) }

func damaged(expected string) error {
	return &snapshot.DamageError{Section: File, Expected: expected}
}

// Read reads and decodes the file at path. If accept is not nil and returns an error for the
// content, Read returns that error.
func Read(path string, accept func(content []byte) error) (*Choice, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = snapshot.ErrFormat
	}
	if err == nil && accept != nil {
		err = accept(content)
	}
	if err != nil {
		return nil, err
	}
	return Decode(string(content))
}

// Choose returns the name of the environment for a request. variable returns the value of a
// variable, or undef. agent is the environment that the node's agent requests, or "".
func (c *Choice) Choose(variable func(name string) value.Value, agent string) (string, error) {
	v, err := expr.Eval(c.Program, env{variable, agent}, expr.Options{Functions: stdlib.Functions})
	switch {
	case err != nil:
		return "", err
	case v.IsUndef():
		return Production, nil
	case v.Kind() != value.String:
		return "", fmt.Errorf("expected an environment name as $environment, found %s", value.Describe(v))
	}
	return strings.Clone(v.Text()), nil
}

type env struct {
	variable func(name string) value.Value
	agent    string
}

// Variables that are not facts of the node. A program sets Chosen to the name of the environment.
const (
	agentVariable = "agent_environment"
	Chosen        = "environment"
)

func (e env) Variable(name string) (value.Value, bool) {
	switch {
	case name == agentVariable && e.agent != "":
		return value.FromString(e.agent), true
	case name == agentVariable:
		return value.Value{}, true
	case name == Chosen:
		return value.Value{}, true
	}
	return e.variable(name), true
}

var errLookup = errors.New("lookups are not possible before the environment is chosen")

func (env) Lookup(string, *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, errLookup
}

// Variables returns the names of the node's variables that the program uses.
func (c *Choice) Variables() []string {
	var out []string
	c.Program.Variables(func(name string) {
		if name != agentVariable && name != Chosen {
			out = append(out, name)
		}
	})
	return out
}

// AgentProgram returns the default program, which selects the environment that the agent requests.
func AgentProgram() *expr.Node { return &expr.Node{Op: expr.Var, Name: agentVariable} }

// ProgramOf returns a program that executes statements and then selects the environment in
// $environment.
func ProgramOf(statements []*expr.Node) *expr.Node {
	if len(statements) == 0 {
		return &expr.Node{Op: expr.Const}
	}
	kids := append(append([]*expr.Node(nil), statements...), &expr.Node{Op: expr.Var, Name: Chosen})
	return &expr.Node{Op: expr.Block, Kids: kids}
}
