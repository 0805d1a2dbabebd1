package loader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bindc/internal/diag"
	"bindc/internal/yaml"
)

// Backend is a Hiera-2 backend (language.md, section 11): the data that dir, the absolute path of the directory of a hiera.yaml, has under
// name, a path of its hierarchy, as a JSON object; nil if there is none. It may be called by several goroutines.
type Backend func(dir, name string) (json []byte, err error)

// SchemeHandler makes bindings of a URI: a document of structured bindings (section 5) in JSON.
type SchemeHandler func(uri string) (json []byte, err error)

// Bounds on a program that is an extension.
const (
	extensionTimeout = 30 * time.Second // unless Options say otherwise
	extensionOutput  = 64 << 20
	extensionErrors  = 4 << 10 // of standard error, shown in the message
)

// registry is the extensions of one site by name.
type registry struct {
	backends map[string]Backend
	handlers map[string]SchemeHandler
}

// readExtensions joins what the embedding program registered with the programs the configuration names.
func (l *load) readExtensions(doc *yaml.Document) registry {
	reg := registry{maps.Clone(l.opts.Backends), maps.Clone(l.opts.SchemeHandlers)}
	if reg.backends == nil {
		reg.backends = map[string]Backend{}
	}
	if reg.handlers == nil {
		reg.handlers = map[string]SchemeHandler{}
	}
	if doc == nil {
		return reg
	}
	_, n, ok := doc.Root.Lookup("extensions")
	if !ok {
		return reg
	}
	if n.Kind != yaml.Mapping {
		l.diags.Errorf(doc.Pos(n), "extension", "expected a hash of 'hiera_backends' and 'scheme_handlers' as 'extensions', found %s", n.Describe())
		return reg
	}
	l.onlyKeys(doc, n, "extension", "kind of extension", []string{"hiera_backends", "scheme_handlers"})
	for name, command := range l.readCommands(doc, n, "hiera_backends") {
		if reg.backends[name] == nil {
			reg.backends[name] = func(dir, file string) ([]byte, error) { return l.run(append(command, dir, file)) }
		}
	}
	for name, command := range l.readCommands(doc, n, "scheme_handlers") {
		if reg.handlers[name] == nil {
			reg.handlers[name] = func(uri string) ([]byte, error) { return l.run(append(command, uri)) }
		}
	}
	return reg
}

// readCommands reads one kind of extensions: names to {command: [program, argument...]}.
func (l *load) readCommands(doc *yaml.Document, extensions *yaml.Node, kind string) map[string][]string {
	out := map[string][]string{}
	_, n, ok := extensions.Lookup(kind)
	if !ok {
		return out
	}
	if n.Kind != yaml.Mapping {
		l.diags.Errorf(doc.Pos(n), "extension", "expected a hash of names to extensions as '%s', found %s", kind, n.Describe())
		return out
	}
	for key, val := range n.Pairs() {
		name, isText := key.Text()
		switch command, ok := commandOf(val); {
		case !isText || slices.Contains(schemes, name) || name == "yaml" || name == "json":
			l.diags.Errorf(doc.Pos(key), "extension", "expected the name of an extension that is not built in, found %s", key.Describe())
		case l.registered(kind, name):
		case !ok:
			l.diags.Errorf(doc.Pos(val), "extension", "expected {command: [program, argument...]}, found %s; classes of Ruby cannot be run", val.Describe())
		default:
			out[name] = slices.Clip(command)
		}
	}
	return out
}

func (l *load) registered(kind, name string) bool {
	if kind == "hiera_backends" {
		return l.opts.Backends[name] != nil
	}
	return l.opts.SchemeHandlers[name] != nil
}

func commandOf(n *yaml.Node) ([]string, bool) {
	_, c, ok := n.Lookup("command")
	if !ok || c.Kind != yaml.Sequence || len(c.Kids) == 0 || len(n.Kids) != 2 {
		return nil, false
	}
	return threeTexts(c, len(c.Kids))
}

var errNotAllowed = errors.New("this extension is a program: pass --allow-extensions to let it run")

// run runs a program in the directory of the site, without a shell, and returns what it prints.
func (l *load) run(command []string) ([]byte, error) {
	if !l.opts.AllowExtensions {
		return nil, errNotAllowed
	}
	timeout := cmp.Or(l.opts.ExtensionTimeout, extensionTimeout)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.WaitDelay = l.dir, time.Second
	stopWithChildren(cmd)
	stdout, stderr := &limited{max: extensionOutput}, &limited{max: extensionErrors, drop: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	said := strings.TrimSpace(stderr.kept.String())
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("the program %s was stopped after %s", command[0], timeout)
	case stdout.full:
		err = fmt.Errorf("the program %s printed more than %d bytes", command[0], extensionOutput)
	case err != nil:
		err = fmt.Errorf("the program %s failed: %w", command[0], err)
	default:
		return stdout.kept.Bytes(), nil
	}
	if said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return nil, err
}

// limited keeps what is written up to a number of bytes; beyond it fails, or drops. The buffer is not embedded: its
// ReadFrom would pass the limit by.
type limited struct {
	kept bytes.Buffer
	max  int
	drop bool
	full bool // more than max was written
}

func (b *limited) Write(p []byte) (int, error) {
	room := b.max - b.kept.Len()
	if len(p) <= room {
		return b.kept.Write(p)
	}
	b.full = true
	if !b.drop {
		return 0, io.ErrShortWrite
	}
	b.kept.Write(p[:room])
	return len(p), nil
}

// wantBackend queues the data an extension has for a path.
func (l *load) wantBackend(h *hieraDir, backend, name string) *file {
	path := h.tree.path(name)
	id := "backend " + backend + ": " + path
	read := l.ext.backends[backend]
	return l.wantFrom(h.doc.Pos(h.doc.Root), id, "backend "+backend+": "+h.label+name, true, func() ([]byte, error) {
		dir, err := filepath.Abs(h.tree.dir) // a program runs in the site, to which a relative path need not lead
		if err != nil {
			return nil, err
		}
		return read(dir, name)
	})
}

// wantHandled queues the bindings a scheme handler makes.
func (l *load) wantHandled(u uri) *file {
	text := u.scheme + ":/" + u.path
	handle := l.ext.handlers[u.scheme]
	return l.wantFrom(u.at, "scheme "+text, "scheme "+text, false, func() ([]byte, error) { return handle(text) })
}

// wantFrom queues JSON that an extension yields. What is wrong with it is reported at the place that asked for it.
func (l *load) wantFrom(at diag.Pos, id, label string, data bool, read func() ([]byte, error)) *file {
	if f, ok := l.files[fileKey{id, data}]; ok {
		return f
	}
	return l.enqueue(&file{path: id, label: label, data: data, read: read, at: at})
}

// extensionNames are the names of backends or schemes, for messages.
func extensionNames[T any](builtin []string, more map[string]T) []string {
	return append(slices.Clone(builtin), slices.Sorted(maps.Keys(more))...)
}

func (l *load) extensionFailed(f *file, err error) {
	l.diags.Add(diag.Diagnostic{Pos: f.at, Code: "extension", Message: f.path + ": " + err.Error()})
}
