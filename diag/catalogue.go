package diag

import (
	"embed"
	"fmt"
	"slices"
)

// Code is the stable name of a kind of diagnostics, or of errors of a lookup. Each is in the catalogue.
type Code string

// Rule is a code as the catalogue has it.
type Rule struct {
	Code     Code
	Sentence string
	Section  int    // of docs/language.md, which the rule comes from; 0: it is none of the language
	Remedy   string // what to do
}

// sections are the headings of the language.
var sections = [...]string{1: "Words", "The site", "Schemes", "Hiera-2 directories", "Structured bindings",
	"Which binding wins", "Strings and expressions", "Multibindings", "Types", "YAML", "Extensions", "Lookup",
	"Hiera 5", "The rest of ARM-8"}

// Catalogue is all codes, by name.
func Catalogue() []Rule { return slices.Clone(catalogue) }

var catalogue = []Rule{
	{"abstract", "Nothing beats an abstract binding, for every request or for some; or it has a value, which is never used.", 6,
		"Bind the key in a higher layer or under a condition that beats it, or remove 'abstract'."},
	{"attribute", "An attribute of a binding is unknown, missing, or not what is expected there.", 5,
		"Correct the attribute: the message lists those there are."},
	{"attributes_as_value", "Advice: a binding in the short form has a hash of attributes as its value.", 5,
		"Write the binding in the long form, as a hash with 'name', or ignore this code where the hash is data."},
	{"backend", "A Hiera-2 configuration names an unknown backend.", 4,
		"Name yaml, json, or an extension that binder_config.yaml declares."},
	{"bare_variable", "Advice: a variable without braces in data is no fact one knows of; it may be meant as text.", 7,
		"Write \\$word where text is meant, ${word} for a variable."},
	{"bindings", "A file of structured bindings is not laid out as one.", 5,
		"Begin with 'bindings_version: 1', a 'name' as the path says it, and the list 'bind'."},
	{"braces", "Without braces the keys behind a variable are text: the whole variable is interpolated.", 7,
		"Put braces around the variable and its keys: ${facts['os']['family']}."},
	{"busy", "A socket of bindq serve has all the connections it takes.", 0,
		"Close connections that are no longer used, or let programs share one."},
	{"catalog", "What is bound belongs to a catalog, or to a class of Ruby, of which a binding knows nothing.", 14,
		"Bind a value, or name a producer that the program registers which looks keys up."},
	{"category", "A category is unknown, or the list of categories is not what it has to be.", 2,
		"Spell the category as binder_config.yaml does, or add it there."},
	{"category_value", "The value of a hierarchy entry differs from the site's expression for the category.", 4,
		"Write the expression from binder_config.yaml in the entry, and a path that contains its variables."},
	{"config", "The configuration of the site has a key that it cannot have, or is there twice.", 2,
		"Correct the key: the message lists those there are."},
	{"conflict", "Two bindings of one key have equal precedence, and one request can have both effective.", 6,
		"Bind the key once in a higher layer or under a narrower condition, or remove one of the two."},
	{"convert", "A set of bindings says something that the other syntax has no words for.", 14,
		"Say it in another way, or leave the file in its syntax."},
	{"data", "A data file is no hash of keys to values.", 4,
		"Write keys and values, 'key: value'; a list or a text alone binds nothing."},
	{"data_directory", "The directory in which the data of a hierarchy's entry would be is not there.", 4,
		"Make the directory, or correct the path of the entry."},
	{"data_path", "The path of a hierarchy's entry, or of a file it finds, is none that data can be read from.", 4,
		"Write a path below the directory of the hiera.yaml, without '..' and without an extension."},
	{"data_unreached", "No hierarchy entry matches a data file; its data is never used.", 4,
		"Add an entry with its path to the hierarchy, or rename or remove the file."},
	{"duplicate", "Two contributions to a multibinding have the same name, and its options do not say which one counts.", 8,
		"Put one of the two under a narrower condition or in a higher layer, or choose another conflict_resolution."},
	{"effort", "Finding the conflicts and loops of this site takes more comparisons than are allowed.", 6,
		"Use fewer categories over the same variables, or allow more with --max-effort."},
	{"empty", "The site, or a data file, binds nothing. A snapshot with bindings is not replaced by that of such a site.", 2,
		"Write what is to be bound; where nothing is, say --allow-empty, and {} in a data file."},
	{"enc", "What a node classifier says is not what one says, or it fails for a node.", 14,
		"Have it print a hash of classes, parameters and environment, as Puppet reads it; then run bindc enc anew."},
	{"encrypted", "A value is encrypted, and the program that answers has no key that decrypts it.", 0,
		"Give the identity that decrypts the snapshot, --identity FILE or BINDQ_IDENTITY, or the key that hiera-eyaml has " +
			"encrypted for, --eyaml-key FILE or BINDQ_EYAML_KEY. In a hiera.yaml of Puppet: " +
			"'command: [bindq, --eyaml-key, FILE]'."},
	{"environment", "There is no snapshot of the environment that a request is of, or none can be chosen for it.", 14,
		"Ask for an environment there is, correct what environments.pp makes of the facts, or build its snapshot."},
	{"environments", "The environments of a root directory are not declared as they have to be, or are gone.", 14,
		"Correct environments.pp where the message points, or give the root directory that has them."},
	{"evaluation", "An expression fails for the facts of this request.", 7,
		"Look at the facts of the node: the message says what was expected of them."},
	{"expression", "Syntax error in an expression or a lambda.", 7,
		"Correct the expression where the caret stands."},
	{"extension", "An extension is declared in a wrong way, is not allowed to run, or fails.", 11,
		"Correct the declaration, and say --allow-extensions where the program may run."},
	{"eyaml", "A value is or was encrypted for hiera-eyaml, but no lookup can decrypt it.", 7,
		"Encrypt the value by PKCS7 with 'bindc eyaml encrypt' and the public key: lookups decrypt it with --eyaml-key. " +
			"In Hiera 5 give its entry 'lookup_key: eyaml_lookup_key'."},
	{"fact", "A variable is called nearly, but not quite, as a well-known fact, or as no variable can be.", 7,
		"Correct the name, or leave it where the nodes do have such a fact."},
	{"facts", "What was given as facts is not what facts are: a hash of names to values.", 7,
		"Give a hash of names to values, as 'facter --json' prints it."},
	{"facts_missing", "Paths or values ask for variables that no node of the fleet has.", 7,
		"Add them to the files of the nodes, as facts or as 'vars' beside the facts."},
	{"hiera", "A Hiera-2 configuration has a key that it cannot have, or is there twice.", 4,
		"Correct the key: version, hierarchy and backends are those there are."},
	{"hiera_foreign", "An entry of a hierarchy of Hiera 5 is not compiled: only Puppet knows what it says. Or a value looks up what only such an entry can have.", 13,
		"Write its data as YAML or JSON that a path of the hierarchy finds, or leave the entry to Puppet."},
	{"hiera_interpolation", "A text has an interpolation as Hiera has them, %{...}, which means nothing here, or nothing to Hiera either.", 7,
		"Write ${...} as the hint shows; in data of Hiera 5 correct what stands in the braces."},
	{"hiera_key", "The data of a module binds a key that does not begin with the module's name. Nobody gets it.", 13,
		"Begin the key with the name of the module, or bind it in the site."},
	{"hiera_merge", "A value does not fit the strategy its key is merged by, or knocks out what no level has.", 13,
		"Write a value of the other kind, choose another strategy in lookup_options, or remove the knock-out."},
	{"hiera_options", "The lookup_options of Hiera 5 are none, so that lookups fail, or are for no key that is bound.", 13,
		"Correct the name of the key, the pattern, the strategy or the type; the message says which."},
	{"hiera_version", "A hiera.yaml of another version of Hiera is passed over: its data is not in the snapshot.", 4,
		"Include 'hiera:/' in a layer of its own, or exclude it and 'confdir-hiera:/' if only Puppet reads its data."},
	{"hierarchy", "A hierarchy is no list of [category, value, path], or is in another order than the categories.", 4,
		"Write each entry as [category, value, path], three strings, in the order of the categories."},
	{"ignored_code", "Advice: a comment 'bindc: ignore' silences nothing.", 1,
		"Name a code of the table in docs/lint.md, for example '# bindc: ignore near_key'."},
	{"interpolation", "What is interpolated in a string is no expression, or cannot stand there.", 7,
		"Correct what is in the braces, or write \\${ where text is meant."},
	{"json_syntax", "Invalid JSON.", 10,
		"Correct the text where the caret stands."},
	{"key", "A key is not a string, or is empty.", 4,
		"Write the key as text, in quotes if it looks like something else."},
	{"key_unbound", "A binding looks up a key that nothing binds, or an entry that no hash of that key has.", 12,
		"Correct the name of the key, or bind it. 'optional: true' says that a reference may be unbound."},
	{"layer", "The list of layers is not what it has to be.", 2,
		"Write each layer as a hash of name, include and exclude, with a name of its own."},
	{"layout", "A file is written in a way that fmt does not lay out.", 0,
		"Write that place in another way, or leave the file as it is."},
	{"legacy_fact", "Advice: data of Hiera 5 interpolates a legacy fact, which agents of Puppet 8 do not send by default.", 13,
		"Write the structured fact that the hint names, as %{facts.os.family} for %{osfamily}."},
	{"lookup_options", "The key by which Hiera 5 says how values are merged is a key as any other.", 8,
		"Remove it: what is to be merged is a multibinding here."},
	{"loop", "A key needs itself to have a value.", 7,
		"Have one key of the chain have a value of its own."},
	{"map_required", "Parameters are said to be those of another target, and nothing says which.", 14,
		"Bind a map of the two types, or say it in the options of the binding."},
	{"migrate", "A key that stays in Hiera 5, as it has no other form or would have another answer; or what bindc migrate cannot read.", 13,
		"Leave it there, or write in another way what the message names, and migrate anew."},
	{"missing", "What a URI names is not there: a module, a directory or a file.", 3,
		"Correct the URI, add what it names, or end it in ?optional."},
	{"module_key", "Advice: a module binds a key that does not begin with its name.", 1,
		"Begin the key with the name of the module, or bind it in the site."},
	{"modulepath", "A directory of the module path is not there.", 3,
		"Correct --modulepath, or make the directory."},
	{"multibind", "A multibinding, or a contribution to one, is declared in a wrong way.", 8,
		"Correct the declaration as the message says; section 8 has all options."},
	{"multibind_hidden", "A binding hides a multibinding; its contributions are never used.", 8,
		"Contribute with 'in' instead of binding the key, or write 'override: true' to hide it intentionally."},
	{"multibind_id", "One id is declared by the multibindings of two keys.", 8,
		"Give one of the two an id of its own."},
	{"multibind_unknown", "A contribution names an unknown multibinding id, or a key in place of the id; it is never used.", 8,
		"Correct the id behind 'in', or bind a key with that multibind_id."},
	{"name", "An expression uses an unknown function or type.", 7,
		"Use one of the functions and types that docs/language.md lists."},
	{"near_key", "Advice: a key is very similar to another one that is bound.", 1,
		"Correct the key, or turn this check off if both keys are intended."},
	{"near_value", "Advice: a category is asked for a value that is nearly, but not quite, one there is.", 5,
		"Correct the value, or the name of the file."},
	{"never_wins", "Advice: a binding is hidden in every request there can be.", 6,
		"Remove the binding, or bind it in a higher layer."},
	{"no_node", "No node of the fleet has the value that some data is for; the data is never used.", 6,
		"Correct the value or the name of the file, or add the facts of the node that it is for."},
	{"not_included", "No layer includes a file of bindings or a hiera.yaml; its data is never used.", 3,
		"Include it in a layer, or exclude it there if that is meant."},
	{"optional", "A binding is optional, and its producer always has a value.", 14,
		"Take 'optional' away, or give it a producer that can yield undef."},
	{"override", "A binding is said to override something, and nothing is there that it beats.", 6,
		"Correct the key, or take 'override' away where nothing is to be beaten."},
	{"path_extension", "The path of a hierarchy's entry is written with an extension, which each backend adds; or without, in Hiera 5.", 4,
		"Leave the extension out; in Hiera 5 write it."},
	{"producer", "A producer fails, or the program that looks up has not registered it.", 11,
		"Ask the program that registers the producer."},
	{"protocol", "A client of bindq serve does not keep to its protocol, or speaks another version of it.", 0,
		"Let the client speak as docs/serve.md says, in the version that the server has."},
	{"read", "Something is there that cannot be read: no permission, no plain file, a link that leads nowhere.", 2,
		"Correct the permissions or the link, or remove what is there."},
	{"rebind", "What is to be another name, or what a key is below, is bound nowhere, or never below.", 14,
		"Correct the name, or bind it at lower precedence than this."},
	{"regexp", "A regular expression does not compile.", 7,
		"Correct the expression; it is one of Ruby, as in Puppet."},
	{"reserved", "A key is reserved for what is written in another way, or begins as such keys do.", 14,
		"Write the statement that the hint names, or choose a name without '/' in front."},
	{"ruby", "Bindings are written in Ruby, which cannot be run.", 3,
		"Write the bindings as YAML, in the directory bindings."},
	{"same_value", "Advice: a binding has the value that each of its requests would get without it.", 6,
		"Remove the binding, unless it is to stay when the other one changes."},
	{"session", "A client of bindq serve asks in a session that is none, or none any longer.", 0,
		"Begin a session with 'node', and use the number it answers with."},
	{"site", "The directory is no site.", 2,
		"Name the directory that has binder_config.yaml, hiera.yaml or bindings in it."},
	{"snapshot_damaged", "The file is a snapshot of which a part is missing or changed.", 0,
		"Build the snapshot again, or copy it again."},
	{"snapshot_format", "The file is no snapshot.", 0,
		"Name a file that bindc build has written."},
	{"snapshot_missing", "The snapshot that bindq serve is to answer from is not there, or cannot be read.", 0,
		"Build the snapshot into that place, or correct the path."},
	{"snapshot_refused", "A snapshot has to be signed by one of certain signers, and is not.", 0,
		"Have it signed by one who may, or correct the list of signers."},
	{"snapshot_version", "The snapshot was written by a bindc of another version, which this program cannot read.", 0,
		"Build it again with a bindc of the version of this program."},
	{"syntax", "Syntax error in a file of the Puppet syntax.", 14,
		"Write what is expected; the message has the word that may have been meant."},
	{"too_large", "An answer of bindq serve would be longer than a frame may be.", 0,
		"Ask for fewer keys at once."},
	{"twice", "Something is there in two syntaxes, in YAML and in that of Puppet.", 14,
		"Remove one of the two files."},
	{"type", "Syntax error in a type.", 9,
		"Correct the type; docs/language.md lists them."},
	{"type_mismatch", "A value is not of the type that it is held to.", 9,
		"Correct the value, or quote it where text is meant."},
	{"untyped", "Advice: a binding may not be of the type that another binding of its key states.", 9,
		"State the type at this binding too, or correct the value."},
	{"unused_key", "Advice: a key is bound, and nobody looks it up.", 12,
		"Remove the binding, or list the key with --used where programs ask for it."},
	{"uri", "A URI of a layer is not written as those of its scheme are.", 3,
		"Write it as section 3 shows for its scheme."},
	{"usage", "The command line, or a query, is not what the program expects.", 0,
		"See --help of the verb."},
	{"version", "A file does not say that it is written as this version of the language has it.", 5,
		"Add the version, as the message has it."},
	{"when", "A condition can never hold, has no effect, is malformed, or has too many alternatives.", 5,
		"Ask each category for one value, or list several in brackets."},
	{"yaml_alias", "An alias refers to nothing, to what it stands in, or to more than is allowed.", 10,
		"Quote a text that begins with '*', or write the anchor before it."},
	{"yaml_core", "Advice: a plain scalar means something else to readers of YAML 1.2 than to Puppet.", 10,
		"Quote it where text is meant, or write the value that Puppet takes it for."},
	{"yaml_date", "There are no values that are dates or times: a text that looks like one has to be quoted.", 10,
		"Quote it."},
	{"yaml_depth", "Hashes and lists stand in one another more than 512 deep.", 10,
		"Write what is so deep as a key of its own."},
	{"yaml_document", "A file has a second document, which is passed over.", 10,
		"Remove the line '---' between them, or the second document."},
	{"yaml_duplicate_key", "A key stands twice in one hash. In data the last one counts.", 10,
		"Remove one of the two."},
	{"yaml_integer", "An integer does not fit in 64 bits.", 10,
		"Quote it where text is meant."},
	{"yaml_merge", "A merge key merges what is no hash, or replaces a key that is written before it.", 10,
		"Merge a hash by its alias, '<<: *name', before the keys it is not to replace."},
	{"yaml_symbol", "A value of Hiera 5 data is a symbol of Ruby, such as :name, which Puppet takes for no value.", 13,
		"Quote it where text is meant. Keys may be symbols: Hiera takes off the colon."},
	{"yaml_syntax", "Invalid YAML.", 10,
		"Correct the text where the caret stands; the hint says how."},
	{"yaml_tag", "A tag is unknown, or does not fit the value behind it.", 10,
		"Remove the tag."},
	{"yaml_utf8", "A file is not text in UTF-8.", 10,
		"Save the file as UTF-8."},
	{"yml", "A file ends in .yml, and is not read: only those that end in .yaml are.", 4,
		"Rename the file so that it ends in .yaml."},
}

//go:embed examples
var examples embed.FS

// Example is a site of which something is reported with the code, as a txtar archive: first the commands to run, and
// the last one's report, then the files. A code without one is reserved, or only programs in Go meet it.
func (r Rule) Example() string {
	text, err := examples.ReadFile("examples/" + string(r.Code) + ".txtar")
	if err != nil {
		return ""
	}
	return string(text)
}

// Source is where the rule stands.
func (r Rule) Source() string {
	if r.Section == 0 {
		return ""
	}
	return fmt.Sprintf("docs/language.md, section %d (%s)", r.Section, sections[r.Section])
}

// Find is the rule of a code.
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
