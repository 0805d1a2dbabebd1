package loader

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"time"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// Options configures how a site is read. The zero value works.
type Options struct {
	ModulePath   []string        // directories of modules; nil: those of environment.conf, or modules in the site
	Bindings     string          // directory of the site's own sets of bindings; default: bindings in the site
	BinderConfig string          // file to read in place of binder_config.yaml
	GlobalHiera  string          // the hiera.yaml of the global layer of Hiera 5; "": none
	Codedir      string          // the directory that Puppet has environments below; default: DefaultCodedir
	Cache        *datafile.Cache // of data files, from one build to the next; may be nil
	Share        datafile.Share  // the data files to read; the others count as empty
	Jobs         int             // files parsed at a time; default: one per processor
	Alternatives int             // of conditions, over all bindings; default: DefaultAlternatives

	Lenient bool // a data file of Hiera 5 that cannot be read is a warning, and fails the lookups that reach it

	AllowExtensions  bool            // allow extensions that are programs
	ExtensionTimeout time.Duration   // the time after which such a program is stopped; default: 30 s
	Context          context.Context // stops such programs when it is done; may be nil
	Backends         map[string]Backend
	SchemeHandlers   map[string]SchemeHandler

	Nothing bool      // the directory need not be a site, and may bind nothing
	IsSite  bool      // the directory is a site even if none of its files shows it
	Seen    *fsx.Seen // records what is read; may be nil

	Found  func() // is called for each file that Load finds, before it is parsed; may be nil
	Parsed func() // is called for each file that is parsed, by several goroutines; may be nil

	disk       fsx.Disk // the file system; tests make it fail
	foundAgain int      // in place of maxFoundAgain, for tests
}

// DefaultAlternatives limits the alternatives that 'when' expands to in a site, counted for each binding: two lists of
// 250 values above a list of bindings give each binding 62 500.
const DefaultAlternatives = 1 << 21

// Load reads the site in dir. It reports errors to diags; after an error the Site is not usable.
func Load(dir string, opts Options, diags *diag.List) *Site {
	opts.disk.Seen = opts.Seen
	in := site.NewInputs(site.NewFiles(opts.disk, diags), dir, opts.Bindings,
		datafile.NewReader(opts.Cache, opts.disk))
	in.Reader.Lenient, in.Share = opts.Lenient, opts.Share
	cfg, ok := readConfig(in, opts)
	if !ok {
		return &Site{}
	}
	in.Modules = site.FindModules(in.Files, dir, modulePath(in, opts))
	alternatives := opts.Alternatives
	if alternatives <= 0 {
		alternatives = DefaultAlternatives
	}
	dims := site.NewDimensions(categoryDimensions(cfg.categories), alternatives)
	hiera := &hieraReader{Inputs: in, Dimensions: dims, extensions: cfg.extensions, dirs: map[string]*hieraDir{}}
	hiera5Reader := hiera5.NewReader(in, dims, opts.GlobalHiera, path.Clean(cmp.Or(opts.Codedir, DefaultCodedir)),
		opts.foundAgain)
	p := planner{Inputs: in, extensions: cfg.extensions, hiera: hiera, hiera5: hiera5Reader, global: opts.GlobalHiera,
		named: map[string]bool{}, sure: !diags.Failed(), silent: cfg.silent}

	wait := in.StartParsing(opts.Jobs, opts.Found, opts.Parsed)
	if cfg.silent && p.isOfHiera5() {
		cfg.layers = p.hiera5Layers()
	}
	plan := p.plan(cfg.layers)
	p.warnOfUnread()
	wait()
	hiera5Reader.WarnOfAbsent()
	in.KeepForNextBuild(opts.Cache)
	refuseNothing(in, opts)
	layers := assemble(plan, in, dims)
	dims.ReportUnknown(cfg.source, dims.CategoryNames(), diags)
	site := &Site{Layers: layers, Dimensions: dims.All, Conditions: dims.Conditions,
		Paths: hiera5Paths(plan), Hierarchies: hierarchies(plan, in)}
	site.Keys, site.Values = in.Reader.Pools.Keys.Texts(), in.Reader.Pools.Values.Texts()
	site.Inputs, site.InputOf = in.Sorted()
	return site
}

// assemble makes the layers of the site from the parsed files.
func assemble(plan []plannedLayer, in *site.Inputs, dims *site.Dimensions) []Layer {
	var out []Layer
	sets := map[*site.File]*setCompiler{} // a set in two layers is read once
	inclusions := map[inclusion]*bindingsfile.Compiled{}
	secrets := map[string]bool{}
	for _, pl := range plan {
		for _, p := range pl.contributions {
			if s := p.source(); s != nil {
				s.Secrets(secrets)
			}
		}
	}
	in.HideSecrets(secrets)
	for _, pl := range plan {
		if layers := hiera5Layers(pl, in); layers != nil {
			out = append(out, layers...)
			continue
		}
		layer := Layer{Name: pl.name}
		for _, p := range pl.contributions {
			c := Contribution{URI: p.uri}
			switch {
			case p.hiera != nil:
				c.Files = p.hiera.dataFiles()
			case p.encPart == encClasses:
				c.Bindings = p.included(in.Reader.Pools.Keys.Texts(), &setCompiler{inclusions: inclusions})
			case p.encPart != "":
				c.Files = p.classified(in.Reader.Pools.Keys.Texts())
			default:
				if sets[p.bindings] == nil {
					sets[p.bindings] = &setCompiler{Dimensions: dims, diags: in.Diags, pools: in.Reader.Pools,
						secrets: secrets, inclusions: inclusions}
					sets[p.bindings].readSet(p.source(), p.names())
				}
				c.Bindings, c.Transfers = sets[p.bindings].out, sets[p.bindings].transfers
			}
			layer.Contributions = append(layer.Contributions, c)
		}
		out = append(out, layer)
	}
	return out
}

// partsOfSites has the files and directories of which the directory of a site has at least one.
var partsOfSites = []string{"binder_config.yaml", "bindings_config.yaml", "binder_config.pp", "hiera2.yaml",
	"hiera5.yaml", "hiera.yaml", "environment.conf", "bindings", "data", "modules"}

// refuseNothing reports a directory that is not a site. It would compile to an empty snapshot, so another one is meant.
func refuseNothing(in *site.Inputs, opts Options) {
	if opts.BinderConfig != "" || len(opts.ModulePath) > 0 || opts.Nothing || opts.IsSite {
		return
	}
	names := slices.Clone(partsOfSites)
	for i, name := range names {
		path := filepath.Join(in.Dir, name)
		if name == "bindings" && opts.Bindings != "" {
			path, names[i] = opts.Bindings, in.Label(opts.Bindings)
		}
		if info, err := in.Disk.Info(path); info != nil || err != nil {
			return
		}
	}
	in.Diags.Errorf(diag.Pos{File: in.Dir}, "site", "this is not a site; expected a directory with one of %s",
		diag.Quoted(names))
}

// DefaultCodedir is where Puppet keeps environments unless it is configured otherwise.
const DefaultCodedir = "/etc/puppetlabs/code"
