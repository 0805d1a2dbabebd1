package gen

import (
	"fmt"
	"iter"
	"slices"
)

// Site is a generated site. It stores only tables of keys and computes everything else on demand.
// It is safe for concurrent use.
type Site struct {
	Config
	names []string // the keys of the modules, then HotKey
	kinds []Kind   // kinds[i] belongs to names[i]
	index map[string]int
	fixed []file // files other than those of nodes
}

// New returns the site of c. It writes no files.
func New(c Config) (*Site, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Site{Config: c}
	s.names = append(s.keyNames(), HotKey)
	s.kinds = append(s.kindsOf(c.Keys), Integer)
	s.index = make(map[string]int, len(s.names))
	for i, name := range s.names {
		s.index[name] = i
	}
	s.fixed = s.fixedFiles()
	return s, nil
}

// KeyNames returns all keys, grouped by module, with HotKey last. The caller must not modify the
// slice.
func (s *Site) KeyNames() []string { return s.names }

// KindOf returns the kind of KeyNames()[i], which is the same at every level.
func (s *Site) KindOf(i int) Kind { return s.kinds[i] }

func (s *Site) moduleOf(i int) int { return i * s.Modules / s.Keys }

// keysOf returns the range of keys that a module binds, from first to end-1.
func (s *Site) keysOf(module int) (first, end int) {
	return ceilDiv(module*s.Keys, s.Modules), ceilDiv((module+1)*s.Keys, s.Modules)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// Level is a level of the hierarchy of a generated site.
type Level int

// The levels of the hierarchy, lowest first.
const (
	ModuleCommon    Level = iota // every key except HotKey, once
	ModuleOSFamily               // 10 % of the module's keys, in each OS family's file
	SiteCommon                   // 5 % of all keys
	SiteEnvironment              // 2 % of all keys, in each environment's file
	SiteOSFamily                 // 3 % of all keys, in each OS family's file
	SiteNode                     // Config.Overrides keys and HotKey, in each node's file
)

var levels = [...]struct {
	name    string
	percent int
}{
	ModuleCommon:    {"modules/common", 100},
	ModuleOSFamily:  {"modules/osfamily", 10},
	SiteCommon:      {"site/common", 5},
	SiteEnvironment: {"site/environment", 2},
	SiteOSFamily:    {"site/osfamily", 3},
	SiteNode:        {"site/node", 0},
}

func (l Level) String() string { return levels[l].name }

// place identifies the data of a level for one OS family, environment or node. scopeIndex is the
// number of that family, environment or node. At the common levels, it is 0.
type place struct {
	level      Level
	scopeIndex int
}

func (p place) coordinate() uint64 { return uint64(p.level)<<48 | uint64(p.scopeIndex) }

func (s *Site) binds(p place, i int) bool {
	switch {
	case i == s.Keys: // HotKey follows the keys of the modules
		return p.level == SiteCommon || p.level == SiteNode && p.scopeIndex < s.Nodes
	case p.level == SiteNode:
		return slices.Contains(s.overrides(p.scopeIndex), i)
	}
	d := s.throw(forMembership, p.coordinate(), uint64(i))
	return d.percent(levels[p.level].percent)
}

// value returns the value of key i at p. It assumes that p binds the key.
func (s *Site) value(p place, i int) Value {
	if i == s.Keys && p.level == SiteNode {
		return Value{Kind: Integer, Int: p.scopeIndex + 1}
	}
	d := s.throw(forValue, p.coordinate(), uint64(i))
	return draw(&d, s.kinds[i])
}

// overrides returns the keys that a node's file binds, in ascending order and without HotKey. It
// returns nil for a node without a file.
func (s *Site) overrides(node int) []int {
	if node >= s.Nodes {
		return nil
	}
	d := s.throw(forOverrides, uint64(node), 0)
	return sample(&d, s.Overrides, s.Keys)
}

// sample returns k different random numbers below n, in ascending order. It uses Floyd's algorithm.
func sample(d *dice, k, n int) []int {
	chosen := make([]int, 0, k+1) // room for HotKey, which the caller may append
	for top := n - k; top < n; top++ {
		number := d.below(top + 1)
		at, taken := slices.BinarySearch(chosen, number)
		if taken { // top is larger than all numbers chosen so far
			at, number = len(chosen), top
		}
		chosen = slices.Insert(chosen, at, number)
	}
	return chosen
}

// node contains the facts that select a node's levels: indexes of its OS family and its
// environment.
type node struct{ family, stage int }

// node returns the facts of node i. As in real fleets, some families and environments are much more
// frequent than others.
func (s *Site) node(i int) node {
	d := s.throw(forNode, uint64(i), 0)
	return node{
		family: pick(&d, []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 3}),
		stage:  pick(&d, []int{0, 0, 0, 0, 0, 0, 0, 1, 1, 2}),
	}
}

