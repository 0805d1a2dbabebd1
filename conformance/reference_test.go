package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"bindc/loader"
	bindings "bindc/runtime"
)

// referenceCase is a site with the answers of the reference implementation, or the reason why it rejects the site.
type referenceCase struct {
	ID, Title string
	Input     struct {
		Facts               map[string]json.RawMessage
		Files               map[string]string // files of a site; nil if the fields below describe the site
		BinderConfigSetting string            `json:"binder_config_setting"`
		Categories          [][]string        // name and value of each category
		Bind                json.RawMessage
		Layers              []struct {
			Name     string
			Bind     json.RawMessage
			Bindings []struct{ Bind json.RawMessage }
		}
	}
	Expect struct {
		BuildError string `json:"build_error"` // why the site is rejected
		Lookups    []struct {
			Lookup []string // key and optional type
			Value  json.RawMessage
			Undef  bool   // not found, or undef
			Error  string // code; "any" for any error
		}
	}
}

// TestAnswersAgreeWithReferenceImplementation compares the programs with recorded cases of the only implementation
// that was ever released.
func TestAnswersAgreeWithReferenceImplementation(t *testing.T) {
	runCases(t, "../testdata/conformance/reference.json")
}

// TestFindings runs cases for which a second implementation of the language found another, correct answer.
func TestFindings(t *testing.T) { runCases(t, "../testdata/conformance/findings.json") }

func runCases(t *testing.T, file string) {
	var cases []referenceCase
	readJSON(t, file, &cases)
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c *referenceCase) run(t *testing.T) {
	t.Log(c.Title)
	dir := t.TempDir()
	facts, opts := c.lay(t, dir)
	snap, refused := build(t, dir, opts)
	switch {
	case c.Expect.BuildError != "":
		if refused == "" {
			t.Errorf("the site is compiled; expected an error: %s", c.Expect.BuildError)
		}
		return
	case refused != "":
		for _, l := range c.Expect.Lookups {
			if l.Error != "" {
				return // a build may reject a site whose lookup fails in the reference
			}
		}
		t.Fatalf("refused:\n%s", refused)
	}
	r := request(t, snap, facts)
	for _, l := range c.Expect.Lookups {
		typ := ""
		if len(l.Lookup) > 1 {
			typ = l.Lookup[1]
		}
		v, found, err := lookUp(r, l.Lookup[0], typ)
		var e *bindings.Error
		switch {
		case l.Error != "":
			if !errors.As(err, &e) || l.Error != "any" && string(e.Code) != l.Error {
				t.Errorf("%v: found %v, %s, %v; expected error %s", l.Lookup, found, show(t, v), err, l.Error)
			}
		case err != nil:
			t.Errorf("%v: %v", l.Lookup, err)
		case l.Undef:
			if found && !v.IsUndef() {
				t.Errorf("%v: %s, expected nothing", l.Lookup, show(t, v))
			}
		case !found:
			t.Errorf("%v: not found, expected %s", l.Lookup, l.Value)
		case !same(t, v, l.Value):
			t.Errorf("%v: %s, expected %s", l.Lookup, show(t, v), l.Value)
		}
	}
}

// lay writes the site of c below dir, and returns the facts of its request.
func (c *referenceCase) lay(t *testing.T, dir string) (facts json.RawMessage, opts loader.Options) {
	t.Helper()
	all := c.Input.Facts
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	switch {
	case c.Input.Files == nil:
		c.layBindings(t, dir, all)
	default:
		for name, text := range c.Input.Files {
			writeFile(t, filepath.Join(dir, name), text)
		}
		if c.Input.BinderConfigSetting != "" {
			opts.BinderConfig = filepath.Join(dir, c.Input.BinderConfigSetting)
		}
	}
	return encode(t, all), opts
}

// layBindings writes a site of bindings files, and adds a fact for every category.
func (c *referenceCase) layBindings(t *testing.T, dir string, facts map[string]json.RawMessage) {
	t.Helper()
	type object = map[string]any
	categories := c.Input.Categories
	if categories == nil {
		categories = [][]string{{"node", "kermit"}, {"osfamily", "darwin"}, {"environment", "dev"}}
	}
	var config struct {
		Version    int        `json:"version"`
		Layers     []object   `json:"layers"`
		Categories [][]string `json:"categories"`
	}
	config.Version = 1
	for _, pair := range categories {
		if pair[0] == "common" {
			config.Categories = append(config.Categories, []string{"common", "true"})
			continue
		}
		if facts[pair[0]] == nil {
			facts[pair[0]] = encode(t, pair[1])
		}
		config.Categories = append(config.Categories, []string{pair[0], "${" + pair[0] + "}"})
	}
	set := func(name string, bind json.RawMessage) string {
		text := encode(t, object{"bindings_version": 1, "name": name, "bind": bind})
		writeFile(t, filepath.Join(dir, "bindings", name+".yaml"), string(text))
		return "confdir:/" + name
	}
	if c.Input.Layers == nil {
		config.Layers = []object{{"name": "site", "include": []string{set("l0_0", c.Input.Bind)}}}
	}
	for i, layer := range c.Input.Layers {
		uris := []string{}
		if layer.Bindings == nil {
			uris = append(uris, set(fmt.Sprintf("l%d_0", i), layer.Bind))
		}
		for j, b := range layer.Bindings {
			uris = append(uris, set(fmt.Sprintf("l%d_%d", i, j), b.Bind))
		}
		name := layer.Name
		if name == "" {
			name = fmt.Sprintf("l%d", i)
		}
		config.Layers = append(config.Layers, object{"name": name, "include": uris})
	}
	writeFile(t, filepath.Join(dir, "binder_config.yaml"), string(encode(t, config)))
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}
