// Package oci stores snapshots in container registries (Open Container Initiative). An artifact has one layer, which is
// the snapshot compressed with zstd. Its annotations contain the signed statement. The same snapshot with the same
// annotations gives an identical artifact.
package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"bindc/origin"
	"bindc/ship"
)

// Media types of an artifact. The type of the layer includes the version of the snapshot format.
const (
	ArtifactType = "application/vnd.bindc.site.v1"
	LayerType    = "application/vnd.bindc.snapshot.v3+zstd"
)

// kind describes the artifacts for snapshots, or those for parts of a build. artifact and layer are media types. sum
// and size are names of annotations.
type kind struct{ name, artifact, layer, sum, size string }

var (
	snapshots = kind{"snapshot", ArtifactType, LayerType, annotationSHA256, annotationSize}
	parts     = kind{"part of a build", "application/vnd.bindc.part.v1", "application/vnd.bindc.part.v1+zstd",
		"vnd.bindc.part.sha256", "vnd.bindc.part.size"}
)

// Annotations of the manifest, in addition to org.opencontainers.image.revision, .source and .created.
const (
	annotationSHA256    = "vnd.bindc.snapshot.sha256" // SHA-256 of the snapshot file, in hexadecimal
	annotationSize      = "vnd.bindc.snapshot.size"   // size of the snapshot file in bytes
	annotationStatement = "vnd.bindc.origin.statement"
	annotationSignature = "vnd.bindc.origin.signature"
)

// Scheme is the prefix of sources in a registry.
const Scheme = "oci://"

// Registry describes how to access registries. The zero value uses TLS and docker's credentials.
type Registry struct {
	Client    *http.Client // if nil, http.DefaultClient is used
	PlainHTTP bool         // do not use TLS; only allowed for this machine
	User      string       // if set, User and Password replace docker's credentials
	Password  string
	Agent     string // name of the program for the User-Agent header
}

// Repository is a repository in a registry, with a tag or a digest.
type Repository struct {
	repo *remote.Repository
	ref  registry.Reference
	kind *kind
}

// OfParts returns the same repository, but for parts of builds instead of snapshots.
func (r *Repository) OfParts() *Repository { return &Repository{r.repo, r.ref, &parts} }

// Open parses oci://HOST/REPO:TAG or oci://HOST/REPO@sha256:DIGEST. It does not contact the registry.
func (r *Registry) Open(text string) (*Repository, error) {
	ref, err := registry.ParseReference(strings.TrimPrefix(text, Scheme))
	if err != nil || ref.Reference == "" {
		return nil, fmt.Errorf("expected oci://HOST/REPO:TAG or oci://HOST/REPO@sha256:DIGEST, found '%s'",
			ship.Redacted(text))
	}
	if r.PlainHTTP && !Loopback(ref.Host()) {
		return nil, fmt.Errorf("%s: a registry on another machine needs TLS; omit --plain-http", ref.Host())
	}
	repo := &remote.Repository{Reference: ref, PlainHTTP: r.PlainHTTP}
	client := &auth.Client{Client: r.Client, Cache: auth.NewCache()}
	client.SetUserAgent(r.Agent)
	if r.User != "" {
		client.Credential = auth.StaticCredential(ref.Registry, auth.Credential{Username: r.User, Password: r.Password})
	} else {
		if _, err := dockerCredentials(); err != nil {
			return nil, err
		}
		client.Credential = func(ctx context.Context, host string) (auth.Credential, error) {
			store, err := dockerCredentials() // read each time, because passwords change while bindsync follow runs
			if err != nil {
				return auth.EmptyCredential, err
			}
			return credentials.Credential(store)(ctx, host)
		}
	}
	repo.Client = client
	return &Repository{repo, ref, &snapshots}, nil
}

func dockerCredentials() (*credentials.DynamicStore, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read docker's credentials: %w", err)
	}
	return store, nil
}

// Loopback reports whether a host, with or without a port, is this machine.
func Loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// String returns the source in the form that Open parses.
func (r *Repository) String() string { return Scheme + r.ref.String() }

// maxManifest limits the size of a manifest in bytes, because manifests are read into memory. Registries have the same
// limit.
const maxManifest = 4 << 20

