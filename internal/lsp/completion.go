package lsp

import (
	"context"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"bindc/internal/bindingsfile"
	"bindc/internal/lsp/mention"
	"bindc/internal/pattern"
)

// maxItems limits the number of suggestions. If there are more, the editor asks again after the next character.
const maxItems = 500

// Completion suggests words at the cursor. It only matches patterns in the text before the cursor, so it also works in
// files with syntax errors.
func (s *Server) Completion(ctx context.Context, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	c, err := s.at(ctx, p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	start, _ := c.doc.text.Line(c.doc.text.LineOf(c.off))
	before := c.doc.text.Src[start:c.off]
	words, kind := c.suggestions(before)
	if kindOf(c.doc.path, c.doc.text.Src) == mention.Bindings {
		if more, other := c.inCondition(c.doc.around(start, c.off)); other > 0 {
			words, kind = more, other
		}
	}
	from := c.wordStart(start)
	typed := strings.ToLower(c.doc.text.Src[from:c.off])
	_, to := c.doc.text.WordAt(c.off)
	out := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		if !strings.Contains(strings.ToLower(word), typed) {
			continue
		}
		if len(out.Items) == maxItems {
			out.IsIncomplete = true
			break
		}
		out.Items = append(out.Items, protocol.CompletionItem{Label: word, Kind: kind,
			TextEdit: &protocol.TextEdit{Range: s.rangeOf(c.doc.text, from, max(c.off, to)), NewText: word}})
	}
	return out, c.check()
}

func (c *cursor) wordStart(lineStart int) int {
	from, _ := c.doc.text.WordAt(c.off)
	return max(from, lineStart)
}

var (
	inLookup    = pattern.Lazy(`\b(?:lookup|hiera|hiera_array|hiera_hash|hiera_include|alias)\(\s*\\?['"][^'"]*$`)
	inVariable  = pattern.Lazy(`[%$]\{\s*(?:::)?([\w.:\['"\]]*)$`)
	ofTarget    = pattern.Lazy(`\b(?:to_lookup_of|to_alias_of|to_renamed|rebind|to_first_found)\b\s*(?:=>|:)\s*[^,}]*$`)
	ofID        = pattern.Lazy(`\bin\b\s*(?:=>|:)\s*['"]?[\w:]*$`)
	ofWhen      = pattern.Lazy(`\bwhen:\s*(?:\[(?:.*,)?\s*)?\{(?:[^}]*,)?\s*['"]?\w*$`)
	ofValue     = pattern.Lazy(`\bwhen:\s*(?:\[(?:.*,)?\s*)?\{(?:[^}]*,)?\s*['"]?(\w+)['"]?:\s*(?:\[[^\]]*)?['"]?[\w.-]*$`)
	ofType      = pattern.Lazy(`\btype:\s*['"]?[\w\[\], ]*$`)
	ofTriple    = pattern.Lazy(`^\s*-\s*\[\s*['"]?[\w:.-]*$`)
	attribute   = pattern.Lazy(`^\s*(?:-\s*)?\{?(?:[^'"]*,)?\s*\w*$`)
	declaration = pattern.Lazy(`^\s*(?:environment|Environment|dynamic_environments)\s*\{[^}]*[:,{]\s*\w*$`)
	ofEntry     = pattern.Lazy(`^['"]?([\w:]+::\w+)['"]?:\s+(['"]?)[\w.-]*$`)
	ofBinding   = pattern.Lazy(`^\s*-\s*\[\s*['"]?([\w:]+::\w+)['"]?\s*,\s*(['"]?)[\w.-]*$`)
	topLevel    = pattern.Lazy(`^['"]?[\w:.-]*$`)
)

// attributes lists the attributes that a binding can have in a bindings file.
var attributes = slices.Concat(bindingsfile.Attributes(), []string{"when", "bind"})

// dataTypes lists the Puppet data types to suggest.
var dataTypes = []string{"Any", "Array", "Boolean", "Data", "Default", "Enum", "Float", "Hash", "Integer", "Numeric",
	"Optional", "Pattern", "Regexp", "RichData", "Scalar", "ScalarData", "Sensitive", "SemVer", "String", "Struct",
	"Timespan", "Timestamp", "Tuple", "Undef", "Variant"}

