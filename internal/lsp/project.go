package lsp

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"bindc/internal/lsp/analysis"
)

// project is a site with open documents. The whole site is read again some time after each change.
type project struct {
	dir    string
	server *Server
	reader *analysis.Reader // guarded by reading

	reading sync.Mutex

	mu      sync.Mutex
	changes int                // number of changes so far
	done    int                // number of changes that site reflects
	site    *analysis.Site     // latest result; nil before the first read
	news    chan struct{}      // closed and replaced when site is set
	cancel  context.CancelFunc // cancels the read in progress; nil if there is none
	timer   *time.Timer
	refused map[string]bool // paths for which a warning has been logged
	stopped bool
}

// projectOf returns the project to which a file belongs, and creates it if necessary. It returns nil if the file
// belongs to no site.
func (s *Server) projectOf(path string) *project {
	dir := s.siteOf(path)
	if dir == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.projects[dir]
	if p == nil {
		p = &project{dir: dir, server: s, news: make(chan struct{}), refused: map[string]bool{}}
		p.reader = analysis.NewReader(p.options())
		s.projects[dir] = p
	}
	return p
}

func (p *project) options() analysis.Options {
	opts := p.server.opts.Analysis
	opts.Fence = slices.Concat(opts.Fence, p.server.roots)
	return opts
}

// changed handles a change of the file at path: it checks the file now and schedules a read of its site.
func (s *Server) changed(path string) {
	p := s.projectOf(path)
	if p != nil {
		p.touch()
	}
	s.publish(path, p)
}

// touch schedules a read of the site and cancels the read in progress.
func (p *project) touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes++
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
	delay := p.server.opts.Delay
	if p.site == nil {
		delay = min(delay, firstDelay)
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	if !p.stopped {
		p.timer = time.AfterFunc(delay, p.read)
	}
}

// firstDelay is the delay before the first read. It is short, but lets an editor open several files at startup.
const firstDelay = 20 * time.Millisecond

func (p *project) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.cancel != nil {
		p.cancel()
	}
	if p.timer != nil {
		p.timer.Stop()
	}
}

// read reads the site and publishes its diagnostics: first those of the compiler, and then those of each further check.
func (p *project) read() {
	p.reading.Lock()
	defer p.reading.Unlock()
	ctx, cancel := context.WithCancel(p.server.ctx)
	defer cancel()
	p.mu.Lock()
	if p.stopped || p.done == p.changes && p.site != nil {
		p.mu.Unlock()
		return
	}
	p.cancel = cancel
	changes, before := p.changes, p.site
	p.mu.Unlock()
	site, more := p.readSite(ctx)
	if site == nil || !p.replace(site, changes, len(more) == 0) {
		return // a later change has scheduled another read
	}
	p.publish(before, site)
	site.Prepare()
	p.server.refresh()
	for i, check := range more {
		next := p.checked(site, check)
		if next == nil || !p.replace(next, changes, i == len(more)-1) {
			return
		}
		p.publish(site, next)
		site = next
	}
}

// publish publishes the diagnostics of site and logs if a check failed. before is the previous result.
func (p *project) publish(before, site *analysis.Site) {
	defer p.onPanic(func() {})
	p.server.publishSite(p, before, site)
	p.logRefused(site)
	if site.Failure != nil && site.Failure != before.Failure {
		p.server.log(protocol.MessageTypeError, fmt.Sprintf("checking %s failed: %v", p.dir, site.Failure))
	}
}

// replace sets the result of a read and returns true. It returns false if the site has changed meanwhile. done means
// that no further checks will follow.
func (p *project) replace(site *analysis.Site, changes int, done bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes != changes {
		return false
	}
	p.site = site
	if done {
		p.done, p.cancel = changes, nil
	}
	close(p.news)
	p.news = make(chan struct{})
	return true
}

// readSite reads the site. If that panics, it returns an empty site.
func (p *project) readSite(ctx context.Context) (site *analysis.Site, more []func() *analysis.Site) {
	defer p.onPanic(func() { site, more = analysis.Empty(p.dir), nil })
	return p.reader.Read(ctx, p.dir, p.server.texts().buffers())
}

// checked returns the result of a further check of site. If the check panics, checked returns site itself.
func (p *project) checked(site *analysis.Site, check func() *analysis.Site) (next *analysis.Site) {
	defer p.onPanic(func() { next = site })
	return check()
}

// onPanic must be called by a defer statement. After a panic, it logs the panic and calls do.
func (p *project) onPanic(do func()) {
	if r := recover(); r != nil {
		p.server.log(protocol.MessageTypeError, fmt.Sprintf("reading %s failed: %v\n%s", p.dir, r, debug.Stack()))
		do()
	}
}

// logRefused logs which files were not read because they are outside the workspace folders. It logs each path once.
func (p *project) logRefused(site *analysis.Site) {
	for _, path := range site.Refused {
		if !p.refused[path] {
			p.refused[path] = true
			p.server.log(protocol.MessageTypeWarning, path+" is not read: it is outside the folders that the editor "+
				"opened. To read it, open a folder that contains it, or start 'bindc lsp --read DIR'.")
		}
	}
}

// current returns the latest result. It waits until the first read has finished.
func (p *project) current(ctx context.Context) (*analysis.Site, error) {
	return p.waitFor(ctx, func() bool { return p.site != nil })
}

// settled waits for the result that reflects all changes so far.
func (p *project) settled(ctx context.Context) (*analysis.Site, error) {
	return p.waitFor(ctx, func() bool { return p.site != nil && p.done == p.changes })
}

func (p *project) waitFor(ctx context.Context, ok func() bool) (*analysis.Site, error) {
	for {
		p.mu.Lock()
		site, news, ready := p.site, p.news, ok()
		p.mu.Unlock()
		if ready {
			return site, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.server.ctx.Done():
			return nil, p.server.ctx.Err()
		}
	}
}

// latest returns the latest result, or nil before the first read.
func (p *project) latest() *analysis.Site {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.site
}
