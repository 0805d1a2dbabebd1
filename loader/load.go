package loader

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// Options configures Load. The zero value is valid.
type Options struct {
	ModulePath   []string        // module directories; default: modulepath in environment.conf, or modules in the site
	Bindings     string          // directory of the site's own bindings files; default: bindings in the site
	BinderConfig string          // configuration to read instead of binder_config.yaml
	GlobalHiera  string          // the hiera.yaml of the global layer of Hiera 5; "": none
	Codedir      string          // Puppet's code directory, which contains its environments; default: DefaultCodedir
	Cache        *datafile.Cache // keeps parsed data files for the next build; may be nil
	Share        datafile.Share  // the data files to read; all other data files count as empty
	Jobs         int             // number of files to parse at a time; default: one per processor
	Alternatives int             // limit on alternative conditions, over all bindings; default: DefaultAlternatives

	Lenient bool // an unreadable Hiera 5 data file is a warning, and lookups that reach it fail

	AllowExtensions  bool            // whether extension programs may run; otherwise they are errors
	ExtensionTimeout time.Duration   // time limit for an extension program; default: 30 s
	Context          context.Context // stops extension programs when it is done; may be nil
	Backends         map[string]Backend
	SchemeHandlers   map[string]SchemeHandler

	MayBeEmpty bool      // the directory may be empty and need not be a site
	IsSite     bool      // treat the directory as a site, whatever it contains
	Seen       *fsx.Seen // records the files that are read; may be nil

	Found  func() // called for each file before it is parsed; may be nil
	Parsed func() // called for each parsed file, concurrently; may be nil

	Disk fsx.Disk // how files are read; the zero value reads the file system

	foundAgain int // replaces maxFoundAgain in tests
}

// DefaultAlternatives limits how many alternatives the conditions of a site may have, summed over all bindings. For
// example, a condition with two lists of 250 values has 62,500 alternatives for each of its bindings.
const DefaultAlternatives = 1 << 21

// Load reads the site in dir. It adds errors to diags; after an error, the Site must not be used.
func Load(dir string, opts Options, diags *diag.List) *Site {
	opts.Disk.Seen = opts.Seen
	in := site.NewInputs(site.NewFiles(opts.Disk, diags), dir, opts.Bindings,
		datafile.NewReader(opts.Cache, opts.Disk))
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
	hiera2 := &hiera2Reader{Inputs: in, Dimensions: dims, extensions: cfg.extensions, dirs: map[string]*hiera2Dir{}}
	hiera5Reader := hiera5.NewReader(in, dims, opts.GlobalHiera, path.Clean(cmp.Or(opts.Codedir, DefaultCodedir)),
		opts.foundAgain)
	p := planner{Inputs: in, extensions: cfg.extensions, hiera2: hiera2, hiera5: hiera5Reader, global: opts.GlobalHiera,
		named: map[string]bool{}, namedComplete: !diags.Failed(), defaultLayers: cfg.defaultLayers}

	wait := in.StartParsing(opts.Jobs, opts.Found, opts.Parsed)
	if cfg.defaultLayers && p.isOfHiera5() {
		cfg.layers = p.defaultsOfHiera5()
	}
	plan := p.plan(cfg.layers)
	p.warnOfUnread()
	wait()
	hiera5Reader.WarnOfAbsent()
	in.KeepForNextBuild(opts.Cache)
	reportEmptySite(in, opts)
	layers := assemble(plan, in, dims)
	dims.ReportUnknown(cfg.source, dims.All, dims.CategoryNames(), diags)
	site := &Site{Layers: layers, Dimensions: dims.All, Conditions: dims.Conditions,
		Paths: hiera5Paths(plan), Hierarchies: hierarchies(plan, in), Modules: in.Modules.All,
		Manifests: manifests(in), Types: filepath.Join(dir, "types")}
	site.Keys, site.Values = in.Reader.Pools.Keys.Texts(), in.Reader.Pools.Values.Texts()
	site.Inputs, site.InputOf = in.Sorted()
	return site
}

// assemble builds the layers of the site. All files must have been parsed.
func assemble(plan []plannedLayer, in *site.Inputs, dims *site.Dimensions) []Layer {
	var out []Layer
	sets := map[*site.File]*setCompiler{} // several layers may include the same set
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
			case p.hiera2 != nil:
				c.Files = p.hiera2.dataFiles()
			case p.encPart == encClasses:
				c.Bindings = p.included(in.Reader.Pools.Keys.Texts(), &setCompiler{inclusions: inclusions})
			case p.encPart != "":
				c.Files = p.classified(in.Reader.Pools.Keys.Texts())
			default:
				if sets[p.bindings] == nil {
					sets[p.bindings] = &setCompiler{Dimensions: dims, diags: in.Diags, pools: in.Reader.Pools,
						secrets: secrets, inclusions: inclusions, shared: strings.HasPrefix(p.uri, "module:")}
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

// partsOfSites lists the names of files and directories that identify a site. A directory without any of them is
// probably not a site.
var partsOfSites = []string{"binder_config.yaml", "bindings_config.yaml", "binder_config.pp", "hiera2.yaml",
	"hiera5.yaml", "hiera.yaml", "environment.conf", "bindings", "data", "modules"}

// reportEmptySite reports a directory without any part of a site. Its snapshot would be empty, so the path is probably
// wrong.
func reportEmptySite(in *site.Inputs, opts Options) {
	if opts.BinderConfig != "" || len(opts.ModulePath) > 0 || opts.MayBeEmpty || opts.IsSite {
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

// DefaultCodedir is Puppet's default code directory.
const DefaultCodedir = "/etc/puppetlabs/code"
