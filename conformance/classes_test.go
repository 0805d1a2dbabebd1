package conformance

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/conformance/classes"
	"bindc/diag"
	"bindc/internal/proof/params"
	"bindc/internal/testmode"
	"bindc/loader"
)

var (
	classSites = flag.Int("classes", 20, "with -puppet: how many random sites with classes are made")
	classFrom  = flag.Uint64("classes-from", 0, "with -puppet: the seed of the first of these sites")
)

// classesPerSite is the number of classes of a random site.
const classesPerSite = 25

// TestClassesAgreeWithPuppet compares the errors of `bindc check` about class parameters with those of real Puppet when
// it declares the classes of random sites. Each error must be one of Puppet for the request that it names. If the value
// of a parameter has no interpolations, each error of Puppet must be reported.
//
//	go test ./conformance -run ClassesAgree -puppet -classes 250 -timeout 1h
func TestClassesAgreeWithPuppet(t *testing.T) {
	if !*askPuppet {
		t.Skip("-puppet asks Puppet")
	}
	puppet, err := classes.StartPuppet()
	if err != nil {
		t.Fatal(err)
	}
	defer puppet.Close()
	counts := map[string]int{}
	for i := range *classSites {
		seed := *classFrom + uint64(i)
		site := classes.Generate(seed, classesPerSite)
		dir := writeSite(t, site)
		answers, err := puppet.Ask(dir, site.Classes)
		if err != nil {
			t.Fatal(err)
		}
		compareClasses(t, seed, site, dir, answers, counts)
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[what], what)
	}
}

func writeSite(t *testing.T, s *classes.Site) string {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, s.Files)
	return dir
}

var (
	ofKey        = regexp.MustCompile(`^(?:convert_to of )?'(m::c\d+)::p'`)
	ofRole       = regexp.MustCompile(`\(such as role=(\w)\)$`)
	puppetRefuse = regexp.MustCompile(`parameter 'p'|Value for key 'm::c\d+::p', .* has wrong type`)
	puppetLacks  = regexp.MustCompile(`expects a value for parameter 'p'`)
)

// compareClasses compares what is reported about a site with Puppet's answers.
func compareClasses(t *testing.T, seed uint64, s *classes.Site, dir string, answers [][]string, counts map[string]int) {
	reported := map[string]map[string]string{} // messages, by class and role
	for _, d := range checked(t, dir) {
		m := ofKey.FindStringSubmatch(d.Message)
		if d.Code != "parameter_type" && d.Code != "evaluation" || d.Severity != diag.Error || m == nil {
			continue
		}
		role := ""
		if r := ofRole.FindStringSubmatch(d.Message); r != nil {
			role = r[1]
		}
		if reported[m[1]] == nil {
			reported[m[1]] = map[string]string{}
		}
		reported[m[1]][role] = d.Message
	}
	for i, class := range s.Classes {
		refused := false
		for n, role := range classes.Roles {
			answer := answers[i][n]
			isRefused := puppetRefuse.MatchString(answer) && !puppetLacks.MatchString(answer)
			refused = refused || isRefused
			message, is := reported[class][role]
			counts["declarations"]++
			switch {
			case !is || isRefused:
			case answer != "": // for example, merging fails before the type is checked
				counts["other errors of Puppet that are reported"]++
			default:
				t.Errorf("seed %d: %s\n%s%s\nPuppet with the role '%s': %s", seed, message, s.Files[pathOf(class)],
					dataOf(s, class), role, answer)
			}
		}
		switch hasComputed := strings.Contains(dataOf(s, class), "%{"); {
		case refused && len(reported[class]) > 0:
			counts["classes refused by both"]++
		case refused && hasComputed:
			counts["classes refused by Puppet alone, computed"]++
		case refused:
			counts["classes refused by Puppet alone, constant"]++
			if os.Getenv("MISSED") != "" {
				t.Logf("seed %d missed: %s%s%q", seed, s.Files[pathOf(class)], dataOf(s, class), answers[i])
			}
		default:
			counts["classes not refused"]++
		}
	}
}

func pathOf(class string) string {
	return "modules/m/manifests/" + strings.TrimPrefix(class, "m::") + ".pp"
}

// dataOf returns the data and the lookup_options of a class, and the aliases of its site.
func dataOf(s *classes.Site, class string) string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(s.Files)) {
		for line := range strings.Lines(s.Files[path]) {
			if strings.Contains(line, class+"::p:") || strings.HasPrefix(line, "type M::") {
				out = append(out, path+": "+line)
			}
		}
	}
	return strings.Join(out, "")
}

// checked returns what is reported about the site in dir.
func checked(t *testing.T, dir string) []diag.Diagnostic {
	t.Helper()
	diags := diag.List{All: true}
	site := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatalf("the site has errors: %v", diags.Sorted())
	}
	if _, err := params.Check(site, content, params.Options{}, &diags); err != nil {
		t.Fatal(err)
	}
	return diags.Sorted()
}
