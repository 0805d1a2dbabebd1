package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// onTerminal runs a program whose outputs are a terminal of 80 or $TERMINAL_COLUMNS columns. It writes the output on
// the terminal to the file screen.
func onTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: terminal PROGRAM ARG...")
	}
	columns := uint16(80)
	if n, err := strconv.ParseUint(ts.Getenv("TERMINAL_COLUMNS"), 10, 16); err == nil {
		columns = uint16(n)
	}
	ours, theirs, err := openTerminal(columns)
	ts.Check(err)
	defer ours.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), theirs, theirs
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=", "COLUMNS=")
	shown := make(chan []byte)
	go func() {
		var screen bytes.Buffer
		screen.ReadFrom(ours) // ends with an error when the other end is closed
		shown <- screen.Bytes()
	}()
	err = cmd.Run()
	theirs.Close()
	screen := bytes.ReplaceAll(<-shown, []byte("\r\n"), []byte("\n"))
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		ts.Fatalf("%v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("screen"), screen, 0o666))
}

// openTerminal returns the two ends of a new terminal.
func openTerminal(columns uint16) (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	return ours, theirs, unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
}
