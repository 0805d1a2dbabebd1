package gen

import (
	"fmt"
	"iter"
	"slices"
)

// Site is a generated site. It holds the tables of keys; everything else is
// drawn when asked for. It is safe for concurrent use.
type Site struct {
	Config
	names []string // the keys of the modules, then HotKey
	kinds []Kind   // beside names
	index map[string]int
	fixed []file // the files other than those of nodes
}

// New prepares the site of c without writing anything.
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

// KeyNames are all keys, those of one module together, HotKey last. The slice
// is the site's own.
func (s *Site) KeyNames() []string { return s.names }

// KindOf is the kind of value that key i of KeyNames has at every level.
func (s *Site) KindOf(i int) Kind { return s.kinds[i] }

// moduleOf tells which module binds key i.
func (s *Site) moduleOf(i int) int { return i * s.Modules / s.Keys }

// keysOf is the range of keys that a module binds.
func (s *Site) keysOf(module int) (first, end int) {
	return ceilDiv(module*s.Keys, s.Modules), ceilDiv((module+1)*s.Keys, s.Modules)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// Level is a place in the order of precedence of a generated site.
type Level int

// The levels, lowest first.
const (
	ModuleCommon    Level = iota // every key but HotKey, once
	ModuleOSFamily               // 10 % of the keys, for each family
	SiteCommon                   // 5 %
	SiteEnvironment              // 2 %, for each environment
	SiteOSFamily                 // 3 %, for each family
	SiteNode                     // Overrides keys for each node
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

// place is one level for one value of its category. The index is that of
// the value: of the family, the environment, the node, and 0 for common.
type place struct {
	level      Level
	scopeIndex int
}

func (p place) coordinate() uint64 { return uint64(p.level)<<48 | uint64(p.scopeIndex) }

// binds tells whether the data at p has key i.
func (s *Site) binds(p place, i int) bool {
	switch {
	case i == s.Keys: // HotKey
		return p.level == SiteCommon || p.level == SiteNode && p.scopeIndex < s.Nodes
	case p.level == SiteNode:
		return slices.Contains(s.overrides(p.scopeIndex), i)
	}
	d := s.throw(forMembership, p.coordinate(), uint64(i))
	return d.percent(levels[p.level].percent)
}

// value is what p binds key i to, if it does.
func (s *Site) value(p place, i int) Value {
	if i == s.Keys && p.level == SiteNode {
		return Value{Kind: Integer, Int: p.scopeIndex + 1}
	}
	d := s.throw(forValue, p.coordinate(), uint64(i))
	return draw(&d, s.kinds[i])
}

// overrides are the keys that the file of a node binds, in ascending order and
// without HotKey; none for a node that has no file.
func (s *Site) overrides(node int) []int {
	if node >= s.Nodes {
		return nil
	}
	d := s.throw(forOverrides, uint64(node), 0)
	return sample(&d, s.Overrides, s.Keys)
}

// sample is Floyd's: k different numbers below n in k draws.
func sample(d *dice, k, n int) []int {
	chosen := make([]int, 0, k+1) // and HotKey, which the caller may add
	for top := n - k; top < n; top++ {
		number := d.below(top + 1)
		at, taken := slices.BinarySearch(chosen, number)
		if taken { // top itself is larger than all before it
			at, number = len(chosen), top
		}
		chosen = slices.Insert(chosen, at, number)
	}
	return chosen
}

// node is what a request knows of node i: the facts that choose among levels.
type node struct{ family, stage int }

// Families and environments are uneven, as in real fleets.
func (s *Site) node(i int) node {
	d := s.throw(forNode, uint64(i), 0)
	return node{
		family: pick(&d, []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 3}),
		stage:  pick(&d, []int{0, 0, 0, 0, 0, 0, 0, 1, 1, 2}),
	}
}

// NodeName is the fqdn of node i.
func (s *Site) NodeName(i int) string { return nodeName(i) }

// Facts are the facts of node i. A number from Nodes on is a node that has no
// data file, like a machine just installed.
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

// Facts are the facts of node i in the site of c.
func Facts(c Config, i int) (map[string]any, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	return s.Facts(i), nil
}

// Answer is what a lookup must find.
type Answer struct {
	Level Level
	JSON  string // compact, hashes in the order of the data
}

// Expected is the answer for key on node i. It walks the levels from the
// highest down and takes the first that binds the key: the rule itself,
// however slow, and nothing of the compiler's. An unknown key is an error.
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

// places are those that serve node i, highest first.
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

// Expected is the answer for key on node i in the site of c. Where many are
// wanted, New and its method save the preparation.
func Expected(c Config, i int, key string) (Answer, error) {
	s, err := New(c)
	if err != nil {
		return Answer{}, err
	}
	return s.Expected(i, key)
}

// Scope is a place bindings are made at, in words.
type Scope struct {
	Level Level
	Value string // of the level's category: a family, an environment, a fqdn; "" for common
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

// Scopes are where node i finds its bindings, highest first.
func (s *Site) Scopes(i int) []Scope {
	var scopes []Scope
	for _, p := range s.places(i) {
		scopes = append(scopes, p.scope())
	}
	return scopes
}

// Binding is one key bound at one scope.
type Binding struct {
	Scope Scope
	Key   string
	Value Value
}

// Bindings are all bindings of the site, file by file.
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
