package loader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/syntax"
	"bindc/loader"
)

// environments returns the environments below root, each as "name dir [modulepath] bindings", with paths relative to
// root.
func environments(t *testing.T, root string) (found []string, program string, problems []string) {
	t.Helper()
	var diags diag.List
	all := loader.ReadEnvironments(fsx.Disk{}, root, &diags)
	rel := func(path string) string { return strings.ReplaceAll(path, root, "ROOT") }
	for _, e := range all.All {
		text := e.Name + " " + rel(e.Dir)
		if e.ModulePath != nil {
			text += " " + rel(fmt.Sprint(e.ModulePath))
		}
		if e.Bindings != "" {
			text += " " + rel(e.Bindings)
		}
		if e.Implied {
			text += " implied"
		}
		found = append(found, text)
	}
	for _, d := range diags.Sorted() {
		at := rel(d.Pos.File)
		if d.Pos.Line > 0 {
			at = fmt.Sprintf("%d:%d", d.Pos.Line, d.Pos.Col)
		}
		problems = append(problems, fmt.Sprintf("%s %s %s", at, d.Severity, d.Code))
	}
	return found, syntax.Print(all.Program), problems
}

func TestReadsEnvironmentDeclarations(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
		program      string
	}{
		{"an empty file implies production", "", []string{"production ROOT implied"}, "undef"},
		{"without an assignment the program selects no environment",
			"site { environment { 'test': } }", []string{"production ROOT implied", "test ROOT"},
			"undef"},
		{"directories", "site { dynamic_environments { \"$confdir/dirs\": } }",
			[]string{"a ROOT/dirs/a", "b-1.x ROOT/dirs/b-1.x", "production ROOT implied"}, "undef"},
		{"a directory named production replaces the implied one", "site { dynamic_environments { '$confdir/more': } }",
			[]string{"linked ROOT/more/linked", "production ROOT/more/production"}, "undef"},
		{"a declaration wins over a directory of the same name",
			"site { dynamic_environments { \"${confdir}/dirs\": } environment { 'a': envdir => \"$confdir/master\" } }",
			[]string{"a ROOT/master", "b-1.x ROOT/dirs/b-1.x", "production ROOT implied"}, "undef"},
		{"defaults and relative paths are resolved", `site {
			Environment { modulepath => 'mods:/nowhere:dist', bindingsdir => 'b', envdir => "$confdir/master" }
			environment { 'production': ; 'own': envdir => "$confdir/dirs/a", modulepath => '$confdir/mods:none' }
			dynamic_environments { "$confdir/more": bindingsdir => '/b' }
		}`, []string{"linked ROOT/more/linked [] /b", "own ROOT/dirs/a [ROOT/mods] ROOT/dirs/a/b",
			"production ROOT/master [ROOT/master/mods ROOT/master/dist] ROOT/master/b"}, "undef"},
		{"attributes that only Puppet uses are ignored",
			"site { environment { 'production': manifestdir => 'm', manifest => 'x.pp', " +
				"templatedir => 't' } }", []string{"production ROOT"}, "undef"},
		{"a declaration with several titles",
			"site { environment { ['a', 'production']: } }", []string{"a ROOT", "production ROOT"}, "undef"},
		{"a declaration uses variables assigned above it",
			"$base = \"$confdir/master\" $unused = $role\n$path = \"$base\"" +
				"\nsite { environment { 'production': envdir => $path } }", []string{"production ROOT/master"},
			`$confdir = 'ROOT'; $base = "${confdir}/master"; $unused = $role; $path = "${base}"; $environment`},
		{"a declaration uses a variable assigned from a list", "[$base, $other] = [\"$confdir/master\", 1]\n" +
			"site { environment { 'production': envdir => $base } }", []string{"production ROOT/master"},
			`$confdir = 'ROOT'; [$base, $other] = ["${confdir}/master", 1]; $environment`},
		{"the program selects among environments",
			"site { environment { 'x': } } $environment = $role ? { 'db' => 'x', " +
				"'nope' => undef, default => 'production' }", []string{"production ROOT implied", "x ROOT"},
			"$environment = $role ? { 'db' => 'x', 'nope' => undef, default => 'production' }; $environment"},
		{"the last statement of a branch is its result",
			"$environment = if $a == 'nope' { $b = 'nope' undef } else { 'production' }",
			[]string{"production ROOT implied"},
			"$environment = if $a == 'nope' { $b = 'nope'; undef } else { 'production' }; $environment"},
		{"$confdir is replaced in single quotes too", "site { environment { 'x': envdir => '$confdir/dirs/a' } }",
			[]string{"production ROOT implied", "x ROOT/dirs/a"}, "undef"},
		{"an unrelated statement does not affect a declaration", "$base = \"$confdir/master\" " +
			"if $role { $b = $base }\nsite { environment { 'production': envdir => $base } }",
			[]string{"production ROOT/master"}, `$confdir = 'ROOT'; $base = "${confdir}/master"; ` +
				"if $role { $b = $base }; $environment"},
		{"$environment can be read after it is assigned",
			"site { environment { 'x': } } if $role { $environment = 'x' } " +
				"$b = $environment", []string{"production ROOT implied", "x ROOT"},
			"if $role { $environment = 'x' }; $b = $environment; $environment"},
		{"an empty branch selects no environment", "$environment = if $role { } else { 'production' }",
			[]string{"production ROOT implied"}, "$environment = if $role {} else { 'production' }; $environment"},
		{"an assignment in a condition selects the environment",
			"site { environment { 'x': } } if $role == 'db' { $environment = 'x' }",
			[]string{"production ROOT implied", "x ROOT"},
			"if $role == 'db' { $environment = 'x' }; $environment"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := writeSite(t, map[string]string{"environments.pp": test.source, "dirs/a/x": "", "dirs/b-1.x/x": "",
				"dirs/.git/x": "", "dirs/file": "", "more/production/x": "", "master/mods/x": "", "master/dist/x": "",
				"mods/x": ""})
			if err := os.Symlink("../dirs/a", filepath.Join(root, "more/linked")); err != nil {
				t.Fatal(err)
			}
			got, program, problems := environments(t, root)
			program = strings.ReplaceAll(strings.Join(strings.Fields(program), " "), root, "ROOT")
			if !slices.Equal(got, test.want) || len(problems) > 0 {
				t.Errorf("found %q, %q; expected %q", got, problems, test.want)
			}
			if program != test.program {
				t.Errorf("the program is %s, expected %s", program, test.program)
			}
		})
	}
}

