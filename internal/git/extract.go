package git

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Modes of the entries of a tree, as git writes them.
const (
	modeExecutable = "100755"
	modeLink       = "120000"
	modeSubmodule  = "160000"
)

// entry is a file of a commit.
type entry struct{ mode, object, path string }

// Extract writes the files of a commit into the directory dir, with exactly the bytes of the commit: filters and
// conversions of line ends do not apply. It returns the paths of submodules, whose files the repository does not have.
func (r *Repository) Extract(commit, dir string) (submodules []string, err error) {
	out, err := r.run("ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var files []entry
	for _, line := range fields(out) {
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about) // mode, type, object
		if len(words) != 3 {
			return nil, fmt.Errorf("git ls-tree: expected 'MODE TYPE OBJECT<tab>PATH', found '%s'", line)
		}
		if words[0] == modeSubmodule {
			submodules = append(submodules, name)
			continue
		}
		files = append(files, entry{words[0], words[2], name})
	}
	root, err := os.OpenRoot(dir) // a path of the commit cannot lead out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return submodules, r.write(root, files)
}

// write writes the files of a commit below root.
func (r *Repository) write(root *os.Root, files []entry) error {
	var asked strings.Builder
	for _, f := range files {
		asked.WriteString(f.object + "\n")
	}
	cmd := r.command("cat-file", "--batch")
	cmd.Stdin = strings.NewReader(asked.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return failure(err, "")
	}
	w := writer{root: root, in: bufio.NewReaderSize(out, 1<<16), made: map[string]bool{".": true}}
	for _, f := range files {
		if err = w.write(f); err != nil {
			break
		}
	}
	if err != nil {
		out.Close() // git ends when it cannot write
		cmd.Wait()
		return err
	}
	return failure(cmd.Wait(), stderr.String())
}

// writer writes files below root with the contents that git prints.
type writer struct {
	root *os.Root
	in   *bufio.Reader
	made map[string]bool // directories that exist
}

// write writes the next file.
func (w *writer) write(f entry) error {
	head, err := w.in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("git cat-file ended before %s: %w", f.path, err)
	}
	var object, kind string
	var size int64
	if n, _ := fmt.Sscanf(head, "%s %s %d", &object, &kind, &size); n != 3 {
		return fmt.Errorf("%s: the repository does not have its content: %s", f.path, strings.TrimSpace(head))
	}
	if dir := path.Dir(f.path); !w.made[dir] {
		if err := w.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		w.made[dir] = true
	}
	content := io.LimitReader(w.in, size)
	if f.mode == modeLink {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		if err := w.root.Symlink(string(target), f.path); err != nil {
			return err
		}
	} else if err := w.file(f, content, size); err != nil {
		return err
	}
	_, err = w.in.Discard(1) // the end of line after a content
	return err
}

// file writes a file that is not a symbolic link.
func (w *writer) file(f entry, content io.Reader, size int64) error {
	mode := os.FileMode(0o600)
	if f.mode == modeExecutable {
		mode = 0o700
	}
	file, err := w.root.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, content)
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
