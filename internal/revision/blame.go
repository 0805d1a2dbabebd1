package revision

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Line describes a line of a file and the commit that last changed it.
type Line struct {
	Number  int    // counted from 1
	Commit  string // full hash
	Author  string
	Mail    string
	Date    time.Time
	Summary string // first line of the commit message
}

// NotCommitted is the error for lines that no commit contains. Reason says why.
type NotCommitted struct{ Reason string }

func (e *NotCommitted) Error() string { return e.Reason }

// Blame finds the commits that last changed the lines first to last of a file in the work tree. It
// returns the first line of the newest of these commits. If one of the lines is not committed, the
// error is a *NotCommitted.
func (r *Repository) Blame(file string, first, last int) (*Line, error) {
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
		return nil, &NotCommitted{"the file is added but not committed"}
	}
	out, err := r.git("blame", "--no-textconv", "--line-porcelain", fmt.Sprintf("-L%d,%d", first, last), "--", name)
	if err != nil {
		return nil, err
	}
	lines, err := parseBlame(string(out))
	if err != nil {
		return nil, err
	}
	return r.newest(lines)
}

// newest returns the first line of the newest commit. A commit is newer than its ancestors even if
// its date is earlier.
func (r *Repository) newest(lines []Line) (*Line, error) {
	byCommit := map[string]*Line{}
	order := []string{"rev-list", "--date-order", "--max-count=1"}
	for i := range lines {
		if l := &lines[i]; byCommit[l.Commit] == nil {
			byCommit[l.Commit], order = l, append(order, l.Commit)
		}
	}
	if len(byCommit) == 1 {
		return &lines[0], nil
	}
	out, err := r.git(order...)
	if err != nil {
		return nil, err
	}
	newest := byCommit[strings.TrimSpace(string(out))]
	if newest == nil {
		return nil, fmt.Errorf("git rev-list: expected one of the commits of git blame, found '%s'", out)
	}
	return newest, nil
}

// parseBlame parses the output of git blame --line-porcelain. It consists of a header for each
// line, followed by a tab and the line.
func parseBlame(text string) (lines []Line, err error) {
	header := []string{}
	for row := range strings.Lines(text) {
		if !strings.HasPrefix(row, "\t") {
			header = append(header, strings.TrimSuffix(row, "\n"))
			continue
		}
		l, err := parseHeader(header)
		if err != nil {
			return nil, err
		}
		lines, header = append(lines, *l), nil
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("git blame: expected lines, found '%s'", text)
	}
	return lines, nil
}

// parseHeader parses a header of git blame. The first row has the commit and line numbers; each of
// the others has a name and a value.
func parseHeader(rows []string) (*Line, error) {
	fields := strings.Fields(strings.Join(rows[:min(len(rows), 1)], ""))
	if len(fields) < 3 {
		return nil, fmt.Errorf("git blame: expected a commit and line numbers, found '%s'", strings.Join(fields, " "))
	}
	number, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, fmt.Errorf("git blame: expected a line number, found '%s'", fields[2])
	}
	if strings.Trim(fields[0], "0") == "" {
		return nil, &NotCommitted{fmt.Sprintf("line %d has uncommitted changes", number)}
	}
	l := &Line{Number: number, Commit: fields[0]}
	var seconds int64
	zone := time.UTC
	for _, row := range rows[1:] {
		name, rest, _ := strings.Cut(row, " ")
		switch name {
		case "author":
			l.Author = rest
		case "author-mail":
			l.Mail = strings.Trim(rest, "<>")
		case "author-time":
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
