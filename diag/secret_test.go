package diag

import (
	"slices"
	"testing"
)

// quoting lists codes whose messages, hints or fixes may quote a value, so that they are hidden where a sensitive value
// is written.
var quoting = []Code{
	"attribute", "attributes_as_value", "backend", "bare_variable", "bindings", "braces", "busy", "catalog",
	"category_value", "config", "connection", "data", "data_directory", "data_path", "data_unreached", "effort",
	"empty", "enc", "encrypted", "environment", "environments", "evaluation", "example", "expression", "extension",
	"fact", "facts", "facts_missing", "hiera", "hiera_foreign", "hiera_interpolation", "hiera_key", "hiera_merge",
	"hiera_options", "hiera_version", "hierarchy", "ignored_code", "interpolation", "key", "layer", "legacy_fact",
	"map_required", "merge_behavior", "migrate", "missing", "modulepath", "multibind", "name", "near_key",
	"no_node", "not_found", "not_included", "optional", "parameter_type", "path_extension", "policy", "producer",
	"protocol", "read", "rebind", "regexp", "replaced", "reserved", "ruby", "session", "site", "snapshot_damaged",
	"snapshot_format", "snapshot_missing", "snapshot_refused", "snapshot_version", "syntax", "too_large", "twice",
	"type", "untyped", "uri", "usage", "when", "yaml_alias", "yaml_colon", "yaml_core", "yaml_date",
	"yaml_document", "yaml_duplicate_key", "yaml_integer", "yaml_merge", "yaml_symbol", "yaml_tag", "yml",
}

// A new code is in one of three lists, so that whoever adds it decides whether its message may quote a value.
func TestEachCodeSaysWhetherItQuotesValues(t *testing.T) {
	all := slices.Concat(ofNames, ofSyntax, quoting)
	slices.Sort(all)
	for i, code := range all {
		if i > 0 && code == all[i-1] {
			t.Errorf("%s is in two of the lists ofNames and ofSyntax in secret.go and quoting here", code)
		}
	}
	for _, rule := range Catalogue() {
		if _, listed := slices.BinarySearch(all, rule.Code); !listed {
			t.Errorf("%s is in none of the lists ofNames and ofSyntax in secret.go and quoting here", rule.Code)
		}
		all = slices.DeleteFunc(all, func(code Code) bool { return code == rule.Code })
	}
	for _, code := range all {
		t.Errorf("%s is in one of the lists, and not in the catalogue", code)
	}
}