// The directory "environments" is not searched unless environments.pp declares it. A site that declares no environments
// gets a warning.
func TestWarnsAboutUndeclaredEnvironmentsDirectory(t *testing.T) {
	warned := []string{"ROOT/environments.pp warning environments"}
	for source, want := range map[string][]string{
		"":                                 warned,
		"$environment = 'production'":      warned,
		"site { environment { 'test': } }": nil,
		"site { Environment { manifest => 'site.pp' } }": warned,
	} {
		root := writeSite(t, map[string]string{"environments.pp": source, "environments/unused/x": ""})
		if _, _, problems := environments(t, root); !slices.Equal(problems, want) {
			t.Errorf("%s: found %q, expected %q", source, problems, want)
		}
	}
}

func TestRejectsInvalidEnvironmentDeclarations(t *testing.T) {
	for source, want := range map[string]string{
		"site {":       "1:7 error environments",
		"'production'": "1:1 error environments",
		"site { environment { 'a': modulpath => 'x' } }":                        "1:27 error environments",
		"site { environment { 'a': envdir => 'x' } }":                           "1:37 error environments",
		"site { environment { 'a': envdir => 1 } }":                             "1:37 error environments",
		"site { environment { 'a': envdir => $fqdn } }":                         "1:37 error environments",
		"site { environment { 'a': envdir => lookup('x') } }":                   "1:37 error environments",
		"site { environment { 'a': envdir => nofun('x') } }":                    "1:37 error environments",
		"site { environment { 'a': manifest => 'b', manifest => 'c' } }":        "1:44 error environments",
		"site { environment { 'a b': } }":                                       "1:22 error environments",
		"site { environment { 1: } }":                                           "1:22 error environments",
		"site { environment { 'a': } }\nsite { environment { 'a': } }":          "2:22 error environments",
		"site { dynamic_environments { 'environments': } }":                     "1:31 error environments",
		"site { dynamic_environments { '/nowhere/at/all': } }":                  "1:31 error environments",
		"site { dynamic_environments { \"$confdir/d\": envdir => '/x' } }":      "1:45 error environments",
		"site { dynamic_environments { \"$confdir/d\": ; \"$confdir/d\": } }":   "1:47 error environments",
		"$environment = lookup('x')":                                            "1:16 error environments",
		"$environment = lookup($osfamly)":                                       "1:16 error environments",
		"site { dynamic_environments { 'testdata': } }":                         "1:31 error environments", // exists
		"site { dynamic_environments { 1: } }":                                  "1:31 error environments",
		"site { dynamic_environments { \"$confdir/odd\": } }":                   "ROOT/odd/a b warning environments",
		"$environment = include('x')":                                           "1:16 error environments",
		"if $osfamly == 'Debian' { $environment = undef }":                      "1:4 warning fact",
		"if $osfamily == 'Debian' { $environment = 'x' }":                       "1:43 error environments",
		"site { environment { 'a': envdir => \"$confdir/${fqdn}\" } }":          "1:49 error environments",
		"$a = $fqdn\nsite { environment { 'x': envdir => $a } }":                "1:6 error environments",
		"site { environment { 'x': envdir => $a } }\n$a = \"$confdir/d\"":       "1:37 error environments",
		"site { environment { 'x': envdir => '' } }":                            "1:37 error environments",
		"site { environment { ['x', '']: } }":                                   "1:22 error environments",
		"site { dynamic_environments { [\"$confdir/d\", \"$confdir/odd\"]: } }": "1:31 error environments",
		"site { dynamic_environments { \"$confdir/file\": } }":                  "1:31 error environments",
		"$environment = 1": "1:16 error environments",
		"$environment = $osfamily ? { 'x' => 'y', default => 'production' }": "1:37 error environments",
		"$environment = case $osfamily { 'x': { 'y' } default: { undef } }":  "1:40 error environments",
		"$environment = if $osfamily { undef } else { $a = 'z'; 'y' }":       "1:56 error environments",
		"# ä\n$e = 'ä' + ":                                     "2:12 error environments",
		"site { environment { 'a': manifest => '' } }":         "1:39 error environments",
		"site { environment { 'a': manifest => /x/ } }":        "1:39 error environments",
		"site { environment { /x/: } }":                        "1:22 error environments",
		"site { environment { $fqdn: } }":                      "1:22 error environments",
		"site { dynamic_environments { \"$confdir/loop\": } }": "ROOT/loop error read",
		"site { environment { ['a b', 1, 'c d']: } }": "1:22 error environments, 1:22 error environments, " +
			"1:22 error environments",
		"site { environment { 'a': modulpath => 'x', envdir => 1 } }": "1:27 error environments, " +
			"1:55 error environments",
		// after a syntax error, unknown environments are not reported, because they may be declared below; declarations
		// above it are still checked
		"site {\nenvironment { 'a': }\nenvironment { 'a': }\n": "4:1 error environments",
		"site {\nEnvironment { modulpath => 'x', envdir => nofun('x') }\nenvironment { 'a': manifst => 'x', " +
			"envdir => nofun('x') }\ndynamic_environments { 'd': envdir => '/x', manifest => nofun('x') }\n}\n" +
			"$a = nofun('x')\n$b = 1 +": "2:15 error environments, 2:43 error environments, 3:20 error environments, " +
			"3:46 error environments, 4:29 error environments, 4:57 error environments, 6:6 error environments, " +
			"7:9 error environments",
	} {
		root := writeSite(t, map[string]string{"environments.pp": source, "d/x": "", "odd/a b/x": "", "file": ""})
		if err := os.Symlink("loop", filepath.Join(root, "loop")); err != nil {
			t.Fatal(err)
		}
		if _, _, problems := environments(t, root); strings.Join(problems, ", ") != want {
			t.Errorf("%s: %q, expected %s", source, problems, want)
		}
	}
}

