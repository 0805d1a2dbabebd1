package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/yaml"
)

// Folder describes a directory in a site that contains YAML files of one kind. Files without the key Version belong to
// other tools and are ignored.
type Folder struct {
	Name     string // path relative to the site
	Singular string // singular of Name, which users may write instead
	Version  string // key with the version of the file format
	What     string // what the files contain, for messages
	Has      string // attributes that each list entry needs, for messages
	Code     diag.Code
}

var Policies = Folder{Name: "policies", Singular: "policy", Version: "policy_version", What: "policies",
	Has: "'name', 'key' and a requirement", Code: Code}

// Files returns the paths of all YAML files in the directory, sorted by name. dir is the site.
func (f *Folder) Files(dir string, disk fsx.Disk, diags *diag.List) []string {
	folder := filepath.Join(dir, f.Name)
	paths, err := filesIn(folder, disk)
	if err != nil {
		diags.Errorf(diag.Pos{File: folder}, f.Code, "cannot read the %s: %v", f.What, err)
	}
	return paths
}

// filesIn returns the paths of all YAML files in dir, sorted by name. It skips hidden files. If dir does not exist, it
// returns none.
func filesIn(dir string, disk fsx.Disk) (paths []string, err error) {
	if is, err := disk.IsDir(dir); err != nil || !is {
		return nil, err
	}
	entries, err := disk.List(dir)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// Parse reads the file at path and returns its contents and the entries of its list. doc is nil if the file is invalid,
// or if it has no version key. Files without a version key are ignored, unless named is set because the user named the
// file; then they are an error.
func (f *Folder) Parse(path string, named bool, disk fsx.Disk, diags *diag.List) (src []byte, doc *yaml.Document,
	entries []yaml.Node) {
	src, err := disk.ReadFile(path)
	if err != nil {
		diags.Errorf(diag.Pos{File: path}, f.Code, "cannot read the %s: %v", f.What, err)
		return nil, nil, nil
	}
	if !named && !strings.Contains(string(src), f.Version) {
		f.warnOfVersion(path, src, diags)
		return nil, nil, nil
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, diags)
	if !ok {
		return nil, nil, nil
	}
	if _, _, ok := doc.Root.Lookup(f.Version); !ok && !named {
		f.warnOfVersion(path, src, diags)
		return nil, nil, nil
	}
	if wrong := doc.CheckVersion(f.Version, 1); wrong != nil {
		wrong.Code = f.Code
		diags.Add(*wrong)
		return nil, nil, nil
	}
	for _, d := range doc.UnknownKeys(doc.Root, f.Code, "key of a "+f.Singular+" file", []string{f.Version, f.Name}) {
		diags.Add(d)
	}
	_, list, ok := doc.Root.Lookup(f.Name)
	if !ok || list.Kind != yaml.Sequence || len(list.Kids) == 0 {
		diags.Errorf(doc.Pos(doc.Root), f.Code, "expected '%s', a list of %s with %s", f.Name, f.What, f.Has)
		return nil, nil, nil
	}
	return src, doc, list.Kids
}

// warnOfVersion warns if a file is ignored because its version key is misspelt.
func (f *Folder) warnOfVersion(path string, src []byte, diags *diag.List) {
	doc, key := f.meant(path, src)
	if key == nil {
		return
	}
	name, _ := key.Text()
	diags.Add(diag.Diagnostic{Pos: doc.Pos(key), Severity: diag.Warning, Code: f.Code,
		Message: "the " + f.What + " in this file are not used: its key '" + name + "' should be '" + f.Version + "'",
		Fix:     diag.MeantAs(name, f.Version)})
}

// meant returns the document and the misspelt version key of a file that was probably meant to belong to f: it has the
// right list and a similar version key. key is nil for other files.
func (f *Folder) meant(path string, src []byte) (doc *yaml.Document, key *yaml.Node) {
	if !strings.Contains(string(src), "version") {
		return nil, nil
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diag.List{})
	if !ok || doc.Root == nil {
		return nil, nil
	}
	if _, list, ok := doc.Root.Lookup(f.Name); !ok || list.Kind != yaml.Sequence {
		return nil, nil
	}
	for key := range doc.Root.Pairs() {
		name, _ := key.Text()
		if name == f.Version || !diag.Correct(name, []string{f.Version}).IsNone() {
			return doc, key
		}
	}
	return nil, nil
}

// WarnOfMisspelt warns about files that are ignored because the name of their directory is misspelt.
func (f *Folder) WarnOfMisspelt(dir string, disk fsx.Disk, diags *diag.List) {
	entries, err := disk.List(dir)
	if err != nil {
		return // already reported when the site was read
	}
	for _, e := range entries {
		name := e.Name()
		if name != f.Singular && diag.Misspelt(strings.ToLower(name), []string{f.Name}) == "" &&
			(name == f.Name || !strings.EqualFold(name, f.Name)) {
			continue
		}
		paths, _ := filesIn(filepath.Join(dir, name), disk)
		if i := slices.IndexFunc(paths, func(path string) bool { return f.isOurs(path, disk) }); i >= 0 {
			diags.Add(diag.Diagnostic{Pos: diag.Pos{File: paths[i]}, Severity: diag.Warning, Code: f.Code,
				Message: "the " + f.What + " in this directory are not used: its name is '" + name + "', expected '" +
					f.Name + "'", Hint: "did you mean '" + f.Name + "'? Rename the directory"})
		}
	}
}

// isOurs reports whether the file at path belongs to f, or was probably meant to.
func (f *Folder) isOurs(path string, disk fsx.Disk) bool {
	src, err := disk.ReadFile(path)
	if err != nil {
		return false
	}
	if _, key := f.meant(path, src); key != nil {
		return true
	}
	if !strings.Contains(string(src), f.Version) {
		return false
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diag.List{})
	if !ok {
		return false
	}
	_, _, has := doc.Root.Lookup(f.Version)
	return has
}
