package ship

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"time"

	"bindc/origin"
)

// Client is a client for sources: it waits for no server for long, is led to no address without TLS, and trusts, beside
// the authorities of the system, the certificates in caFile, if that is not "".
func Client(caFile string) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		pool, err := x509.SystemCertPool()
		if err != nil { // there are none here
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: expected certificates in PEM", caFile)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t, CheckRedirect: follows}, nil
}

// follows tells where a client lets itself be led.
func follows(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return errors.New("redirected ten times")
	case req.URL.Scheme != "https" && via[0].URL.Scheme == "https":
		return fmt.Errorf("redirected to %s, which has no TLS", req.URL.Redacted())
	}
	return nil
}

// maxBeside is how long what stands beside a snapshot may be, in bytes.
const maxBeside = 64 << 10

// HTTP is a snapshot on a web server: any that serves files will do. It is asked with the ETag it gave; what is signed
// stands beside it, with the suffixes of package origin.
type HTTP struct {
	URL    *url.URL
	Client *http.Client
}

func (h *HTTP) String() string { return h.URL.Redacted() }

// Look is Source.Look.
func (h *HTTP) Look(ctx context.Context, validator string) (*Offer, error) {
	resp, err := h.get(ctx, "", validator)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotModified {
		resp.Body.Close()
		return nil, ErrUnchanged
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("GET %s: expected status 200, found %s", h, resp.Status)
	}
	return &Offer{Validator: resp.Header.Get("ETag"), Size: resp.ContentLength,
		Body:   func(context.Context) (io.ReadCloser, error) { return resp.Body, nil },
		Signed: h.signed, Close: resp.Body.Close}, nil
}

func (h *HTTP) get(ctx context.Context, suffix, validator string) (*http.Response, error) {
	u := *h.URL
	u.Path += suffix
	if u.RawPath != "" {
		u.RawPath += suffix
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if validator != "" {
		req.Header.Set("If-None-Match", validator)
	}
	return h.Client.Do(req)
}

// signed is what stands beside the snapshot; nil if the server has no signature.
func (h *HTTP) signed(ctx context.Context) (*origin.Signed, error) {
	sig, err := h.beside(ctx, origin.SignatureSuffix)
	if sig == nil || err != nil {
		return nil, err
	}
	text, err := h.beside(ctx, origin.StatementSuffix)
	if text == nil || err != nil {
		return nil, err
	}
	return &origin.Signed{Text: text, Signature: sig}, nil
}

// beside is nil where the server says that there is nothing.
func (h *HTTP) beside(ctx context.Context, suffix string) ([]byte, error) {
	resp, err := h.get(ctx, suffix, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return upTo(resp.Body, maxBeside, h.String()+suffix)
	case http.StatusNotFound, http.StatusGone:
		return nil, nil
	}
	return nil, fmt.Errorf("GET %s%s: expected status 200 or 404, found %s", h, suffix, resp.Status)
}

func upTo(r io.Reader, n int64, what string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, n+1))
	if err == nil && int64(len(text)) > n {
		err = refused("%s: expected at most %d bytes", what, n)
	}
	return text, err
}

// File is a snapshot that something else puts on this machine: rsync, a network file system. It has to be replaced as a
// whole, by a rename.
type File struct{ Path string }

func (f File) String() string { return "file:" + f.Path }

// Look is Source.Look.
func (f File) Look(_ context.Context, validator string) (*Offer, error) {
	in, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: f.Path, Err: errors.New("not a regular file")}
	}
	now := ""
	if err == nil {
		now = fmt.Sprintf("%d %d %s", info.Size(), info.ModTime().UnixNano(), identity(info))
		if now == validator {
			err = ErrUnchanged
		}
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return &Offer{Validator: now, Size: info.Size(), Signed: f.signed,
		Body:  func(context.Context) (io.ReadCloser, error) { return io.NopCloser(in), nil },
		Close: in.Close}, nil
}

func (f File) signed(context.Context) (*origin.Signed, error) { return origin.Read(f.Path) }
