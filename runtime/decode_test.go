package runtime_test

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

func valueOf(t *testing.T, json string) bindings.Value {
	t.Helper()
	v, err := parseJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type common struct {
	Owner string
}

type service struct {
	common
	Name    string         `bindings:"service_name"`
	Ports   []uint16       `bindings:"ports"`
	Limits  map[string]int `bindings:"limits"`
	Weight  float32
	Address netip.Addr
	Backup  *service
	Pair    [2]bool
	Any     any
	Raw     bindings.Value
	Kept    string `bindings:"kept"`
	Left    string `bindings:"-"`
	hidden  string
}

func TestDecodeSetsFieldsOfStruct(t *testing.T) {
	v := valueOf(t, `{"owner": "ops", "service_name": "web", "ports": [80, 443], "limits": {"files": 10}, "weight": 2,
		"address": "192.0.2.1", "backup": {"service_name": "spare"}, "pair": [true, false], "any": {"a": [1, "x", null]},
		"raw": {"z": 1, "a": 2}, "left": "no", "hidden": "no", "unknown": 1}`)
	got := service{Kept: "default", Left: "mine", hidden: "mine"}
	if err := v.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if raw := got.Raw.String(); raw != "{z => 1, a => 2}" {
		t.Errorf("the Value is %s", raw)
	}
	got.Raw = bindings.Value{}
	want := service{common: common{"ops"}, Name: "web", Ports: []uint16{80, 443}, Limits: map[string]int{"files": 10},
		Weight: 2, Address: netip.MustParseAddr("192.0.2.1"), Backup: &service{Name: "spare"},
		Pair: [2]bool{true, false}, Any: map[string]any{"a": []any{int64(1), "x", nil}},
		Kept: "default", Left: "mine", hidden: "mine"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, expected %+v", got, want)
	}
}

func TestDecodeOfUndefSetsZeroValue(t *testing.T) {
	got := struct {
		N int
		S *string
		L []int
	}{7, new(string), []int{1}}
	if err := valueOf(t, `{"n": null, "s": null, "l": null}`).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.N != 0 || got.S != nil || got.L != nil {
		t.Errorf("found %+v, expected zero values", got)
	}
}

func TestDecodeErrorsNameThePath(t *testing.T) {
	type list struct {
		Servers []struct {
			Port uint16
			On   bool
			Name string
		}
	}
	type numbers struct {
		Small int8
		Wide  int64
		Count uint
		Ratio float32
	}
	for _, c := range []struct {
		json string
		into any
		code bindings.Code
		want string
	}{
		{`{"servers": [{}, {"port": 70000}]}`, &list{}, bindings.CodeTypeMismatch,
			"servers[1].port: expected a number that fits uint16, found 70000"},
		{`{"servers": [{"port": -1}]}`, &list{}, bindings.CodeTypeMismatch,
			"servers[0].port: expected a number that fits uint16, found -1"},
		{`{"servers": [{"port": "80"}]}`, &list{}, bindings.CodeTypeMismatch,
			"servers[0].port: expected Integer, found String"},
		{`{"servers": [{"on": 1}]}`, &list{}, bindings.CodeTypeMismatch,
			"servers[0].on: expected Boolean, found Integer"},
		{`{"servers": [{"name": []}]}`, &list{}, bindings.CodeTypeMismatch,
			"servers[0].name: expected String, found Array"},
		{`{"servers": {}}`, &list{}, bindings.CodeTypeMismatch, "servers: expected Array, found Hash"},
		{`[]`, &list{}, bindings.CodeTypeMismatch, "expected Hash, found Array"},
		{`{"small": 128}`, &numbers{}, bindings.CodeTypeMismatch,
			"small: expected a number that fits int8, found 128"},
		{`{"wide": 1.0}`, &numbers{}, bindings.CodeTypeMismatch, "wide: expected Integer, found Float"},
		{`{"ratio": 1e300}`, &numbers{}, bindings.CodeTypeMismatch,
			"ratio: expected a number that fits float32, found 1.0e+300"},
		{`{"ratio": "x"}`, &numbers{}, bindings.CodeTypeMismatch, "ratio: expected Float, found String"},
		{`[1]`, new([2]int), bindings.CodeTypeMismatch, "expected 2 elements, found 1"},
		{`{"a": {"b": "x"}}`, new(map[string]map[string]int), bindings.CodeTypeMismatch,
			"a.b: expected Integer, found String"},
		{`{"a": 1}`, new(map[int]int), bindings.CodeTypeMismatch, "a: expected Integer, found String"},
		{`{"address": "here"}`, &service{}, bindings.CodeTypeMismatch,
			`address: ParseAddr("here"): unable to parse IP`},
		{`{"address": 7}`, &service{}, bindings.CodeTypeMismatch, "address: expected String, found Integer"},
		{`1`, new(chan int), bindings.CodeUsage, "cannot decode into the Go type chan int"},
		{`{}`, new(map[bool]int), bindings.CodeUsage, "cannot decode into the Go type map[bool]int"},
		{`1`, new(error), bindings.CodeUsage, "cannot decode into the Go type error"},
		{`1`, 1, bindings.CodeUsage, "expected a pointer to decode into, found int"},
		{`1`, (*int)(nil), bindings.CodeUsage, "expected a pointer to decode into, found *int"},
	} {
		err := valueOf(t, c.json).Decode(c.into)
		var e *bindings.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Message != c.want {
			t.Errorf("%s into %T: %v, expected %s", c.json, c.into, err, c.want)
		}
	}
}

// Errors about sensitive values name the Go fields on the path, but neither keys of maps nor the value found.
func TestDecodeErrorsHideSensitiveValues(t *testing.T) {
	secret := bindings.Value(lookup.Value(valueOf(t,
		`{"name": "s3cret", "big": 70000, "keys": {"s3cret": "s3cret"}, "address": "s3cret"}`)).Marked())
	var got struct {
		Name string
		Raw  bindings.Value `bindings:"name"`
	}
	if err := secret.Decode(&got); err != nil || got.Name != "s3cret" || !got.Raw.Sensitive() {
		t.Errorf("%v: the name is %s, and the Value is sensitive: %t", err, got.Name, got.Raw.Sensitive())
	}
	for _, into := range []any{&struct{ Big uint16 }{}, &struct{ Keys map[string]int }{},
		&struct{ Address netip.Addr }{}, new(any), &struct{ Name any }{}} {
		err := secret.Decode(into)
		var e *bindings.Error
		if !errors.As(err, &e) || e.Code != bindings.CodeTypeMismatch ||
			strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "70000") {
			t.Errorf("into %T: %v, expected an error without the value", into, err)
		}
	}
}

