package explore

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
)

// Access specifies which requests a Server accepts.
type Access struct {
	Token  string   // secret that clients must present; "" to accept all clients
	Hosts  []string // names under which clients reach the server, such as that of a proxy
	Remote bool     // accept requests from other machines
}

// NewToken returns a random token for Access.
func NewToken() string {
	b := make([]byte, 16)
	rand.Read(b) // rand.Read never returns an error
	return hex.EncodeToString(b)
}

// guard rejects requests from other sites and from clients that are not signed in.
type guard struct{ Access }

// policy is the Content-Security-Policy of all responses. It forbids external resources and inline code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// protect returns a handler that sets security headers on all responses and passes only permitted requests to next.
func (g *guard) protect(next http.Handler) http.Handler {
	checked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asset, isAsset := strings.CutPrefix(r.URL.Path, "/assets/")
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/token":
			g.exchange(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are allowed", http.StatusMethodNotAllowed)
		case isAsset:
			serveAsset(w, r, asset)
		case !g.isSignedIn(r):
			refuse(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
	sameOrigin := http.NewCrossOriginProtection().Handler(checked)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"X-Frame-Options": "DENY", "Permissions-Policy": "interest-cohort=()",
		} {
			w.Header().Set(name, value)
		}
		if !g.isKnownHost(r.Host) {
			http.Error(w, "unknown host '"+short(r.Host, 100)+"'; --host NAME allows it", http.StatusMisdirectedRequest)
			return
		}
		sameOrigin.ServeHTTP(w, r)
	})
}

// isKnownHost reports whether host, from a request's Host header, is a name of this server. This check stops DNS
// rebinding: the name of a hostile site can resolve to this machine, but the Host header still has that name. Loopback
// addresses are always accepted, other IP addresses only with Access.Remote.
func (g *guard) isKnownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if slices.Contains(g.Hosts, name) || name == "localhost" {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && (ip.IsLoopback() || g.Remote)
}

// cookie returns the name and value of the cookie that marks a signed-in client. The name depends on the token because
// browsers send a host's cookies to the servers on all its ports. Nobody can derive the token from the cookie.
func (g *guard) cookie() (name, value string) {
	sum := sha256.Sum256([]byte("cookie " + g.Token))
	return "bindc-" + hex.EncodeToString(sum[:4]), hex.EncodeToString(sum[4:])
}

func (g *guard) isSignedIn(r *http.Request) bool {
	if g.Token == "" {
		return true
	}
	name, value := g.cookie()
	c, err := r.Cookie(name)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(value)) == 1
}

// exchange handles the request that signs a client in: it checks the token in the body and sets the cookie.
func (g *guard) exchange(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 100))
	if g.Token == "" || err != nil || subtle.ConstantTimeCompare(text, []byte(g.Token)) != 1 {
		http.Error(w, "wrong token; open the address that bindc explore prints", http.StatusForbidden)
		return
	}
	name, value := g.cookie()
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// refuse answers a client that is not signed in. For pages it sends a script, which signs in with the token in the
// address's fragment.
func refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if strings.HasSuffix(r.URL.Path, ".json") || r.URL.Path == "/events" {
		http.Error(w, "sign in first; open the address that bindc explore prints", http.StatusUnauthorized)
		return
	}
	render(w, http.StatusUnauthorized, "signin", nil)
}