// suggestions returns the words that can follow before, the text of the line up to the cursor.
func (c *cursor) suggestions(before string) ([]string, protocol.CompletionItemKind) {
	kind := kindOf(c.doc.path, c.doc.text.Src)
	switch {
	case kind == mention.Environments:
		return inEnvironments(before)
	case inLookup().MatchString(before):
		return c.site.Keys(), protocol.CompletionItemKindReference
	case kind == mention.Manifest:
		return nil, 0
	case inVariable().MatchString(before):
		return c.variables(), protocol.CompletionItemKindVariable
	case kind == mention.Bindings || kind == mention.Set:
		return c.inBindings(before)
	case kind == mention.Config && ofTriple().MatchString(before):
		return c.categories(), protocol.CompletionItemKindEnum
	case kind == mention.Config && topLevel().MatchString(before):
		return []string{"version", "hierarchy", "defaults", "default_hierarchy", "categories", "layers", "backends"},
			protocol.CompletionItemKindProperty
	case kind == mention.Data && topLevel().MatchString(before):
		return append(c.site.Keys(), c.parameters()...), protocol.CompletionItemKindField
	case kind == mention.Data && ofEntry().MatchString(before):
		return c.choices(ofEntry().FindStringSubmatch(before))
	case kind == mention.Data && c.inOptions():
		return c.inLookupOptions(before)
	}
	return nil, 0
}

// inCondition returns the words that can follow before in a condition, which may span several lines.
func (c *cursor) inCondition(before string) ([]string, protocol.CompletionItemKind) {
	m := ofValue().FindStringSubmatch(before)
	switch {
	case m != nil:
		return c.site.Compared()[m[1]], protocol.CompletionItemKindEnumMember
	case ofWhen().MatchString(before):
		return c.categories(), protocol.CompletionItemKindEnum
	}
	return nil, 0
}

// inBindings returns the words that can follow before in a bindings file.
func (c *cursor) inBindings(before string) ([]string, protocol.CompletionItemKind) {
	switch words, kind := c.inCondition(before); {
	case ofTarget().MatchString(before):
		return c.site.Keys(), protocol.CompletionItemKindReference
	case ofID().MatchString(before):
		return c.site.Multibinds(), protocol.CompletionItemKindReference
	case kind > 0:
		return words, kind
	case ofBinding().MatchString(before):
		return c.choices(ofBinding().FindStringSubmatch(before))
	case ofType().MatchString(before):
		return dataTypes, protocol.CompletionItemKindClass
	case ofTriple().MatchString(before) || strings.HasSuffix(strings.TrimSpace(before), "name:"):
		return append(c.site.Keys(), c.parameters()...), protocol.CompletionItemKindField
	case attribute().MatchString(before):
		return attributes, protocol.CompletionItemKindProperty
	}
	return nil, 0
}

// inEnvironments returns the words that can follow before in environments.pp.
func inEnvironments(before string) ([]string, protocol.CompletionItemKind) {
	switch {
	case declaration().MatchString(before):
		return []string{"envdir", "modulepath", "bindingsdir", "manifestdir", "manifest", "templatedir"},
			protocol.CompletionItemKindProperty
	case attribute().MatchString(before):
		return []string{"site", "environment", "dynamic_environments", "Environment", "envdir", "modulepath",
			"bindingsdir"}, protocol.CompletionItemKindKeyword
	}
	return nil, 0
}

// choices returns the possible values of a class parameter. found is a regexp match: found[1] is the key, and found[2]
// the quote before the cursor, if any.
func (c *cursor) choices(found []string) ([]string, protocol.CompletionItemKind) {
	return c.site.Choices(found[1], found[2] != ""), protocol.CompletionItemKindEnumMember
}

func (c *cursor) categories() (out []string) {
	for _, d := range c.site.Site.Dimensions {
		if !d.Guard {
			out = append(out, d.Name)
		}
	}
	return out
}

// variables returns the facts that the site's conditions use, and some common facts.
func (c *cursor) variables() []string {
	out := slices.Clone(commonFacts)
	for name := range c.site.Compared() {
		out = append(out, name)
	}
	return out
}

var commonFacts = []string{"facts.os.family", "facts.os.name", "facts.os.release.major", "facts.networking.fqdn",
	"facts.networking.hostname", "facts.networking.domain", "facts.kernel", "facts.virtual", "trusted.certname",
	"trusted.domain", "trusted.hostname", "environment", "server_facts.environment"}

func (c *cursor) parameters() (out []string) {
	for _, p := range c.site.Parameters() {
		out = append(out, p.Key)
	}
	return out
}
