package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/snapfile"
	"bindc/internal/yaml"
	"bindc/ship"
)

const (
	defaultStore  = "/var/lib/bindc"         // where a server keeps snapshots
	defaultConfig = "/etc/bindc/follow.yaml" // path of the configuration of 'bindsync follow'
)

// policy holds the rules in the configuration of follow. They also apply to verbs that are run by hand.
type policy struct {
	store   string
	keep    ship.Keep
	signers snapfile.Signers
	names   map[string]gates
}

// gatesOf returns the gates of a name. If the configuration does not have the name, only the signers apply.
func (p *policy) gatesOf(name string) gates {
	if g, ok := p.names[name]; ok {
		return g
	}
	return gates{signers: p.signers}
}

func readPolicy(path string) (*policy, error) {
	c := followed{path: path}
	root, err := c.parse()
	if err != nil {
		return nil, err
	}
	p := &policy{}
	c.readPolicy(root, p)
	return p, c.joinedProblems()
}

func (c *followed) readPolicy(root *yaml.Node, p *policy) {
	if !c.keys(root, "names and their sources", followKeys) {
		return
	}
	p.store = c.text(root, "store")
	p.keep = ship.Keep{Last: c.number(root, "keep", defaultKeep), Younger: c.duration(root, "younger", defaultYounger)}
	p.signers = snapfile.Signers{Allowed: c.text(root, "allowed_signers"), Revoked: c.text(root, "revoked"),
		Configured: true}
	p.names = map[string]gates{}
	_, names, ok := root.Lookup("names")
	if !ok || names.Kind != yaml.Mapping || len(names.Kids) == 0 {
		c.problem(root, "expected 'names', each with a 'source'")
		return
	}
	for key, n := range names.Pairs() {
		name, _ := key.Text()
		if err := ship.CheckName(name); err != nil {
			c.problem(key, "%v", err)
		}
		if c.keys(n, "the source of '"+name+"'", nameKeys) {
			p.names[name] = gates{signers: p.signers, signedAs: c.text(n, "signed_as"),
				checkKeys: c.text(n, "check_keys"), maxChange: c.text(n, "max_change"),
				policies: c.texts(n, "require_policy"), signedConfigured: true, keysConfigured: true,
				changeConfigured: true, policiesConfigured: true}
		}
	}
}

type storeFlag struct{ dir, config string }

func (s *storeFlag) add(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&s.dir, "store", "",
		"`DIR` of snapshots and their names (default $BINDSYNC_STORE, the store of the configuration, or "+
			""+defaultStore+")")
	flags.StringVarP(&s.config, "config", "c", "",
		"`FILE` that configures follow; its store, gates and signers apply (default $BINDSYNC_CONFIG, or "+
			""+defaultConfig+")")
}

// policy sets s.dir to the chosen store and returns the policy for it. If --config is not set, the configuration
// applies only to the store that it names. The default configuration may be missing.
func (s *storeFlag) policy() (*policy, error) {
	path, named := s.config, s.config != ""
	if !named {
		path = cmp.Or(os.Getenv("BINDSYNC_CONFIG"), defaultConfig)
	}
	p, err := readPolicy(path)
	none := &policy{keep: ship.Keep{Last: defaultKeep, Younger: defaultYounger}}
	if !named && path == defaultConfig && errors.Is(err, fs.ErrNotExist) {
		p, err = none, nil
	}
	if err != nil {
		return nil, err
	}
	its := cmp.Or(p.store, defaultStore)
	if s.dir == "" && !named {
		s.dir = os.Getenv("BINDSYNC_STORE")
	}
	if s.dir = cmp.Or(s.dir, its); named || sameDir(s.dir, its) {
		return p, nil
	}
	return none, nil
}

func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// open opens the store, or creates it. The store prints its repairs to errs.
func (s *storeFlag) open(errs io.Writer) (*ship.Store, *policy, error) {
	asked := s.dir
	st, p, err := s.with(ship.OpenStore, errs)
	if asked == "" && s.dir == defaultStore {
		fmt.Fprintf(errs, "bindsync: the store is %s, the default; --store DIR chooses another\n", s.dir)
	}
	return st, p, err
}

// find is like open, but does not create the store.
func (s *storeFlag) find(errs io.Writer) (*ship.Store, *policy, error) {
	return s.with(ship.FindStore, errs)
}

func (s *storeFlag) with(open func(string) (*ship.Store, error), errs io.Writer) (*ship.Store, *policy, error) {
	p, err := s.policy()
	if err != nil {
		return nil, nil, err
	}
	st, err := open(s.dir)
	if err != nil {
		return nil, nil, err
	}
	st.Notice = func(text string) { fmt.Fprintln(errs, "bindsync: "+diag.Visible(text)) }
	return st, p, nil
}
