package params

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/manifest"
	"bindc/internal/types"
	"bindc/loader"
)

type class struct {
	manifest.Class
	params  map[string]*param
	aliases *types.Aliases // type aliases visible in the class's manifest
}

type param struct {
	manifest.Param
	*demand
	class   *class
	unknown []string // names of unknown types in Type
	problem error    // why Type cannot be parsed, or nil
}

// key returns the key that Puppet looks up for p.
func (p *param) key() string { return p.class.Name + "::" + p.Name }

// classes finds the classes and type aliases of a site in the same places as Puppet. It reads manifests on demand and
// caches the results.
type classes struct {
	disk      fsx.Disk
	site      *loader.Site
	modules   map[string]string          // manifest directory by module name
	headers   map[string]manifest.Header // definitions by path of the manifest
	known     map[string]*class          // by name; nil if the class does not exist
	names     map[string][][]string      // by manifest directory: the class names in it, each split into words
	alike     map[string][]string        // by name of a missing class: the classes with similar names
	own       map[string]manifest.Class  // by name: classes defined in manifests outside modules
	aliases   *types.Aliases
	demands   map[demand]*demand        // by type and optional only
	aliasesOf map[string]*types.Aliases // by path: aliases visible in a manifest that defines aliases itself
	ofSite    map[string]bool           // paths of the manifests outside modules
	inSite    map[string]string         // by name: source text of the aliases defined in manifests outside modules

	failures []error  // errors while reading manifests
	broken   []string // paths of manifests that end inside a string, comment or bracket
}

func findClasses(site *loader.Site, disk fsx.Disk) *classes {
	c := &classes{disk: disk, site: site, modules: map[string]string{}, headers: map[string]manifest.Header{},
		known: map[string]*class{}, own: map[string]manifest.Class{}, aliasesOf: map[string]*types.Aliases{},
		ofSite: map[string]bool{}, inSite: map[string]string{}, names: map[string][][]string{},
		alike: map[string][]string{}, demands: map[demand]*demand{}}
	c.aliases = types.NewAliases(c.aliasSource)
	for _, m := range site.Modules {
		c.modules[m.Name] = filepath.Join(m.Dir, "manifests")
	}
	for _, path := range c.manifestsIn(site.Manifests) {
		c.ofSite[path] = true
		h := c.header(path)
		for _, own := range h.Classes {
			c.own[own.Name] = own
		}
		for _, a := range h.Aliases {
			c.inSite[a.Name] = a.Type
		}
	}
	return c
}

// Receiver returns the position of the class parameter for which Puppet looks up key. ok is false if there is none.
func Receiver(site *loader.Site, disk fsx.Disk, key string) (at diag.Pos, ok bool) {
	if p := findClasses(site, disk).receiver(key); p != nil {
		return p.At, true
	}
	return diag.Pos{}, false
}

// Choices returns the strings that the type of a class parameter lists in an Enum. boolean reports whether the type
// also accepts true and false. key is the key that Puppet looks up for the parameter.
func Choices(site *loader.Site, disk fsx.Disk, key string) (texts []string, boolean bool) {
	p := findClasses(site, disk).receiver(key)
	if p == nil || p.typ == nil {
		return nil, false
	}
	boolean = p.typ.Accepts(types.Of(types.Boolean)) && !p.typ.Accepts(types.Of(types.ScalarData))
	return p.typ.Choices(), boolean
}

// Receives returns a function that reports whether Puppet looks up a given key for some class parameter. The function
// reads manifests when it is called and is not safe for concurrent use.
func Receives(site *loader.Site, disk fsx.Disk) func(key string) bool {
	classes := sync.OnceValue(func() *classes { return findClasses(site, disk) })
	return func(key string) bool { return classes().receiver(key) != nil }
}

// receiver returns the parameter for which Puppet looks up key, or nil.
func (c *classes) receiver(key string) *param {
	i := strings.LastIndex(key, "::")
	if i <= 0 {
		return nil
	}
	if class := c.find(key[:i]); class != nil {
		return class.params[key[i+2:]]
	}
	return nil
}

// manifestsIn returns the paths of all manifests below dir. If dir is a file, it returns only dir.
func (c *classes) manifestsIn(dir string) (out []string) {
	info, err := c.disk.Info(dir)
	if err != nil || info == nil {
		c.failed(err)
		return nil
	}
	if !info.IsDir() {
		return []string{dir}
	}
	list, err := c.disk.List(dir)
	c.failed(err)
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			out = append(out, c.manifestsIn(path)...)
		case filepath.Ext(path) == ".pp":
			out = append(out, path)
		}
	}
	return out
}

func (c *classes) failed(err error) {
	if err != nil {
		c.failures = append(c.failures, err)
	}
}

