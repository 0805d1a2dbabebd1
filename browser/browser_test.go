package browser

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "write pictures of the main pages to this directory")

// patience is the time that a page may take to show something. Machines that run tests are busy.
const patience = 60 * time.Second

// programs holds the directory of bindc.
var programs string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "bindc-browser-")
	if err != nil {
		panic(err)
	}
	programs = dir
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "bindc"), "./cmd/bindc")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build bindc: %v\n%s", err, out)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// chromium returns the path of the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("chromium is missing; on Debian, 'apt-get install chromium' installs it")
	return ""
}

// explore starts bindc explore, and returns the address that it prints.
func explore(t *testing.T, args ...string) string {
	t.Helper()
	return exploreTo(t, os.Stderr, args...)
}

// exploreTo is like explore, and writes the messages to a file.
func exploreTo(t *testing.T, messages *os.File, args ...string) string {
	t.Helper()
	args = append([]string{"explore", "--listen", "127.0.0.1:0"}, args...)
	cmd := exec.Command(filepath.Join(programs, "bindc"), args...)
	cmd.Stderr = messages
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// tab is a tab of a browser. It records messages in the console, and requests to other origins.
type tab struct {
	t    *testing.T
	ctx  context.Context
	home string // address of the pages

	mu       sync.Mutex
	problems []string
}

// open starts a browser with a tab at an address that bindc explore printed, which signs it in.
func open(t *testing.T, address string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 900))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	return openTab(t, ctx, address)
}

// openTab opens a tab that records console messages, script errors and requests to other hosts as problems.
func openTab(t *testing.T, parent context.Context, address string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, ctx: ctx, home: "http://" + u.Host}
	err = chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			b.problem("the console says %s %s", ev.Entry.Text, ev.Entry.URL)
		case *runtime.EventConsoleAPICalled:
			b.problem("the console has a message of type %s", ev.Type)
		case *runtime.EventExceptionThrown:
			b.problem("the script failed: %s", ev.ExceptionDetails.Text)
		case *network.EventRequestWillBeSent:
			if to := ev.Request.URL; !strings.HasPrefix(to, b.home+"/") && !strings.HasPrefix(to, "data:") {
				b.problem("a request to %s", to)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{})
		return err
	}), chromedp.Navigate(address))
	b.waitFor(`location.pathname.startsWith("/s/") && location.hash === ""`)
	b.mu.Lock()
	b.problems = nil // the first request has no cookie, and its status 401 is in the console
	b.mu.Unlock()
	return b
}

func (b *tab) problem(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// check fails the test for each recorded problem.
func (b *tab) check() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.problems {
		b.t.Errorf("%s", text)
	}
	b.problems = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value returns the value of an expression on the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// waitFor waits until an expression is true on the page.
func (b *tab) waitFor(expression string) {
	b.t.Helper()
	for start := time.Now(); time.Since(start) < patience; time.Sleep(50 * time.Millisecond) {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](
			"document.readyState === 'complete' && Boolean("+expression+")"))
		if err == nil && is {
			return
		}
	}
	b.t.Fatalf("%s does not become true; the page is %s:\n%s", expression, value[string](b, "location.href"),
		value[string](b, "document.body.innerText"))
}

// show opens a page of the latest version, and waits until all of its numbers are known.
func (b *tab) show(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.home + "/s/latest/" + path))
	b.waitFor(`!("partial" in document.body.dataset) && document.querySelector("h1")`)
}

// press presses keys.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// tabTo presses the tab key until an element is focused for which an expression about e is true.
func (b *tab) tabTo(expression string) {
	b.t.Helper()
	for range 100 {
		b.press("\t")
		if value[bool](b, "((e) => Boolean("+expression+"))(document.activeElement)") {
			return
		}
	}
	b.t.Fatalf("the tab key does not lead to an element with %s", expression)
}

