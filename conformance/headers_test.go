package conformance

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/conformance/classes"
	"bindc/internal/manifest"
)

var manifestDirs = flag.String("manifest-dirs", "/usr/share/puppet:/usr/share/doc/puppet-agent",
	"with -puppet: directories, separated by ':', whose manifests are parsed")

// TestHeadersAgreeWithPuppet parses all manifests in some directories, and compares the classes, parameters, types and
// type aliases with those that Puppet's own parser finds. It skips manifests that Puppet refuses.
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
	definitions, params := 0, 0
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
		ours, theirs := headerOf(manifest.ReadHeader(path, string(src))), definitionsOf(want)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s:\n%s\nPuppet:\n%s", path, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
	}
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
		out = append(out, "type "+a.Name+" = "+a.Type)
	}
	if !h.Whole {
		out = append(out, "not whole")
	}
	slices.Sort(out)
	return out
}

func definitionsOf(list []classes.Definition) (out []string) {
	for _, d := range list {
		if d.Type != "" {
			out = append(out, "type "+d.Name+" = "+withoutComments(d.Type))
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
