package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/adopt"
	"bindc/internal/lookup"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

func (a *adoption) snap() string { return filepath.Join(a.tmp, a.environment+".snap") }

// draft writes the temporary snapshot for the comparison. It returns an Obstacle if the site has no Hiera 5 hierarchy.
func (a *adoption) draft() error {
	if _, err := snapshot.Write(a.snap(), a.site.content); err != nil {
		return err
	}
	snap, err := bindings.Open(a.snap(), bindings.Options{})
	if err != nil {
		return err
	}
	defer snap.Close()
	if !(*lookup.Snapshot)(snap).Hiera() {
		return &adopt.Obstacle{Reason: a.dir + " has no Hiera 5 hierarchy",
			Hint: "'bindq hiera-config' prints the hiera.yaml for a site of structured bindings"}
	}
	return nil
}

// check checks that Puppet has the module bindc, that the module can run its command, and that Puppet's answers stay
// the same.
func (a *adoption) check() error {
	if err := a.checkCommand(); err != nil {
		return err
	}
	if !a.noCompare {
		a.puppet = adopt.FindPuppet(a.tmp)
	}
	path := a.env.ModulePath()
	module := adopt.Module(path)
	if a.puppet != nil {
		if err := a.ask(); err != nil {
			return err
		}
		if a.probe != nil {
			path, module = a.probe.ModulePath, adopt.Module(a.probe.ModulePath)
		}
	}
	if module == "" {
		return a.unlessForced(&adopt.Obstacle{
			Reason: fmt.Sprintf("the module bindc is not installed for %s: looked in %s", a.environment,
				modulePathText(path)),
			Hint: "copy puppet/bindc there or name it in the Puppetfile; if the server caches environments, flush " +
				"its environment cache afterwards"})
	}
	if module != "" && !adopt.HasDataHash(module) {
		a.lookupKey = "the module in " + module + " is older than 1.1.0; install a newer one and adopt again"
		if err := a.render(); err != nil {
			return err
		}
	}
	return a.compare()
}

func modulePathText(dirs []string) string {
	if len(dirs) == 0 {
		return "an empty module path"
	}
	return strings.Join(dirs, ", ")
}

// unlessForced returns refusal. With --force, it prints refusal as a note and returns nil.
func (a *adoption) unlessForced(refusal *adopt.Obstacle) error {
	if a.force {
		a.say("note: %s (--force)", refusal.Reason)
		return nil
	}
	return refusal
}

// checkCommand returns an Obstacle if the command that Puppet's module runs is not installed.
func (a *adoption) checkCommand() error {
	if a.options.Has("socket") {
		return nil
	}
	command := a.options.Command()
	if _, err := exec.LookPath(command[0]); err != nil {
		return a.unlessForced(&adopt.Obstacle{Reason: fmt.Sprintf("%s is not installed: %v", command[0], err),
			Hint: "install bindq where Puppet's user may run it, such as /usr/local/bin/bindq, or give its path with " +
				"--option command=PATH"})
	}
	return nil
}

// usualPath lists the directories that are usually in the PATH of a system service.
var usualPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// unusualPath returns the full path of the lookup command if a service might not find the command by name. Otherwise,
// it returns "".
func (a *adoption) unusualPath() string {
	name := a.options.Command()[0]
	path, err := exec.LookPath(name)
	if err != nil || a.options.Has("socket") || filepath.Base(name) != name ||
		slices.Contains(usualPath, filepath.Dir(path)) {
		return ""
	}
	return path
}

// ask runs Puppet to set a.probe. If Puppet fails and --force is set, a.probe stays nil.
func (a *adoption) ask() error {
	own, err := a.nativeDir()
	if err != nil {
		return err
	}
	var probe *adopt.Probe
	a.signals.uninterrupted(func() { probe, err = a.puppet.Probe(a.signals.stopped, own, a.environment) })
	if err != nil {
		return a.unlessForced(&adopt.Obstacle{
			Reason: fmt.Sprintf("cannot look up keys in Puppet for %s: %v", a.environment, err),
			Hint:   "--no-compare switches without comparing"})
	}
	shadow := filepath.Join(own, a.environment)
	for i, dir := range probe.ModulePath {
		probe.ModulePath[i] = strings.Replace(dir, shadow, strings.TrimSuffix(a.dir, "/"), 1)
	}
	a.probe = probe
	return nil
}

// nativeDir creates a copy of the environment with the original hiera.yaml. It returns the directory that contains the
// copy.
func (a *adoption) nativeDir() (string, error) {
	return a.env.Shadow(filepath.Join(a.tmp, "own"), a.environment, a.env.Original())
}

// compare looks up all keys in Puppet, with and without the snapshot, and reports the differences.
func (a *adoption) compare() error {
	switch {
	case a.noCompare:
		a.say("not compared with Puppet (--no-compare)")
		return nil
	case a.puppet == nil:
		return a.unlessForced(&adopt.Obstacle{Reason: "Puppet was not found in PATH, so answers cannot be compared",
			Hint: "--no-compare switches without comparing"})
	case a.probe == nil: // Puppet failed, and --force ignores that
		return nil
	}
	c, err := a.comparison()
	if err != nil {
		return err
	}
	var result *adopt.Result
	a.signals.uninterrupted(func() { result, err = a.puppet.Compare(a.signals.stopped, c) })
	if err != nil {
		return a.unlessForced(&adopt.Obstacle{Reason: fmt.Sprintf("cannot compare with Puppet: %v", err),
			Hint: "--no-compare switches without comparing"})
	}
	return a.reportComparison(c, result)
}

