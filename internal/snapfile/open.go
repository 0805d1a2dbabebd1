package snapfile

import (
	"errors"
	"fmt"
	"os"

	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Use opens the snapshot at path, checks its signature and calls do. It closes the snapshot when do returns. If the
// file is truncated while do reads it, Use returns an error that wraps a *snapshot.DamageError.
func (s *Signers) Use(path string, do func(*snapshot.Snapshot) error) error {
	return s.use(snapshot.Open, path, do)
}

// UseCopy is like Use, but reads the file into memory, so that later changes to the file do not affect do.
func (s *Signers) UseCopy(path string, do func(*snapshot.Snapshot) error) error {
	return s.use(snapshot.OpenCopy, path, do)
}

// Use is like Signers.Use, but accepts all snapshots.
func Use(path string, do func(*snapshot.Snapshot) error) error {
	return new(Signers).Use(path, do)
}

func (s *Signers) use(open func(string) (*snapshot.Snapshot, error), path string,
	do func(*snapshot.Snapshot) error) error {
	accept, err := s.Accept()
	if err != nil {
		return err
	}
	if err := CheckOne(path); err != nil {
		return err
	}
	f, err := open(path)
	if err != nil {
		return InFile(path, err)
	}
	defer f.Close()
	return InFile(path, f.Protect(func() error {
		if accept != nil {
			if err := accept(path, f.Sum()); err != nil {
				return err
			}
		}
		return do(f)
	}))
}

// CheckOne returns an error if path is a directory, because the user probably means one of the snapshots in it.
func CheckOne(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory: expected one snapshot, such as NAME.snap in it", path)
	}
	return nil
}

type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.path + ": " + e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

// InFile adds path to the message of err if err is about the content of a file. It returns other errors unchanged, and
// errors that already have a path.
func InFile(path string, err error) error {
	var damage *bindings.DamageError
	var named *fileError
	isOfFile := errors.As(err, &damage) || errors.Is(err, bindings.ErrFormat) || errors.Is(err, bindings.ErrVersion)
	if errors.As(err, &named) || !isOfFile {
		return err
	}
	return &fileError{path, err}
}