// Where several errors are possible at one position, the message says which one occurred.
func TestMessagesSayWhichEnvironmentAttributeIsInvalid(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"site { environment { 'a': modulpath => 'x' } }", "unknown attribute 'modulpath'; expected 'envdir',"},
		{"site { dynamic_environments { \"$confdir/d\": envdir => '/x' } }",
			"the 'envdir' of a dynamic environment is its directory, and cannot be set to another"},
		{"$environment = 1", "expected an environment name as $environment, found"},
		{"$environment = 'produktion'", "there is no environment 'produktion'; there is 'production'"},
		{"site { environment { '': } }", "expected an environment name of letters, digits, _, . and -, found ''"},
		{"site { environment { 'a': envdir => 'x' } }", "expected an absolute path for 'envdir', found 'x'"},
		{"$a = lookup('x')\nsite { environment { 'x': envdir => $a } }", "lookups are not possible here"},
	} {
		root := writeSite(t, map[string]string{"environments.pp": c.source, "d/x": ""})
		var diags diag.List
		loader.ReadEnvironments(fsx.Disk{}, root, &diags)
		says := func(d diag.Diagnostic) bool { return strings.Contains(d.Message, c.want) }
		if found := diags.Sorted(); !slices.ContainsFunc(found, says) {
			t.Errorf("%s: %v, expected %q", c.source, found, c.want)
		}
	}
}

