package serve_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/internal/testmode"
	"bindc/serve"
)

// The tests in this file run testdata/protocol, which describes the format of its files.

var (
	updateAnswers = flag.Bool("update", false, "write the server's answers to testdata/protocol/questions")
	clientCommand = flag.String("client", "", "test only this client: a command, to which the path of a socket is added")
)

const protocolDir = "../testdata/protocol"

// protocolSite builds a file of testdata/protocol into path.
func protocolSite(t testing.TB, path, file string) {
	t.Helper()
	build(t, path, readText(t, filepath.Join(protocolDir, file)), "binder_config.yaml", `version: 1
layers: [{name: site, include: 'confdir:/default'}]
categories: [[node, '${fqdn}'], [role, '${role}'], [common, 'true']]
`)
}

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cases runs a subtest for every n-th file of a directory of testdata/protocol, or for each, as testmode.Sample says.
func cases(t *testing.T, dir string, n int, run func(t *testing.T, path string)) {
	paths, _ := filepath.Glob(filepath.Join(protocolDir, dir, "*.txt"))
	if len(paths) < 10 {
		t.Fatalf("%d cases in %s", len(paths), dir)
	}
	for _, path := range testmode.Sample(t, paths, n) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { run(t, path) })
	}
}

// The server answers the questions in testdata/protocol/questions with the answers in the same files.
func TestServerGivesAnswersOfProtocolCases(t *testing.T) {
	cases(t, "questions", 1, func(t *testing.T, path string) {
		site := snap(t)
		protocolSite(t, site, "site.yaml")
		s := server(t, site)
		digest := connect(t, s).digest()
		p := connect(t, s)
		var out strings.Builder
		for line := range strings.Lines(readText(t, path)) {
			if strings.HasPrefix(line, "<") {
				continue
			}
			out.WriteString(line)
			question, ok := strings.CutPrefix(line, "> ")
			if !ok {
				continue
			}
			question = strings.ReplaceAll(strings.TrimSpace(question), "DIGEST", digest)
			answer := "closed"
			if err := p.Send([]byte(question)); err == nil {
				text, err := p.Receive()
				if err == nil {
					answer = strings.ReplaceAll(string(text), digest, "DIGEST")
				}
			}
			fmt.Fprintf(&out, "< %s\n", answer)
		}
		if err := p.Send([]byte("{}")); err != nil || isClosed(p) {
			out.WriteString("< closed\n")
		}
		if *updateAnswers {
			if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want := readText(t, path); out.String() != want {
			t.Errorf("found\n%s\nexpected\n%s", &out, want)
		}
	})
}

func isClosed(p peer) bool {
	_, err := p.Receive()
	return err != nil
}

// stepper is a client that runs the steps of testdata/protocol/clients.
type stepper interface {
	step(text string) (answer string, err error)
}

// The client in Go runs the steps in testdata/protocol/clients.
func TestGoClientPassesProtocolCases(t *testing.T) {
	t.Parallel()
	cases(t, "clients", 1, func(t *testing.T, path string) {
		t.Parallel() // some clients wait for a late answer
		runClient(t, "", path)
	})
}

// Clients in Python and Ruby, or the one that the flag -client names, run the steps in testdata/protocol/clients. The
// short form runs some of them, because each starts a program.
func TestClientsPassProtocolCases(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	clients := map[string]string{"python": "python3 ../clients/python/tests/conformance.py",
		"ruby": "ruby ../puppet/bindc/test/conformance.rb"}
	every := 3
	if *clientCommand != "" {
		clients, every = map[string]string{"client": *clientCommand}, 1
	}
	for name, command := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needPrograms(t, name)
			cases(t, "clients", every, func(t *testing.T, path string) {
				t.Parallel()
				runClient(t, command, path)
			})
		})
	}
}

// needPrograms skips the test of a client if its language is not installed.
func needPrograms(t *testing.T, name string) {
	check := map[string][]string{"python": {"python3", "--version"}, "ruby": {"ruby", "-e", "require 'puppet'"}}[name]
	if check == nil {
		return
	}
	if name == "ruby" && !testmode.Thorough() {
		t.Skip("loading Puppet for each file takes a long time")
	}
	if out, err := exec.Command(check[0], check[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", strings.Join(check, " "), err, out)
	}
}

// runClient runs the steps of one file with a new server.
func runClient(t *testing.T, command, path string) {
	site := snap(t)
	protocolSite(t, site, "site.yaml")
	f := newFaulty(t, server(t, site), site)
	c := newStepper(t, command, f.socket)
	lines := strings.Split(readText(t, path), "\n")
	for i, line := range lines {
		fault, isFault := strings.CutPrefix(line, "! ")
		switch {
		case isFault:
			f.prepare(fault)
		case strings.HasPrefix(line, "{"):
			wants := strings.Split(strings.TrimPrefix(lines[i+1], "= "), " or ")
			answer, err := c.step(line)
			if err != nil || !anyEqualJSON(answer, wants) {
				t.Errorf("%s:%d: %s\nfound    %s, %v\nexpected %s", path, i+1, line, answer, err, lines[i+1])
			}
		}
	}
	f.checkUsed()
}

// anyEqualJSON reports whether text is the same JSON as one of the others. The order of members, and the difference
// between 1 and 1.0, count.
func anyEqualJSON(text string, others []string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return slices.Equal(tokens(text), tokens(other)) })
}

// tokens returns the tokens of JSON, and nil after the first error.
func tokens(text string) (all []json.Token) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			return nil
		}
		all = append(all, token)
	}
}

// process is a client that is a program. It reads a step per line and prints an answer per line.
type process struct {
	in  io.Writer
	out *bufio.Reader
}

func newStepper(t *testing.T, command, socket string) stepper {
	if command == "" {
		c := &goClient{socket: socket, nodes: map[int]*goNode{}}
		t.Cleanup(c.close)
		return c
	}
	words := append(strings.Fields(command), socket)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", command, err)
		}
		kill.Stop()
	})
	return &process{in, bufio.NewReader(out)}
}

func (p *process) step(text string) (string, error) {
	if _, err := fmt.Fprintln(p.in, text); err != nil {
		return "", err
	}
	return p.out.ReadString('\n')
}

// The documented version of the protocol is the one that the server has.
func TestProtocolVersionIsDocumented(t *testing.T) {
	title := fmt.Sprintf("# The protocol of `bindq serve`, version %d\n", serve.Protocol)
	if text := readText(t, "../docs/serve.md"); !strings.HasPrefix(text, title) {
		t.Errorf("docs/serve.md does not begin with %q", title)
	}
}
