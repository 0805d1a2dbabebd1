package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// certificate creates a self-signed certificate for 127.0.0.1.
func (w *way) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "deploy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	made, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	block := func(kind string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	return errors.Join(w.write("deploy.crt", block("CERTIFICATE", made)),
		w.write("deploy.key", block("PRIVATE KEY", private)))
}

// server serves the directory www over HTTPS, with nginx if it is installed and with Go's server
// otherwise. It returns the name of the server, its address, and a function that stops it.
func (w *way) server() (by, at string, end func(), err error) {
	if err := os.MkdirAll(w.path("www"), 0o755); err != nil {
		return "", "", nil, err
	}
	if at, err = freeAddress(); err != nil {
		return "", "", nil, err
	}
	if _, err := exec.LookPath("nginx"); err != nil {
		s := &http.Server{Addr: at, Handler: http.HandlerFunc(w.file)}
		go s.ListenAndServeTLS(w.path("deploy.crt"), w.path("deploy.key"))
		return "Go's server", at, func() { s.Close() }, listens(at)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n" // only root can read the directory
	}
	if err := w.write("nginx.conf", fmt.Sprintf(`%sdaemon off;
pid %[2]s/nginx.pid;
error_log %[2]s/nginx.log;
events {}
http {
  access_log off;
  client_body_temp_path %[2]s/nginx; proxy_temp_path %[2]s/nginx; fastcgi_temp_path %[2]s/nginx;
  uwsgi_temp_path %[2]s/nginx; scgi_temp_path %[2]s/nginx;
  server {
    listen %[3]s ssl;
    ssl_certificate %[2]s/deploy.crt;
    ssl_certificate_key %[2]s/deploy.key;
    root %[2]s/www;
  }
}
`, user, w.dir, at)); err != nil {
		return "", "", nil, err
	}
	cmd := exec.Command("nginx", "-c", w.path("nginx.conf"))
	if err := cmd.Start(); err != nil {
		return "", "", nil, err
	}
	return "nginx", at, func() { stop(cmd) }, listens(at)
}

// file serves a file of the directory www. It sets an ETag, as nginx does.
func (w *way) file(out http.ResponseWriter, req *http.Request) {
	path := filepath.Join(w.path("www"), filepath.Base(req.URL.Path))
	if info, err := os.Stat(path); err == nil {
		out.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	}
	http.ServeFile(out, req, path)
}

// publish copies a snapshot with its statement and its signature to www. It copies the snapshot
// last.
func (w *way) publish(snapshot string) error {
	for _, suffix := range []string{".meta.json", ".sig", ""} {
		err := copied(snapshot+suffix, w.path("www/site.snap")+suffix)
		if err != nil && (suffix == "" || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// https tests pulls from a web server with a self-signed certificate, and from a server that sends
// incomplete files.
func (w *way) https() error {
	by, at, end, err := w.server()
	if err != nil {
		return err
	}
	defer end()
	pull := []string{"pull", "https://" + at + "/site.snap", "--name", "production", "--store", w.path("https"),
		"--allowed-signers", w.path("allowed_signers")}
	trusting := append(pull, "--ca-file", w.path("deploy.crt"))
	var releases [2]string
	for i := range releases {
		site, err := w.small("site", i+1, "x")
		if err == nil {
			releases[i], err = w.build(site, i+1)
		}
		if err != nil {
			return err
		}
	}
	if err := w.publish(releases[0]); err != nil {
		return err
	}
	if _, err := w.run(nil, "bindsync", pull...); err == nil || !strings.Contains(err.Error(), "certificate") {
		return fmt.Errorf("an unknown certificate was accepted: %w", err)
	}
	if _, err := w.run(nil, "bindsync", trusting...); err != nil {
		return err
	}
	cut := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
		if filepath.Ext(req.URL.Path) != ".snap" {
			w.file(out, req)
			return
		}
		text, _ := os.ReadFile(releases[1])
		out.Header().Set("Content-Length", fmt.Sprint(len(text)))
		out.Write(text[:len(text)/2])
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go cut.ServeTLS(l, w.path("deploy.crt"), w.path("deploy.key"))
	defer cut.Close()
	trusting[1] = "https://" + l.Addr().String() + "/site.snap"
	if _, err := w.run(nil, "bindsync", trusting...); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		return fmt.Errorf("half a snapshot was accepted: %w", err)
	}
	_, err = w.run(nil, "bindq", "lookup", "release", "-s", w.path("https/production.snap"))
	say("over HTTPS from %s: pulled; refused without --ca-file, and where the server gives half of it", by)
	return err
}
