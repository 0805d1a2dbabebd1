package explore

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/report"
)

//go:embed page
var assets embed.FS

// assetsID identifies the program version and its assets. It is part of every asset's address, so browsers can cache
// assets forever.
var assetsID = sync.OnceValue(func() string {
	sum := sha256.New()
	sum.Write([]byte(cli.Version()))
	err := fs.WalkDir(assets, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := assets.ReadFile(path)
		sum.Write(text)
		return err
	})
	if err != nil {
		panic(err) // embedded files can always be read
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
})

// forever is the Cache-Control header of responses that never change.
const forever = "private, max-age=31536000, immutable"

// serveAsset serves the style sheet, the script or the icon. asset has the form ID/FILE, where ID is assetsID.
func serveAsset(w http.ResponseWriter, r *http.Request, asset string) {
	id, file, _ := strings.Cut(asset, "/")
	types := map[string]string{"style.css": "text/css; charset=utf-8", "explore.js": "text/javascript; charset=utf-8",
		"icon.svg": "image/svg+xml"}
	text, err := assets.ReadFile("page/" + file)
	if err != nil || types[file] == "" || id != assetsID() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[file])
	w.Header().Set("Cache-Control", forever)
	w.Write(text)
}

// templates maps each page's name to its template, which includes the shared layout.
var templates = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(assets,
		"page/layout.html", "page/parts.html"))
	names, err := fs.Glob(assets, "page/*.html")
	if err != nil {
		panic(err)
	}
	out := map[string]*template.Template{}
	for _, path := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "page/"), ".html")
		if name != "layout" && name != "parts" {
			out[name] = template.Must(template.Must(layout.Clone()).ParseFS(assets, path))
		}
	}
	return out
})

// render writes an HTML page: the template called name, executed with data.
func render(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	t := templates()[name]
	if name != "signin" {
		t = t.Lookup("layout.html")
	} else {
		t = t.Lookup("signin.html")
	}
	if err := t.Execute(&b, data); err != nil {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "cannot show this page: "+diag.Visible(err.Error()), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func marshal(x any) json.RawMessage { return report.Marshal(x) }
