package main

import (
	"testing"
	"time"

	"bindc/ship"
)

// Somebody has to look after a name that does not answer, is damaged, refused a release or is too old. A source that
// does not answer is no reason.
func TestIsFailing(t *testing.T) {
	sound := func(change func(*ship.Status)) *ship.Status {
		s := &ship.Status{Active: "d", Age: 60}
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		status  *ship.Status
		maxAge  time.Duration
		failing bool
	}{
		"sound":               {sound(func(*ship.Status) {}), 0, false},
		"as old as it may be": {sound(func(*ship.Status) {}), time.Minute, false},
		"too old":             {sound(func(*ship.Status) {}), time.Minute - 1, true},
		"barely old":          {sound(func(s *ship.Status) { s.Age = 0 }), 1, false},
		"never seen":          {sound(func(s *ship.Status) { s.Age = -1 }), time.Hour, true},
		"never seen, no age":  {sound(func(s *ship.Status) { s.Age = -1 }), 0, false},
		"does not answer":     {sound(func(s *ship.Status) { s.Active = "" }), 0, true},
		"problem":             {sound(func(s *ship.Status) { s.Problem = "p" }), 0, true},
		"damaged":             {sound(func(s *ship.Status) { s.Damaged = "d" }), 0, true},
		"source is away": {sound(func(s *ship.Status) { s.Checked.Error, s.Checked.Reason = "e", ship.Network }), 0,
			false},
		"release is refused": {sound(func(s *ship.Status) { s.Checked.Error, s.Checked.Reason = "e", ship.Content }), 0,
			true},
	} {
		if got := isFailing(c.status, c.maxAge); got != c.failing {
			t.Errorf("%s: failing is %v, expected %v", name, got, c.failing)
		}
	}
}
