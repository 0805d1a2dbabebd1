package diag

import "testing"

func TestSuggestsSimilarWords(t *testing.T) {
	for _, c := range []struct{ word, known, want string }{
		{"osfamly", "osfamily", "did you mean 'osfamily'?"},    // missing letter
		{"ndoe", "node", "did you mean 'node'?"},               // swapped letters
		{"module", "modulepath", "did you mean 'modulepath'?"}, // missing end
		{"notice", "slice", ""},                                // too different
		{"a", "b", ""},                                         // nothing in common
		{"mo", "modulepath", ""},                               // too short to be the start of a word
	} {
		if got := DidYouMean(c.word, []string{"common", c.known}); got != c.want {
			t.Errorf("%s, known %s: %q, want %q", c.word, c.known, got, c.want)
		}
	}
}

// If two names are equally similar, both are suggested, unless one differs only in case and separators.
func TestSuggestsBothOfTwoSimilarWords(t *testing.T) {
	for _, c := range []struct {
		word, want string
		known      []string
	}{
		{"web::pot", "did you mean 'web::port' or 'web::prot'?", []string{"web::port", "web::prot"}},
		{"lab3", "did you mean 'lab1' or 'lab2'?", []string{"lab1", "lab1", "lab2"}},
		{"lab3", "did you mean 'lab1'?", []string{"lab1", "lab1", "other"}},
		{"facts", "did you mean 'facts_dir' or 'facts_file'?", []string{"facts_dir", "facts_file"}},
		{"data_dir", "did you mean 'datadir'?", []string{"data_dig", "datadir"}},
		{"data_dir", "did you mean 'datadir'?", []string{"datadir", "data_dig"}},
		{"osfamly", "did you mean 'osfamily'?", []string{"os.family", "osfamily", "osfam"}},
	} {
		if got := DidYouMean(c.word, c.known); got != c.want {
			t.Errorf("%s, known %v: %q, want %q", c.word, c.known, got, c.want)
		}
	}
}

// CorrectTypo and Misspelt find the same names.
func TestTypoWithTwoCorrectionsNamesBoth(t *testing.T) {
	var diags List
	names := []string{"web::port", "web::prot", "mail::host"}
	f := diags.CorrectTypo("web::pot", names)
	if f.New == "" || f.Or == "" || f.New == f.Or || f.New != Misspelt("web::pot", names) {
		t.Errorf("found %+v", f)
	}
	if f := diags.CorrectTypo("mail::hots", names); f.New != "mail::host" || f.Or != "" {
		t.Errorf("found %+v", f)
	}
}
