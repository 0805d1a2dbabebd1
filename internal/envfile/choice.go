// Package envfile is the file that a directory of environments has beside their snapshots: which environments there
// are, and the program that chooses the one of a request.
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

// A directory holds DIR/NAME.snap for each environment, and File.
const (
	File      = ".environments"
	Extension = ".snap"
)

// Production is the environment where nothing else is chosen.
const Production = "production"

// Choice is what the file says.
type Choice struct {
	Program      *expr.Node // yields the name of the environment; undef stands for Production
	Environments []Environment
}

// Environment is one that was declared when the file was written.
type Environment struct {
	Name    string
	Written bool // its snapshot was, then or before
}

// maxName is how long the name of an environment may be: with the extension it is the name of a file.
const maxName = 200

// IsName tells whether a text is the name of an environment: letters, digits, _, and behind the first of them . and -.
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

// The file is, in little endian:
//
//	magic     8 bytes
//	version   u32
//	program   u32: its bytes; environments u32: how many
//	program   an encoded expression
//	list      per environment: u8, 1 where its snapshot was written; u8, the bytes of its name; the name
//	sum       u64, xxhash64 of everything before it
const (
	magic    = "BINDENVS"
	version  = 1
	headSize = len(magic) + 3*4
	sumSize  = 8
	maxFile  = 16 << 20
)

// Encode makes the file of c, whose names are Named.
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

// Decode reads such a file. The errors are those of a snapshot: snapshot.ErrFormat, snapshot.ErrVersion, a
// *snapshot.DamageError.
func Decode(b string) (*Choice, error) {
	switch {
	case len(b) < headSize+sumSize || b[:len(magic)] != magic:
		return nil, snapshot.ErrFormat
	case u32(b[len(magic):]) != version:
		return nil, snapshot.ErrVersion
	}
	body, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if binary.LittleEndian.Uint64([]byte(sum)) != xxhash.Sum64String(body) {
		return nil, damaged("the checksum of what it holds")
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
			return nil, damaged("the name of an environment")
		}
		c.Environments = append(c.Environments, Environment{rest[2 : 2+int(rest[1])], rest[0] == 1})
		rest = rest[2+int(rest[1]):]
	}
	if rest != "" {
		return nil, damaged("nothing behind the last environment")
	}
	return c, nil
}

func u32(b string) uint32 { return binary.LittleEndian.Uint32([]byte(b[:4])) }

func damaged(expected string) error {
	return &snapshot.DamageError{Section: File, Expected: expected}
}

// Read reads the file at path. Accept, if it is not nil, has to accept what is in it.
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

// Choose is the environment for a request of these variables, whose agent asks for agent; "" for none. A variable that
// there is not is undef.
func (c *Choice) Choose(variable func(name string) value.Value, agent string) (string, error) {
	v, err := expr.Eval(c.Program, env{variable, agent}, expr.Options{Functions: stdlib.Functions})
	switch {
	case err != nil:
		return "", err
	case v.IsUndef():
		return Production, nil
	case v.Kind() != value.String:
		return "", fmt.Errorf("expected the name of an environment as $environment, found %s", value.Describe(v))
	}
	return strings.Clone(v.Text()), nil
}

// env is what a program knows: what the node says, and what its agent asks for.
type env struct {
	variable func(name string) value.Value
	agent    string
}

// The variables that are none of the node's. Chosen is what statements set.
const (
	agentProgram = "agent_environment"
	Chosen       = "environment"
)

func (e env) Variable(name string) (value.Value, bool) {
	switch {
	case name == agentProgram && e.agent != "":
		return value.FromString(e.agent), true
	case name == agentProgram:
		return value.Value{}, true
	case name == Chosen:
		return value.Value{}, true
	}
	return e.variable(name), true
}

var errLookup = errors.New("nothing can be looked up before the environment is chosen")

func (env) Lookup(string, *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, errLookup
}

// Variables are the names of the variables of a node that the program may use.
func (c *Choice) Variables() []string {
	var out []string
	c.Program.Variables(func(name string) {
		if name != agentProgram && name != Chosen {
			out = append(out, name)
		}
	})
	return out
}

// AgentProgram is the program where nobody has written one: what the agent asks for, or Production.
func AgentProgram() *expr.Node { return &expr.Node{Op: expr.Var, Name: agentProgram} }

// ProgramOf is the program of statements that may set $environment.
func ProgramOf(statements []*expr.Node) *expr.Node {
	if len(statements) == 0 {
		return &expr.Node{Op: expr.Const}
	}
	kids := append(append([]*expr.Node(nil), statements...), &expr.Node{Op: expr.Var, Name: Chosen})
	return &expr.Node{Op: expr.Block, Kids: kids}
}