// header returns the definitions in the manifest at path. If there is no such file, it returns none.
func (c *classes) header(path string) manifest.Header {
	h, known := c.headers[path]
	if !known {
		if text, ok := c.read(path); ok {
			h = manifest.ReadHeader(path, text)
		}
		if c.headers[path] = h; !h.Whole && len(h.Classes)+len(h.Aliases) > 0 {
			c.broken = append(c.broken, path)
		}
	}
	return h
}

func (c *classes) read(path string) (text string, ok bool) {
	info, err := c.disk.Info(path)
	if err == nil && info != nil && info.Size() > manifest.MaxSize {
		err = fmt.Errorf("%s: expected at most %d bytes, found %d", path, manifest.MaxSize, info.Size())
	}
	if err != nil || info == nil || !info.Mode().IsRegular() {
		c.failed(err)
		return "", false
	}
	src, err := c.disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	c.failed(err)
	return string(src), err == nil
}

// find returns the class called name, or nil. As in Puppet, the class must be in the file named after it, or in the
// file of an enclosing class.
func (c *classes) find(name string) *class {
	found, known := c.known[name]
	if known {
		return found
	}
	if header, ok := c.headerOf(name); ok {
		found = c.declare(header)
	}
	c.known[name] = found
	return found
}

func (c *classes) headerOf(name string) (manifest.Class, bool) {
	if own, ok := c.own[name]; ok {
		return own, true
	}
	words := strings.Split(name, "::")
	dir, ok := c.modules[words[0]]
	if !ok {
		return manifest.Class{}, false
	}
	for n := len(words); n > 0; n-- {
		path := filepath.Join(dir, "init.pp")
		if n > 1 {
			path = filepath.Join(dir, filepath.Join(words[1:n]...)+".pp")
		}
		for _, header := range c.header(path).Classes {
			if header.Name == name {
				return header, true
			}
		}
	}
	return manifest.Class{}, false
}

// declare parses the types of a class's parameters.
func (c *classes) declare(header manifest.Class) *class {
	out := &class{Class: header, params: map[string]*param{}, aliases: c.aliasesFor(header.At.File)}
	for _, p := range header.Params {
		declared := &param{Param: p, class: out}
		var typ *types.Type
		if p.Type != "" {
			typ, declared.unknown, declared.problem = out.aliases.ParseDeclared(p.Type)
		}
		declared.demand = c.demand(typ, p.Optional)
		out.params[p.Name] = declared
	}
	return out
}

// demand returns the demand of parameters with this type. optional says that they have a default.
func (c *classes) demand(typ *types.Type, optional bool) *demand {
	id := demand{typ: typ, optional: optional}
	d := c.demands[id]
	if d == nil {
		d = &demand{typ: typ, optional: optional, number: uint32(len(c.demands)) + 1}
		c.demands[id] = d
	}
	return d
}

// aliasesFor returns the type aliases visible in the manifest at path, including its own.
func (c *classes) aliasesFor(path string) *types.Aliases {
	own := c.header(path).Aliases
	if len(own) == 0 {
		return c.aliases
	}
	if c.aliasesOf[path] == nil {
		c.aliasesOf[path] = types.NewAliases(func(name string) (string, bool) {
			for _, a := range own {
				if strings.EqualFold(a.Name, name) {
					return a.Type, true
				}
			}
			return c.aliasSource(name)
		})
	}
	return c.aliasesOf[path]
}

// aliasSource returns the source text of a type alias. As in Puppet, the alias must be in the file named after it.
func (c *classes) aliasSource(name string) (string, bool) {
	if text, ok := c.inSite[name]; ok {
		return text, true
	}
	module, rest, nested := strings.Cut(strings.ToLower(name), "::")
	if !nested {
		return "", false
	}
	dir, ok := c.site.Types, module == "environment"
	if !ok {
		var manifests string
		manifests, ok = c.modules[module]
		dir = filepath.Join(filepath.Dir(manifests), "types")
	}
	if !ok {
		return "", false
	}
	path := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(rest, "::", "/"))+".pp")
	for _, a := range c.header(path).Aliases {
		if strings.EqualFold(a.Name, name) {
			return a.Type, true
		}
	}
	return "", false
}

// declarations returns all class declarations in the site's manifests.
func (c *classes) declarations() (out []manifest.Declaration) {
	dirs := []string{c.site.Manifests}
	for _, m := range c.site.Modules {
		dirs = append(dirs, filepath.Join(m.Dir, "manifests"))
	}
	for _, dir := range dirs {
		for _, path := range c.manifestsIn(dir) {
			text, _ := c.read(path)
			out = append(out, manifest.ReadDeclarations(path, text)...)
		}
	}
	return out
}

// isLookedUp reports whether Puppet looks up p if the class is declared by d. It does not if d sets p.
func (p *param) isLookedUp(d *manifest.Declaration) bool {
	return !d.Any && !slices.Contains(d.Given, p.Name)
}
