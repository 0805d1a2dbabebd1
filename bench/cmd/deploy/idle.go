package main

import (
	"fmt"
	"time"
)

// looks is the number of polls to measure. None of them finds a new release.
const looks = 20

// idle measures the bytes sent and received by a poll that finds nothing new. TCP and IP headers
// are not counted.
func (s *sized) idle() ([]row, error) {
	_, at, end, err := s.server()
	if err != nil {
		return nil, err
	}
	defer end()
	if _, err := s.push(s.releases[0], "idle"); err != nil {
		return nil, err
	}
	if err := s.publish(s.releases[0]); err != nil {
		return nil, err
	}
	var rows []row
	for _, source := range []struct{ what, server, format string }{
		{"registry", s.at, "oci://%s/puppet/site:idle"}, {"HTTPS", at, "https://%s/site.snap"},
	} {
		wire, err := newWire(source.server)
		if err != nil {
			return nil, err
		}
		defer wire.Close()
		found, err := s.idleOf(wire, source.what, fmt.Sprintf(source.format, wire.at()))
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func (s *sized) idleOf(wire *wire, what, source string) ([]row, error) {
	name := "idle-" + what + "-" + s.name
	m, err := s.master(name, source, "1h", "")
	if err != nil {
		return nil, err
	}
	defer m.end()
	fetched := wire.settled()
	for range looks {
		before, err := m.state()
		if err == nil {
			err = m.look()
		}
		if err == nil {
			err = eventually("it has looked", func() (bool, error) {
				st, err := m.state()
				return st.Checked.OK.After(before.Checked.OK), err
			})
		}
		if err != nil {
			return nil, err
		}
	}
	followed := wire.settled()
	for range looks {
		if _, err := s.run(nil, "bindsync", "pull", source, "--name", "production", "--plain-http", "--store", m.store,
			"--ca-file", s.path("deploy.crt"), "--allowed-signers", s.path("allowed_signers")); err != nil {
			return nil, err
		}
	}
	pulled := wire.settled()
	return []row{
		{"bytes of a pull, " + what, fmt.Sprintf("%.1f MB", float64(fetched)/1e6)},
		{"bytes of an idle look of `follow`, " + what, fmt.Sprint((followed - fetched) / looks)},
		{"bytes of an idle `bindsync pull`, " + what, fmt.Sprint((pulled - followed) / looks)}}, nil
}

// settled waits until no more bytes pass, and returns the total.
func (w *wire) settled() int64 {
	for {
		before := w.bytes.Load()
		if time.Sleep(100 * time.Millisecond); w.bytes.Load() == before {
			return before
		}
	}
}