// A directory that cannot be checked is an error, and the others are still read. A dangling link is ignored.
func TestReportsUncheckableEnvironmentDirectory(t *testing.T) {
	root := writeSite(t, map[string]string{"environments/b/x": "", "environments/e/x": ""})
	for name, target := range map[string]string{"a": "nowhere", "c": "c", "d": "d"} {
		if err := os.Symlink(target, filepath.Join(root, "environments", name)); err != nil {
			t.Fatal(err)
		}
	}
	got, _, problems := environments(t, root)
	if want := []string{"b ROOT/environments/b", "e ROOT/environments/e"}; !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
	want := []string{"ROOT/environments/c error read", "ROOT/environments/d error read"}
	if !slices.Equal(problems, want) {
		t.Errorf("reported is %q, expected %q", problems, want)
	}
}

// Without environments.pp, directories are environments by Puppet's rules.
func TestWithoutEnvironmentsFileDirectoriesAreEnvironments(t *testing.T) {
	root := writeSite(t, map[string]string{"environments/production/x": "", "environments/b_1/x": "",
		"environments/not-one/x": "", "environments/.git/x": "", "environments/file": ""})
	got, program, problems := environments(t, root)
	if want := []string{"b_1 ROOT/environments/b_1", "production ROOT/environments/production"}; !slices.Equal(got, want) ||
		program != "$agent_environment" {
		t.Errorf("found %q, %s", got, program)
	}
	if want := []string{"ROOT/environments/not-one warning environments"}; !slices.Equal(problems, want) {
		t.Errorf("found %q, expected %q", problems, want)
	}
	for _, loop := range []string{"environments.pp", "environments"} {
		root := writeSite(t, map[string]string{"environments.d/x": ""})
		if loop == "environments.pp" { // the message must name the link that loops
			root = writeSite(t, map[string]string{"environments/not-one/x": ""})
		}
		if err := os.Symlink(loop, filepath.Join(root, loop)); err != nil {
			t.Fatal(err)
		}
		_, _, problems = environments(t, root)
		if want := []string{"ROOT/" + loop + " error read"}; !slices.Equal(problems, want) {
			t.Errorf("of %s that leads to itself: %q", loop, problems)
		}
	}
	_, _, problems = environments(t, t.TempDir())
	if want := []string{"ROOT error environments"}; !slices.Equal(problems, want) {
		t.Errorf("of nothing: %q", problems)
	}
}
