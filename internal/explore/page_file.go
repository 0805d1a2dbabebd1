package explore

import (
	"iter"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
	"bindc/internal/report/decision"
)

type filesContent struct {
	Files        []fileRow
	Total        int
	Empty        int // number of files without bindings
	Unread       int // number of files that bindc never reads
	Dead         int // files with bindings that all reach no node
	Partly       int // files with at least one binding that reaches no node
	DeadBindings int
	Only         string // filter in the query: "" for all files, "1" for dead files, or partly
	Next         string
}

// fileRow is a file in the list of files, on the page and in JSON.
type fileRow struct {
	Path     string `json:"path"`
	Bindings int    `json:"bindings"`
	Reaching int    `json:"reaching"`         // number of bindings that reach a node
	Unread   string `json:"unread,omitempty"` // why bindc never reads the file; "" if it does
}

// IsDead reports whether the file's data reaches no node: either bindc never reads the file, or all its bindings are
// dead.
func (f fileRow) IsDead() bool { return f.Unread != "" || f.Bindings > 0 && f.Reaching == 0 }

// Dead returns the number of bindings in the file that reach no node.
func (f fileRow) Dead() int { return f.Bindings - f.Reaching }

// fileList lists the files of the site, including those that bindc never reads.
func (v *view) fileList() (any, error) {
	v.Title, v.Section = "Files", "f"
	ready, err := v.wait(v.d.tally.ready)
	if err != nil {
		return nil, err
	}
	c := &filesContent{Total: len(v.d.inputs), Unread: len(v.d.unread), Only: v.Get("dead"), Files: []fileRow{}}
	from, selected := v.number("from"), 0
	for f := range v.d.allFiles(ready) {
		if ready && f.Unread == "" {
			c.count(f)
		}
		if c.selects(f) {
			if v.asJSON || selected >= from && len(c.Files) < pageRows {
				c.Files = append(c.Files, f)
			}
			selected++
		}
	}
	if v.asJSON {
		return c.Files, nil
	}
	if to := from + pageRows; to < selected {
		c.Next = v.With("/f", "dead", v.Get("dead"), "from", to)
	}
	return c, nil
}

// allFiles returns an iterator over the files of the site, sorted by path. If counted is false, the number of bindings
// is not set.
func (d *Data) allFiles(counted bool) iter.Seq[fileRow] {
	return func(yield func(fileRow) bool) {
		unread := d.unread
		for i, in := range d.inputs {
			for ; len(unread) > 0 && unread[0].Path <= in.Path; unread = unread[1:] {
				if !yield(fileRow{Path: unread[0].Path, Unread: unread[0].Reason}) {
					return
				}
			}
			f := fileRow{Path: in.Path}
			if counted {
				f.Bindings, f.Reaching = len(d.tally.files[i].bindings), d.tally.files[i].reaching
			}
			if !yield(f) {
				return
			}
		}
		for _, f := range unread {
			if !yield(fileRow{Path: f.Path, Unread: f.Reason}) {
				return
			}
		}
	}
}

// partly is the value of the filter that selects files with at least one dead binding.
const partly = "partly"

// selects reports whether the filter includes the file.
func (c *filesContent) selects(f fileRow) bool {
	switch c.Only {
	case "":
		return true
	case partly:
		return f.Dead() > 0
	}
	return f.IsDead()
}

func (c *filesContent) count(f fileRow) {
	c.DeadBindings += f.Dead()
	switch {
	case f.Bindings == 0:
		c.Empty++
	case f.IsDead():
		c.Dead++
	}
	if f.Dead() > 0 {
		c.Partly++
	}
}

type fileContent struct {
	File     string
	Bindings []fileBinding
	Total    int
	Reaching int
	OnlyDead bool
	Next     string

	Unread *UnreadFile // nil unless bindc never reads the file
}

// fileBinding is a binding on a file's page and in the page's JSON twin.
type fileBinding struct {
	Key     string         `json:"key"`
	Layer   string         `json:"layer"`
	When    report.Terms   `json:"when"`
	At      string         `json:"at"`
	Name    string         `json:"name,omitempty"`
	Outcome report.Outcome `json:"outcome"`
	Nodes   int            `json:"nodes"` // number of nodes that the binding reaches
	UpTo    bool           `json:"up_to,omitempty"`

	Line  int        `json:"-"`
	Value shownValue `json:"-"`
	Place place      `json:"-"`
	List  string     `json:"-"` // address of the list of these nodes
	Dead  string     `json:"-"` // why the binding reaches no node
}

