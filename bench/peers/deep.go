package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"bindc/bench/built"
	"bindc/bench/measure"
)

const deepLevels = 8

func deep(scripts string, plan measure.Plan) error {
	dir, err := os.MkdirTemp("", "bindc-deep")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	node := map[string]any{"fqdn": "n1.example.org", "clientcert": "n1.example.org", "environment": "production"}
	ask := question{Nodes: []map[string]any{node}, Keys: []string{"deep::users"}}
	if err := write(dir, deepSite(), ask); err != nil {
		return err
	}
	program, snapshot := filepath.Join(dir, "bindc"), filepath.Join(dir, "site.bsnap")
	if err := built.Bindc(program); err != nil {
		return err
	}
	site := filepath.Join(dir, "code", "environments", "production")
	if _, err := built.Run(program, "build", site, "-o", snapshot); err != nil {
		return err
	}
	ours, err := open(snapshot, ask)
	if err != nil {
		return err
	}
	puppet, err := start(filepath.Join(scripts, "hiera5.rb"), dir)
	if err != nil {
		return err
	}
	defer puppet.stop()
	answers, err := puppet.answers()
	if err != nil {
		return err
	}
	got, err := ours.look(ours.held, ask.Keys[0]).MarshalJSON()
	if err != nil || string(got) != string(answers[0][0]) {
		return fmt.Errorf("a deep merge is %s (error %v), Puppet's is %s", got, err, answers[0][0])
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out, "| what\t| bindc\t| Hiera 5\t| ratio\t|\n|---\t|---\t|---\t|---\t|")
	for _, what := range []string{"lookup", "glance"} {
		results := measure.Run(plan, []measure.Case{{Run: ours.do(what)}, {Run: puppet.do(what)}})
		name := map[string]string{"lookup": "request at hand", "glance": "new request"}[what]
		fmt.Fprintln(out, line(fmt.Sprintf("deep merge over %d levels, %s", deepLevels, name), results, 1))
	}
	return out.Flush()
}

// deepSite returns a control repository in which each level defines four users. Two of them are
// also defined by the next level.
func deepSite() []file {
	const root = "code/environments/production/"
	config := "version: 5\nhierarchy:\n"
	var files []file
	for level := range deepLevels {
		config += fmt.Sprintf("  - {name: level%d, path: 'level%d/%%{fqdn}.yaml'}\n", level, level)
		var text strings.Builder
		if level == deepLevels-1 {
			text.WriteString("lookup_options:\n  deep::users: {merge: deep}\n")
		}
		text.WriteString("deep::users:\n")
		for user := range 4 {
			fmt.Fprintf(&text, "  user%d:\n    uid: %d\n", level*2+user, 1000+user)
			fmt.Fprintf(&text, "    groups: [g%d, g%d]\n", level, user)
			fmt.Fprintf(&text, "    home: {path: /home/u%d, mode%d: x}\n", user, level)
		}
		path := fmt.Sprintf("%sdata/level%d/n1.example.org.yaml", root, level)
		files = append(files, file{path, []byte(text.String())})
	}
	return append(files, file{root + "hiera.yaml", []byte(config)})
}
