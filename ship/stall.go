package ship

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// impatient is a transport that ends stalled requests. A request has stalled if, for the duration limit, the server has
// neither read a byte of the request nor sent a byte of the response.
type impatient struct {
	http.RoundTripper
	limit time.Duration
}

type progress struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer
	limit time.Duration
}

func (i *impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	p := &progress{limit: i.limit}
	p.ctx, p.end = context.WithCancelCause(req.Context())
	p.timer = time.AfterFunc(i.limit, func() {
		p.end(fmt.Errorf("no data was transferred for %v: the server or the network has stalled; if it is only slow, "+
			"raise the stall timeout", i.limit))
	})
	req = req.WithContext(p.ctx)
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &sending{req.Body, p}
	}
	resp, err := i.RoundTripper.RoundTrip(req)
	p.timer.Stop()
	if err != nil {
		err = p.cause(err)
		p.end(nil)
		return nil, err
	}
	resp.Body = &receiving{resp.Body, p}
	return resp, nil
}

// cause returns the error about the stall if a stall ended the request, and err otherwise.
func (p *progress) cause(err error) error {
	if err != nil && err != io.EOF && p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return err
}

// sending is the body of a request. Each read by the transport counts as progress.
type sending struct {
	io.ReadCloser
	progress *progress
}

func (s *sending) Read(b []byte) (int, error) {
	s.progress.timer.Reset(s.progress.limit)
	return s.ReadCloser.Read(b)
}

// receiving is the body of a response. The time between two calls of Read does not count, because then the caller is
// busy.
type receiving struct {
	io.ReadCloser
	progress *progress
}

func (r *receiving) Read(b []byte) (int, error) {
	r.progress.timer.Reset(r.progress.limit)
	n, err := r.ReadCloser.Read(b)
	r.progress.timer.Stop()
	return n, r.progress.cause(err)
}

func (r *receiving) Close() error {
	r.progress.end(nil)
	return r.ReadCloser.Close()
}
