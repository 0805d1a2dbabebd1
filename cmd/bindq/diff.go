package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/decision"
	"bindc/internal/lookup"
	"bindc/internal/value"
	"bindc/snapshot"
)

// diffFlags are the flags of bindq diff.
type diffFlags struct {
	source
	format string
	all    bool
	shower
}

var diffFormats = []string{"text", "json", "markdown"}

func diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff [OLD] NEW",
		Short: "Say what changes for whom from one snapshot to another",
		Long: "diff compares all decision tables of two snapshots: per key the conditions\n" +
			"whose answer differs, with both values and places. Of the conditions of a key\n" +
			"the first that holds for a node counts for it. With --facts-dir it also looks\n" +
			"up for each node what may differ, and groups the nodes by what changes.\n" +
			"Without OLD it is the snapshot of -s or BINDQ_SNAPSHOT.\n\n" +
			"Keys that all change because a level or a file is added or removed are one\n" +
			"entry; --all and --format json have each of them.\n\n" +
			"Without --identity encrypted values count as changed: they differ in every file.\n\n" +
			"Exit status: 0 nothing changes, 1 something does, 2 an error.",
		Example: "  bindq diff old.bsnap site.bsnap --facts-dir facts --format markdown",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := f.only(args[:len(args)-1])
			if err != nil {
				return err
			}
			return f.run(cmd, before, args[len(args)-1])
		},
	}
	f.addSnapshot(cmd)
	f.addIdentity(cmd)
	cmd.Flags().StringVar(&f.factsDir, "facts-dir", "", "`DIR` of a file of facts per node, NAME.json or NAME.yaml")
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORM` of the answer: "+strings.Join(diffFormats, ", "))
	cli.Words(cmd, "format", diffFormats)
	cmd.Flags().BoolVar(&f.all, "all", false, "show each key, also of a level or file that is added or removed")
	cmd.Flags().BoolVar(&f.sensitive, "show-sensitive", false, "show sensitive values")
	f.addStrict(cmd)
	return cmd
}

type diffShape struct {
	Causes []cause `json:"causes,omitempty"`

	Keys  []keyShape   `json:"keys"`
	Nodes []groupShape `json:"nodes,omitzero"`
}

type keyShape struct {
	Key           string        `json:"key"`
	Changes       []changeShape `json:"changes"`
	Contributions []changeShape `json:"contributions,omitempty"`
}

type changeShape struct {
	When    terms    `json:"when"`
	Except  []terms  `json:"except,omitempty"`
	Name    string   `json:"name,omitempty"`
	Old     outcome  `json:"old"`
	New     outcome  `json:"new"`
	OldAt   string   `json:"old_at,omitempty"`
	NewAt   string   `json:"new_at,omitempty"`
	Through []string `json:"through,omitempty"`
	Below   bool     `json:"below,omitempty"`
}

// groupShape is nodes for which the same changes.
type groupShape struct {
	Nodes   []string `json:"nodes"`
	Changes effect   `json:"changes"`
}

// effect is what changes, by key in order.
type effect []keyEffect

type keyEffect struct {
	key string
	Old outcome `json:"old"`
	New outcome `json:"new"`
}

func (e effect) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, k := range e {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, value.AppendJSON(nil, value.FromString(k.key))...), ':'), asJSON(k)...)
	}
	return append(out, '}'), nil
}

func (f *diffFlags) run(cmd *cobra.Command, before, after string) error {
	if !slices.Contains(diffFormats, f.format) {
		return fmt.Errorf("--format: expected one of %s, found '%s'", strings.Join(diffFormats, ", "), f.format)
	}
	if f.format != "json" {
		f.form = forPeople
	}
	return f.trust.report(before, func(a *snapshot.Snapshot) error {
		return f.trust.report(after, func(b *snapshot.Snapshot) error {
			d, err := f.difference(cmd, before, a, b)
			if err != nil {
				return err
			}
			found, err := findCauses(a, b, d)
			if err != nil {
				return err
			}
			shape := diffShape{Keys: f.keys(d)}
			if !f.all || f.format == "json" {
				shape.Causes = found.shown()
			}
			if f.factsDir == "" {
				f.sayUncertain(cmd, d)
				return f.print(cmd.OutOrStdout(), &shape)
			}
			return f.nodes(cmd, before, after, d, func(groups []groupShape) error {
				shape.Nodes = groups
				return f.print(cmd.OutOrStdout(), &shape)
			})
		})
	})
}

// difference compares two files. The caller names the file of an error that does not name it: after.
func (f *diffFlags) difference(cmd *cobra.Command, path string, before, after *snapshot.Snapshot) (
	*decision.Difference, error) {
	progress := cli.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	progress.Begin("comparing keys", 0)
	a, err := f.book(before, true)
	if err != nil {
		return nil, inFile(path, err)
	}
	b, err := f.book(after, true)
	if err != nil {
		return nil, err
	}
	d, err := decision.Diff(a, b, progress.Done)
	if err != nil && verify(before) != nil {
		err = inFile(path, err)
	}
	return d, err
}

// sayUncertain tells what only facts decide.
func (f *diffFlags) sayUncertain(cmd *cobra.Command, d *decision.Difference) {
	for _, name := range d.Categories {
		note(cmd, "not the same in both: "+name+"; for whom conditions on it hold only --facts-dir tells")
	}
	if n := len(d.Free); n > 0 {
		note(cmd, diag.Count(n, "key")+" as "+d.Free[0]+" whose value looks up what facts name: only --facts-dir tells")
	}
}

func (f *diffFlags) keys(d *decision.Difference) []keyShape {
	out := []keyShape{}
	for _, k := range d.Keys {
		out = append(out, keyShape{k.Key, f.changes(k.Changes), f.changes(k.Contributions)})
	}
	return out
}

func (f *diffFlags) changes(cs []decision.Change) []changeShape {
	out := []changeShape{}
	for _, c := range cs {
		s := changeShape{When: c.When, Old: f.row(c.Old), New: f.row(c.New), Through: c.Through,
			Below: c.Below}
		for _, e := range c.Except {
			s.Except = append(s.Except, e)
		}
		if c.Old != nil {
			s.OldAt, s.Name = c.Old.At, c.Old.Name
		}
		if c.New != nil {
			s.NewAt, s.Name = c.New.At, c.New.Name
		}
		out = append(out, s)
	}
	return out
}

// nodes looks up for each node of the fleet what may differ for it, and hands on what does.
func (f *diffFlags) nodes(cmd *cobra.Command, before, after string, d *decision.Difference,
	do func([]groupShape) error) error {
	fleet, err := readFleet(cmd, f.factsDir)
	if err != nil {
		return err
	}
	return f.ask(before, func(a *lookup.Snapshot) error {
		return f.ask(after, func(b *lookup.Snapshot) error {
			groups, err := f.groups(cmd, [2]string{before, after}, a, b, fleet, d)
			if err != nil {
				return err
			}
			return do(groups)
		})
	})
}

// groups returns the changes for the nodes of the fleet. paths names the files of a and b in errors.
func (f *diffFlags) groups(cmd *cobra.Command, paths [2]string, a, b *lookup.Snapshot, fleet []facts.Node,
	d *decision.Difference) ([]groupShape, error) {
	keys := slices.Clone(d.Free)
	for _, k := range d.Keys {
		keys = append(keys, k.Key)
	}
	if len(d.Categories) > 0 {
		keys = append(sortedKeys(a, ""), sortedKeys(b, "")...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	effects, wrong := make([]effect, len(fleet)), make([]error, len(fleet))
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("looking up for nodes", len(fleet))
	inParallel(len(fleet), func(i int) {
		defer progress.Done()
		wrong[i] = inFile(paths[0], a.Guard(func() error {
			old, err := requestOf(a, fleet[i])
			if err != nil {
				return inFile(paths[0], err)
			}
			return inFile(paths[1], b.Guard(func() (err error) {
				effects[i], err = f.effect(old, b, fleet[i], keys)
				return err
			}))
		}))
	})
	progress.End()
	if err := ofNodes(wrong); err != nil {
		return nil, err
	}
	return grouped(fleet, effects), nil
}

// inParallel does n things, as many at a time as there are processors.
func inParallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// effect returns the keys that change for a node, from its old request to that of b.
func (f *diffFlags) effect(old *lookup.Request, b *lookup.Snapshot, n facts.Node, keys []string) (effect, error) {
	now, err := requestOf(b, n)
	if err != nil {
		return nil, err
	}
	if err := f.refuseDoubts(n, keys, old, now); err != nil {
		return nil, err
	}
	out, seen := effect{}, shower{true, forPeople} // in this form, different values have different texts
	for _, key := range keys {
		before, after := lookedUp(old, key), lookedUp(now, key)
		if x, y := seen.outcome(before).text(), seen.outcome(after).text(); x != y ||
			before.Value.Sensitive() != after.Value.Sensitive() {
			out = append(out, keyEffect{key, f.outcome(before), f.outcome(after)})
		}
	}
	return out, nil
}

// refuseDoubts returns an error if the node raises doubts about the answers of keys; --strict calls it.
func (f *diffFlags) refuseDoubts(n facts.Node, keys []string, requests ...*lookup.Request) error {
	if !f.strict {
		return nil
	}
	var doubts []string
	if text := n.Contradiction(); text != "" {
		doubts = append(doubts, text)
	}
	for _, r := range requests {
		more, err := doubtsOf(r, keys, nil)
		if err != nil {
			return err
		}
		doubts = append(doubts, more...)
	}
	if len(doubts) == 0 {
		return nil
	}
	slices.Sort(doubts)
	return doubtful(ofNode(n, slices.Compact(doubts)))
}

func lookedUp(r *lookup.Request, key string) lookup.Outcome {
	v, found, err := r.Lookup(key)
	return lookup.Outcome{Value: v, Found: found, Err: err}
}

// grouped is the nodes for which something changes, those with the same effect together.
func grouped(fleet []facts.Node, effects []effect) []groupShape {
	out := []groupShape{}
	at := map[string]int{}
	for i, e := range effects {
		if len(e) == 0 {
			continue
		}
		id := e.id()
		k, ok := at[id]
		if !ok {
			k = len(out)
			at[id] = k
			out = append(out, groupShape{Changes: e})
		}
		out[k].Nodes = append(out[k].Nodes, fleet[i].Name)
	}
	return out
}

// id returns a text that is the same for effects that look the same.
func (e effect) id() (id string) {
	for _, k := range e {
		id += fmt.Sprintf("%q %q %q ", k.key, k.Old.text(), k.New.text())
	}
	return id
}

// print prints the answer. The error is errDiffers where something differs.
func (f *diffFlags) print(w io.Writer, d *diffShape) (err error) {
	switch f.format {
	case "json":
		err = encode(w, d)
	case "markdown":
		err = onPage(w, func(p *page) {
			p.color = false
			p.markdown(d)
		})
	default:
		err = onPage(w, func(p *page) { p.diff(d) })
	}
	if err == nil && (len(d.Keys) > 0 || len(d.Nodes) > 0) {
		err = errDiffers
	}
	return err
}

func (p *page) diff(d *diffShape) {
	if len(d.Keys) == 0 && len(d.Nodes) == 0 {
		fmt.Fprintln(p, "Nothing changes.")
		return
	}
	for i := range d.Causes {
		c := &d.Causes[i]
		if i > 0 {
			fmt.Fprintln(p)
		}
		p.line(0, bold, c.title())
		p.wrapped(2, "", c.consequence())
		p.line(2, dim, "(--all has them)")
	}
	shown := len(d.Causes)
	for i := range d.Keys {
		k := &d.Keys[i]
		if d.isGrouped(k.Key) {
			continue
		}
		if shown > 0 {
			fmt.Fprintln(p)
		}
		shown++
		fmt.Fprintln(p, p.paint(bold, k.Key))
		p.changes(2, k.bindings())
		if len(k.Contributions) > 0 {
			p.line(2, bold, "contributions")
			p.changes(4, k.Contributions)
		}
	}
	for i, g := range d.groups() {
		if i > 0 || len(d.Keys) > 0 {
			fmt.Fprintln(p)
		}
		fmt.Fprintf(p, "%s\n", p.paint(bold, diag.Count(len(g.Nodes), "node")))
		p.wrapped(2, "", names(g.Nodes, shownRows))
		for _, text := range d.causesOf(g.Changes) {
			p.wrapped(4, "", strings.Fields(text))
		}
		for _, k := range g.Changes {
			if d.isGrouped(k.key) {
				continue
			}
			p.line(4, "", k.key)
			p.both(6, k.Old, k.New, "", "")
			if g.own[k.key] {
				p.wrapped(6, dim, strings.Fields("so for "+g.Nodes[0]+"; "+ownValues))
			}
		}
	}
}

// ownValues is said of nodes for which a key changes in the same way, to values that their facts decide.
const ownValues = "the others have values of their own (--format json has all)"

// bindings are the changes that people are shown: of a multibinding, what is contributed says it all.
func (k *keyShape) bindings() []changeShape {
	return slices.DeleteFunc(slices.Clone(k.Changes), func(c changeShape) bool {
		return len(k.Contributions) > 0 && c.isIndirect() && c.Old.collects()
	})
}

// isIndirect tells whether nothing is bound otherwise: what is looked up changes.
func (c *changeShape) isIndirect() bool { return c.why() != "" && c.Old.text() == c.New.text() }

// why is what changes though the value is written as it was, in words; "" where the value itself does.
func (c *changeShape) why() string {
	if c.Below {
		return "which may decline: what is below it changes"
	}
	if len(c.Through) > 0 {
		return "which changes with " + strings.Join(c.Through, ", ")
	}
	return ""
}

// collects tells whether a value is computed from contributions only.
func (o outcome) collects() bool { return strings.HasPrefix(o.Computed, "multibind(") }

// shownGroup is nodes for which the same changes, as people are told.
type shownGroup struct {
	groupShape
	own map[string]bool // the keys of which each node has a value of its own
}

// groups are the nodes, those together for which the same keys change in the same way. What facts decide, such as a
// text with the name of the node in it, would else make a group of each.
func (d *diffShape) groups() []shownGroup {
	computed := map[string]bool{}
	for _, k := range d.Keys {
		for _, c := range k.Changes {
			for _, o := range []outcome{c.Old, c.New} {
				computed[k.Key] = computed[k.Key] || o.Computed != "" && !o.collects()
			}
		}
	}
	var out []shownGroup
	at := map[string]int{}
	for _, g := range d.Nodes {
		id := ""
		for _, c := range g.Changes {
			if id += fmt.Sprintf("%q", c.key); !computed[c.key] {
				id += fmt.Sprintf("%q %q", c.Old.text(), c.New.text())
			}
		}
		i, ok := at[id]
		if !ok {
			at[id] = len(out)
			out = append(out, shownGroup{g, map[string]bool{}})
			continue
		}
		out[i].Nodes = append(slices.Clip(out[i].Nodes), g.Nodes...)
		for j, c := range g.Changes {
			first := &out[i].Changes[j]
			if first.Old.text() != c.Old.text() || first.New.text() != c.New.text() {
				out[i].own[c.key] = true
			}
		}
	}
	return out
}

// names are the first of a list, and how many more there are.
func names(all []string, most int) []string {
	out := slices.Clone(all[:min(most, len(all))])
	for i := range len(out) - 1 {
		out[i] += ","
	}
	if len(all) > most {
		out = append(out, fmt.Sprintf("and %d more", len(all)-most))
	}
	return out
}

// changes shows those with the same values and places together.
func (p *page) changes(indent int, cs []changeShape) {
	for _, same := range together(cs) {
		for i, c := range same {
			if i == shownRows {
				p.line(indent, dim, fmt.Sprintf("and %d more (--format json has all)", len(same)-shownRows))
				break
			}
			always := "always"
			if len(c.Except) > 0 {
				always = "for all"
			}
			p.wrapped(indent, "", condition(c.Name, c.When, always))
			if len(c.Except) > 0 {
				p.wrapped(indent+2, dim, append([]string{"but not when"}, excepted(c.Except)...))
			}
		}
		c := &same[0]
		if !c.isIndirect() {
			p.both(indent+4, c.Old, c.New, c.OldAt, c.NewAt)
		} else if p.line(indent+4, "", "= "+c.New.text()); c.NewAt != "" {
			fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent+6), p.paint(cyan, c.NewAt))
		}
		p.wrapped(indent+4, yellow, strings.Fields(c.why()))
	}
}

// shownExceptions is how many exceptions are shown to people.
const shownExceptions = 5

func excepted(all []terms) []string {
	var words []string
	for i, e := range all[:min(shownExceptions, len(all))] {
		if i > 0 {
			words = append(words, "or")
		}
		words = append(words, conditionText(e))
	}
	if more := len(all) - shownExceptions; more > 0 {
		words = append(words, "or in "+diag.Count(more, "more case"))
	}
	return words
}

// together is changes that have the same values at the same places, in the order of the first of each.
func together(cs []changeShape) [][]changeShape {
	var out [][]changeShape
	at := map[string]int{}
	for _, c := range cs {
		id := fmt.Sprintf("%q %q %q %q %q", c.Old.text(), c.New.text(), c.OldAt, c.NewAt, c.why())
		i, ok := at[id]
		if !ok {
			i = len(out)
			at[id] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// both shows the old and the new outcome, and their places below them.
func (p *page) both(indent int, old, now outcome, oldAt, newAt string) {
	pad := strings.Repeat(" ", indent)
	for _, side := range []struct{ mark, style, text, at string }{
		{"-", red, old.text(), oldAt}, {"+", green, now.text(), newAt}} {
		p.line(indent, side.style, side.mark+" "+side.text)
		if side.at != "" {
			fmt.Fprintf(p, "%s  %s\n", pad, p.paint(cyan, side.at))
		}
	}
}

// markdown is for the comment of a merge request.
func (p *page) markdown(d *diffShape) {
	if len(d.Keys) == 0 && len(d.Nodes) == 0 {
		fmt.Fprintln(p, "Nothing changes.")
		return
	}
	if len(d.Keys) > 0 {
		fmt.Fprintf(p, "### %s\n", "What changes: "+diag.Count(len(d.Keys), "key"))
	}
	for i := range d.Causes {
		c := &d.Causes[i]
		fmt.Fprintf(p, "\n#### %s\n\n%s\n", diag.Visible(c.title()), diag.Visible(strings.Join(c.consequence(), " ")))
	}
	for i := range d.Keys {
		k := &d.Keys[i]
		if d.isGrouped(k.Key) {
			continue
		}
		fmt.Fprintf(p, "\n#### %s\n\n| for whom | old | new |\n|---|---|---|\n", code(k.Key))
		for _, list := range [][]changeShape{k.bindings(), k.Contributions} {
			for _, same := range together(list) {
				p.markdownRow(same)
			}
		}
	}
	for _, g := range d.groups() {
		fmt.Fprintf(p, "\n#### %s\n\n%s\n\n| key | old | new |\n|---|---|---|\n", diag.Count(len(g.Nodes), "node"),
			diag.Visible(strings.Join(names(g.Nodes, shownRows), " ")))
		for _, text := range d.causesOf(g.Changes) {
			fmt.Fprintf(p, "| %s | | |\n", diag.Visible(text))
		}
		for _, c := range g.Changes {
			if d.isGrouped(c.key) {
				continue
			}
			now := code(fitted(c.New.text(), 200))
			if g.own[c.key] {
				now += "<br>so for " + code(g.Nodes[0]) + "; " + ownValues
			}
			fmt.Fprintf(p, "| %s | %s | %s |\n", code(c.key), code(fitted(c.Old.text(), 200)), now)
		}
	}
}

func (p *page) markdownRow(same []changeShape) {
	var who []string
	for _, c := range same {
		text := conditionText(c.When)
		if len(c.Except) > 0 {
			text += " (but not: " + strings.Join(excepted(c.Except), " ") + ")"
		}
		if c.Name != "" {
			text = "contribution " + c.Name + ", " + text
		}
		who = append(who, code(text))
	}
	if len(same) > shownRows {
		who = append(who[:shownRows], fmt.Sprintf("and %d more", len(same)-shownRows))
	}
	side := func(o outcome, at string) string {
		text := code(fitted(o.text(), 200))
		if at != "" {
			text += "<br>" + code(at)
		}
		return text
	}
	now := side(same[0].New, same[0].NewAt)
	if same[0].isIndirect() {
		now = "the same"
	}
	switch {
	case same[0].Below:
		now += ", " + same[0].why()
	case len(same[0].Through) > 0:
		now += ", which changes with " + code(strings.Join(same[0].Through, ", "))
	}
	fmt.Fprintf(p, "| %s | %s | %s |\n", strings.Join(who, "<br>"), side(same[0].Old, same[0].OldAt), now)
}

// code is text as code in a cell of a table.
func code(text string) string {
	text = strings.ReplaceAll(diag.Visible(text), "|", `\|`)
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}
