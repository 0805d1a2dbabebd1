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
	Name     string   // path of the directory in the site
	Singular string   // a likely wrong name for the directory
	Version  string   // key that states the version of a file
	What     string   // contents of the files, for messages
	Has      string   // attributes of each list entry, for messages
	Marks    []string // attributes that tell its list entries from those of other tools
	Code     diag.Code
}

var Policies = Folder{Name: "policies", Singular: "policy", Version: "policy_version", What: "policies",
	Has: "'name', 'key' and a requirement", Marks: []string{"key", "keys"}, Code: Code}

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

// warnOfVersion warns about a file that is not read because its version key is misspelt or missing.
func (f *Folder) warnOfVersion(path string, src []byte, diags *diag.List) {
	doc, list := f.listIn(path, src)
	if doc == nil {
		return
	}
	if _, _, has := doc.Root.Lookup(f.Version); has {
		return
	}
	d := diag.Diagnostic{Pos: doc.Pos(doc.Root), Severity: diag.Warning, Code: f.Code,
		Message: "the " + f.What + " in this file are not used: "}
	if key := f.versionKey(doc, list); key != nil {
		name, _ := key.Text()
		d.Pos = doc.Pos(key)
		d.Message += "its key '" + name + "' should be '" + f.Version + "'"
		d.Fix = diag.MeantAs(name, f.Version)
	} else if f.describes(list) {
		d.Message += "it has no key '" + f.Version + "'"
		d.Hint = "begin the file with '" + f.Version + ": 1'"
		if d.Pos.Col == 1 && d.Pos == doc.Pos(&doc.Root.Kids[0]) { // not in braces
			d.Edits = []diag.Edit{{Pos: d.Pos, End: d.Pos, Text: f.Version + ": 1\n"}}
		}
	} else {
		return
	}
	diags.Add(d)
}

// listIn returns the document and the list of f in a file. It returns nil if the file is invalid or has no such list.
func (f *Folder) listIn(path string, src []byte) (doc *yaml.Document, list *yaml.Node) {
	if !strings.Contains(string(src), f.Name) {
		return nil, nil
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diag.List{})
	if !ok || doc.Root == nil {
		return nil, nil
	}
	if _, list, ok = doc.Root.Lookup(f.Name); !ok || list.Kind != yaml.Sequence {
		return nil, nil
	}
	return doc, list
}

// versionKey returns the key that is, or is probably meant as, the version key of a file with the given list, or nil.
func (f *Folder) versionKey(doc *yaml.Document, list *yaml.Node) *yaml.Node {
	for key := range doc.Root.Pairs() {
		name, _ := key.Text()
		isWord := len(name) <= len(f.Version)/2 // such as 'tests', with which 'tests_version' begins
		if name == f.Version || !isWord && !diag.Correct(name, []string{f.Version}).IsNone() {
			return key
		}
		if f.describes(list) && (name == "version" || !diag.Correct(name, []string{"version"}).IsNone()) {
			return key
		}
	}
	return nil
}

// describes reports whether list is probably written for f and not for another tool: it has an entry with an attribute
// that only entries of f have.
func (f *Folder) describes(list *yaml.Node) bool {
	return slices.ContainsFunc(list.Kids, func(entry yaml.Node) bool {
		return slices.ContainsFunc(f.Marks, func(mark string) bool {
			_, _, ok := entry.Lookup(mark)
			return ok
		})
	})
}

// WarnOfUnread warns about files that are not read because their version key is misspelt or missing, as Parse does. It
// is for commands that do not read the files.
func (f *Folder) WarnOfUnread(dir string, disk fsx.Disk, diags *diag.List) {
	paths, _ := filesIn(filepath.Join(dir, f.Name), disk)
	for _, path := range paths {
		if src, err := disk.ReadFile(path); err == nil {
			f.warnOfVersion(path, src, diags)
		}
	}
}

// WarnOfMisplaced warns about files that are ignored because the name of their directory is misspelt, or because they
// are in a directory below it.
func (f *Folder) WarnOfMisplaced(dir string, disk fsx.Disk, diags *diag.List) {
	entries, err := disk.List(dir)
	if err != nil {
		return // already reported when the site was read
	}
	for _, e := range entries {
		name := e.Name()
		if name == f.Name {
			f.warnOfNested(filepath.Join(dir, name), disk, diags)
			continue
		}
		if name != f.Singular && diag.Misspelt(strings.ToLower(name), []string{f.Name}) == "" &&
			!strings.EqualFold(name, f.Name) {
			continue
		}
		f.warnOfUnused(filepath.Join(dir, name), disk, diags, "its name is '"+name+"', expected '"+f.Name+"'",
			"did you mean '"+f.Name+"'? Rename the directory")
	}
}

// warnOfNested warns about files in the directories below folder.
func (f *Folder) warnOfNested(folder string, disk fsx.Disk, diags *diag.List) {
	entries, err := disk.List(folder)
	if err != nil {
		return // Files reports it
	}
	for _, e := range entries {
		if sub := filepath.Join(folder, e.Name()); e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			f.warnOfUnused(sub, disk, diags, "files must be directly in '"+f.Name+"'", "move the files there")
			f.warnOfNested(sub, disk, diags)
		}
	}
}

// warnOfUnused warns that the files in dir are ignored, at the first that belongs to f.
func (f *Folder) warnOfUnused(dir string, disk fsx.Disk, diags *diag.List, reason, hint string) {
	paths, _ := filesIn(dir, disk)
	if i := slices.IndexFunc(paths, func(path string) bool { return f.isOurs(path, disk) }); i >= 0 {
		diags.Add(diag.Diagnostic{Pos: diag.Pos{File: paths[i]}, Severity: diag.Warning, Code: f.Code,
			Message: "the " + f.What + " in this directory are not used: " + reason, Hint: hint})
	}
}

// isOurs reports whether the file at path belongs to f, or was probably meant to.
func (f *Folder) isOurs(path string, disk fsx.Disk) bool {
	src, err := disk.ReadFile(path)
	if err != nil {
		return false
	}
	if doc, list := f.listIn(path, src); doc != nil && f.versionKey(doc, list) != nil {
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
