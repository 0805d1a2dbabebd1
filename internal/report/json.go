package report

import (
	"bytes"
	"encoding/json"
	"io"

	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

func WriteYAML(w io.Writer, v value.Value) error {
	text, err := yaml.Write(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// WriteJSON writes text, which must be JSON, on one line or indented.
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

// Write writes a report as JSON on one line or, if asYAML is set, as YAML. For YAML, the report must have been made
// with form YAML.
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

func encode(w io.Writer, x any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

// Marshal encodes part of a report as JSON. It panics if x cannot be encoded.
func Marshal(x any) json.RawMessage {
	var b bytes.Buffer
	if err := encode(&b, x); err != nil {
		panic(err) // every report can be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}

// ParseValue parses text as JSON. If text is not JSON, it returns text as a string value.
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