func TestRequestDecodeNamesTheKey(t *testing.T) {
	path, remove := exampleSnapshot()
	defer remove()
	s, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	ports := []string{"unchanged"}
	if found, err := r.Decode("no::such_key", &ports); found || err != nil || ports[0] != "unchanged" {
		t.Errorf("a key without bindings: %v, %v, %v", found, err, ports)
	}
	found, err := r.Decode("firewall::open_ports", &ports)
	var e *bindings.Error
	if found || !errors.As(err, &e) || e.Key != "firewall::open_ports" ||
		e.Message != "'firewall::open_ports': [0]: expected String, found Integer" {
		t.Errorf("%v, %v", found, err)
	}
	s.Close()
	if _, err := r.Decode("firewall::open_ports", &ports); err == nil || errors.As(err, &e) {
		t.Errorf("closed: %v", err)
	}
}

func TestDecodedTextOutlivesSnapshot(t *testing.T) {
	path, remove := exampleSnapshot()
	defer remove()
	s, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts, _ := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "web1.example.org"})
	r, err := s.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	var contact string
	v, _, err := r.Lookup("monitoring::contact")
	if err == nil {
		err = v.Decode(&contact)
	}
	if err != nil {
		t.Fatal(err)
	}
	if view, _ := v.TextView(); contact == "" || sameBytes(view, contact) {
		t.Errorf("%q is a view of the file", contact)
	}
}
