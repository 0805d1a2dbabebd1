package main

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/explore"
	"bindc/internal/fsx"
	"bindc/internal/revision"
	"bindc/snapshot"
)

// defaultListen is the address to listen on without --listen. If its port is in use, explore listens on a free one.
const defaultListen = "127.0.0.1:8650"

type exploreFlags struct {
	planFlags // flags for compiling the site and the old version
	old       string
	listen    string
	noToken   bool
	access    explore.Access
	style     explore.Style

	dir     string // temporary directory for the snapshots
	builds  int
	failed  bool
	oldData *explore.Data
}

func (g *bounds) exploreCommand() *cobra.Command {
	f := exploreFlags{planFlags: planFlags{flags: flags{bounds: g, format: "text", allowEmpty: true}}}
	cmd := &cobra.Command{
		Use:   "explore PATH",
		Short: "Show a site or a snapshot as web pages on this machine",
		Long: "explore serves web pages about PATH, a site or a snapshot: which nodes get which\n" +
			"value of a key and why, all values of a node, what other facts would change, the\n" +
			"changes from another version, and data without effect. It prints the address to\n" +
			"open. Each page has a twin in JSON.\n\n" +
			"With a site, explore builds it again after each change of its files, and open\n" +
			"pages follow. If the site does not build, they show the errors and the last\n" +
			"version that did. Without --old, they also show the changes since the start.\n\n" +
			"Only programs on this machine can connect, and only browsers that open the\n" +
			"printed address, which has a token. Sensitive values are not shown.\n\n" +
			"Exit status: 1 the site has errors at the start, 2 another error, 128 plus the\n" +
			"number of the signal that ends explore.",
		Example: "  bindc explore site --facts-dir facts",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0])
		},
	}
	f.addSite(cmd)
	f.addBuild(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.factsDir, "facts-dir", "", "`DIR` with one facts file per node (default $BINDQ_FACTS_DIR)")
	flags.StringVar(&f.old, "old", "",
		"compare with `OLD`, a snapshot, the directory of a site, or a revision of the site in git")
	flags.StringVar(&f.listen, "listen", "", "`ADDRESS` to listen on, HOST:PORT or unix:PATH (default "+defaultListen+
		", or a free port if that is used)")
	flags.BoolVar(&f.access.Remote, "remote", false, "allow an address of --listen that other machines can reach")
	flags.StringArrayVar(&f.access.Hosts, "host", nil,
		"also answer requests for the host `NAME`, such as that of a proxy (repeatable)")
	flags.BoolVar(&f.noToken, "no-token", false, "let all users of this machine open the pages, without a token")
	flags.BoolVar(&f.style.Sensitive, "show-sensitive", false, "show sensitive values")
	flags.StringVar(&f.style.SourceURL, "source-url", "",
		"link places to `URL` with {path}, {line} and {revision}, the commit of the site")
	cmd.MarkFlagsMutuallyExclusive("remote", "no-token")
	return cmd
}

func (f *exploreFlags) run(cmd *cobra.Command, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := cmp.Or(f.checkURL(), f.check()); err != nil {
		return err
	}
	f.factsDir = cmp.Or(f.factsDir, os.Getenv("BINDQ_FACTS_DIR"))
	f.signals.handle()
	listener, clean, err := f.listener()
	if err != nil {
		return err
	}
	defer clean()
	temporary, remove, err := fsx.Scratch("bindc-explore-")
	if err != nil {
		return err
	}
	defer remove()
	f.signals.last = func() { remove(); clean() }
	f.dir, f.site, f.style.Name = temporary, path, displayedName(path)
	server := explore.New(f.access)
	if server.Live = info.IsDir(); !server.Live {
		f.site = filepath.Dir(path)
	}
	f.setRevision()
	if err := f.openOld(cmd); err != nil {
		return err
	}
	if server.Live {
		err = f.follow(cmd, server)
	} else {
		err = f.showSnapshot(cmd, server, path)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), f.address(listener))
	return server.HTTP().Serve(listener)
}

func (f *exploreFlags) checkURL() error {
	url := f.style.SourceURL
	if url == "" || strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return nil
	}
	return fmt.Errorf("--source-url: expected a URL that begins with https://, found '%s'", url)
}

// displayedName returns the last element of a path. It makes the path absolute first, so that "." also has a name.
func displayedName(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return filepath.Base(path)
}

