// Package adopt switches a Puppet environment from Puppet's own data to a snapshot, and back.
// Puppet reads hiera.yaml for each catalog. Therefore adopt first writes everything that the new
// hiera.yaml needs, and then replaces the file atomically. If the program is killed, hiera.yaml is
// either the old file or the new one, and both work.
package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bindc/internal/hieraconfig"
)

// State says how far an environment has been adopted.
type State int

// Killing bindc adopt leaves an environment in one of the states Native, Begun and Adopted. The
// command 'mv hiera.yaml hiera5.yaml' leaves it Broken: catalogs have no data.
const (
	Native  State = iota // hiera.yaml is Puppet's own
	Begun                // hiera.yaml is Puppet's own; hiera5.yaml is a copy of it
	Broken               // hiera.yaml is missing or empty; hiera5.yaml exists
	Adopted              // hiera.yaml uses a snapshot; bindc compiles hiera5.yaml
)

type Environment struct {
	Dir    string
	State  State
	Config hieraconfig.Config  // hierarchy that bindc compiles
	Asks   hieraconfig.Options // options of the snapshot in hiera.yaml, if State is Adopted

	seen map[string][]byte // contents of hiera.yaml and hiera5.yaml when Inspect read them; nil if missing
}

const (
	hieraFile  = "hiera.yaml"  // read by Puppet
	hiera5File = "hiera5.yaml" // compiled by bindc, if it exists
)

// Obstacle is an error that prevents changing an environment. Hint says how to resolve it.
type Obstacle struct{ Reason, Hint string }

func (r *Obstacle) Error() string { return r.Reason }

