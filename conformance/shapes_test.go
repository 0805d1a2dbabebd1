package conformance

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"
)

// shapes holds the JSON Schemas for docs/cli.md, "Shapes of JSON answers". Answers may have more members.
const shapes = `{"definitions": {
	"error": {"type": "object", "required": ["code", "message"],
		"properties": {"code": {"type": "string", "minLength": 1}, "message": {"type": "string", "minLength": 1}}},
	"outcome": {"type": "object", "oneOf": [
		{"required": ["value"]},
		{"required": ["found"], "properties": {"found": {"const": false}}},
		{"required": ["error"], "properties": {"error": {"$ref": "#/definitions/error"}}},
		{"required": ["computed"], "properties": {"computed": {"type": "string"}}},
		{"required": ["sensitive"], "properties": {"sensitive": {"const": true}},
			"not": {"anyOf": [{"required": ["value"]}, {"required": ["computed"]}]}}]},
	"when": {"type": "object", "additionalProperties": {"type": "string"}},
	"at": {"type": "string", "pattern": "^[^:]+:[0-9]+:[0-9]+$"},
	"row": {"type": "object", "required": ["layer", "when", "at", "outcome"], "properties": {
		"layer": {"type": "string"}, "when": {"$ref": "#/definitions/when"}, "at": {"$ref": "#/definitions/at"},
		"outcome": {"$ref": "#/definitions/outcome"}}},
	"candidate": {"allOf": [{"$ref": "#/definitions/row"}, {"required": ["state"], "properties": {
		"state": {"enum": ["wins", "hidden", "not effective"]}, "why": {"type": "string"}}}]},
	"lookup": {"type": "object", "required": ["key", "outcome", "candidates", "contributions", "lookups"],
		"properties": {"key": {"type": "string"}, "outcome": {"$ref": "#/definitions/outcome"},
		"candidates": {"type": "array", "items": {"$ref": "#/definitions/candidate"}},
		"contributions": {"type": "array", "items": {"$ref": "#/definitions/candidate"}},
		"lookups": {"type": "array", "items": {"$ref": "#/definitions/lookup"}}}},
	"explanation": {"allOf": [{"$ref": "#/definitions/lookup"}, {"required": ["categories"], "properties": {
		"categories": {"$ref": "#/definitions/when"}}}]},
	"explanations": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/definitions/explanation"}},
	"outcomes": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/outcome"}},
	"values": {"type": "object", "required": ["key", "bindings"], "properties": {"key": {"type": "string"},
		"bindings": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/row"}}}},
	"value": {"type": "object", "required": ["key", "value", "bindings"], "properties": {"key": {"type": "string"},
		"bindings": {"type": "array", "minItems": 1, "items": {"allOf": [{"$ref": "#/definitions/row"},
			{"required": ["hidden_by"], "properties": {"hidden_by": {"items": {"$ref": "#/definitions/row"}}}}]}}}},
	"change": {"type": "object", "required": ["when", "old", "new"], "properties": {
		"when": {"$ref": "#/definitions/when"}, "old": {"$ref": "#/definitions/outcome"},
		"new": {"$ref": "#/definitions/outcome"},
		"old_at": {"$ref": "#/definitions/at"}, "new_at": {"$ref": "#/definitions/at"}}},
	"diff": {"type": "object", "required": ["keys"], "properties": {
		"keys": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["key", "changes"],
			"properties": {"key": {"type": "string"},
				"changes": {"type": "array", "items": {"$ref": "#/definitions/change"}}}}},
		"nodes": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["nodes", "changes"],
			"properties": {"nodes": {"type": "array", "minItems": 1, "items": {"type": "string"}},
			"changes": {"type": "object", "additionalProperties": {"required": ["old", "new"], "properties": {
				"old": {"$ref": "#/definitions/outcome"}, "new": {"$ref": "#/definitions/outcome"}}}}}}}}},
	"fleet": {"allOf": [{"$ref": "#/definitions/diff"}, {"required": ["nodes"]}]},
	"nodes": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/definitions/when"}},
	"hash": {"type": "object", "minProperties": 1},
	"answer": {"oneOf": [
		{"required": ["key", "found", "value"], "properties": {"found": {"const": true}}},
		{"required": ["key", "found"], "properties": {"found": {"const": false}}, "not": {"required": ["value"]}},
		{"required": ["error"], "properties": {"error": {"$ref": "#/definitions/error"}}},
		{"required": ["answers"], "properties": {"answers": {"items": {"$ref": "#/definitions/answer"}}}}]},
	"keys": {"type": "array", "minItems": 1, "items": {"type": "string"}},
	"blame": {"type": "object", "required": ["key", "bindings"], "properties": {"bindings": {"type": "array", "minItems": 1,
		"items": {"required": ["at", "layer", "state"], "properties": {"at": {"$ref": "#/definitions/at"}}, "oneOf": [
			{"required": ["line", "commit", "author", "mail", "date", "summary"]}, {"required": ["not_committed"]}]}}}},
	"tests": {"type": "object", "required": ["tests"], "properties": {"tests": {"type": "array",
		"contains": {"required": ["failures"]}, "items": {
		"required": ["name", "at"], "properties": {"at": {"$ref": "#/definitions/at"}, "failures": {"type": "array",
			"items": {"required": ["key", "at", "message"]}}, "updated": {"type": "string"}}}}}},
	"sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
	"info": {"type": "object", "required": ["format", "version", "sha256", "content", "bytes", "keys", "bindings", "levels",
		"sensitive", "slice", "policies", "layers", "categories", "variables", "sections", "inputs"], "properties": {
		"sha256": {"$ref": "#/definitions/sha256"}, "sensitive": {"required": ["values", "eyaml", "encrypted"]},
		"sections": {"type": "array", "minItems": 1, "items": {"required": ["name", "offset", "bytes"]}},
		"inputs": {"type": "array", "minItems": 1, "items": {"required": ["path", "bytes", "xxhash64"]}}}},
	"verified": {"type": "object", "required": ["file", "keys", "bytes", "sha256", "signed"], "properties": {
		"sha256": {"$ref": "#/definitions/sha256"}, "signed": {"const": null}}},
	"status": {"type": "array", "minItems": 1, "items": {"required": ["name", "active", "since", "age", "source", "checked",
		"downloaded", "activated"], "properties": {"active": {"$ref": "#/definitions/sha256"}}}},
	"history": {"type": "array", "minItems": 1, "items": {"required": ["name", "time", "action", "digest", "by", "result"],
		"properties": {"digest": {"$ref": "#/definitions/sha256"}}}},
	"diagnostic": {"type": "object", "required": ["file", "line", "column", "message", "severity", "code"],
		"properties": {"line": {"type": "integer"}, "column": {"type": "integer"}, "hint": {"type": "string"},
		"severity": {"enum": ["error", "warning", "note", "lint"]}, "notes": {"items": {
			"required": ["file", "line", "column", "message"]}}}}}}`

