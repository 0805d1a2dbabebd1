package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/snapfile"
	"bindc/origin"
	"bindc/snapshot"
)

func (g *globals) verifyCommand() *cobra.Command {
	s := source{globals: g}
	var o output
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check the integrity and the signature of a snapshot",
		Long: "verify checks every checksum and every reference in a snapshot, and with\n" +
			"--allowed-signers who signed it.\n\n" +
			"Exit status: 0 valid, 1 the signature is refused, 2 the snapshot is damaged, or\n" +
			"another error.",
		Example: "  bindq verify site.snap",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.pathOrArgument(args)
			if err != nil {
				return err
			}
			policy, err := s.signers.Policy()
			if err != nil {
				return err
			}
			return snapfile.Use(path, func(f *snapshot.Snapshot) error {
				v, err := verifyFile(path, f, policy)
				if err == nil && o.format != "text" {
					err = printReport(cmd.OutOrStdout(), o.format, v)
				} else if err == nil {
					_, err = io.WriteString(cmd.OutOrStdout(), v.text())
				}
				return err
			})
		},
	}
	o.add(cmd, "text")
	return cmd
}

type verified struct {
	File   string  `json:"file"`
	Keys   int     `json:"keys"`
	Bytes  int     `json:"bytes"`
	SHA256 string  `json:"sha256"`
	Signed *signed `json:"signed"` // null unless --allowed-signers is given
}

// signed holds the signed statement and the key that signed it.
type signed struct {
	Signer   string    `json:"signer"`
	Key      string    `json:"key"`
	Name     string    `json:"name"`
	Revision string    `json:"revision"`
	Created  time.Time `json:"created"`
}

// verifyFile reads and checks all of a snapshot. If policy is not nil, it also checks the signature.
func verifyFile(path string, f *snapshot.Snapshot, policy *origin.Policy) (*verified, error) {
	sum := f.Sum()
	v := &verified{File: path, SHA256: hex.EncodeToString(sum[:])}
	if policy != nil {
		from, err := policy.Check(path, sum)
		if err != nil {
			return nil, err
		}
		v.Signed = &signed{from.Signer, from.Key, from.Name, from.Revision, from.Created}
	}
	if err := snapfile.Verify(f); err != nil {
		return nil, err
	}
	in := f.Info()
	v.Keys, v.Bytes = in.Keys, in.Size
	return v, nil
}

func (v *verified) text() string {
	text := fmt.Sprintf("%s: sound, %s, %d bytes, sha256 %s\n", diag.Visible(v.File), diag.Count(v.Keys, "key"),
		v.Bytes, v.SHA256)
	if s := v.Signed; s != nil {
		text += fmt.Sprintf("signed by %s (%s): '%s', revision '%s', %s\n", diag.Visible(s.Signer), s.Key,
			diag.Visible(s.Name), diag.Visible(s.Revision), s.Created.Format(time.RFC3339))
	}
	return text
}
