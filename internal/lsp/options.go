package lsp

import (
	"strings"

	"bindc/internal/pattern"
	"go.lsp.dev/protocol"
)

// inOptions reports whether the cursor is in the hash lookup_options.
func (c *cursor) inOptions() bool {
	f := c.doc.outline()
	if f == nil {
		return false
	}
	e := entryAt(f, c.off)
	return e != nil && e.Key == "lookup_options"
}

var (
	ofStrategy   = pattern.Lazy(`\b(?:merge|strategy):\s*['"]?\w*$`)
	ofConversion = pattern.Lazy(`\bconvert_to:\s*\[?\s*['"]?\w*$`)
	ofSwitch     = pattern.Lazy(`\b(?:merge_hash_arrays|sort_merged_arrays):\s*\w*$`)
	optionName   = pattern.Lazy(`(?:^|[{,])\s*['"]?[\w:.-]*$`)
)

// inLookupOptions returns the words that can follow before in lookup_options.
func (c *cursor) inLookupOptions(before string) ([]string, protocol.CompletionItemKind) {
	switch {
	case ofStrategy().MatchString(before):
		return []string{"first", "unique", "hash", "deep"}, protocol.CompletionItemKindEnumMember
	case ofConversion().MatchString(before):
		return dataTypes, protocol.CompletionItemKindClass
	case ofSwitch().MatchString(before):
		return []string{"true", "false"}, protocol.CompletionItemKindEnumMember
	case !optionName().MatchString(before):
		return nil, 0
	}
	switch c.depth(before) {
	case 1:
		return append(c.site.Keys(), c.parameters()...), protocol.CompletionItemKindField
	case 2:
		return []string{"merge", "convert_to"}, protocol.CompletionItemKindProperty
	case 3:
		return []string{"strategy", "knockout_prefix", "merge_hash_arrays", "sort_merged_arrays"},
			protocol.CompletionItemKindProperty
	}
	return nil, 0
}

// depth returns how many hashes contain the cursor, not counting the top level of the file. It counts the less indented
// lines above and the open braces in before.
func (c *cursor) depth(before string) int {
	depth := strings.Count(before, "{") - strings.Count(before, "}")
	indent := indentOf(before)
	line := c.doc.text.LineOf(c.off)
	for n := line - 1; n >= 0 && n >= line-maxContext && indent > 0; n-- {
		from, to := c.doc.text.Line(n)
		text := strings.TrimRight(c.doc.text.Src[from:to], " \t\r\n")
		if text != "" && indentOf(text) < indent && !strings.HasPrefix(strings.TrimSpace(text), "#") {
			indent = indentOf(text)
			depth++
		}
	}
	return depth
}
