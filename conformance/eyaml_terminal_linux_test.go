package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bindc/internal/secret/eyaml"
)

// asking is a running "bindc eyaml encrypt" that prompts for a string on a terminal.
type asking struct {
	cmd    *exec.Cmd
	tty    *os.File // the user's end of the terminal
	fd     int      // the program's end of the terminal
	answer bytes.Buffer
}

func askOnTerminal(t *testing.T) *asking {
	t.Helper()
	ours, theirs, err := openTerminal(80)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	a := &asking{tty: ours, fd: int(theirs.Fd())}
	a.cmd = exec.Command("bindc", "eyaml", "encrypt", "--public-key", "../internal/secret/eyaml/testdata/2048.cert.pem")
	a.cmd.Stdin, a.cmd.Stderr, a.cmd.Stdout = theirs, theirs, &a.answer
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); a.echoes(t); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			a.cmd.Process.Kill()
			t.Fatal("the terminal echoes input")
		}
	}
	return a
}

// echoes reports whether the terminal echoes input.
func (a *asking) echoes(t *testing.T) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(a.fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// The terminal does not show the text that bindc encrypts.
func TestTerminalDoesNotEchoPlaintext(t *testing.T) {
	a := askOnTerminal(t)
	a.tty.WriteString("hunter2\n")
	if err := a.cmd.Wait(); err != nil || !a.echoes(t) {
		t.Errorf("exit: %v; the terminal echoes input: %v", err, a.echoes(t))
	}
	screen := make([]byte, 1000)
	n, err := a.tty.Read(screen)
	if shown := string(screen[:n]); err != nil || !strings.HasPrefix(shown, "Text to encrypt") ||
		strings.Contains(shown, "hunter2") {
		t.Errorf("the terminal shows %q, %v", shown, err)
	}
	keys, err := eyaml.Read([]string{"../internal/secret/eyaml/testdata/2048.pem"})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := keys.Decrypt(a.answer.String()); err != nil || text != "hunter2" {
		t.Errorf("encrypted is %q, %v", text, err)
	}
}

// A signal ends the prompt, and the terminal echoes input again.
func TestSignalRestoresTerminalEcho(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		a := askOnTerminal(t)
		a.cmd.Process.Signal(sig)
		a.cmd.Wait()
		if status := a.cmd.ProcessState.ExitCode(); status != 128+int(sig) || !a.echoes(t) || a.answer.Len() > 0 {
			t.Errorf("%v: the status is %d; the terminal echoes input: %v", sig, status, a.echoes(t))
		}
	}
}
