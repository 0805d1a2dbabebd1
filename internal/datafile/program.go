package datafile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"bindc/internal/fsx"
)

// HashProgram returns the Program of the executable at path. Hashing it takes a fortieth of a short build, so the
// directory of caches dir keeps the hash for the identity of the file, which is trusted like that of a data file. dir
// may be "".
func HashProgram(path, dir string) (Program, error) {
	if dir == "" {
		return hashFile(path)
	}
	known := filepath.Join(dir, programName(path))
	id, ok := fsx.FileIDAt(path)
	if kept, err := os.ReadFile(known); err == nil && ok && id != (fsx.FileID{}) {
		if program, ok := bytes.CutPrefix(kept, programRecord(id, nil)); ok && len(program) == len(Program{}) {
			return Program(program), nil
		}
	}
	program, err := hashFile(path)
	if err != nil {
		return program, err
	}
	// Without a record, the next build hashes the program again.
	if now, err := fsx.Clock(dir, "."+programName(path)+".*.tmp"); err == nil && ok && id.Settled(now) {
		_ = fsx.Replace(known, fsx.ReplaceOptions{Limit: 0o600}, func(f *os.File) error {
			_, err := f.Write(programRecord(id, program[:]))
			return err
		})
	}
	return program, nil
}

// programName returns the name of the file that keeps the hash of an executable for a user.
func programName(path string) string {
	sum := sha256.Sum256(fmt.Append(nil, os.Geteuid(), " ", path))
	return hex.EncodeToString(sum[:12]) + ".program"
}

// programRecord returns the content of that file.
func programRecord(id fsx.FileID, program []byte) []byte {
	out := []byte("bindc program 1\n")
	for _, n := range [...]uint64{id.Device, id.Inode, uint64(id.Size), uint64(id.Modified), uint64(id.Change)} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	return append(out, program...)
}

func hashFile(path string) (out Program, err error) {
	file, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return out, err
	}
	return Program(sum.Sum(nil)), nil
}