// setRevision sets the {revision} of --source-url: the current commit, or HEAD if the site is not in a repository.
func (f *exploreFlags) setRevision() {
	if !strings.Contains(f.style.SourceURL, "{revision}") {
		return
	}
	f.style.Revision = "HEAD"
	if r, err := revision.Open(f.signals.stopped, f.site); err == nil {
		if commit, err := r.Commit("HEAD"); err == nil {
			f.style.Revision = commit
		}
	}
}

// openOld compiles and opens the version that --old names, if any.
func (f *exploreFlags) openOld(cmd *cobra.Command) error {
	if f.old == "" {
		return nil
	}
	s, err := f.side(f.old)
	if err == nil {
		err = f.prepare(cmd, &s, filepath.Join(f.dir, "old"), map[string]bool{})
	}
	if err == nil {
		f.oldData, err = explore.Open(explore.Source{Path: s.snapshot, Style: explore.Style{Name: f.old}})
	}
	return err
}

// listener opens the listening socket and sets the token. clean removes a Unix socket.
func (f *exploreFlags) listener() (l net.Listener, clean func(), err error) {
	clean = func() {}
	if !f.noToken {
		f.access.Token = explore.NewToken()
	}
	if path, ok := strings.CutPrefix(f.listen, "unix:"); ok {
		if l, err = net.Listen("unix", path); err != nil {
			return nil, nil, err
		}
		return l, func() { os.Remove(path) }, os.Chmod(path, 0o600)
	}
	address := cmp.Or(f.listen, defaultListen)
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, fmt.Errorf("--listen: expected HOST:PORT or unix:PATH, found '%s'", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !f.access.Remote {
		return nil, nil, fmt.Errorf("--listen %s: other machines may be able to reach this address; to allow that, add --remote", address)
	}
	l, err = net.Listen("tcp", address)
	if err != nil && f.listen == "" {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	return l, clean, err
}

// address returns the URL to open in a browser, including the token. For a Unix socket, it returns a description.
func (f *exploreFlags) address(l net.Listener) string {
	to := "http://" + l.Addr().String() + "/"
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok {
		to = "listening on " + f.listen + ", path /"
	} else if tcp.IP.IsUnspecified() {
		to = "http://HOST:" + strconv.Itoa(tcp.Port) + "/"
	}
	if f.access.Token != "" {
		to += "#token=" + f.access.Token
	}
	return to
}

// open opens the snapshot of a build together with the facts in --facts-dir.
func (f *exploreFlags) open(cmd *cobra.Command, b exploredBuild) (*explore.Data, error) {
	from := explore.Source{Style: f.style, Path: b.path, Warnings: b.text, Unread: b.unread, Old: f.oldData}
	if f.factsDir != "" {
		nodes, wrong, err := facts.ReadGood(f.factsDir)
		if err != nil {
			return nil, err
		}
		from.Nodes = nodes
		if text := facts.Unread(f.factsDir); text != "" {
			from.Notes = append(from.Notes, text)
		}
		for _, err := range wrong {
			from.Notes = append(from.Notes, err.Error())
		}
	}
	for _, text := range from.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: note:", diag.Visible(text))
	}
	return explore.Open(from)
}

func (f *exploreFlags) showSnapshot(cmd *cobra.Command, server *explore.Server, path string) error {
	d, err := f.open(cmd, exploredBuild{path: path})
	if err == nil {
		server.Show(d)
	}
	return err
}

type exploredBuild struct {
	path   string // path of the snapshot; "" if the site has errors
	text   string // diagnostics, as text
	unread []explore.UnreadFile
}

// build compiles the site into a new snapshot. If the site has errors, out.path is "".
func (f *exploreFlags) build(cmd *cobra.Command) (out exploredBuild, err error) {
	f.all = true // collect all diagnostics, because the pages count unread files
	c, err := f.compile(cmd, f.site, "", f.options())
	if err != nil {
		return out, err
	}
	first := diag.List{AllHint: seeCheck} // keeps only the first diagnostics of each code
	for _, d := range c.diags.Sorted() {
		first.Add(d)
	}
	var b bytes.Buffer
	if err := diag.Render(&b, "text", first.Sorted(), f.site, false); err != nil {
		return out, err
	}
	if out.text = b.String(); c.diags.Failed() {
		return out, nil
	}
	out.unread = explore.UnreadFiles(c.diags.Sorted(), f.site)
	f.builds++
	out.path = filepath.Join(f.dir, strconv.Itoa(f.builds)+".bsnap")
	_, err = snapshot.Write(out.path, c.content)
	return out, err
}
