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

type Puppet struct {
	ruby string
	dir  string // directory for files exchanged with the script
}

// places lists where packages install the command puppet if it is not in PATH.
var places = []string{"/opt/puppetlabs/bin/puppet"}

// FindPuppet returns the installed Puppet, or nil if there is none. Puppet will write its files to
// dir.
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

// rubyOf returns the ruby for a Ruby program: the one in the same directory, the one in the
// program's #! line, or the first in PATH.
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

// Probe describes Puppet and one of its environments.
type Probe struct {
	Version    string   `json:"version"`
	ModulePath []string `json:"modulepath"`
	Facts      string   `json:"facts"`   // directory where a server stores the facts of nodes
	Group      string   `json:"group"`   // group of the user that runs the server
	Timeout    string   `json:"timeout"` // the setting environment_timeout
	Eyaml      bool     `json:"eyaml"`   // whether hiera-eyaml is installed
}

// probeTime limits runs of Puppet other than comparisons.
const probeTime = 2 * time.Minute

// Probe runs Puppet to describe an environment. own is the directory of the environment.
func (p *Puppet) Probe(ctx context.Context, own, environment string) (*Probe, error) {
	answer := &Probe{}
	order := map[string]any{"do": "probe", "environment": environment, "own": own}
	return answer, p.run(ctx, probeTime, order, answer)
}

// Comparison describes what to compare: an environment in the directory Own, and a copy of it in
// the directory Asking that uses a snapshot.
type Comparison struct {
	Environment string
	Own, Asking string
	Keys        []string
	Nodes       []facts.Node // if empty, compare for this machine
	Time        time.Duration
}

// Result is the result of a comparison.
type Result struct {
	Version     string       `json:"version"`
	Complete    bool         `json:"complete"`     // whether all merges were compared within the time limit
	Keys        int          `json:"keys"`         // number of keys in the snapshot and the data files
	Answers     int          `json:"answers"`      // number of lookups compared
	Plain       int          `json:"plain"`        // lookups without an explicit merge
	Found       int          `json:"found"`        // lookups that returned a value
	Failing     int          `json:"failing"`      // lookups that failed in both environments
	FailingKeys []string     `json:"failing_keys"` // keys that failed in both without an explicit merge
	Nodes       []string     `json:"nodes"`
	Different   int          `json:"different"`
	Differences []Difference `json:"differences"` // only the first ones
}

// Difference is a lookup whose results differ between the environments.
type Difference struct {
	Key, Node, Merge, How string
}

// grace is added to the time limit of a comparison, for the start of Puppet and for keys that are
// already being compared.
const grace = time.Minute

// Compare looks up all keys in both environments and compares the results.
func (p *Puppet) Compare(ctx context.Context, c Comparison) (*Result, error) {
	nodes := append([]facts.Node{}, c.Nodes...) // JSON must have [], not null
	answer := &Result{}
	return answer, p.run(ctx, c.Time+grace, map[string]any{"do": "compare", "environment": c.Environment,
		"own": c.Own, "asking": c.Asking, "keys": c.Keys, "nodes": nodes, "seconds": c.Time.Seconds()}, answer)
}

// run runs puppet.rb with an order and decodes the answer.
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