// maxLayer returns the maximum size of a snapshot of the given size after compression. Data that does not compress
// grows slightly: zstd adds a header, and three bytes per block of 128 kB.
func maxLayer(size int64) int64 { return size + size>>8 + 1<<16 }

// Look implements ship.Source. The validator is the digest of the manifest.
func (r *Repository) Look(ctx context.Context, validator string) (*ship.Offer, error) {
	desc, err := r.repo.Resolve(ctx, r.ref.Reference)
	if err != nil {
		return nil, r.failed(err)
	}
	if desc.Digest.String() == validator {
		return nil, ship.ErrUnchanged
	}
	if desc.Size > maxManifest {
		return nil, r.foreign("its manifest has %d bytes, expected at most %d", desc.Size, maxManifest)
	}
	text, err := content.FetchAll(ctx, r.repo, desc)
	if err != nil {
		return nil, r.failed(err)
	}
	m, layer, err := r.manifest(text)
	if err != nil {
		return nil, err
	}
	o := &ship.Offer{Validator: desc.Digest.String(), Revision: m.Annotations[ocispec.AnnotationRevision],
		Close: func() error { return nil }}
	if o.Digest, err = ship.ParseDigest(m.Annotations[r.kind.sum]); err != nil {
		return nil, r.foreign("annotation %s: %v", r.kind.sum, err)
	}
	if o.Size, err = strconv.ParseInt(m.Annotations[r.kind.size], 10, 64); err != nil || o.Size < 0 {
		return nil, r.foreign("annotation %s: expected a number of bytes", r.kind.size)
	}
	if layer.Size > maxLayer(o.Size) {
		return nil, r.foreign("its layer has %d bytes; expected at most %d, for %s=%d", layer.Size, maxLayer(o.Size),
			r.kind.size, o.Size)
	}
	if sig := m.Annotations[annotationSignature]; sig != "" {
		o.Signed = func(context.Context) (*origin.Signed, error) {
			return &origin.Signed{Text: []byte(m.Annotations[annotationStatement]), Signature: []byte(sig)}, nil
		}
	}
	o.Body = func(ctx context.Context) (io.ReadCloser, error) { return r.body(ctx, layer) }
	return o, nil
}

// manifest parses the manifest of an artifact and returns it with the artifact's layer.
func (r *Repository) manifest(text []byte) (m ocispec.Manifest, layer ocispec.Descriptor, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, layer, r.foreign("%v", err)
	}
	if m.ArtifactType != r.kind.artifact {
		return m, layer, r.foreign("its type is '%s', expected '%s'", m.ArtifactType, r.kind.artifact)
	}
	if len(m.Layers) != 1 {
		return m, layer, r.foreign("it has %d layers, expected 1", len(m.Layers))
	}
	if layer = m.Layers[0]; layer.MediaType != r.kind.layer {
		return m, layer, r.foreign("its layer is '%s', expected '%s': a %s of another version of the format",
			layer.MediaType, r.kind.layer, r.kind.name)
	}
	return m, layer, nil
}

func (r *Repository) foreign(format string, args ...any) error {
	return &ship.Refusal{Reason: fmt.Sprintf("%s is not a bindc %s: ", r, r.kind.name) + fmt.Sprintf(format, args...)}
}

// failed adds the name of the repository to an error.
func (r *Repository) failed(err error) error {
	if errors.Is(err, errdef.ErrNotFound) {
		return fmt.Errorf("%s: not found in the registry", r)
	}
	return fmt.Errorf("%s: %w", r, err)
}

// maxWindow limits the window of a zstd frame in bytes, because decompression needs that much memory. Push uses 8 MB.
const maxWindow = 32 << 20

// body returns a reader that decompresses a layer. At the end, the reader returns an error if the layer does not match
// its digest.
func (r *Repository) body(ctx context.Context, layer ocispec.Descriptor) (io.ReadCloser, error) {
	raw, err := r.repo.Fetch(ctx, layer)
	if err != nil {
		return nil, r.failed(err)
	}
	checked := content.NewVerifyReader(raw, layer)
	z, err := zstd.NewReader(checked, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		raw.Close()
		return nil, err
	}
	return &body{z, checked, raw}, nil
}