// shaped lists commands, with the shape of each line of their output.
const shaped = `
bindq lookup const --node a -s old.snap --render-as json --explain : explanation
bindq lookup computed --node a -s old.snap --render-as json --explain : explanation
bindq lookup all --node a -s old.snap --render-as json --explain : explanation
bindq lookup secret --node a -s old.snap --render-as json --explain : explanation
bindq lookup broken --node a -s old.snap --render-as json --explain : explanation
bindq lookup missing --node a -s old.snap --render-as json --explain : explanation
bindq lookup const --node a -s old.snap --render-as json --all : outcomes
bindq lookup const computed --node a -s old.snap --render-as json : hash
bindq dump --node a -s old.snap : hash
bindq values const -s old.snap --render-as json : values
bindq values computed -s old.snap --render-as json : values
bindq values secret -s old.snap --render-as json : values
bindq values all -s old.snap --render-as json : values
bindq values const 1 -s old.snap --render-as json : value
bindq values const 1 -s old.snap --render-as json --node a : value
bindq diff old.snap new.snap --format json : diff
bindq diff old.snap new.snap --format json --facts-dir facts : fleet
bindq values const -s old.snap --facts-dir facts --format json : values
bindq explain const --node a -s old.snap --format json : explanations
bindq explain const all --node a -s old.snap --format json : explanations
bindq lookup const --node a -s old.snap --format json : hash
bindq nodes -s old.snap --facts-dir facts --render-as json : nodes
bindq batch -s old.snap < queries : answer
bindc check wrong --format json : diagnostic
bindq keys -s old.snap --format json : keys
bindq verify old.snap --format json : verified
bindq info old.snap --format json : info
bindc blame const --site old --format json : blame
bindc blame const --site git --format json : blame
bindc plan old.snap new --format json : diff
bindc plan old.snap new --facts-dir facts --format json : fleet
bindc test old --format json : tests
bindsync status --store store --format json : status
bindsync status n --store store --history --format json : history
`

const shapedSites = `
-- facts/a.yaml --
fqdn: a
-- queries --
{"key": "const", "node": "a"}
{"key": "secret", "node": "a"}
{"key": "missing"}
{"key": "broken"}
{"keys": ["const", "missing", "broken"], "node": "a"}
{"key": "const", "node": "a", "explain": true}
nonsense
-- old/bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - [const, 1]
  - when: {node: a}
    bind: [[const, 2]]
  - [computed, 'x ${lookup("const")}']
  - {name: secret, to: hunter2, sensitive: true}
  - {name: broken, to_expression: '$fqdn + 1'}
  - {name: all, multibind_id: all, type: 'Array[Integer]'}
  - {in: all, to: 1}
-- old/tests/site.yaml --
tests_version: 1
tests:
  - {name: right, facts: {fqdn: a}, expect: {const: 2}}
  - {name: wrong, facts: {fqdn: a}, expect: {const: 3}}
-- new/bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - [const, 3]
  - [added, 1]
  - [computed, 'x ${lookup("const")}']
  - {name: secret, to: hunter3, sensitive: true}
  - {name: all, multibind_id: all, type: 'Array[Integer]'}
  - {in: all, to: 2}
-- wrong/bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - [twice, 1]
  - [twice, 2]
  - {name: a, tp: 1, to: 1}
`

func TestJSONAnswersHaveDocumentedShapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeFiles(dir, txtar.Parse([]byte(shapedSites))); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out)
	}
	run(`bindc build old -o old.snap && bindc build new -o new.snap
bindsync pull file:old.snap --name n --store store
cp -r old git && cd git && git init -q && git add . &&
	git -c user.name=Ada -c user.email=ada@example.org -c commit.gpgsign=false commit -qm 'Site'`)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("shapes", parsedJSON(t, shapes)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(shaped)) {
		command, name, _ := strings.Cut(strings.TrimSpace(line), " : ")
		s, err := c.Compile("shapes#/definitions/" + name)
		if err != nil {
			t.Fatal(err)
		}
		out := run(command)
		if out == "" {
			t.Errorf("%s prints nothing", command)
		}
		for answer := range strings.Lines(out) {
			if err := s.Validate(parsedJSON(t, answer)); err != nil {
				t.Errorf("%s\nprints %sof another shape: %v", command, answer, err)
			}
		}
	}
}
