package ship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

func (p *Pull) tooLarge() error {
	return refused("expected at most %d bytes, the source has more; raise --max-size", p.MaxBytes)
}

// download reads the offered snapshot into a temporary directory, checks it there, and moves it into the store.
func (p *Pull) download(ctx context.Context, offer *Offer, t *taken) (err error) {
	begun := p.Now()
	var size int64
	defer func() {
		now := p.Now()
		noted := p.Store.locked(p.Name, now, func(r *record) error {
			r.Downloaded.done(now, now.Sub(begun), err)
			r.Counts.Downloads++
			r.Counts.Bytes += uint64(size)
			return r.save()
		})
		err = join(err, noted)
	}()
	if err := p.Store.sweep(p.Now()); err != nil {
		return err
	}
	dir, err := p.Store.temporaryDir("pull")
	if err != nil {
		return err
	}
	defer p.Store.files.removeAll(dir) // has no effect if dir was moved
	path := filepath.Join(dir, snapshotFile)
	var d Digest
	if d, size, err = p.receive(ctx, offer, path); err != nil {
		return err
	}
	if claimed := t.Digest; claimed != "" && claimed != d {
		t.Digest, t.validator = d, "" // the source may be replacing snapshot and statement one after the other
		return refused("its SHA-256 is %s, but the source announced %s", d, claimed)
	}
	t.Digest = d
	if exists, err := p.Store.has(d); exists || err != nil {
		return err
	}
	if t.signed != nil {
		if err := p.Store.writeSigned(path, *t.signed); err != nil {
			return err
		}
	}
	sensitive, err := p.Checks.inspect(path)
	if err != nil {
		return &fetched{err, strings.ReplaceAll(err.Error(), path, p.Source.String())}
	}
	t.Downloaded = true
	return p.Store.exclusively(func() error { return p.Store.commit(dir, d, sensitive) })
}

// fetched is an error about a fetched snapshot. Its text contains the source instead of the temporary path.
type fetched struct {
	err  error
	text string
}

func (f *fetched) Error() string { return f.text }

func (f *fetched) Unwrap() error { return f.err }

// receive writes the offered snapshot to path and syncs it. It returns the digest and the number of bytes received.
func (p *Pull) receive(ctx context.Context, offer *Offer, path string) (d Digest, n int64, err error) {
	body, err := offer.Body(ctx)
	if err != nil {
		return "", n, because(Network, err)
	}
	defer body.Close()
	f, err := p.Store.files.create(path)
	if err != nil {
		return "", n, err
	}
	defer f.Close()
	limit := p.MaxBytes
	if offer.Size >= 0 {
		limit = offer.Size
	}
	sum := sha256.New()
	n, err = io.Copy(io.MultiWriter(f.writer(), sum), io.LimitReader(fromSource{body}, limit+1))
	switch {
	case err != nil:
		return "", n, fmt.Errorf("cannot fetch the snapshot: %w", err)
	case offer.Size >= 0 && n > limit:
		return "", n, refused("the source announced %d bytes but sends more", limit)
	case n > limit:
		return "", n, p.tooLarge()
	case offer.Size >= 0 && n < limit:
		return "", n, because(Network, fmt.Errorf("the source announced %d bytes but sent only %d", offer.Size, n))
	}
	return Digest(hex.EncodeToString(sum.Sum(nil))), n, f.finish()
}

// fromSource marks read errors as errors of the source, to distinguish them from errors of the disk.
type fromSource struct{ io.Reader }

func (f fromSource) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = because(Network, err)
	}
	return n, err
}

func (c *Checks) inspect(path string) (sensitive bool, err error) {
	if c.Inspect == nil {
		return false, nil
	}
	sensitive, err = c.Inspect(path)
	return sensitive, because(Content, err)
}
