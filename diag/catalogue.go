package diag

import (
	"embed"
	"fmt"
	"slices"
)

// Code is the stable name of a kind of diagnostics, or of errors of a lookup. Each is in the catalogue.
type Code string

// Rule is the catalogue entry of a code.
type Rule struct {
	Code     Code
	Sentence string
	Section  int    // of docs/language.md, which the rule comes from; 0: it is none of the language
	Remedy   string // what to do
}

// sections has the headings of the language.
var sections = [...]string{1: "Words", "The site", "Schemes", "Hiera-2 directories", "Structured bindings",
	"Which binding wins", "Strings and expressions", "Multibindings", "Types", "YAML", "Extensions", "Lookup",
	"Hiera 5", "The rest of ARM-8"}

// Catalogue returns all codes, by name.
func Catalogue() []Rule { return slices.Clone(catalogue) }

var catalogue = []Rule{
	{"abstract", "No binding beats an abstract binding in some or all requests; or the abstract binding has a " +
		"value, which is never used.", 6,
		"Bind the key in a higher layer or under a condition that beats it, or remove 'abstract'."},
	{"attribute", "Unknown, missing or malformed attribute of a binding.", 5,
		"Correct the attribute; the message suggests one or lists the valid ones."},
	{"attributes_as_value", "Advice: a binding in the short form has a hash of attributes as its value.", 5,
		"Write the binding in the long form, as a hash with 'name', or ignore this code where the hash is data."},
	{"backend", "Unknown backend in a Hiera-2 configuration.", 4,
		"Name yaml, json, or an extension that binder_config.yaml declares."},
	{"bare_variable", "Advice: a variable without braces in data is not a well-known fact; it may be meant as text.", 7,
		"Write \\$word for text, ${word} for a variable."},
	{"bindings", "Malformed file of structured bindings.", 5,
		"Begin with 'bindings_version: 1', the 'name' that the path gives it, and the list 'bind'."},
	{"braces", "A variable with keys but without braces: the whole variable is interpolated, and the keys are " +
		"text.", 7,
		"Put braces around the variable and its keys: ${facts['os']['family']}."},
	{"busy", "A socket of bindq serve has as many connections as it accepts.", 0,
		"Close connections that are no longer used, or let programs share one."},
	{"catalog", "A binding needs a catalog or a Ruby class, which bindings do not have.", 14,
		"Bind a value, or use a producer that the program registers."},
	{"category", "Unknown category, or malformed list of categories.", 2,
		"Spell the category as binder_config.yaml does, or add it there."},
	{"category_value", "The value of a hierarchy entry differs from the site's expression for the category.", 4,
		"Write the expression from binder_config.yaml in the entry, and a path that contains its variables."},
	{"config", "The configuration of the site has an unknown key, exists twice, or has a misspelt name.", 2,
		"Correct the name; the message lists the valid ones."},
	{"conflict", "Two bindings of one key have equal precedence and can both be effective in one request.", 6,
		"Bind the key once in a higher layer or under a narrower condition, or remove one of the two."},
	{"convert", "A set of bindings has something that the other syntax cannot express.", 14,
		"Express it in another way, or keep the file in its syntax."},
	{"data", "A data file is not a hash of keys to values.", 4,
		"Write 'key: value'; a list or a string alone binds nothing."},
	{"data_directory", "The directory for the data of a hierarchy entry does not exist.", 4,
		"Create the directory, or correct the path of the entry."},
	{"data_path", "The path of a hierarchy entry cannot be read as data.", 4,
		"Write a path below the directory of the hiera.yaml, without '..' and without an extension."},
	{"data_unreached", "No hierarchy entry matches a data file; its data is never used.", 4,
		"Add an entry with its path to the hierarchy, or rename or remove the file."},
	{"duplicate", "Two contributions to a multibinding have the same name, and its options do not say which one " +
		"counts.", 8,
		"Put one of the two under a narrower condition or in a higher layer, or choose another conflict_resolution."},
	{"effort", "Finding the conflicts and loops of this site takes more comparisons than are allowed.", 6,
		"Use fewer categories over the same variables, or allow more with --max-effort."},
	{"empty", "The site or a data file binds nothing. Its build does not replace a snapshot that has bindings.", 2,
		"Bind something. If nothing is meant to be bound, use --allow-empty, and {} in a data file."},
	{"enc", "Invalid answer of a node classifier, or a node for which it fails.", 14,
		"Make it print a hash of classes, parameters and environment, as Puppet reads it; then run bindc " +
			"enc again."},
	{"encrypted", "A value is encrypted, and the program has no key that decrypts it.", 0,
		"Give the identity that decrypts the snapshot, --identity FILE or BINDQ_IDENTITY, or the private " +
			"key of hiera-eyaml, --eyaml-key FILE or BINDQ_EYAML_KEY. In a hiera.yaml of Puppet: 'command: " +
			"[bindq, --eyaml-key, FILE]'."},
	{"environment", "No snapshot exists for the environment of a request, or no environment can be chosen for it.", 14,
		"Ask for an existing environment, correct how environments.pp chooses one, or build its snapshot."},
	{"environments", "Invalid declaration of environments, or a declared environment that is missing.", 14,
		"Correct environments.pp where the message points, or give the root directory that has them."},
	{"evaluation", "An expression fails for the facts of this request.", 7,
		"Check the facts of the node; the message says what was expected."},
	{"expression", "Syntax error in an expression or lambda.", 7,
		"Correct the expression at the caret."},
	{"extension", "An extension is declared wrongly, is not allowed to run, or fails.", 11,
		"Correct the declaration, and use --allow-extensions if the program may run."},
	{"eyaml", "A value that was encrypted for hiera-eyaml cannot be decrypted by any lookup.", 7,
		"Encrypt the value by PKCS7 with 'bindc eyaml encrypt' and the public key: lookups decrypt it with --eyaml-key. " +
			"In Hiera 5 give its entry 'lookup_key: eyaml_lookup_key'."},
	{"fact", "A variable is named almost like a well-known fact, or a name that no variable can have.", 7,
		"Correct the name, or keep it if the nodes do have such a fact."},
	{"facts", "Facts are not a hash of names to values.", 7,
		"Supply a hash of names to values, such as the output of 'facter --json'."},
	{"facts_missing", "Paths or values use variables that no node of the fleet has.", 7,
		"Add them to the files of the nodes, as facts or as 'vars' next to the facts."},
	{"hiera", "Unknown or repeated key in a hiera.yaml, or more than one such file.", 4,
		"Use only version, hierarchy and backends."},
	{"hiera_foreign", "An entry of a Hiera 5 hierarchy, or a value that depends on one, is not compiled: only Puppet can " +
		"read its data.", 13,
		"Write its data as YAML or JSON that a path of the hierarchy finds, or leave the entry to Puppet."},
	{"hiera_interpolation", "A string has a Hiera interpolation, %{...}, that has no effect here, or not even in Hiera.", 7,
		"Write ${...} as the hint shows; in data of Hiera 5, correct the text in the braces."},
	{"hiera_key", "The data of a module binds a key that does not begin with the name of the module; it is never " +
		"used.", 13,
		"Begin the key with the name of the module, or bind it in the site."},
	{"hiera_merge", "A value does not fit the merge strategy of its key, or knocks out something that no level has.", 13,
		"Write a value of the other kind, choose another strategy in lookup_options, or remove the knock-out."},
	{"hiera_options", "Invalid lookup_options of Hiera 5, or lookup_options for a key that is not bound.", 13,
		"Correct the name of the key, the pattern, the strategy or the type; the message says which."},
	{"hiera_version", "A hiera.yaml of another version of Hiera is ignored; its data is not in the snapshot.", 4,
		"Include 'hiera:/' in a separate layer, or exclude it and 'confdir-hiera:/' if only Puppet reads its data."},
	{"hierarchy", "Malformed hierarchy, or a hierarchy whose order differs from that of the categories.", 4,
		"Write each entry as [category, value, path], three strings, in the order of the categories."},
	{"ignored_code", "Advice: a comment 'bindc: ignore' has no effect.", 1,
		"Name a code of the table in docs/lint.md, for example '# bindc: ignore near_key'."},
	{"interpolation", "Invalid expression in an interpolated string.", 7,
		"Correct the expression in the braces, or write \\${ for text."},
	{"json_syntax", "Invalid JSON.", 10,
		"Correct the text at the caret."},
	{"key", "A key is not a string, or is empty.", 4,
		"Write the key as text, in quotes if it looks like something else."},
	{"key_unbound", "A binding looks up a key that nothing binds, or an entry that no hash bound to that key has.", 12,
		"Correct the name of the key, or bind it. 'optional: true' says that a reference may be unbound."},
	{"layer", "Malformed list of layers.", 2,
		"Write each layer as a hash of name, include and exclude, each with its own name."},
	{"layout", "A file has something that fmt cannot format.", 0,
		"Write it in another way, or leave the file unchanged."},
	{"legacy_fact", "Advice: data of Hiera 5 interpolates a legacy fact, which agents of Puppet 8 do not send by default.", 13,
		"Write the structured fact that the hint names, such as %{facts.os.family} for %{osfamily}."},
	{"lookup_options", "The key 'lookup_options' has no effect outside of Hiera 5.", 8,
		"Remove it, and use a multibinding for values that are merged."},
	{"loop", "The value of a key depends on itself.", 7,
		"Break the cycle: give one of the keys a literal value."},
	{"map_required", "Parameters come from another target, and no binding says which ones.", 14,
		"Bind a map of the two types, or name the parameters in the options of the binding."},
	{"migrate", "A key cannot move out of Hiera 5, or bindc migrate cannot read it.", 13,
		"Keep it in Hiera 5, or rewrite what the message names and migrate again."},
	{"missing", "A module, directory or file that a URI names does not exist.", 3,
		"Correct the URI, add the missing files, or end it in ?optional."},
	{"module_key", "Advice: a module binds a key that does not begin with its name.", 1,
		"Begin the key with the name of the module, or bind it in the site."},
	{"modulepath", "A directory of the module path does not exist.", 3,
		"Correct --modulepath, or create the directory."},
	{"multibind", "Invalid declaration of a multibinding or of a contribution to one.", 8,
		"Correct the declaration as the message says; section 8 has all options."},
	{"multibind_hidden", "A binding hides a multibinding; its contributions are never used.", 8,
		"Contribute with 'in' instead of binding the key, or write 'override: true' to hide it intentionally."},
	{"multibind_id", "Multibindings of two keys declare the same id.", 8,
		"Give one of the two its own id."},
	{"multibind_unknown", "A contribution names an unknown multibinding id, or a key in place of the id; it is never used.", 8,
		"Correct the id after 'in', or bind a key with that multibind_id."},
	{"name", "An expression uses an unknown function or type.", 7,
		"Use one of the functions and types that docs/language.md lists."},
	{"near_key", "Advice: a key is very similar to another one that is bound.", 1,
		"Correct the key, or turn this check off if both keys are intended."},
	{"near_value", "Advice: a condition has a value that is nearly, but not quite, an existing value of the category.", 5,
		"Correct the value, or the name of the file."},
	{"never_wins", "Advice: a binding is hidden in every possible request.", 6,
		"Remove the binding, or bind it in a higher layer."},
	{"no_node", "No node of the fleet has the value that some data is for; the data is never used.", 6,
		"Correct the value or the name of the file, or add the facts of the node that it is for."},
	{"not_included", "No layer includes a file of bindings or a hiera.yaml; its data is never used.", 3,
		"Include it in a layer, or exclude it there if it is not meant to be used."},
	{"optional", "A binding is optional although its producer always has a value.", 14,
		"Remove 'optional', or use a producer that can yield undef."},
	{"override", "A binding has 'override' but beats no other binding.", 6,
		"Correct the key, or remove 'override'."},
	{"path_extension", "A path of a Hiera-2 entry has an extension, which each backend adds; or a path of Hiera 5 has " +
		"none.", 4,
		"Leave out the extension; in Hiera 5, write it."},
	{"producer", "A producer fails, or the program has not registered it.", 11,
		"Check the program that registers the producer."},
	{"protocol", "A client of bindq serve violates the protocol, or uses another version of it.", 0,
		"Change the client to follow docs/serve.md, in the version that the server has."},
	{"read", "Something cannot be read: no permission, not a regular file, or a broken link.", 2,
		"Correct the permissions or the link, or remove the file."},
	{"rebind", "A key that an alias, rename or rebind refers to is not bound, or not bound at lower precedence.", 14,
		"Correct the name, or bind it at lower precedence."},
	{"regexp", "Invalid regular expression.", 7,
		"Correct the expression; it has Ruby's syntax, as in Puppet."},
	{"reserved", "A key is reserved for another statement, or begins with '/'.", 14,
		"Write the statement that the hint names, or choose a name that does not begin with '/'."},
	{"ruby", "Bindings in Ruby, which cannot be run.", 3,
		"Write the bindings as YAML, in the directory bindings."},
	{"same_value", "Advice: without this binding, every request would get the same value.", 6,
		"Remove the binding, unless it is meant to stay when the other one changes."},
	{"session", "A client of bindq serve uses a session that does not exist or has ended.", 0,
		"Begin a session with 'node', and use the number in its answer."},
	{"site", "The directory is not a site.", 2,
		"Name the directory that has binder_config.yaml, hiera.yaml or bindings."},
	{"snapshot_damaged", "A part of the snapshot is missing or changed.", 0,
		"Build the snapshot again, or copy it again."},
	{"snapshot_format", "The file is not a snapshot.", 0,
		"Name a file that bindc build has written."},
	{"snapshot_missing", "The snapshot of bindq serve does not exist or cannot be read.", 0,
		"Build the snapshot at that path, or correct the path."},
	{"snapshot_refused", "A snapshot lacks the signature of a trusted signer.", 0,
		"Have a trusted signer sign it, or correct the list of signers."},
	{"snapshot_version", "Another version of bindc wrote the snapshot, and this program cannot read it.", 0,
		"Build it again with the bindc that has the same version as this program."},
	{"syntax", "Syntax error in a file in Puppet syntax.", 14,
		"Write what the message expects; it may suggest a word."},
	{"too_large", "An answer of bindq serve would exceed the size of a frame.", 0,
		"Ask for fewer keys at once."},
	{"twice", "The same thing is written twice, in YAML and in Puppet syntax.", 14,
		"Remove one of the two files."},
	{"type", "Syntax error in a type, or unknown type.", 9,
		"Correct the type; docs/language.md lists them."},
	{"type_mismatch", "A value does not have the required type.", 9,
		"Correct the value, or quote it if it is text."},
	{"untyped", "Advice: a binding may not have the type that another binding of its key states.", 9,
		"State the type at this binding too, or correct the value."},
	{"unused_key", "Advice: a key is bound, and nothing looks it up.", 12,
		"Remove the binding, or list the key with --used if programs ask for it."},
	{"uri", "Invalid URI of a layer.", 3,
		"Write it as section 3 shows for its scheme."},
	{"usage", "Invalid command line or query.", 0,
		"Run the command with --help."},
	{"version", "A file lacks the version of the language, or has another one.", 5,
		"Add the version that the message names."},
	{"when", "A condition can never hold, has no effect, is malformed, or has too many alternatives.", 5,
		"Give each category one value, or list several in brackets."},
	{"yaml_alias", "An alias refers to nothing, to a value that contains it, or to more than is allowed.", 10,
		"Quote a text that begins with '*', or write the anchor before it."},
	{"yaml_core", "Advice: a plain scalar means something else to readers of YAML 1.2 than to Puppet.", 10,
		"Quote it if it is text, or write the value that Puppet reads."},
	{"yaml_date", "A date or time without quotes; there are no values of these types.", 10,
		"Quote it."},
	{"yaml_depth", "Hashes and lists are nested more than 512 deep.", 10,
		"Move the deepest part to its own key."},
	{"yaml_document", "A file has a second YAML document, which is ignored.", 10,
		"Remove the line '---' between them, or the second document."},
	{"yaml_duplicate_key", "A key occurs twice in one hash. In data, the last one counts.", 10,
		"Remove one of the two."},
	{"yaml_integer", "An integer does not fit in 64 bits.", 10,
		"Quote it if it is text."},
	{"yaml_merge", "A merge key merges a value that is not a hash, or replaces a key written before it.", 10,
		"Merge a hash by its alias, '<<: *name', before the keys that it must not replace."},
	{"yaml_symbol", "A value of Hiera 5 data is a symbol of Ruby, such as :name, which Puppet rejects.", 13,
		"Quote it if it is text. Keys may be symbols: Hiera removes the colon."},
	{"yaml_syntax", "Invalid YAML.", 10,
		"Correct the text at the position in the message; the hint says how."},
	{"yaml_tag", "Unknown tag, or a tag that does not fit its value.", 10,
		"Remove the tag."},
	{"yaml_utf8", "A file is not text in UTF-8.", 10,
		"Save the file as UTF-8."},
	{"yml", "A file ends in .yml and is not read; only .yaml files are.", 4,
		"Rename the file so that it ends in .yaml."},
}

//go:embed examples
var examples embed.FS

// Example returns a site that gets the code, as a txtar archive: first the commands to run, the last of which reports
// it, then the files.
func (r Rule) Example() string {
	text, err := examples.ReadFile("examples/" + string(r.Code) + ".txtar")
	if err != nil {
		return ""
	}
	return string(text)
}

// Source returns where the rule stands.
func (r Rule) Source() string {
	if r.Section == 0 {
		return ""
	}
	return fmt.Sprintf("docs/language.md, section %d (%s)", r.Section, sections[r.Section])
}

// Find returns the rule of a code.
func Find(code string) (Rule, error) {
	var known []string
	for _, r := range catalogue {
		if string(r.Code) == code {
			return r, nil
		}
		known = append(known, string(r.Code))
	}
	hint := DidYouMean(code, known)
	if hint == "" {
		hint = "'bindc help codes' lists them"
	}
	return Rule{}, fmt.Errorf("there is no code '%s'; %s", code, hint)
}
