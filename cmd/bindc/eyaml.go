package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bindc/internal/secret/eyaml"
)

func eyamlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eyaml",
		Short: "Encrypt values as hiera-eyaml does, with its public key",
		Long: "eyaml encrypts values of a site as hiera-eyaml does, with PKCS7. It needs only\n" +
			"the public key. Lookups and hiera-eyaml decrypt with the private key.\n\n" +
			"Exit status: 0 done, 1 a marked value cannot be encrypted, 2 usage error,\n" +
			"input or output.",
		Example: "  bindc eyaml encrypt < password.txt",
	}
	cmd.AddCommand(encryptCommand(), editCommand())
	return cmd
}

type publicKey struct{ file string }

func (p *publicKey) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "public-key", "",
		"`FILE` with the hiera-eyaml public key (default: $BINDC_EYAML_PUBLIC_KEY, or "+defaultKey+")")
}

const defaultKey = "keys/public_key.pkcs7.pem"

func (p *publicKey) read() (*eyaml.PublicKey, error) {
	to, err := eyaml.ReadPublicKey(cmp.Or(p.file, os.Getenv("BINDC_EYAML_PUBLIC_KEY"), defaultKey))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: name the public key file with --public-key or BINDC_EYAML_PUBLIC_KEY", err)
	}
	return to, err
}

func encryptCommand() *cobra.Command {
	var key publicKey
	cmd := &cobra.Command{
		Use:   "encrypt",
		Short: "Encrypt a text",
		Long: "encrypt encrypts the text on standard input and prints ENC[PKCS7,...], one line\n" +
			"to copy into a data file. It drops one newline at the end of the input. On a\n" +
			"terminal, it prompts for a line and does not echo it. The text cannot be an\n" +
			"argument, because other users can see the command line.\n\n" +
			"Exit status: 0 done, 2 invalid usage or an I/O error.",
		Example: "  bindc eyaml encrypt --public-key keys/public_key.pkcs7.pem < password.txt",
		Args:    cobra.ArbitraryArgs, // cobra's own error would print the argument, which may be secret
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("encrypt: expected the text on standard input, found an argument, which other " +
					"users can see")
			}
			to, err := key.read()
			if err != nil {
				return err
			}
			text, err := readText(cmd)
			if err != nil {
				return fmt.Errorf("encrypt: %w", err)
			}
			encrypted, err := to.Encrypt(text)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), encrypted)
			return err
		},
	}
	key.add(cmd)
	return cmd
}

// readText reads the text to encrypt from standard input. It rejects an empty text, which is probably a mistake.
func readText(cmd *cobra.Command) (string, error) {
	read := func() ([]byte, error) { return io.ReadAll(cmd.InOrStdin()) }
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		read = func() ([]byte, error) { return askFor(cmd, fd) }
	}
	src, err := read()
	text, ends := strings.CutSuffix(string(src), "\n")
	if ends {
		text = strings.TrimSuffix(text, "\r")
	}
	if err == nil && text == "" {
		err = errors.New("expected a text on standard input, found nothing")
	}
	return text, err
}

// askFor prompts for a line on a terminal without echoing it. If a signal arrives, askFor restores the terminal.
func askFor(cmd *cobra.Command, terminal int) ([]byte, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return nil, err
	}
	s := signals{last: func() { term.Restore(terminal, before) }}
	s.handle()
	fmt.Fprint(cmd.ErrOrStderr(), "Text to encrypt (it is not shown): ")
	defer fmt.Fprintln(cmd.ErrOrStderr())
	return term.ReadPassword(terminal)
}
