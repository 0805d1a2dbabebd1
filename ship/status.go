package ship

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Status is how a name stands.
type Status struct {
	Name     string    `json:"name"`
	Active   Digest    `json:"active,omitempty"` // "": nothing answers
	Revision string    `json:"revision,omitempty"`
	Since    time.Time `json:"since,omitzero"`   // it answers
	Created  time.Time `json:"created,omitzero"` // as its signed statement says
	// Age is for how many seconds nobody could tell whether it is what the source has; -1 if that never was so.
	Age int64 `json:"age"`
	// Persisted says that the source could not be had last time, so that the store answers by itself.
	Persisted bool `json:"persisted,omitempty"`
	State
}

// Status is that of name at the time now.
func (s *Store) Status(name string, now time.Time) (st Status, err error) {
	st = Status{Name: name, Age: -1}
	if st.State, err = s.State(name); err != nil {
		return st, err
	}
	if st.Active, err = s.Active(name); err != nil {
		return st, err
	}
	if !st.Checked.OK.IsZero() {
		st.Age = int64(now.Sub(st.Checked.OK).Seconds())
	}
	st.Persisted = st.Active != "" && st.Checked.Error != ""
	history, err := s.History(name)
	if err != nil {
		return st, err
	}
	for _, e := range slices.Backward(history) {
		if e.Result == resultOK && e.Digest == st.Active && st.Active != "" {
			st.Since, st.Revision = e.Time, e.Revision
			break
		}
	}
	if st.Active == "" {
		return st, nil
	}
	stated, err := s.Statement(st.Active)
	if stated != nil {
		st.Revision, st.Created = stated.Revision, stated.Created
	}
	return st, err
}

// metrics are the lines of a textfile of Prometheus, but for their labels.
var metrics = []struct {
	name, help string
	of         func(*Status) (float64, bool)
}{
	{"bindc_active_since_seconds", "Time since which the active snapshot answers.",
		since(func(s *Status) time.Time { return s.Since })},
	{"bindc_created_seconds", "Time at which the active snapshot was signed.",
		since(func(s *Status) time.Time { return s.Created })},
	{"bindc_checked_seconds", "Time of the last look at the source that went well.",
		since(func(s *Status) time.Time { return s.Checked.OK })},
	{"bindc_check_failed", "1 if the last look at the source failed.",
		flag(func(s *Status) bool { return s.Checked.Error != "" })},
	{"bindc_activation_failed", "1 if the last activation failed.",
		flag(func(s *Status) bool { return s.Activated.Error != "" })},
	{"bindc_pinned", "1 after a rollback, until it is resumed.", flag(func(s *Status) bool { return s.Pinned })},
}

func since(of func(*Status) time.Time) func(*Status) (float64, bool) {
	return func(s *Status) (float64, bool) { return float64(of(s).Unix()), !of(s).IsZero() }
}

func flag(of func(*Status) bool) func(*Status) (float64, bool) {
	return func(s *Status) (float64, bool) {
		if of(s) {
			return 1, true
		}
		return 0, true
	}
}

var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// WriteMetrics writes all as the textfile collector of Prometheus reads it.
func WriteMetrics(w io.Writer, all []Status) error {
	var b strings.Builder
	b.WriteString("# HELP bindc_active_info The snapshot that answers.\n# TYPE bindc_active_info gauge\n")
	for _, s := range all {
		fmt.Fprintf(&b, "bindc_active_info{name=\"%s\",digest=\"%s\",revision=\"%s\"} 1\n", labelText.Replace(s.Name),
			s.Active,
			labelText.Replace(s.Revision))
	}
	for _, m := range metrics {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", m.name, m.help, m.name)
		for i := range all {
			if v, ok := m.of(&all[i]); ok {
				fmt.Fprintf(&b, "%s{name=\"%s\"} %.0f\n", m.name, labelText.Replace(all[i].Name), v)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
