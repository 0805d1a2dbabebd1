package ship

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"bindc/origin"
)

// StallTimeout is the default for how long a transfer may make no progress.
const StallTimeout = time.Minute

// Client returns a client for sources. It ends requests that make no progress for the duration stall, and follows no
// redirect from TLS to an address without TLS. It trusts the system's certificate authorities and those in caFile.
func Client(caFile string, stall time.Duration) (*http.Client, error) {
	return ClientWithCertificate(caFile, "", "", stall)
}

// ClientWithCertificate is like Client. Its client also presents the certificate in certFile to servers; keyFile has
// the private key. Both files are PEM. If both names are "", there is no certificate.
func ClientWithCertificate(caFile, certFile, keyFile string, stall time.Duration) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pool, err := authorities(caFile)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if certFile != "" || keyFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: &impatient{t, stall}, CheckRedirect: follows}, nil
}

func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // the system has no certificate pool
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: expected certificates in PEM", file)
	}
	return pool, nil
}

// follows is a CheckRedirect function. It rejects a redirect from TLS to an address without TLS, and the tenth
// redirect.
func follows(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return errors.New("redirected ten times")
	case req.URL.Scheme != "https" && via[0].URL.Scheme == "https":
		return fmt.Errorf("redirected to %s, which does not use TLS", Redacted(req.URL.String()))
	}
	return nil
}

// maxSidecar is the maximum size in bytes of a statement or signature.
const maxSidecar = 64 << 10

// HTTP is a source on any web server that serves files. A poll sends the ETag of the last response or, if it had none,
// its Last-Modified. If the server sends neither, a verified statement identifies the snapshot. The statement and the
// signature have the URL of the snapshot with the suffixes of package origin.
type HTTP struct {
	URL    *url.URL
	Client *http.Client
}

func (h *HTTP) String() string { return Redacted(h.URL.String()) }

// hidden replaces the user and the password of a URL in messages.
const hidden = "xxxxx"

// Redacted returns the URL of a source for messages, without user and password. The user is also hidden, because it may
// be a token. text does not have to be a valid URL.
func Redacted(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if u.User == nil {
			return text
		}
		u.User = url.User(hidden)
		return u.String()
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	scheme, _, isURL := strings.Cut(text[:at], "://")
	switch {
	case isURL:
		return scheme + "://" + hidden + text[at:]
	case strings.Contains(text[:at], ":"):
		return hidden + text[at:]
	}
	return text
}

// Look implements Source.
func (h *HTTP) Look(ctx context.Context, validator string) (*Offer, error) {
	if want, ok := strings.CutPrefix(validator, byStatement); ok {
		text, err := h.companion(ctx, origin.StatementSuffix)
		if err != nil {
			return nil, err
		}
		if statementSum(text) == want {
			return nil, ErrUnchanged
		}
		validator = ""
	}
	resp, err := h.get(ctx, "", validator)
	if err != nil {
		return nil, err
	}
	now := validatorOf(resp)
	if resp.StatusCode == http.StatusNotModified || now != "" && now != tooNew && now == validator {
		resp.Body.Close()
		return nil, ErrUnchanged
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("GET %s: expected status 200, found %s", h, resp.Status)
	}
	return &Offer{Validator: now, Size: resp.ContentLength, Note: h.note(resp),
		Body:   func(context.Context) (io.ReadCloser, error) { return resp.Body, nil },
		Signed: h.signed, Close: resp.Body.Close}, nil
}

// Validators that are not ETags begin with one of these.
const (
	byTime      = "modified "  // followed by the server's Last-Modified
	tooNew      = "too new"    // the file may change again in the same second, so the next poll is unconditional
	byStatement = "statement " // followed by the statementSum of the signed statement
)

// statementValidator returns a validator made from the signed statement. It is for servers that send neither ETag nor
// Last-Modified.
func statementValidator(signed *origin.Signed) string { return byStatement + statementSum(signed.Text) }

func statementSum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// validatorOf returns the validator of a response: the ETag or the time of the last change. If the file could still
// change in the same second, it returns tooNew instead of the time.
func validatorOf(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" {
		return tag
	}
	changed, err := http.ParseTime(resp.Header.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	if now, err := http.ParseTime(resp.Header.Get("Date")); err != nil || now.Sub(changed) < 2*time.Second {
		return tooNew
	}
	return byTime + resp.Header.Get("Last-Modified")
}

// note describes which headers for efficient polls are missing from a response.
func (h *HTTP) note(resp *http.Response) string {
	switch {
	case resp.Header.Get("ETag") != "":
		return ""
	case resp.Header.Get("Last-Modified") != "":
		return fmt.Sprintf("%s has no ETag: polls use Last-Modified, which is less efficient", h)
	}
	return fmt.Sprintf("%s has neither ETag nor Last-Modified", h)
}

func (h *HTTP) get(ctx context.Context, suffix, validator string) (*http.Response, error) {
	u := *h.URL
	u.Path += suffix
	if u.RawPath != "" {
		u.RawPath += suffix
	}
	u.User = nil // errors of the client contain the URL, and must not contain a password
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if password, given := h.URL.User.Password(); given || h.URL.User.Username() != "" {
		req.SetBasicAuth(h.URL.User.Username(), password)
	}
	if changed, ok := strings.CutPrefix(validator, byTime); ok {
		req.Header.Set("If-Modified-Since", changed)
	} else if validator != "" && validator != tooNew {
		req.Header.Set("If-None-Match", validator)
	}
	return h.Client.Do(req)
}

func (h *HTTP) signed(ctx context.Context) (*origin.Signed, error) {
	sig, err := h.companion(ctx, origin.SignatureSuffix)
	if sig == nil || err != nil {
		return nil, err
	}
	text, err := h.companion(ctx, origin.StatementSuffix)
	if text == nil || err != nil {
		return nil, err
	}
	return &origin.Signed{Text: text, Signature: sig}, nil
}

// companion fetches the file with the given suffix. It returns nil if the server does not have the file.
func (h *HTTP) companion(ctx context.Context, suffix string) ([]byte, error) {
	resp, err := h.get(ctx, suffix, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return upTo(resp.Body, maxSidecar, h.String()+suffix)
	case http.StatusNotFound, http.StatusGone:
		return nil, nil
	}
	return nil, fmt.Errorf("GET %s%s: expected status 200 or 404, found %s", h, suffix, resp.Status)
}

func upTo(r io.Reader, n int64, what string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, n+1))
	if int64(len(text)) > n {
		err = refused("%s: expected at most %d bytes", what, n)
	}
	return text, err
}

// File is a source in the file system of this machine, for example a file that rsync copies or that is on a network
// file system. The file must be replaced by a rename.
type File struct{ Path string }

func (f File) String() string { return "file:" + f.Path }

// Look implements Source.
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
		now = fmt.Sprintf("%d %d %s", info.Size(), info.ModTime().UnixNano(), inode(info))
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