// comparison returns what to compare: a copy of the environment with its own data, a copy with the snapshot, keys and
// nodes.
func (a *adoption) comparison() (adopt.Comparison, error) {
	c := adopt.Comparison{Environment: a.environment, Own: filepath.Join(a.tmp, "own"),
		Keys: []string{}, Time: a.seconds}
	options := a.options.Without("socket").Without("compare").With("snapshot", a.snap())
	text, err := a.env.Config.WithForeign(a.entry(options))
	if err != nil {
		return c, err
	}
	if c.Asking, err = a.env.Shadow(filepath.Join(a.tmp, "asking"), a.environment, text); err != nil {
		return c, err
	}
	for _, k := range a.site.content.Keys {
		if !strings.HasPrefix(k.Name, "\x00") && k.Name != "lookup_options" {
			c.Keys = append(c.Keys, k.Name)
		}
	}
	c.Nodes, err = a.sampleNodes()
	return c, err
}

// sampleNodes returns at most a.nodes nodes. They are spread evenly over the nodes in --facts-dir or, without that
// flag, over the nodes that the server knows.
func (a *adoption) sampleNodes() ([]facts.Node, error) {
	var all []facts.Node
	if a.factsDir != "" {
		var err error
		if all, err = facts.ReadDir(a.factsDir); err != nil {
			return nil, fmt.Errorf("--facts-dir: %w", err)
		}
	} else if _, err := os.Stat(a.probe.Facts); err == nil {
		var wrong diag.List // errors are ignored, because a server keeps facts files of former nodes
		all, _, _ = facts.Check(a.probe.Facts, &wrong)
	}
	all = slices.DeleteFunc(all, func(n facts.Node) bool {
		return n.Environment != "" && n.Environment != a.environment
	})
	if len(all) <= a.nodes {
		return all, nil
	}
	out := make([]facts.Node, a.nodes)
	for i := range out {
		out[i] = all[i*len(all)/a.nodes]
	}
	return out, nil
}

// shownKeys is the maximum number of keys that a message lists.
const shownKeys = 10

// reportComparison prints the result of the comparison. It returns an Obstacle if answers differ, unless --force is
// set.
func (a *adoption) reportComparison(c adopt.Comparison, r *adopt.Result) error {
	how := "each without a merge and with first, unique, hash and deep"
	switch {
	case r.Plain == r.Answers:
		how = "without merges"
	case !r.Complete:
		how = "with merges until the time limit"
	}
	keyCount := cmp.Or(r.Keys, len(c.Keys))
	a.say("compared with Puppet %s: %s for %s (%s), %s: %s, %d with a value, %d that fail either way, %d different",
		r.Version, diag.Count(keyCount, "key"), diag.Count(len(r.Nodes), "node"), a.nodesFrom(c), how,
		diag.Count(r.Answers, "answer"), r.Found, r.Failing, r.Different)
	if whole := keyCount * len(r.Nodes); r.Plain < whole {
		a.say("note: after %s, %d of %d answers without a merge had been compared; --compare-time gives more time",
			a.seconds.Round(time.Millisecond), r.Plain, whole)
	}
	a.sayFailing(r.FailingKeys)
	if r.Different == 0 {
		return nil
	}
	keys := map[string]bool{}
	for _, d := range r.Differences {
		if keys[d.Key] {
			continue
		}
		keys[d.Key] = true
		if len(keys) <= shownKeys {
			a.say("  %s for %s%s: %s", d.Key, d.Node, mergeText(d.Merge), d.How)
		}
	}
	if more := len(keys) - shownKeys; more > 0 {
		a.say("  and %s more", diag.Count(more, "key"))
	}
	return a.unlessForced(&adopt.Obstacle{
		Reason: fmt.Sprintf("Puppet would answer differently: %s of %d", diag.Count(r.Different, "answer"), r.Answers),
		Hint:   a.differenceHint()})
}

func (a *adoption) sayFailing(keys []string) {
	if len(keys) == 0 {
		return
	}
	names, more := strings.Join(keys[:min(len(keys), shownKeys)], ", "), ""
	if n := len(keys) - shownKeys; n > 0 {
		more = fmt.Sprintf(" and %s more", diag.Count(n, "key"))
	}
	a.say("note: plain lookups fail with and without the snapshot: %s%s; 'puppet lookup KEY --node "+
		"NAME' prints why", names,
		more)
}

func mergeText(merge string) string {
	if merge == "" {
		return ""
	}
	return " with the merge " + merge
}

// nodesFrom returns the source of the compared nodes for a message: a path, or "this machine".
func (a *adoption) nodesFrom(c adopt.Comparison) string {
	switch {
	case len(c.Nodes) == 0:
		return "this machine"
	case a.factsDir != "":
		return a.factsDir
	}
	return a.probe.Facts
}

func (a *adoption) differenceHint() string {
	if len(a.env.Config.EyamlKeys()) > 0 && !a.probe.Eyaml {
		return "the comparison used a Puppet without hiera-eyaml, which the server may have: " +
			"install the gem, or use --no-compare"
	}
	return "docs/hiera.md lists the known differences; --force switches anyway"
}