// emulate sets media features, such as the colour scheme.
func (b *tab) emulate(scheme string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

// mainPages holds each kind of page.
var mainPages = []string{"", "k", "k/ntp::package", "k/ntp::package?row=1", "n", "n/web1.example.org",
	"n/web1.example.org?if=role%3Ddb", "n/web1.example.org?with=db1.example.org",
	"n/web1.example.org/k/php::memory_limit", "n/web1.example.org/k/motd::text", "f",
	"f/data/role/web.yaml", "f?dead=1",
	"d", "k/motd::text", "k/motd::text?row=1", "k/motd::text?value=1", "k/motd::text?values=20", "f?dead=partly",
	"f/data/common.yaml?dead=1", "n/web1.example.org/k/php::memory_limit?if=role%3Ddb", "q?q=php", "problems",
	"f/" + unread, "f/hiera.yaml", "q?q=ask+ops", "n/web1.example.org?if=environment%3Dprod", "n/web1.example.org?if=role%3D",
	"k/unknown", "n/unknown", "n/web1.example.org?if=unknown", "n/web1.example.org?with=unknown",
	"n/-/k/ntp::package?node=unknown"}

// A keyboard is enough to get from the start to the reason of a value.
func TestKeyboardLeadsToReason(t *testing.T) {
	site, facts, _ := writeSite(t)
	b := open(t, explore(t, site, "--facts-dir", facts))
	b.press("\t")
	if text := value[string](b, "document.activeElement.textContent"); text != "Skip to content" {
		t.Errorf("the first element is '%s'", text)
	}
	b.press("/")
	b.waitFor(`document.activeElement.id === "search"`)
	value[chromedp.Void](b, `document.activeElement.select()`) // these key events insert the character anyway
	b.press("php::memory\r")
	b.waitFor(`location.pathname.endsWith("/q")`)
	b.tabTo(`e.textContent === "php::memory_limit"`)
	b.press("\r")
	b.waitFor(`location.pathname.endsWith("/k/php::memory_limit") && !("partial" in document.body.dataset)`)
	b.tabTo(`e.id === "node"`)
	value[chromedp.Void](b, "document.activeElement.select()")
	b.press("web1.example.org\r")
	b.waitFor(`location.pathname.includes("/k/php::memory_limit") && location.search.includes("node=web1")`)
	text := value[string](b, `document.querySelector("main").innerText`)
	for _, expected := range []string{"1G", "Wins", "data/nodes/web1.example.org.yaml:1:1", "Hidden", "512M"} {
		if !strings.Contains(text, expected) {
			t.Errorf("the reason does not mention %s:\n%s", expected, text)
		}
	}
	b.check()
}

// outside returns the texts of the cells that are not, or only partly, on the screen, or that are too narrow to read.
const outside = `[...document.querySelectorAll(".scroll td")].filter((e) => {
	const r = e.getBoundingClientRect();
	return e.innerText && (r.right > innerWidth || r.width < 30);
}).map((e) => e.innerText)`

// Every page and each cell of its tables fit a narrow screen. A page logs nothing, and requests nothing from other
// origins.
func TestPagesFitNarrowScreen(t *testing.T) {
	site, facts, old := writeSite(t)
	b := open(t, explore(t, site, "--facts-dir", facts, "--old", old))
	b.do(chromedp.EmulateViewport(320, 640))
	for _, page := range mainPages {
		b.show(page)
		if width := value[int](b, "document.documentElement.scrollWidth"); width > 320 {
			t.Errorf("%s has a width of %d", page, width)
		}
		value[chromedp.Void](b, `document.querySelectorAll("details").forEach((e) => e.open = true)`)
		if cells := value[[]string](b, outside); len(cells) > 0 {
			t.Errorf("%s has cells that cannot be read: %q", page, cells)
		}
		if strings.HasSuffix(page, "unknown") {
			b.mu.Lock()
			b.problems = nil // their status is in the console
			b.mu.Unlock()
		}
		b.check()
	}
}

// axe finds no violations of WCAG on any page, in both colour schemes.
func TestPagesAreAccessible(t *testing.T) {
	script := axe(t)
	site, facts, old := writeSite(t)
	b := open(t, explore(t, site, "--facts-dir", facts, "--old", old))
	for _, scheme := range []string{"light", "dark"} {
		b.emulate(scheme)
		for _, page := range mainPages {
			b.show(page)
			value[chromedp.Void](b, `document.querySelectorAll("details").forEach((e) => e.open = true)`)
			value[bool](b, script+"; true")
			found := value[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map(
				(v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")))`)
			for _, text := range found {
				t.Errorf("%s, %s: %s", page, scheme, text)
			}
		}
	}
}

// axe returns the script of axe-core, which npm fetches, or skips the test.
func axe(t *testing.T) string {
	t.Helper()
	chromium(t)
	dir := t.TempDir()
	fetch := exec.Command("npm", "pack", "axe-core@4.14.1", "--silent")
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Skipf("npm cannot fetch axe-core: %v %s", err, out)
	}
	file, err := os.Open(filepath.Join(dir, "axe-core-4.14.1.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "package/axe.min.js" {
			text, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
}

// Two tabs follow an edit of the site. A build that fails is shown with the last data, until the site is mended.
func TestTabsFollowSite(t *testing.T) {
	site, facts, _ := writeSite(t)
	messages, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	if err != nil {
		t.Fatal(err)
	}
	address := exploreTo(t, messages, site, "--facts-dir", facts)
	first := open(t, address)
	second := openTab(t, first.ctx, first.home+"/")
	first.show("k/ssh::port")
	second.show("n/web1.example.org/k/ssh::port")
	before := value[string](first, "location.pathname")
	common := filepath.Join(site, "data/common.yaml")
	text, err := os.ReadFile(common)
	if err != nil {
		t.Fatal(err)
	}
	write(t, common, strings.Replace(string(text), "port: 22", "port: 2222", 1))
	for _, b := range []*tab{first, second} {
		b.waitFor(`document.querySelector("main").innerText.includes("2222")`)
		b.waitFor(`document.getElementById("updated").innerText.includes("followed a change")`)
	}
	// The address of an older version leads to the latest one, and to the time of the change instead of the visit.
	followed := value[string](second, `document.getElementById("updated").innerText`)
	if !regexp.MustCompile(` [0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.$`).MatchString(followed) {
		t.Errorf("the time of the change has another form than the times on the page of changes: %s", followed)
	}
	time.Sleep(1100 * time.Millisecond) // the page shows seconds
	first.do(chromedp.Navigate(first.home + before))
	first.waitFor(`document.querySelector("main").innerText.includes("2222")`)
	if text := value[string](first, `document.getElementById("updated").innerText`); text != followed {
		t.Errorf("the page says '%s', expected '%s'", text, followed)
	}
	write(t, common, "ssh::port: [\n")
	first.waitFor(`document.getElementById("live").innerText.includes("does not build")`)
	value[chromedp.Void](first, `document.querySelector("#live a").click()`)
	first.waitFor(`document.getElementById("failure") && document.body.innerText.includes("data/common.yaml:")`)
	write(t, common, string(text))
	first.waitFor(`!document.getElementById("failure")`)
	second.waitFor(`!document.querySelector("main").innerText.includes("2222")`)
	first.check()
	second.check()
	said, err := os.ReadFile(messages.Name())
	const expected = "bindc: the site has errors; the pages show them, and the last version that builds\n" +
		"bindc: the site builds again\n"
	if err != nil || string(said) != expected {
		t.Errorf("%v: bindc says '%s', expected '%s'", err, said, expected)
	}
}

// What if: a changed fact shows the values that change, and its address can be shared.
func TestWhatIfShowsChangedValues(t *testing.T) {
	site, facts, _ := writeSite(t)
	b := open(t, explore(t, site, "--facts-dir", facts))
	b.show("n/web2.example.org")
	value[chromedp.Void](b, `document.querySelector("summary").click()`)
	value[chromedp.Void](b, `document.querySelector('[name="fact.role"]').value = "db"`)
	value[chromedp.Void](b, `document.querySelector('[name="fact.role"]').form.requestSubmit()`)
	b.waitFor(`location.search === "?if=role%3Ddb"`)
	text := value[string](b, `document.querySelector("main").innerText`)
	for _, expected := range []string{"firewall::open_ports", "5432", "php::memory_limit", "512M"} {
		if !strings.Contains(text, expected) {
			t.Errorf("the page does not mention %s:\n%s", expected, text)
		}
	}
	if strings.Contains(text, "ntp::package") {
		t.Errorf("the page mentions a key that does not change:\n%s", text)
	}
	b.check()
}

// The pictures for the documents.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("-pictures DIR writes pictures")
	}
	site, facts, old := writeSite(t)
	b := open(t, explore(t, site, "--facts-dir", facts, "--old", old))
	for _, scheme := range []string{"light", "dark"} {
		b.emulate(scheme)
		for name, page := range map[string]string{
			"overview": "", "key": "k/ntp::package", "node": "n/web1.example.org", "changes": "d", "files": "f",
			"why": "n/web1.example.org/k/php::memory_limit", "file": "f/data/role/web.yaml", "search": "q?q=php",
			"what-if": "n/web2.example.org?if=role%3Ddb", "unread": "f?dead=1", "lookup": "n/web1.example.org/k/motd::text",
		} {
			b.do(chromedp.EmulateViewport(1100, 700))
			b.show(page)
			image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err == nil {
				err = os.WriteFile(filepath.Join(*pictures, name+"-"+scheme+".png"), image, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
