package loader

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"bindc/internal/subprocess"
	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

// Backend is a Hiera 2 backend (language.md, section 11). dir is the absolute path of the directory containing
// hiera.yaml; name is a path from the hierarchy. It returns a JSON object, or nil if it has no data. It must be safe
// for concurrent use.
type Backend func(dir, name string) (json []byte, err error)

// SchemeHandler returns the bindings for a URI as a JSON document of structured bindings (language.md, section 5). The
// document must not be empty.
type SchemeHandler func(uri string) (json []byte, err error)

type registry struct {
	backends map[string]Backend
	handlers map[string]SchemeHandler
	programs programs
}

// programs runs the extensions that are external programs.
type programs struct {
	site string
	opts Options
}

// registered returns a registry of the extensions in opts, which are written in Go.
func registered(site string, opts Options) registry {
	reg := registry{maps.Clone(opts.Backends), maps.Clone(opts.SchemeHandlers), programs{site, opts}}
	if reg.backends == nil {
		reg.backends = map[string]Backend{}
	}
	if reg.handlers == nil {
		reg.handlers = map[string]SchemeHandler{}
	}
	return reg
}

// read adds the extension programs in a configuration. A name that is already registered keeps its Go function.
func (reg registry) read(d site.Document) {
	_, n, ok := d.Root.Lookup("extensions")
	if !ok {
		return
	}
	if n.Kind != yaml.Mapping {
		d.Errorf(n, "extension", "expected a hash with 'hiera_backends' and 'scheme_handlers' for 'extensions', found %s",
			n.Describe())
		return
	}
	d.OnlyKeys(n, "extension", "kind of extension", []string{"hiera_backends", "scheme_handlers"})
	for name, command := range readCommands(d, n, "hiera_backends", reg.backends) {
		reg.backends[name] = func(dir, file string) ([]byte, error) {
			return reg.programs.run(append(command, dir, file))
		}
	}
	for name, command := range readCommands(d, n, "scheme_handlers", reg.handlers) {
		reg.handlers[name] = func(uri string) ([]byte, error) { return reg.programs.run(append(command, uri)) }
	}
}

// readCommands reads the extensions of one kind, a hash of names to {command: [program, argument...]}. It returns
// their commands by name.
func readCommands[T any](
	d site.Document, extensions *yaml.Node, kind string, registered map[string]T,
) map[string][]string {
	_, n, ok := extensions.Lookup(kind)
	if !ok {
		return nil
	}
	if n.Kind != yaml.Mapping {
		d.Errorf(n, "extension", "expected a hash whose keys are extension names for '%s', found %s", kind, n.Describe())
		return nil
	}
	out := map[string][]string{}
	for key, val := range n.Pairs() {
		name, isText := key.Text()
		command, ok := commandOf(val)
		switch _, taken := registered[name]; {
		case !isText || slices.Contains(schemes, name) || builtinBackend(name):
			d.Errorf(key, "extension", "expected the name of an extension that is not built in, found %s",
				key.Describe())
		case taken:
		case !ok:
			d.Errorf(val, "extension",
				"expected {command: [program, argument...]}, found %s; Ruby classes cannot be run", val.Describe())
		default:
			out[name] = slices.Clip(command)
		}
	}
	return out
}

func commandOf(n *yaml.Node) ([]string, bool) {
	_, c, ok := n.Lookup("command")
	if !ok || len(n.Kids) != 2 {
		return nil, false
	}
	command := site.StringsOf(c)
	return command, len(command) > 0
}

var errNotAllowed = errors.New("this extension is a program: pass --allow-extensions to let it run")

// run runs an extension program in the directory of the site and returns its output. It fails unless
// Options.AllowExtensions is set.
func (p programs) run(command []string) ([]byte, error) {
	if !p.opts.AllowExtensions {
		return nil, errNotAllowed
	}
	return subprocess.Run(p.opts.Context, p.site, p.opts.ExtensionTimeout, command)
}

// wantBackend queues a request to an extension for name, a path in the hierarchy of h.
func (r *hiera2Reader) wantBackend(h *hiera2Dir, backend, name string) *site.File {
	id, label := "backend "+backend+": "+h.tree.Path(name), "backend "+backend+": "+h.label+name
	ask := r.extensions.backends[backend]
	return r.WantFrom(h.doc.Pos(h.doc.Root), id, label, true, func() ([]byte, error) {
		dir, err := filepath.Abs(h.tree.Dir) // an extension program runs in another directory
		if err != nil {
			return nil, err
		}
		return ask(dir, name)
	})
}

// wantHandled queues a request to the handler of u's scheme for the bindings of u.
func (p *planner) wantHandled(u uri) *site.File {
	text := u.scheme + ":/" + u.path
	handle := p.extensions.handlers[u.scheme]
	return p.WantFrom(u.at, "scheme "+text, "scheme "+text, false, func() ([]byte, error) { return handle(text) })
}

func extensionNames[T any](builtin []string, more map[string]T) []string {
	return append(slices.Clone(builtin), slices.Sorted(maps.Keys(more))...)
}