func (v *view) filePage() (any, error) {
	v.Section = "f"
	file := v.name("file", v.d.hasFile)
	number, known := v.d.input(file)
	if f, isUnread := v.d.unreadFile(file); isUnread && !known {
		return v.unreadPage(f), nil
	}
	if !known {
		return nil, missing("No file '"+diag.Visible(file)+"' was read", file, v.d.paths(),
			func(path string, _ ...any) string { return v.File(path, 0) }, link{"All files", v.With("/f")})
	}
	v.Title = diag.Visible(file)
	ready, err := v.wait(v.d.tally.ready)
	if err != nil || !ready {
		return &fileContent{File: file}, err
	}
	t := &v.d.tally.files[number]
	c := &fileContent{File: file, Total: len(t.bindings), Reaching: t.reaching, OnlyDead: v.Has("dead")}
	var shown []int // indices of the bindings that pass the filter
	for i := range t.bindings {
		if !c.OnlyDead || t.bindings[i].isDead() {
			shown = append(shown, i)
		}
	}
	from, to := 0, len(shown)
	if !v.asJSON {
		from = min(v.number("from"), len(shown))
		to = min(from+pageRows, len(shown))
	}
	if c.Bindings, err = v.bindingsOf(number, shown[from:to]); err != nil {
		return nil, err
	}
	if v.asJSON {
		return fileTwin{File: file, Bindings: c.Bindings}, nil
	}
	if to < len(shown) {
		c.Next = v.FilePart(file, "from", to, "dead", v.Get("dead"))
	}
	return c, nil
}

type fileTwin struct {
	File     string        `json:"file"`
	Bindings []fileBinding `json:"bindings"`
	Unread   string        `json:"unread,omitempty"` // why bindc never reads the file
}

// unreadPage returns the content for a file that bindc never reads. It gives the reason.
func (v *view) unreadPage(f UnreadFile) any {
	v.Title = diag.Visible(f.Path)
	if v.asJSON {
		return fileTwin{f.Path, []fileBinding{}, f.Reason}
	}
	return &fileContent{File: f.Path, Unread: &f}
}

// FilePart returns the address of a file's page with query parameters in pairs, as in With.
func (v *view) FilePart(file string, pairs ...any) string {
	to := v.File(file, 0)
	separator := "?"
	if strings.Contains(to, "?") {
		separator = "&"
	}
	return to + separator + strings.TrimPrefix(links{}.With("", pairs...), "?")
}

// bindingsOf returns the bindings of an input file that have the given indices in the file's tally.
func (v *view) bindingsOf(input int, indices []int) ([]fileBinding, error) {
	out := []fileBinding{}
	rows := map[int32][]decision.Row{} // by number of the key
	all := v.d.tally.files[input].bindings
	for _, i := range indices {
		b := all[i]
		if _, known := rows[b.key]; !known {
			found, err := v.d.rowsIn(uint32(input), b.key)
			if err != nil {
				return nil, err
			}
			rows[b.key] = found
		}
		rank := 0 // position among the key's bindings on this line
		for rank < i && byLine(all[i-rank-1], b) == 0 {
			rank++
		}
		for k := range rows[b.key] {
			row := &rows[b.key][k]
			if row.Origin().Line != uint32(b.line) {
				continue
			}
			if rank == 0 {
				out = append(out, v.fileBinding(b, row))
				break
			}
			rank--
		}
	}
	return out, nil
}

// rowsIn returns the rows that an input file contributes to the decision table of a key, followed by the file's
// contributions to the key.
func (d *Data) rowsIn(input uint32, key int32) ([]decision.Row, error) {
	if _, isCombined := slices.BinarySearch(d.tally.combined, key); !isCombined {
		return d.tables().RowsIn(d.keys[key], input)
	}
	table, err := d.tables().Values(d.keys[key])
	if err != nil {
		return nil, err
	}
	isElsewhere := func(r decision.Row) bool { return r.Origin().Input != input }
	return slices.DeleteFunc(append(table.Rows, table.Contributions...), isElsewhere), nil
}

// fileBinding formats a binding for a file's page.
func (v *view) fileBinding(b boundAt, row *decision.Row) fileBinding {
	form := report.People
	if v.asJSON {
		form = report.JSON
	}
	key := v.d.keys[b.key]
	c := v.d.style(form).Values(key, &decision.Table{Rows: []decision.Row{*row}}).Bindings[0]
	out := fileBinding{Key: key, Layer: c.Layer, When: v.asOnNodes(c.When), At: c.At, Name: c.Name, Outcome: c.Outcome,
		Nodes: b.reach.nodes(), UpTo: b.reach.isUpTo(), Line: int(b.line), Value: shown(c.Outcome),
		Place: v.place(c.At), List: v.Key(key, "at", c.At, "part_name", c.Name)}
	if b.isDead() {
		out.Dead = v.d.deadReason(row)
	}
	return out
}
