package loader

import (
	"path/filepath"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/loader/internal/hiera5"
)

// findHiera5 resolves the URI of a Hiera 5 hierarchy. The URI of the site's hierarchy also includes the global
// hierarchy, which comes first.
func (p *planner) findHiera5(u uri) []planned {
	var out []planned
	dir, module, part := filepath.Join(p.Dir, filepath.FromSlash(u.path)), "", HieraEnvironment
	if u.scheme == "module-hiera5" {
		m, ok := p.moduleOf(u, u.path)
		if !ok {
			return nil
		}
		dir, module, part = m.Dir, m.Name, HieraModule
	} else if p.global != "" {
		if h := p.hiera5.Read(p.global, ""); h != nil {
			out = append(out, planned{uri: u.String(), hiera5: h, part: HieraGlobal})
		}
	}
	path := p.hiera5.ConfigIn(dir)
	if path == "" {
		p.missing(u, "there is no Hiera 5 hierarchy: expected the file %s", filepath.Join(dir, "hiera.yaml"))
		return out
	}
	if h := p.hiera5.Read(path, module); h != nil {
		out = append(out, planned{uri: u.String(), hiera5: h, part: part})
	}
	return out
}

// isOfHiera5 reports whether the site uses Hiera 5: it has a Hiera 5 configuration, or a global one is given. A site
// without a hiera.yaml also uses Hiera 5 if some module uses Hiera 5 and no module uses Hiera 2.
func (p *planner) isOfHiera5() bool {
	if p.global != "" || p.hiera5.ConfigIn(p.Dir) != "" {
		return true
	}
	if own, _ := hiera2File(p.Files, p.Dir); own != "" {
		return false
	}
	some := false
	for _, m := range p.Modules.All {
		of5 := p.hiera5.ConfigIn(m.Dir) != ""
		if own, _ := hiera2File(p.Files, m.Dir); own != "" && !of5 {
			return false
		}
		some = some || of5
	}
	return some
}

// defaultsOfHiera5 returns the default layers of a site with Hiera 5 data: the site's own bindings, the Hiera 5
// hierarchies, and the bindings and Hiera 2 data of modules.
func (p *planner) defaultsOfHiera5() []layerConfig {
	p.defaultHiera5 = true
	at := diag.Pos{File: p.Dir}
	optional := func(scheme, path string) uri { return uri{scheme: scheme, path: path, optional: true, at: at} }
	own := []uri{optional("confdir", "default")}
	if there, _ := p.IsFile(filepath.Join(p.Dir, hiera2Files[0])); there {
		own = append(own, optional("confdir-hiera", ""))
	}
	return []layerConfig{
		{name: "site", include: own},
		{name: "hiera", include: []uri{optional("hiera", ""), optional("module-hiera5", "*")}},
		{name: "modules", include: []uri{optional("module-hiera", "*"), optional("module", "*::default")}},
	}
}

func (p *planner) findHiera2(u uri) (planned, bool) {
	dir := filepath.Join(p.Dir, filepath.FromSlash(u.path))
	if u.scheme == "module-hiera" {
		name, rest, _ := strings.Cut(u.path, "/")
		m, ok := p.moduleOf(u, name)
		if !ok {
			return planned{}, false
		}
		dir = filepath.Join(m.Dir, filepath.FromSlash(rest))
	}
	path, ok := hiera2File(p.Files, dir)
	switch {
	case !ok:
		return planned{}, false
	case path == "":
		return p.missing(u, "there is no Hiera 2 directory %s: expected the file %s", u,
			filepath.Join(dir, "hiera.yaml"))
	}
	h := p.hiera2.dir(path)
	if h != nil && h.otherVersion != "" {
		p.otherVersion(u, h)
		return planned{}, false
	}
	return planned{uri: u.String(), hiera2: h}, h != nil
}

// otherVersion reports a configuration of another version of Hiera, which another program may be using. This is an
// error if a layer names the configuration, or if a layer reads the site's Hiera 5 data as Hiera 2. Otherwise, it is a
// warning or a note.
func (p *planner) otherVersion(u uri, h *hiera2Dir) {
	d := diag.Diagnostic{Pos: h.doc.Pos(h.doc.Root), Severity: diag.Info, Code: "hiera_version",
		Message: "ignored: this file " + h.otherVersion}
	switch {
	case p.defaultHiera5: // only the wildcard of a default layer matches this file
		if hiera5.VersionOf(h.doc.Document) < 4 {
			d.Severity, d.Hint = diag.Warning, "write a hierarchy with 'version: 5'"
			d.Message += ": Puppet and bindc do not use the data of this module"
			p.otherVersions = append(p.otherVersions, d)
		}
	case u.path == "" && u.scheme == "confdir-hiera":
		if p.otherAtTop(u, h, &d) {
			p.otherVersions = append(p.otherVersions, d)
		}
	case u.found:
		if hiera5.VersionOf(h.doc.Document) >= 4 {
			of5 := uri{scheme: "module-hiera5", path: u.path}.String()
			if _, named := p.named[of5]; named {
				return
			}
			d.Severity, d.Message = diag.Warning, d.Message+": its data is NOT in the snapshot"
			d.Hint = "include '" + of5 + "' in a separate layer, or add it to another layer's 'exclude' to ignore it"
		}
		p.otherVersions = append(p.otherVersions, d)
	default:
		h.doc.IsVersion("version", 2)
	}
}

// otherAtTop completes the diagnostic d about a configuration of another Hiera version at the top of the site. It
// returns false if there is nothing to report.
func (p *planner) otherAtTop(u uri, h *hiera2Dir, d *diag.Diagnostic) bool {
	d.Severity = diag.Warning
	switch version := hiera5.VersionOf(h.doc.Document); {
	case seemsHiera5(h.doc):
		d.Message, d.Hint = "ignored: this file has no version", "begin it with 'version: 5'"
		if !p.defaultLayers {
			d.Severity = diag.Error
			d.Message = "this file has no version, and " + p.readsAsVersion2()
			d.Hint += ", and include 'hiera:/' in a separate layer"
		}
	case version >= 4 && hiera5.AsksSnapshotOnly(h.doc):
		d.Message = "this file makes Puppet use the snapshot, but " + p.readsAsVersion2()
		d.Hint = "add '?optional' to 'confdir-hiera:/', or write the hierarchy of the snapshot to " + hiera2Files[0]
		return !u.optional
	case version >= 4:
		d.Severity = diag.Error
		d.Message = "this file is version " + strconv.FormatInt(version, 10) + ", but " + p.readsAsVersion2()
		d.Hint = "include 'hiera:/' in a separate layer; if only Puppet should read its data, " +
			"exclude 'confdir-hiera:/' and 'hiera:/'"
	case version == 3:
		d.Message += ": its data is NOT in the snapshot"
		d.Hint = "to compile its data, build with '--global-hiera FILE', or write it as version 5; if only another " +
			"Hiera reads it, exclude 'confdir-hiera:/' from the layer that includes it"
	default:
		d.Hint = "to compile its data, write it as version 5 or 2; if another Hiera reads it, " +
			"exclude 'confdir-hiera:/' from the layer that includes it"
	}
	return true
}

func (p *planner) readsAsVersion2() string {
	layer := "a layer"
	if p.layer != "" {
		layer = "layer '" + p.layer + "'"
	}
	return layer + " reads it as version 2: its data is NOT in the snapshot"
}
