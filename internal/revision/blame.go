package revision

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Line is who wrote a line of a file, and when.
type Line struct {
	Commit  string // its full name
	Author  string
	Mail    string
	Date    time.Time
	Summary string // the first line of the message
}

// NotCommitted says why a line has no commit.
type NotCommitted struct{ Reason string }

func (e *NotCommitted) Error() string { return e.Reason }

// Blame returns the commit that wrote a line of a file as it is in the work tree. The error is a *NotCommitted if no
// commit did.
func (r *Repository) Blame(file string, line int) (*Line, error) {
	name, err := r.Path(file)
	if err != nil {
		return nil, &NotCommitted{err.Error()}
	}
	name = filepath.ToSlash(name)
	tracked, err := r.git("ls-files", "-z", "--", ":(literal)"+name)
	if err != nil {
		return nil, err
	}
	if len(tracked) == 0 {
		return nil, &NotCommitted{"the file is not in git"}
	}
	if _, err := r.git("cat-file", "-e", "HEAD:"+name); err != nil {
		return nil, &NotCommitted{"the file is added, but not committed"}
	}
	at := strconv.Itoa(line)
	out, err := r.git("blame", "--no-textconv", "--porcelain", "-L", at+","+at, "--", name)
	if err != nil {
		return nil, err
	}
	return parseBlame(string(out))
}

// parseBlame parses what git blame --porcelain prints for one line.
func parseBlame(text string) (*Line, error) {
	lines := strings.Split(text, "\n")
	commit, _, _ := strings.Cut(lines[0], " ")
	if strings.Trim(commit, "0") == "" {
		return nil, &NotCommitted{"the line is changed in the work tree, and not committed"}
	}
	l := &Line{Commit: commit}
	var seconds int64
	zone := time.UTC
	for _, text := range lines[1:] {
		name, rest, _ := strings.Cut(text, " ")
		switch name {
		case "author":
			l.Author = rest
		case "author-mail":
			l.Mail = strings.Trim(rest, "<>")
		case "author-time":
			var err error
			if seconds, err = strconv.ParseInt(rest, 10, 64); err != nil {
				return nil, fmt.Errorf("git blame: expected seconds after author-time, found '%s'", rest)
			}
		case "author-tz":
			if t, err := time.Parse("-0700", rest); err == nil {
				zone = t.Location()
			}
		case "summary":
			l.Summary = rest
		}
	}
	l.Date = time.Unix(seconds, 0).In(zone)
	return l, nil
}
