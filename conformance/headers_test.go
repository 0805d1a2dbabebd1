package conformance

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bindc/conformance/classes"
	"bindc/internal/manifest"
)

var manifestDirs = flag.String("manifest-dirs", "/usr/share/puppet:/usr/share/doc/puppet-agent",
	"with -puppet: directories, separated by ':', whose manifests are parsed")

// TestHeadersAgreeWithPuppet parses all manifests in some directories, and compares the classes, parameters, types
// and type aliases with those that Puppet's own parser finds. It skips manifests that Puppet rejects.
//
//	apt-get install puppet-agent 'puppet-module-*'
//	go test ./conformance -run HeadersAgree -puppet -v -manifest-dirs /usr/share/puppet:DIR
func TestHeadersAgreeWithPuppet(t *testing.T) {
	if !*askPuppet {
		t.Skip("-puppet asks Puppet")
	}
	var paths []string
	for _, dir := range filepath.SplitList(*manifestDirs) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && filepath.Ext(path) == ".pp" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := classes.Parse(paths)
	if err != nil {
		t.Fatal(err)
	}
	definitions, params, aliases := 0, 0, map[string]string{}
	for _, path := range paths {
		want, ok := parsed[path]
		if !ok {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range want {
			definitions++
			params += len(d.Params)
		}
		header := manifest.ReadHeader(path, string(src))
		if len(header.Aliases) > 0 {
			aliases[path] = writeAliases(t, header.Aliases)
		}
		ours, theirs := headerOf(header), definitionsOf(want)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s:\n%s\nPuppet:\n%s", path, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
	}
	compareAliases(t, parsed, aliases)
	t.Logf("%d manifests, %d of which Puppet accepts, with %d classes and aliases and %d parameters", len(paths),
		len(parsed), definitions, params)
}

func headerOf(h manifest.Header) (out []string) {
	for _, c := range h.Classes {
		line := "class " + c.Name
		for _, p := range c.Params {
			line += fmt.Sprintf("\n  %s $%s %v", p.Type, p.Name, p.Optional)
		}
		out = append(out, line)
	}
	for _, a := range h.Aliases {
		out = append(out, "type "+a.Name)
	}
	if !h.Whole {
		out = append(out, "not whole")
	}
	slices.Sort(out)
	return out
}

func definitionsOf(list []classes.Definition) (out []string) {
	for _, d := range list {
		if d.Tree != "" {
			out = append(out, "type "+d.Name)
			continue
		}
		line := "class " + d.Name
		for _, p := range d.Params {
			line += fmt.Sprintf("\n  %s $%s %v", withoutComments(p.Type), p.Name, p.Optional)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// withoutComments returns the source of a type as ReadHeader returns it.
func withoutComments(source string) string {
	if source == "" {
		return ""
	}
	h := manifest.ReadHeader("", "class x (\n"+source+" $y) { }")
	if len(h.Classes) != 1 || len(h.Classes[0].Params) != 1 {
		return source
	}
	return h.Classes[0].Params[0].Type
}

// writeAliases writes a manifest with aliases as ReadHeader returned them.
func writeAliases(t *testing.T, aliases []manifest.Alias) string {
	t.Helper()
	var b strings.Builder
	for _, a := range aliases {
		b.WriteString("type " + a.Name + " = " + a.Type + "\n")
	}
	path := filepath.Join(t.TempDir(), "aliases.pp")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// compareAliases compares the types of aliases in manifests with those in the manifests that writeAliases wrote.
func compareAliases(t *testing.T, parsed map[string][]classes.Definition, written map[string]string) {
	again, err := classes.Parse(slices.Collect(maps.Values(written)))
	if err != nil {
		t.Fatal(err)
	}
	for path, copied := range written {
		isClass := func(d classes.Definition) bool { return d.Tree == "" }
		theirs, ours := slices.DeleteFunc(parsed[path], isClass), again[copied]
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("%s: the aliases are\n%v\nfor Puppet\n%v", path, ours, theirs)
		}
	}
}
