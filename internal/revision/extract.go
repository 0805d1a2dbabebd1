package revision

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Extract writes the files of a commit to the directory into, which must exist. It writes nothing
// outside that directory. It takes submodules from their repositories in the work tree. For files
// that git ignores, such as modules installed by r10k, it creates links to the work tree, because
// commits do not contain them. notes lists warnings for the user about what is missing or linked.
func (r *Repository) Extract(commit, into string) (notes []string, err error) {
	root, err := os.OpenRoot(into)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if notes, err = r.extract(commit, root, "."); err != nil {
		return nil, err
	}
	linked, err := r.linkIgnored(root)
	return append(notes, linked...), err
}

// extract writes a commit of a repository or submodule. below is the path of the submodule relative
// to the outermost repository.
func (r *Repository) extract(commit string, root *os.Root, below string) (notes []string, err error) {
	entries, err := r.tree(commit)
	if err != nil {
		return nil, err
	}
	if err := r.writeFiles(entries, root, below); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.mode != modeSubmodule {
			continue
		}
		more, err := r.submodule(e, root, below)
		if err != nil {
			return nil, err
		}
		notes = append(notes, more...)
	}
	return notes, nil
}

// submodule writes a submodule of r. If the submodule or its commit is missing in the work tree, it
// returns a note instead.
func (r *Repository) submodule(e entry, root *os.Root, below string) ([]string, error) {
	below = filepath.Join(below, e.path)
	missing := []string{"the submodule " + below + " is not checked out, so its data is missing; run " +
		"git submodule update --init"}
	sub := &Repository{r.ctx, filepath.Join(r.top, e.path)}
	if _, err := os.Lstat(filepath.Join(sub.top, ".git")); err != nil {
		return missing, nil
	}
	if _, err := sub.Commit(e.id); err != nil {
		return missing, nil
	}
	return sub.extract(e.id, root, below)
}

// writeFiles writes the files of a commit. It creates symbolic links last, so that it never writes
// a file through a link.
func (r *Repository) writeFiles(entries []entry, root *os.Root, below string) error {
	cmd := exec.CommandContext(r.ctx, plain()[0], append(plain()[1:], "cat-file", "--batch")...)
	cmd.Dir, cmd.Env = r.top, environment()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer in.Close()
		w := bufio.NewWriter(in)
		defer w.Flush()
		for _, e := range entries {
			if e.mode != modeSubmodule {
				fmt.Fprintln(w, e.id) // if git has exited, the reader reports it
			}
		}
	}()
	err = writeAll(bufio.NewReaderSize(out, 1<<16), entries, root, below)
	if err != nil {
		cmd.Process.Kill()
	}
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("git cat-file: %w: %s", ended, strings.TrimSpace(complaint.String()))
	}
	return err
}

// writeAll writes entries to the directory below. blobs contains their contents in the same order,
// as git cat-file writes them.
func writeAll(blobs *bufio.Reader, entries []entry, root *os.Root, below string) error {
	links := map[string]string{} // targets of symbolic links, by path
	for _, e := range entries {
		if e.mode == modeSubmodule {
			continue
		}
		name := filepath.Join(below, e.path)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		size, err := blobSize(blobs, e)
		if err != nil {
			return err
		}
		if e.mode == modeLink {
			target := make([]byte, min(size, 1<<16))
			if _, err := io.ReadFull(blobs, target); err != nil {
				return err
			}
			links[name] = string(target)
		} else if err := writeBlob(blobs, size, root, name, e.mode == modeExecutable); err != nil {
			return err
		}
		if _, err := blobs.Discard(1); err != nil { // the newline after a blob
			return err
		}
	}
	for name, target := range links {
		if err := root.Symlink(target, name); err != nil {
			return err
		}
	}
	return nil
}

// blobSize reads the line before a blob, which has the ID, the type and the size of the blob.
func blobSize(blobs *bufio.Reader, e entry) (int64, error) {
	line, err := blobs.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("git cat-file ended before %s: %w", e.path, err)
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != e.id || fields[1] != "blob" {
		return 0, fmt.Errorf("git cannot read %s: %s", e.path, strings.TrimSpace(line))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err == nil && size < 0 {
		err = errors.New("negative size")
	}
	return size, err
}

func writeBlob(blobs io.Reader, size int64, root *os.Root, name string, executable bool) error {
	mode := os.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, blobs, size)
	return errors.Join(err, f.Close())
}

// linkIgnored creates links to ignored files of the work tree. It skips files that the commit
// contains. It returns a note if it creates any link.
func (r *Repository) linkIgnored(root *os.Root) (notes []string, err error) {
	names, err := r.ignored()
	if err != nil {
		return nil, err
	}
	var linked []string
	for _, name := range names {
		name = strings.TrimSuffix(name, "/")
		if _, err := root.Lstat(name); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) { // a parent directory is a symbolic link that leads elsewhere
			notes = append(notes, "git ignores "+name+", and it is missing from the revision: "+err.Error())
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := root.Symlink(filepath.Join(r.top, name), name); err != nil {
			return nil, err
		}
		linked = append(linked, name)
	}
	switch n := len(linked); n {
	case 0:
	case 1:
		notes = append(notes, "git ignores "+linked[0]+"; all sides read it from the working tree")
	default:
		notes = append(notes, fmt.Sprintf("git ignores %s and %d more; all sides read them from the working tree",
			linked[0], n-1))
	}
	return notes, nil
}