type body struct {
	*zstd.Decoder
	checked *content.VerifyReader
	raw     io.Closer
}

func (b *body) Read(p []byte) (n int, err error) {
	n, err = b.Decoder.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := b.checked.Verify(); failed != nil {
			err = fmt.Errorf("the layer does not match its digest: %w", failed)
		}
	}
	return n, err
}

func (b *body) Close() error {
	b.Decoder.Close()
	return b.raw.Close()
}

// Label describes a snapshot that is pushed. Empty fields are omitted.
type Label struct {
	Revision, Source, Created string // Created has the format of RFC 3339
	Signed                    *origin.Signed
}

// Push pushes the file at path. It returns the artifact as HOST/REPO@sha256:DIGEST.
func (r *Repository) Push(ctx context.Context, path string, label Label) (string, error) {
	packed, err := os.CreateTemp("", "bindc-push-")
	if err != nil {
		return "", err
	}
	defer os.Remove(packed.Name())
	defer packed.Close()
	layer, annotations, err := r.kind.pack(packed, path)
	if err != nil {
		return "", err
	}
	label.add(annotations)
	text, err := json.Marshal(ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageManifest, ArtifactType: r.kind.artifact, Config: ocispec.DescriptorEmptyJSON,
		Layers: []ocispec.Descriptor{layer}, Annotations: annotations})
	if err != nil {
		return "", err
	}
	config := ocispec.DescriptorEmptyJSON
	config.Data = nil
	if err := r.pushBlob(ctx, config, bytes.NewReader(ocispec.DescriptorEmptyJSON.Data)); err != nil {
		return "", err
	}
	if err := r.pushBlob(ctx, layer, packed); err != nil {
		return "", err
	}
	desc := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromBytes(text),
		Size: int64(len(text))}
	if r.ref.ValidateReferenceAsDigest() == nil {
		return "", fmt.Errorf("%s: expected a tag to push to, found a digest", r)
	}
	if err := r.repo.PushReference(ctx, desc, bytes.NewReader(text), r.ref.Reference); err != nil {
		return "", r.failed(err)
	}
	return r.ref.Registry + "/" + r.ref.Repository + "@" + desc.Digest.String(), nil
}

// pushBlob pushes a blob unless the registry already has it.
func (r *Repository) pushBlob(ctx context.Context, desc ocispec.Descriptor, from io.Reader) error {
	exists, err := r.repo.Blobs().Exists(ctx, desc)
	if err == nil && !exists {
		err = r.repo.Blobs().Push(ctx, desc, from)
	}
	if err != nil {
		return r.failed(err)
	}
	return nil
}

// pack compresses the file at path into the file packed, and rewinds packed.
func (k *kind) pack(packed *os.File, path string) (layer ocispec.Descriptor, annotations map[string]string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return layer, nil, err
	}
	defer in.Close()
	whole, sum := sha256.New(), digest.Canonical.Digester()
	z, err := zstd.NewWriter(io.MultiWriter(packed, sum.Hash()), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(8<<20)) // one thread, so that the bytes depend only on the input
	if err != nil {
		return layer, nil, err
	}
	n, err := io.Copy(io.MultiWriter(z, whole), in)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return layer, nil, err
	}
	size, err := packed.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = packed.Seek(0, io.SeekStart)
	}
	layer = ocispec.Descriptor{MediaType: k.layer, Digest: sum.Digest(), Size: size}
	return layer, map[string]string{k.sum: hex.EncodeToString(whole.Sum(nil)),
		k.size: strconv.FormatInt(n, 10)}, err
}

func (l Label) add(annotations map[string]string) {
	for name, text := range map[string]string{ocispec.AnnotationRevision: l.Revision,
		ocispec.AnnotationSource:  l.Source,
		ocispec.AnnotationCreated: l.Created} {
		if text != "" {
			annotations[name] = text
		}
	}
	if l.Signed != nil {
		annotations[annotationStatement] = string(l.Signed.Text)
		annotations[annotationSignature] = string(l.Signed.Signature)
	}
}
