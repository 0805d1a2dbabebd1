package main

import (
	"errors"
	"io/fs"
	"slices"

	"bindc/diag"
	"bindc/snapshot"
)

// reportEmpty warns that the site in dir binds nothing, unless another warning explains why. If the file at out is a
// snapshot with bindings, replacing it would make every lookup fail, so reportEmpty adds an error.
func reportEmpty(diags *diag.List, dir, out string) {
	isExplained := slices.ContainsFunc(diags.Sorted(), func(d diag.Diagnostic) bool {
		return slices.Contains(explainEmpty, d.Code) && d.Severity == diag.Warning
	})
	d := diag.Diagnostic{Pos: diag.Pos{File: dir}, Severity: diag.Warning, Code: "empty",
		Message: "this site binds nothing"}
	if out != "" && out != toStdout && mayHoldBindings(out) {
		d.Severity = diag.Error
		d.Message += ", and " + out + " holds bindings: it stays as it is"
		d.Hint = "if the site is meant to be empty, use --allow-empty"
	}
	if d.Severity == diag.Error || !isExplained {
		diags.Add(d)
	}
}

// explainEmpty lists the codes of warnings that explain why a site binds nothing.
var explainEmpty = []diag.Code{"config", "data", "data_unreached", "hiera_interpolation", "not_included",
	"path_extension", "yml"}

// mayHoldBindings reports whether the file at path is a snapshot with bindings, or cannot be read.
func mayHoldBindings(path string) bool {
	s, err := snapshot.Open(path)
	switch {
	case errors.Is(err, snapshot.ErrFormat), errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		return true
	}
	defer s.Close()
	held := true
	err = s.Protect(func() error {
		held = s.Info().Bindings > 0
		return nil
	})
	return held || err != nil
}
