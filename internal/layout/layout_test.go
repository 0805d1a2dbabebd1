package layout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/internal/testmode"
)

// places lists directories with YAML files: this project's own, and real sites, which may be absent.
var places = []string{"../../testdata", "../../cmd/testdata", "../../docs", "../../../shared/corpora",
	"../../../shared/seeds"}

// Formatting keeps all text of a YAML file, including comments, and formatting the result again changes nothing. YAML
// checks that the meaning stays the same. The input consists of scenarios, real sites and many styles of writing.
func TestFormattingKeepsTextAndIsStable(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	laidOut, left := 0, 0
	seen := map[string]bool{}
	n, each := 0, testmode.Number(4, 1)
	try := func(name string, src []byte) {
		if n++; n%each != 0 {
			return
		}
		if seen[string(src)] {
			return
		}
		seen[string(src)] = true
		var diags diag.List
		out, ok := YAML(name, bytes.Clone(src), &diags)
		if !ok {
			for _, d := range diags.Sorted() {
				if d.Code == "layout" {
					left++
					t.Logf("%s: %s", d.Pos, d.Message)
				}
			}
			return
		}
		laidOut++
		if words(src) != words(out) {
			t.Errorf("%s: the text differs", name)
		}
		again, ok := YAML(name, bytes.Clone(out), &diags)
		if !ok || !bytes.Equal(again, out) {
			t.Errorf("%s: formatting the result changes it: %v\n%s", name, diags.Sorted(), firstDifference(out, again))
		}
	}
	for _, dir := range places {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				if path == dir {
					return nil
				}
				return err
			}
			if entry.IsDir() {
				return nil
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			switch filepath.Ext(path) {
			case ".yaml", ".yml", ".eyaml":
				try(path, src)
			case ".txtar":
				for _, f := range txtar.Parse(src).Files {
					if filepath.Ext(f.Name) == ".yaml" {
						try(path+" "+f.Name, f.Data)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files formatted, %d unsupported", laidOut, left)
	if laidOut < 200 || left > laidOut/100 {
		t.Errorf("%d files formatted, %d unsupported", laidOut, left)
	}
}

func words(text []byte) string { return strings.Join(strings.Fields(string(text)), "") }

func firstDifference(a, b []byte) string {
	as, bs := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i] + "\n" + bs[i]
		}
	}
	return ""
}

func TestFormatsYAML(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"levels", "a:\n    b:\n       c: 1\n    d: 2\n", "a:\n  b:\n    c: 1\n  d: 2\n"},
		{"list in the column of its key is indented", "a:\n- 1\n- b:\n  - 2\n  c: 3\nd: 4\n",
			"a:\n  - 1\n  - b:\n      - 2\n    c: 3\nd: 4\n"},
		{"lists in lists", "-   - a\n    -  b\n-   c:   1\n    d: 2\n", "- - a\n  - b\n- c: 1\n  d: 2\n"},
		{"element on a line of its own", "-\n   a: 1\n   b: 2\n", "-\n  a: 1\n  b: 2\n"},
		{"blanks", "a :   1  \n'b':   [1,2 , 3 ,]   \nc:   { d:  1,'e': \"f,  g\" }\n",
			"a: 1\n'b': [1, 2, 3,]\nc: {d: 1, 'e': \"f,  g\"}\n"},
		{"plain text in brackets", "a: [b  c,it's,  d:e, http://f]\n", "a: [b  c, it's, d:e, http://f]\n"},
		{"consecutive empty lines become one", "\n\na: 1\n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n"},
		{"document end marker", "a: 1", "a: 1\n"},
		{"Windows line ends", "a: 1\r\nb:\r\n    c: 2\r\n", "a: 1\nb:\n  c: 2\n"},
		{"comments at line ends are aligned", "a: 1 # x\nbcd: 2  # y\ne: 3\nf: 4    #z\n", "a: 1    # x\nbcd: 2  # y\ne: 3\nf: 4  #z\n"},
		{"'#' inside a text", "a: b#c\nd: 'e # f'\ng: h#\n", "a: b#c\nd: 'e # f'\ng: h#\n"},
		{"comments before entries", "a:\n # x\n    b: 1\n    # y\n    c: 2\n#z\n    d: 3\n    # end of a\n# f\ne: 4\n",
			"a:\n  # x\n  b: 1\n  # y\n  c: 2\n  #z\n  d: 3\n  # end of a\n# f\ne: 4\n"},
		{"comments at the end of the file", "a:\n    b: 1\n    # of a\n\n# of all\n", "a:\n  b: 1\n  # of a\n\n# of all\n"},
		{"file with only comments", "# a\n\n\n   # b\n", "# a\n\n# b\n"},
		{"blocks", "a: |\n      b\n       c\n\n      # d\n\n\ne: >-   # f\n  g\n\n\n  h\n",
			"a: |\n  b\n   c\n\n  # d\n\ne: >-  # f\n  g\n\n\n  h\n"},
		{"block scalar with keep indicator", "a: |+\n    b\n\n\nc: 1\n", "a: |+\n  b\n\n\nc: 1\n"},
		{"block scalar with indentation indicator", "a:\n    b: |2\n         c\n       d\n", "a:\n  b: |2\n       c\n     d\n"},
		{"comment that ends a block scalar", "a: |\n    b\n  # c\nd: 1\n", "a: |\n  b\n# c\nd: 1\n"},
		{"block scalar without a final newline", "a: |\n    b", "a: |\n  b"},
		{"multi-line plain text", "a: b\n     c\n\n     d # e\nf:\n    g\n    h\n",
			"a: b\n  c\n\n  d  # e\nf:\n  g\n  h\n"},
		{"multi-line quoted text", "a: 'b\n\n     c' # d\ne: \"f \\\n      g\"\n",
			"a: 'b\n\n  c'  # d\ne: \"f \\\n  g\"\n"},
		{"multi-line brackets", "a: [\n   b,   c, # d\n   {\n  e: f }\n ]\n",
			"a: [\n  b, c,  # d\n  {\n    e: f}\n]\n"},
		{"anchors and tags", "a:   &x   !!str   1\nb: &y\n    c: 1\nd:\n    <<:   *y\n",
			"a: &x !!str 1\nb: &y\n  c: 1\nd:\n  <<: *y\n"},
		{"document start marker", "%YAML 1.1\n---\n# a\nb:   1\n", "%YAML 1.1\n---\n# a\nb: 1\n"},
	} {
		var diags diag.List
		got, ok := YAML("f.yaml", []byte(c.src), &diags)
		if !ok || string(got) != c.want {
			t.Errorf("%s: of\n%smade\n%sexpected\n%s%v", c.name, c.src, got, c.want, diags.Sorted())
		}
	}
}

func TestUnsupportedYAMLIsReported(t *testing.T) {
	for name, src := range map[string]string{
		"an error": "a: [\n", "a second document": "a: 1\n---\nb: 2\n", "a key after ?": "? a\n: 1\n",
		"a document on the line of its marker": "--- {a: 1}\n---\n",
	} {
		var diags diag.List
		if got, ok := YAML("f.yaml", []byte(src), &diags); ok || !diags.Failed() {
			t.Errorf("%s: made %q, reported %v", name, got, diags.Sorted())
		}
	}
}
