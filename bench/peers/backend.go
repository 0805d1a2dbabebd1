package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"bindc/bench/built"
	"bindc/bench/gen"
)

// backendCase describes data that Puppet looks up in two environments: Own, which uses Puppet's own
// backend, and Ours, which queries a snapshot.
type backendCase struct {
	Name    string           `json:"name"`
	Own     string           `json:"own"`
	Ours    string           `json:"ours"`
	Others  []string         `json:"others"` // more environments to measure
	Nodes   []map[string]any `json:"nodes"`
	Keys    []string         `json:"keys"`
	Failing []string         `json:"failing"` // keys whose lookups fail for at least one node
	Merged  []string         `json:"merged"`  // keys whose values are lists
	Targets targets          `json:"targets"`
}

// targets are the highest allowed ratios of our times to the times with Puppet's own backend. 0
// means no target.
type targets struct {
	Found   float64 `json:"found"`
	Absent  float64 `json:"absent"`
	First   float64 `json:"first"`
	Merge   float64 `json:"merge"`
	Catalog float64 `json:"catalog"`
	Apply   float64 `json:"apply"`
}

type backendLayout struct {
	dir   string
	cases []backendCase
}

type backendRun struct {
	scripts string   // the control repositories; "" skips them
	corpora string   // the directory of control repositories, or ""
	turns   int      // measurements of each environment
	warm    int      // catalogs that puppetserver compiles before the first measurement
	large   bool     // also measure sites of 500 and 50 000 nodes
	parts   []string // any of mri, apply, jruby and http
}

// backend runs backend.rb, which compares lookups in Puppet's own data with lookups in snapshots of
// the same data.
func backend(run backendRun) error {
	dir, err := os.MkdirTemp("", "bindc-backend")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, program := range []string{"bindc", "bindq"} {
		if err := built.Program("bindc", "./cmd/"+program, filepath.Join(dir, program)); err != nil {
			return err
		}
	}
	l := &backendLayout{dir: dir}
	if err := l.layOut(run.corpora, run.large); err != nil {
		return err
	}
	text, err := json.Marshal(l.cases)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cases.json"), text, 0o644); err != nil {
		return err
	}
	script := filepath.Join(run.scripts, "backend.rb")
	args := append([]string{script, dir, strconv.Itoa(run.turns), strconv.Itoa(run.warm)}, run.parts...)
	cmd := exec.Command("ruby", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func (l *backendLayout) layOut(corpora string, large bool) error {
	for levels, goals := range map[int]targets{
		4:  {Found: 0.9, Absent: 0.7, First: 1, Merge: 1, Catalog: 0.85, Apply: 1},
		12: {Found: 0.5, Absent: 0.4, First: 1, Merge: 1, Catalog: 0.5, Apply: 1},
	} {
		if err := l.levels(levels, goals); err != nil {
			return err
		}
	}
	if corpora != "" {
		if err := l.corpus(corpora); err != nil {
			return err
		}
	}
	if !large {
		return nil
	}
	for _, nodes := range []int{500, 50_000} {
		config := gen.Sizes["S"]
		config.Nodes = nodes
		site, err := gen.New(config)
		if err != nil {
			return err
		}
		if err := l.located(site, strconv.Itoa(nodes)); err != nil {
			return err
		}
	}
	return nil
}

// located writes the environments of a generated site: one with its data for Hiera 5, and one that
// queries a snapshot of its structured form.
func (l *backendLayout) located(s *gen.Site, size string) error {
	own := renamed(hiera5(s), "code/environments/production", "code/environments/own"+size)
	if err := write(l.dir, own, question{}); err != nil {
		return err
	}
	site := filepath.Join(l.dir, "site"+size)
	if err := write(site, renamed(siteFiles(s), "", ""), question{}); err != nil {
		return err
	}
	c := backendCase{Name: size + " nodes", Own: "own" + size, Ours: "ours" + size}
	c.Nodes, c.Keys = backendNodes(s), s.KeyNames()
	l.cases = append(l.cases, c)
	return l.ask(site, c.Ours, "")
}

// ask creates an environment that queries the snapshot of site. If from is not "", it is the Hiera
// 5 configuration that the snapshot was built from.
func (l *backendLayout) ask(site, name, from string, flags ...string) error {
	snapshot := filepath.Join(l.dir, "snapshots", name+".snap")
	if err := os.MkdirAll(filepath.Dir(snapshot), 0o755); err != nil {
		return err
	}
	if _, err := output(filepath.Join(l.dir, "bindc"), "build", site, "-o", snapshot); err != nil {
		return err
	}
	args := append([]string{"hiera-config", "-s", snapshot, "--option",
		"snapshot=" + filepath.Join(l.dir, "snapshots/%{::environment}.snap"),
		"--option", "command=" + filepath.Join(l.dir, "bindq")}, flags...)
	if from != "" {
		args = append(args, "--from", from)
	}
	config, err := output(filepath.Join(l.dir, "bindq"), args...)
	if err != nil {
		return err
	}
	return l.configure(name, config)
}

// configure creates an environment that contains nothing but a hiera.yaml.
func (l *backendLayout) configure(name, config string) error {
	root := l.environment(name)
	if err := os.MkdirAll(filepath.Join(root, "modules"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "hiera.yaml"), []byte(config+"\n"), 0o644)
}

func (l *backendLayout) environment(name string) string {
	return filepath.Join(l.dir, "code/environments", name)
}

func siteFiles(s *gen.Site) []file {
	var files []file
	for i := range s.Files() {
		path, data, _ := s.File(i, nil)
		files = append(files, file{path, bytes.Clone(data)})
	}
	return files
}

// renamed moves files to another directory. In the files, it renames the fact environment to stage,
// because Puppet reserves environment for the environment that is measured.
func renamed(files []file, from, to string) []file {
	stage := strings.NewReplacer("${environment}", "${stage}", "%{environment}", "%{stage}")
	for i, f := range files {
		files[i] = file{strings.Replace(f.path, from, to, 1), []byte(stage.Replace(string(f.data)))}
	}
	return files
}

// backendNodes returns the facts of 30 nodes that have data files in all measured sizes.
func backendNodes(s *gen.Site) (nodes []map[string]any) {
	for i := range 30 {
		facts := s.Facts(i * 16)
		facts["stage"] = facts["environment"]
		delete(facts, "environment")
		nodes = append(nodes, facts)
	}
	return nodes
}
