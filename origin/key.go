package origin

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// ReadKey reads the SSH private key in file. If file contains a public key instead, the SSH agent at socket signs with
// the corresponding private key, which may have a passphrase. The caller must call close, which closes the connection
// to the agent.
func ReadKey(file, socket string) (key ssh.Signer, close func() error, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	if public, _, _, _, err := ssh.ParseAuthorizedKey(src); err == nil {
		return agentKey(public, file, socket)
	}
	key, err = ssh.ParsePrivateKey(src)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, nil, fmt.Errorf("%s has a passphrase: add it to an SSH agent and pass its public key", file)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: expected an SSH private key: %w", file, err)
	}
	return key, func() error { return nil }, nil
}

func agentKey(public ssh.PublicKey, file, socket string) (ssh.Signer, func() error, error) {
	if socket == "" {
		return nil, nil, fmt.Errorf("%s is a public key, and no SSH agent is available for the private one", file)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot use the SSH agent: %w", err)
	}
	keys, err := agent.NewClient(conn).Signers()
	for _, k := range keys {
		if bytes.Equal(k.PublicKey().Marshal(), public.Marshal()) {
			return k, conn.Close, nil
		}
	}
	conn.Close()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot use the SSH agent: %w", err)
	}
	return nil, nil, fmt.Errorf("the SSH agent does not have the key %s", file)
}
