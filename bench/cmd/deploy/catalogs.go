package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// catalogs is a Puppet process that compiles catalogs for several masters. Each catalog uses the
// data in the master's store.
type catalogs struct {
	by    string // name and version of Puppet
	cmd   *exec.Cmd
	asks  io.WriteCloser
	lines *bufio.Reader
}

// catalogs starts Puppet. If Puppet is not installed, the returned catalogs do nothing.
func (w *way) catalogs(masters ...string) (*catalogs, error) {
	if _, err := exec.LookPath("puppet"); err != nil {
		say("no catalogs: puppet is not installed (apt-get install puppetserver)")
		return &catalogs{by: "no Puppet"}, nil
	}
	script, err := filepath.Abs("cmd/deploy/catalogs.rb")
	if err != nil {
		return nil, err
	}
	args := []string{script}
	for _, master := range masters {
		dir, err := w.codedir(master)
		if err != nil {
			return nil, err
		}
		args = append(args, dir)
	}
	c := &catalogs{cmd: exec.Command("ruby", args...)}
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.asks, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.lines = bufio.NewReader(out)
	line, err := c.lines.ReadString('\n')
	c.by = strings.TrimSpace(line)
	return c, err
}

// codedir creates the codedir of a master. Its environment production has the hiera.yaml that bindq
// hiera-config prints for the master's store.
func (w *way) codedir(master string) (string, error) {
	module, err := filepath.Abs("../puppet/bindc")
	if err != nil {
		return "", err
	}
	hiera, err := exec.Command(w.path("bindq"), "hiera-config", "-s", w.path(master)).Output()
	if err != nil {
		return "", err
	}
	root := "code-" + master + "/environments/production/"
	if err := w.write(root+"hiera.yaml", fmt.Sprintf("%s    command: %s\n", hiera, w.path("bindq"))); err != nil {
		return "", err
	}
	if err := w.write(root+"manifests/site.pp",
		"notify { 'release': message => \"${lookup('release')} ${lookup('again')}\" }\n"); err != nil {
		return "", err
	}
	if err := os.MkdirAll(w.path(root+"modules"), 0o755); err != nil {
		return "", err
	}
	return w.path("code-" + master), os.Symlink(module, w.path(root+"modules/bindc"))
}

// hold compiles catalogs on each master until all of them contain want. It fails after a minute.
func (c *catalogs) hold(want string) error {
	if c.cmd == nil {
		return nil
	}
	var got []string
	err := eventually("each catalog has it", func() (bool, error) {
		var err error
		got, err = c.compile()
		return !slices.ContainsFunc(got, func(m string) bool { return m != want }), err
	})
	if err != nil {
		return fmt.Errorf("the catalogs of the masters have %q, expected '%s': %w", got, want, err)
	}
	return nil
}

// compile compiles a catalog on each master and returns the messages with the release.
func (c *catalogs) compile() (got []string, err error) {
	if _, err := io.WriteString(c.asks, "\n"); err != nil {
		return nil, err
	}
	line, err := c.lines.ReadString('\n')
	if err != nil {
		return nil, err
	}
	return got, json.Unmarshal([]byte(line), &got)
}

func (c *catalogs) end() error {
	if c.cmd == nil {
		return nil
	}
	return errors.Join(c.asks.Close(), c.cmd.Wait())
}
