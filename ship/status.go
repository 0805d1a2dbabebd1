package ship

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Status describes the active snapshot of a name and the last polls.
type Status struct {
	Name     string    `json:"name"`
	Active   Digest    `json:"active,omitempty"` // "" if no snapshot is active
	Revision string    `json:"revision,omitempty"`
	Since    time.Time `json:"since,omitzero"`   // time of the activation
	Created  time.Time `json:"created,omitzero"` // time of the signed statement
	// Age is the number of seconds since the last successful poll, or -1 if there was none.
	Age int64 `json:"age"`
	// Persisted reports whether a snapshot is active although the last poll failed.
	Persisted bool `json:"persisted,omitempty"`
	// Problem describes damage to the name's records; usually "".
	Problem string `json:"problem,omitempty"`
	State
}

// Status returns the status of name at the time now. Damaged records are a Problem and not an error, so that they do
// not affect other names.
func (s *Store) Status(name string, now time.Time) Status {
	st := Status{Name: name, Age: -1}
	v, err := s.view(name)
	if err != nil {
		st.Problem = problem(err, name)
		v.active, _ = s.Active(name)
		v.events, _, _ = s.events(name)
	}
	if v.lost > 0 {
		st.Problem = cmp.Or(st.Problem, problem(&RecordError{s.eventsOf(name), damagedLines(v.lost)}, name))
	}
	st.State, st.Active = v.State, v.active
	if !st.Checked.OK.IsZero() {
		st.Age = int64(now.Sub(st.Checked.OK).Seconds())
	}
	st.Persisted = st.Active != "" && st.Checked.Error != ""
	for _, e := range slices.Backward(v.events) {
		if e.happened() && e.Digest == st.Active {
			st.Since, st.Revision = e.Time, e.Revision
			break
		}
	}
	stated, err := s.Statement(st.Active)
	if err != nil {
		st.Problem = cmp.Or(st.Problem, err.Error())
	}
	if stated != nil {
		st.Revision, st.Created = stated.Revision, stated.Created
	}
	return st
}

// Foreign returns the paths of snapshots next to the links of names that are no links. Programs that open the store's
// directory answer from them, but this package does not change them.
func (s *Store) Foreign() (paths []string, err error) {
	entries, err := s.files.readDir(s.dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), Suffix); ok && CheckName(name) == nil && e.Type().IsRegular() {
			paths = append(paths, s.path(e.Name()))
		}
	}
	return paths, err
}

func problem(err error, name string) string {
	var damage *RecordError
	if errors.As(err, &damage) {
		return damage.Error() + "; the next pull, activate, rollback or follow of '" + name + "' rebuilds it"
	}
	return err.Error()
}

type metric struct {
	name, kind, help string
	read             func(*Status) (float64, bool)
}

var metrics = []metric{
	{"bindc_active_since_seconds", "gauge", "Time of the last activation.",
		since(func(s *Status) time.Time { return s.Since })},
	{"bindc_created_seconds", "gauge", "Time at which the active snapshot was signed.",
		since(func(s *Status) time.Time { return s.Created })},
	{"bindc_checked_seconds", "gauge", "Time of the last poll that found an acceptable release.",
		since(func(s *Status) time.Time { return s.Checked.OK })},
	{"bindc_check_failed", "gauge", "1 if the last poll failed.",
		flag(func(s *Status) bool { return s.Checked.Error != "" })},
	{"bindc_refused", "gauge", "1 if the release in the source was refused.",
		flag(func(s *Status) bool { return s.Refused != nil })},
	{"bindc_activation_failed", "gauge", "1 if the last activation failed.",
		flag(func(s *Status) bool { return s.Activated.Error != "" })},
	{"bindc_damaged", "gauge", "1 if the active file or the records of the name are damaged.",
		flag(func(s *Status) bool { return s.Damaged != "" || s.Problem != "" })},
	{"bindc_pinned", "gauge", "1 if the name is pinned by rollback or activate.",
		flag(func(s *Status) bool { return s.Pinned })},
	{"bindc_poll_duration_seconds", "gauge", "Duration of the last poll, with download, checks and activation.",
		lasted(func(s *Status) Step { return s.Checked })},
	{"bindc_download_duration_seconds", "gauge", "Duration of the last download and its checks.",
		lasted(func(s *Status) Step { return s.Downloaded })},
	{"bindc_activation_duration_seconds", "gauge", "Duration of the last activation and its gates.",
		lasted(func(s *Status) Step { return s.Activated })},
	{"bindc_downloads_total", "counter", "Downloads, including failed ones.",
		count(func(s *Status) uint64 { return s.Counts.Downloads })},
	{"bindc_downloaded_bytes_total", "counter", "Bytes downloaded.",
		count(func(s *Status) uint64 { return s.Counts.Bytes })},
	{"bindc_activations_total", "counter", "Snapshots that were activated.",
		count(func(s *Status) uint64 { return s.Counts.Activations })},
	{"bindc_rollbacks_total", "counter", "Rollbacks.",
		count(func(s *Status) uint64 { return s.Counts.Rollbacks })},
}

func since(read func(*Status) time.Time) func(*Status) (float64, bool) {
	return func(s *Status) (float64, bool) { return float64(read(s).Unix()), !read(s).IsZero() }
}

func lasted(read func(*Status) Step) func(*Status) (float64, bool) {
	return func(s *Status) (float64, bool) { return read(s).Took, !read(s).At.IsZero() }
}

func count(read func(*Status) uint64) func(*Status) (float64, bool) {
	return func(s *Status) (float64, bool) { return float64(read(s)), true }
}

func flag(read func(*Status) bool) func(*Status) (float64, bool) {
	return func(s *Status) (float64, bool) {
		if read(s) {
			return 1, true
		}
		return 0, true
	}
}

var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// WriteMetrics writes all in the format of Prometheus' textfile collector.
func WriteMetrics(w io.Writer, all []Status) error {
	var b strings.Builder
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	head("bindc_active_info", "gauge", "The active snapshot.")
	for _, s := range all {
		fmt.Fprintf(&b, "bindc_active_info{name=\"%s\",digest=\"%s\",revision=\"%s\"} 1\n", labelText.Replace(s.Name),
			s.Active, labelText.Replace(s.Revision))
	}
	head("bindc_polls_total", "counter", "Polls of the source, by result: ok, or the reason for the failure.")
	for _, s := range all {
		for _, result := range []string{resultOK, string(Network), string(Content), string(Signature), string(Gate),
			string(Disk)} {
			fmt.Fprintf(&b, "bindc_polls_total{name=\"%s\",result=\"%s\"} %d\n", labelText.Replace(s.Name), result,
				s.Counts.Polls[result])
		}
	}
	for _, m := range metrics {
		head(m.name, m.kind, m.help)
		for i := range all {
			if v, ok := m.read(&all[i]); ok {
				fmt.Fprintf(&b, "%s{name=\"%s\"} %s\n", m.name, labelText.Replace(all[i].Name),
					strconv.FormatFloat(v, 'f', -1, 64))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
