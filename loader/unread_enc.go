package loader

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

func (u *unread) classified() {
	isEnc := func(uri string) bool { return strings.HasPrefix(uri, "enc:") }
	dir := filepath.Join(u.Dir, datafile.ClassifiedDir)
	isSaid := func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == datafile.ClassifiedExt }
	if there, _ := u.quiet.IsDir(dir); !there || slices.ContainsFunc(slices.Collect(maps.Keys(u.named)), isEnc) {
		return
	}
	if slices.ContainsFunc(u.quiet.List(dir), isSaid) {
		u.Diags.Add(unclassified(dir, u.defaultLayers && u.isOfHiera5()))
	}
}

// unclassified returns the warning about unused classifier output in dir. bare means that the site has Hiera 5 data and
// does not configure layers.
func unclassified(dir string, bare bool) diag.Diagnostic {
	d := diag.Diagnostic{Pos: diag.Pos{File: dir}, Severity: diag.Warning, Code: "not_included",
		Message: "no layer includes the output of the node classifier; it is never used",
		Hint:    "include 'enc:' in a layer of binder_config.yaml"}
	if bare {
		d.Hint = "write binder_config.yaml with 'version: 1' and these layers: [{name: enc, include: 'enc:'}, " +
			"{name: site, include: 'confdir:/default?optional'}, {name: hiera, include: ['hiera:/', 'module-hiera5:/*']}]"
	}
	return d
}

// CheckClassified warns if no layer of the site in dir includes the files that bindc enc writes. It does not report
// errors in the configuration; a build does.
func CheckClassified(dir string, diags *diag.List) {
	in := site.NewInputs(site.Files{Diags: &diag.List{}}, dir, "", datafile.NewReader(nil, fsx.Disk{}))
	cfg, ok := readConfig(in, Options{})
	if !ok {
		return
	}
	for _, l := range cfg.layers {
		if slices.ContainsFunc(append(l.include, l.exclude...), func(u uri) bool { return u.scheme == "enc" }) {
			return
		}
	}
	hiera5Reader := hiera5.NewReader(in, nil, "", DefaultCodedir, 0)
	in.Modules = site.FindModules(in.Files, dir, modulePath(in, Options{}))
	p := planner{Inputs: in, hiera5: hiera5Reader}
	diags.Add(unclassified(filepath.Join(dir, datafile.ClassifiedDir), cfg.defaultLayers && p.isOfHiera5()))
}