// NodeName returns the fully qualified name of node i.
func (s *Site) NodeName(i int) string { return nodeName(i) }

// Facts returns the facts of node i. If i is at least Nodes, the node has no data file, like a
// newly installed machine.
func (s *Site) Facts(i int) map[string]any {
	n, fqdn := s.node(i), nodeName(i)
	host, rest := cutDot(fqdn)
	return map[string]any{
		"fqdn": fqdn, "hostname": host, "domain": rest,
		"environment": stages[n.stage],
		"osfamily":    families[n.family],
		"os": map[string]any{
			"family":  families[n.family],
			"name":    osNames[n.family],
			"release": map[string]any{"major": osMajor[n.family]},
		},
		"networking": map[string]any{"fqdn": fqdn, "hostname": host, "domain": rest},
		"kernel":     "Linux",
		"virtual":    "kvm",
		"is_virtual": true,
	}
}

func cutDot(name string) (before, after string) {
	for i := range len(name) {
		if name[i] == '.' {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// Facts returns the facts of node i in the site of c.
func Facts(c Config, i int) (map[string]any, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	return s.Facts(i), nil
}

type Answer struct {
	Level Level
	JSON  string // compact, with hash entries in the order of the data file
}

// Expected returns the expected result of looking up key for node i. It searches the node's levels
// from the highest down for the first that binds the key, without using any code of the compiler.
// An unknown key is an error.
func (s *Site) Expected(i int, key string) (Answer, error) {
	k, ok := s.index[key]
	if !ok {
		return Answer{}, fmt.Errorf("gen: no key %q", key)
	}
	for _, p := range s.places(i) {
		if s.binds(p, k) {
			return Answer{p.level, s.value(p, k).JSON(s.Facts(i))}, nil
		}
	}
	return Answer{}, fmt.Errorf("gen: key %q is bound nowhere", key)
}

// places returns the places whose data applies to node i, highest first.
func (s *Site) places(i int) []place {
	n := s.node(i)
	return []place{
		{SiteNode, i},
		{SiteOSFamily, n.family},
		{SiteEnvironment, n.stage},
		{SiteCommon, 0},
		{ModuleOSFamily, n.family},
		{ModuleCommon, 0},
	}
}

// Expected returns the expected result of looking up key for node i in the site of c. For many
// lookups, it is faster to call New once and use Site.Expected.
func Expected(c Config, i int, key string) (Answer, error) {
	s, err := New(c)
	if err != nil {
		return Answer{}, err
	}
	return s.Expected(i, key)
}

// Scope identifies the data of a level for one OS family, environment or node.
type Scope struct {
	Level Level
	Value string // the OS family, the environment or the fqdn; "" at the common levels
}

func (p place) scope() Scope {
	switch p.level {
	case SiteNode:
		return Scope{p.level, nodeName(p.scopeIndex)}
	case SiteOSFamily, ModuleOSFamily:
		return Scope{p.level, families[p.scopeIndex]}
	case SiteEnvironment:
		return Scope{p.level, stages[p.scopeIndex]}
	default:
		return Scope{p.level, ""}
	}
}

// Scopes returns the scopes whose data applies to node i, highest first.
func (s *Site) Scopes(i int) []Scope {
	var scopes []Scope
	for _, p := range s.places(i) {
		scopes = append(scopes, p.scope())
	}
	return scopes
}

type Binding struct {
	Scope Scope
	Key   string
	Value Value
}

// Bindings returns an iterator over all bindings of the site, file by file.
func (s *Site) Bindings() iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		for i := range s.Files() {
			p, keys := s.bound(i)
			for _, key := range keys {
				if !yield(Binding{p.scope(), s.names[key], s.value(p, key)}) {
					return
				}
			}
		}
	}
}
