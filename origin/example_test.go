package origin_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/ssh"

	"bindc/origin"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	// The build server signs a snapshot.
	snapshot := []byte("the bytes of a snapshot")
	path := filepath.Join(dir, "production.snap")
	if err := os.WriteFile(path, snapshot, 0o644); err != nil {
		log.Fatal(err)
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private) // in a real program, origin.ReadKey reads the key from a file
	if err != nil {
		log.Fatal(err)
	}
	sum := sha256.Sum256(snapshot)
	signed, err := origin.Sign(origin.Statement{Name: "production", SHA256: hex.EncodeToString(sum[:]),
		Revision: "v1.2.0", Created: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}, key)
	if err != nil {
		log.Fatal(err)
	}
	if err := signed.Write(path); err != nil {
		log.Fatal(err)
	}

	// A server accepts snapshots signed with a trusted key.
	allowed := filepath.Join(dir, "allowed_signers")
	line := append([]byte("build@example.org "), ssh.MarshalAuthorizedKey(key.PublicKey())...)
	if err := os.WriteFile(allowed, line, 0o644); err != nil {
		log.Fatal(err)
	}
	policy, err := origin.ReadPolicy(allowed, "", time.Now)
	if err != nil {
		log.Fatal(err)
	}
	from, err := policy.Check(path, sum)
	fmt.Println(from.Signer, from.Name, from.Revision, err)

	// It rejects another snapshot with the same signature.
	_, err = policy.CheckSigned(path, signed, sha256.Sum256([]byte("other bytes")))
	var refusal *origin.Rejection
	fmt.Println(errors.As(err, &refusal))
	// Output:
	// build@example.org production v1.2.0 <nil>
	// true
}
