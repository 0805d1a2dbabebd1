package report

import (
	"bytes"
	"encoding/json"
	"io"

	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// WriteYAML writes a value as YAML.
func WriteYAML(w io.Writer, v value.Value) error {
	text, err := yaml.Write(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// WriteJSON writes JSON on one line, or indented.
func WriteJSON(w io.Writer, text []byte, indent bool) error {
	var out bytes.Buffer
	if indent {
		if err := json.Indent(&out, text, "", "  "); err != nil {
			return err
		}
	} else {
		out.Write(text)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// Write writes a report as JSON on one line, or as YAML. For YAML, the values in the report must be in the form YAML.
func Write(w io.Writer, asYAML bool, report any) error {
	if !asYAML {
		return encode(w, report)
	}
	v, err := parseJSON(Marshal(report))
	if err != nil {
		return err
	}
	t, err := Tree(v)
	if err != nil {
		return err
	}
	return WriteYAML(w, restoreKeys(t))
}

// encode writes x as JSON on one line.
func encode(w io.Writer, x any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

// Marshal returns x as JSON on one line.
func Marshal(x any) json.RawMessage {
	var b bytes.Buffer
	if err := encode(&b, x); err != nil {
		panic(err) // reports always have valid JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// ParseValue parses text as JSON. If it is not JSON, the value is the text itself.
func ParseValue(text string) bindings.Value {
	v, err := parseJSON([]byte(text))
	if err != nil {
		v, _ = bindings.ValueOf(text)
	}
	return v
}

func parseJSON(text []byte) (v bindings.Value, err error) {
	err = v.UnmarshalJSON(text)
	return v, err
}