func refuse(hint, format string, args ...any) error {
	return &Obstacle{Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// Inspect reads the environment in dir and determines its state.
func Inspect(dir string) (*Environment, error) {
	e := &Environment{Dir: dir}
	own, ownErr := os.ReadFile(e.path(hieraFile))
	copied, copiedErr := os.ReadFile(e.path(hiera5File))
	e.seen = map[string][]byte{hieraFile: own, hiera5File: copied}
	for _, err := range []error{ownErr, copiedErr} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if ownErr != nil && isLink(e.path(hieraFile)) {
		return nil, refuse("correct the link", "%s is a symbolic link to a missing file", e.path(hieraFile))
	}
	empty := len(bytes.TrimSpace(own)) == 0
	switch {
	case empty && copiedErr != nil && ownErr != nil:
		return nil, refuse("give the directory of an environment, which has a hiera.yaml",
			"%s is not there", e.path(hieraFile))
	case empty && copiedErr != nil:
		return nil, refuse("put its content back", "%s is empty", e.path(hieraFile))
	case empty:
		e.State = Broken
		return e, e.parse(hiera5File, copied)
	}
	return e, e.classify(own, copied, copiedErr == nil)
}

// classify sets the state of an environment whose hiera.yaml is not empty. both says whether
// hiera5.yaml exists too.
func (e *Environment) classify(own, copied []byte, both bool) error {
	if err := e.parse(hieraFile, own); err != nil {
		return err
	}
	options, adopted := e.Config.Asks()
	switch {
	case adopted && both:
		e.State, e.Asks = Adopted, options
		there := e.Config
		if err := e.parse(hiera5File, copied); err != nil {
			return err
		}
		e.Config.KeepAs(there)
	case adopted:
		return refuse("put the hierarchy that bindc compiles into hiera5.yaml",
			"%s uses a snapshot, but hiera5.yaml is missing", e.path(hieraFile))
	case both && !bytes.Equal(own, copied):
		return refuse("Puppet reads hiera.yaml, but bindc would compile hiera5.yaml: remove the one that is out of date",
			"%s and hiera5.yaml differ", e.path(hieraFile))
	case both:
		e.State = Begun
	}
	return nil
}

// parse parses the file name and stores the result in e.Config. It accepts only version 5 of the
// format.
func (e *Environment) parse(name string, src []byte) (err error) {
	if e.Config, err = hieraconfig.Parse(e.path(name), src); err != nil {
		hint := "correct the file; Puppet cannot read it either"
		if errors.Is(err, hieraconfig.ErrVersion) {
			hint = "only version 5 of hiera.yaml is supported, the version that Puppet uses for its own data"
		}
		return refuse(hint, "%v", err)
	}
	if _, asks := e.Config.Asks(); asks && name == hiera5File {
		return refuse("hiera5.yaml is the hierarchy that bindc compiles: put the original there",
			"%s uses a snapshot itself", e.path(name))
	}
	return nil
}

func (e *Environment) path(name string) string { return filepath.Join(e.Dir, name) }

// Source returns the path of the hierarchy that bindc compiles.
func (e *Environment) Source() string {
	if e.State == Broken || e.State == Adopted {
		return e.path(hiera5File)
	}
	return e.path(hieraFile)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Deployed reports whether a deployment tool or git manages the environment. The next deployment
// would then restore the old hiera.yaml.
func (e *Environment) Deployed() bool {
	for _, name := range []string{".r10k-deploy.json", ".g10k-deploy.json", ".git"} {
		if _, err := os.Lstat(e.path(name)); err == nil {
			return true
		}
	}
	return false
}

// Plan describes the remaining steps of an adoption, one per line. The last step is to replace
// hiera.yaml. text is its new content.
func (e *Environment) Plan(snapshot string, text []byte) (lines []string) {
	lines = append(lines, "write the snapshot "+snapshot)
	switch {
	case e.State == Native && isLink(e.path(hieraFile)):
		lines = append(lines, "make hiera5.yaml a link to the target of hiera.yaml; bindc compiles it from then "+
			"on")
	case e.State == Native:
		lines = append(lines, "copy hiera.yaml to hiera5.yaml, which bindc compiles from then on")
	case e.State == Broken:
		lines = append(lines, "keep hiera5.yaml, which is already there")
	}
	if e.State == Adopted && e.isHieraFile(text) {
		return append(lines, "keep hiera.yaml, which already uses the snapshot")
	}
	var b strings.Builder
	b.WriteString("replace hiera.yaml, in one step, with:\n")
	for line := range strings.Lines(string(text)) {
		b.WriteString("       " + line)
	}
	return append(lines, strings.TrimSuffix(b.String(), "\n"))
}

// isHieraFile reports whether text is the content of hiera.yaml.
func (e *Environment) isHieraFile(text []byte) bool {
	there, err := os.ReadFile(e.path(hieraFile))
	return err == nil && bytes.Equal(there, text)
}

// Check returns an error if this user cannot change the environment or write the snapshot.
func (e *Environment) Check(snapshot string) error {
	const asOwner = "run bindc as root, or as the owner of the environment"
	if err := writable(e.Dir); err != nil {
		return refuse(asOwner, "%v", err)
	}
	info, err := os.Stat(e.Source())
	if err != nil {
		return err
	}
	if !keepsReaders(info) {
		return refuse(asOwner, "a new hiera.yaml would have fewer readers than %s (mode %o)", e.Source(),
			info.Mode().Perm())
	}
	if info, err := os.Stat(filepath.Dir(snapshot)); err == nil && strings.HasSuffix(snapshot, ".yaml") {
		if own, err := os.Stat(e.Dir); err == nil && os.SameFile(own, info) {
			return refuse("give another file with -o", "%s cannot be the snapshot: it may configure Hiera", snapshot)
		}
	}
	if isLink(snapshot) {
		return refuse("give another file with -o", "%s is a symbolic link, such as 'bindsync follow' creates; "+
			"bindc does not overwrite its target", snapshot)
	}
	dir := filepath.Dir(snapshot)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break // adopt creates missing directories
		}
	}
	if err := writable(dir); err != nil {
		return refuse("run bindc as root, or give another file with -o", "the snapshot: %v", err)
	}
	return nil
}

// standardModules lists the module directories that Puppet's packages add to the module path.
var standardModules = []string{"/opt/puppetlabs/puppet/modules", "/usr/share/puppet/modules"}

// ModulePath returns the module path of the environment. It reads environment.conf instead of
// running Puppet.
func (e *Environment) ModulePath() []string {
	base := append([]string{filepath.Join(e.Dir, "..", "..", "modules")}, standardModules...)
	conf, _ := os.ReadFile(e.path("environment.conf"))
	for line := range strings.Lines(string(conf)) {
		key, list, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) != "modulepath" {
			continue
		}
		var dirs []string
		for _, dir := range filepath.SplitList(strings.TrimSpace(list)) {
			switch {
			case dir == "$basemodulepath":
				dirs = append(dirs, base...)
			case filepath.IsAbs(dir):
				dirs = append(dirs, dir)
			default:
				dirs = append(dirs, e.path(dir))
			}
		}
		return dirs
	}
	return append([]string{e.path("modules")}, base...)
}

// Module returns the directory of the Puppet module bindc in a module path, or "".
func Module(path []string) string {
	for _, dir := range path {
		at := filepath.Join(dir, "bindc")
		if hasFunction(at, "lookup_key") {
			return at
		}
	}
	return ""
}

// HasDataHash reports whether the installed Puppet module has the function bindc::data_hash, which
// was added in 1.1.0.
func HasDataHash(module string) bool { return hasFunction(module, "data_hash") }

func hasFunction(module, name string) bool {
	_, err := os.Stat(filepath.Join(module, "lib/puppet/functions/bindc", name+".rb"))
	return err == nil
}
