package adopt

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"bindc/facts"
	"bindc/internal/subprocess"
)

//go:embed puppet.rb
var script []byte

// Puppet is an installation of Puppet.
type Puppet struct {
	ruby string
	dir  string // directory of the files that the script reads and writes
}

// places lists the directories where packages install Puppet, in addition to the PATH.
var places = []string{"/opt/puppetlabs/bin/puppet"}

// FindPuppet finds the installed Puppet, which will use the directory dir for its files. It returns nil if Puppet is
// not installed.
func FindPuppet(dir string) *Puppet {
	command, err := exec.LookPath("puppet")
	for i := 0; err != nil && i < len(places); i++ {
		command, err = exec.LookPath(places[i])
	}
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(command); err == nil {
		command = real
	}
	return &Puppet{ruby: rubyOf(command), dir: dir}
}

// rubyOf returns the ruby that runs a program: the ruby next to the program, the ruby in the program's first line, or
// any ruby.
func rubyOf(command string) string {
	ruby := filepath.Join(filepath.Dir(command), "ruby")
	if _, err := exec.LookPath(ruby); err == nil {
		return ruby
	}
	if f, err := os.Open(command); err == nil {
		defer f.Close()
		line, _ := bufio.NewReader(f).ReadString('\n')
		words := strings.Fields(strings.TrimPrefix(line, "#!"))
		if len(words) == 1 && strings.HasPrefix(line, "#!/") && strings.HasPrefix(filepath.Base(words[0]), "ruby") {
			return words[0]
		}
	}
	return "ruby"
}

// Probe holds Puppet's information about itself and an environment.
type Probe struct {
	Version    string   `json:"version"`
	ModulePath []string `json:"modulepath"`
	Facts      string   `json:"facts"`   // directory in which a server keeps the facts of nodes
	Group      string   `json:"group"`   // group of the user that runs the server
	Timeout    string   `json:"timeout"` // environment_timeout
	Eyaml      bool     `json:"eyaml"`   // hiera-eyaml is installed
}

// probeTime limits a run of Puppet that compares nothing.
const probeTime = 2 * time.Minute

// Probe runs Puppet to describe an environment, which is in the directory own.
func (p *Puppet) Probe(ctx context.Context, own, environment string) (*Probe, error) {
	answer := &Probe{}
	order := map[string]any{"do": "probe", "environment": environment, "own": own}
	return answer, p.run(ctx, probeTime, order, answer)
}

// Comparison describes what to compare: the environment in the directory Own, and a copy in the directory Asking that
// uses a snapshot.
type Comparison struct {
	Environment string
	Own, Asking string
	Keys        []string
	Nodes       []facts.Node // nodes to compare for; if empty, this machine
	Time        time.Duration
}

// Result is the outcome of a comparison.
type Result struct {
	Version     string       `json:"version"`
	Complete    bool         `json:"complete"`     // all merges were compared within the time limit
	Keys        int          `json:"keys"`         // keys in the snapshot and in the files that Puppet reads
	Answers     int          `json:"answers"`      // number of answers that were compared
	Plain       int          `json:"plain"`        // answers without a merge by the caller
	Found       int          `json:"found"`        // answers with a value
	Failing     int          `json:"failing"`      // answers that are errors on both sides
	FailingKeys []string     `json:"failing_keys"` // keys whose answers without a merge are errors on both sides
	Nodes       []string     `json:"nodes"`
	Different   int          `json:"different"`
	Differences []Difference `json:"differences"` // the first differences
}

// Difference is an answer that differs with the snapshot.
type Difference struct {
	Key, Node, Merge, How string
}

// grace is the time that a comparison may take in addition to its limit, to start Puppet and to finish some keys.
const grace = time.Minute

// Compare looks up all keys in both environments.
func (p *Puppet) Compare(ctx context.Context, c Comparison) (*Result, error) {
	nodes := append([]facts.Node{}, c.Nodes...) // not null
	answer := &Result{}
	return answer, p.run(ctx, c.Time+grace, map[string]any{"do": "compare", "environment": c.Environment,
		"own": c.Own, "asking": c.Asking, "keys": c.Keys, "nodes": nodes, "seconds": c.Time.Seconds()}, answer)
}

// run runs Puppet with an order, and reads its answer.
func (p *Puppet) run(ctx context.Context, limit time.Duration, order, answer any) error {
	in, out, code := filepath.Join(p.dir, "order"), filepath.Join(p.dir, "answer"), filepath.Join(p.dir, "puppet.rb")
	text, err := json.Marshal(order)
	if err != nil {
		return err
	}
	for path, content := range map[string][]byte{in: text, code: script} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	if _, err := subprocess.Run(ctx, p.dir, limit, []string{p.ruby, code, in, out}); err != nil {
		return err
	}
	text, err = os.ReadFile(out)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
