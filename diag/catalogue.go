package diag

import (
	"embed"
	"fmt"
	"slices"
)

// Code identifies a kind of diagnostic or lookup error. Codes are stable; the catalogue describes each one.
type Code string

// Rule is the catalogue entry of a code.
type Rule struct {
	Code     Code
	Sentence string
	Section  int    // section of docs/language.md with the rule, or 0 if there is none
	Remedy   string // how to fix the problem
}

// sections lists the headings of docs/language.md, by number.
var sections = [...]string{1: "Words", "The site", "Schemes", "Hiera 2 directories", "Structured bindings",
	"Which binding wins", "Strings and expressions", "Multibindings", "Types", "YAML", "Extensions", "Lookup",
	"Hiera 5", "The rest of ARM-8"}

// Catalogue returns the rules of all codes, sorted by code.
func Catalogue() []Rule { return slices.Clone(catalogue) }

var catalogue = []Rule{
	{"abstract", "No binding replaces an abstract binding in some or all requests. Or an abstract binding has a " +
		"value, which is never used.", 6,
		"Bind the key in a higher layer or under a more specific condition, or remove 'abstract'."},
	{"attribute", "Unknown, missing or malformed attribute of a binding.", 5,
		"Correct the attribute. The message suggests one or lists the valid ones."},
	{"attributes_as_value", "Lint: the value of a binding in short form is a hash of attributes.", 5,
		"Write the binding in long form, as a hash with 'name'. Ignore this lint if the hash is data."},
	{"backend", "Unknown backend in a Hiera 2 configuration.", 4,
		"Use yaml, json, or an extension that binder_config.yaml declares."},
	{"bare_variable", "Lint: data contains a variable without braces that is not a well-known fact; it may be " +
		"intended as text.", 7,
		"Write \\$word for text, or ${word} for a variable."},
	{"bindings", "Malformed bindings file.", 5,
		"Begin the file with 'bindings_version: 1', the 'name' that its path requires, and the list 'bind'."},
	{"braces", "A variable without braces is followed by keys in brackets. Only the variable is interpolated; " +
		"the keys remain text.", 7,
		"Put braces around the variable and its keys: ${facts['os']['family']}."},
	{"busy", "A socket of bindq serve has reached its limit of connections.", 0,
		"Close unused connections, or let programs share one."},
	{"catalog", "A binding needs a catalog or a Ruby class, which bindc does not have.", 14,
		"Bind a value, or use a producer that your program registers."},
	{"category", "Unknown category, or malformed list of categories.", 2,
		"Use a category that binder_config.yaml lists, or add the category there."},
	{"category_value", "A hierarchy entry and binder_config.yaml have different expressions for the value of a " +
		"category.", 4,
		"Use the expression from binder_config.yaml in the entry, and a path that contains its variables."},
	{"computed_class", "A manifest declares a class whose name is computed, and no class is known to have the name. The " +
		"checks of class parameters may then find only warnings.", 9,
		"Name the classes with --entry-class, which accepts patterns such as 'role::*'."},
	{"config", "A configuration file of the site has an unknown key, exists twice, or has a misspelt name.", 2,
		"Correct the name; the message lists the valid ones."},
	{"conflict", "Two bindings of a key have the same precedence, and a node could meet both conditions.", 6,
		"Bind the key once in a higher layer or under a narrower condition, or remove one of the bindings."},
	{"connection", "A client cannot start or reach bindq serve, or gets no answer in time.", 0,
		"Correct the path of bindq or of its socket, or start the server. If bindq is slow, raise the time limit."},
	{"convert", "A bindings file uses something that the other syntax cannot express.", 14,
		"Express it in another way, or keep the file in its syntax."},
	{"data", "A data file does not contain a hash of keys and values.", 4,
		"Write 'key: value'. A list or a single string binds nothing."},
	{"data_directory", "The data directory of a hierarchy entry does not exist.", 4,
		"Create the directory, or correct the path of the entry."},
	{"data_path", "Invalid path in a hierarchy entry.", 4,
		"Write a path below the directory of the hiera.yaml, without '..' and without an extension."},
	{"data_unreached", "No hierarchy entry matches a data file; its data is never used.", 4,
		"Add an entry for it to the hierarchy, or rename or remove the file."},
	{"duplicate", "Two contributions to a multibinding have the same name, and its options do not decide " +
		"between them.", 8,
		"Put one of them under a narrower condition or in a higher layer, or choose another " +
			"conflict_resolution."},
	{"effort", "The search for conflicts and loops in this site takes more comparisons than the limit allows.", 6,
		"Use fewer categories over the same variables, or raise the limit with --max-effort. The search " +
			"for loops has its own limit, beyond which there is a warning."},
	{"empty", "A site or data file without bindings. Its build does not replace a snapshot that has bindings.", 4,
		"Add a binding. If the site is empty on purpose, use --allow-empty; an empty data file needs {}."},
	{"enc", "A node classifier printed an invalid answer, or failed for a node.", 14,
		"Make the classifier print a hash with classes, parameters and environment, as Puppet expects. Then run " +
			"bindc enc again."},
	{"encrypted", "A value is encrypted, and the program does not have the key to decrypt it.", 0,
		"For a snapshot with encrypted values, pass the identity: --identity FILE or BINDQ_IDENTITY. For " +
			"hiera-eyaml values, pass the private key: --eyaml-key FILE or BINDQ_EYAML_KEY. In Puppet's " +
			"hiera.yaml, write 'command: [bindq, --eyaml-key, FILE]'."},
	{"environment", "The environment of a request has no snapshot, or no environment can be chosen for the " +
		"request.", 14,
		"Use an existing environment, correct how environments.pp chooses one, or build the missing snapshot."},
	{"environments", "Invalid declaration of environments, or a declared environment that does not exist.", 14,
		"Correct environments.pp where the message points, or give the root directory that contains the " +
			"environments."},
	{"evaluation", "An expression fails for the facts of a request.", 7,
		"Check the facts of the node. The message says what was expected. For a division by zero, correct the fact " +
			"or key that provides the divisor. If an integer in the data does not fit in 64 bits, write it in " +
			"quotes; it is then a String. If a result does not fit, calculate with Floats. If a value such as " +
			":name is a Ruby symbol, write it in quotes or without the colon. If a merge needs Strings as keys, " +
			"write keys such as 10 or true in quotes, in all levels."},
	{"example", "A test file is malformed or not used.", 0,
		"Begin the file with 'tests_version: 1', and list the tests under 'tests', each with 'name', 'facts' and 'expect'."},
	{"expression", "Syntax error in an expression or lambda.", 7,
		"Correct the text that the caret points at."},
	{"extension", "An extension has an invalid declaration, is not allowed to run, or fails.", 11,
		"Correct the declaration. If you trust the program, use --allow-extensions."},
	{"eyaml", "A value that is encrypted for hiera-eyaml, but that no lookup can decrypt.", 7,
		"Encrypt the value with 'bindc eyaml encrypt' and the public key (PKCS7); lookups with --eyaml-key " +
			"decrypt it. In Hiera 5, give its entry 'lookup_key: eyaml_lookup_key'."},
	{"fact", "The name of a variable is nearly that of a well-known fact, or is not a valid variable name.", 7,
		"Correct the name, or keep it if your nodes have such a fact."},
	{"facts", "The facts are not a hash whose keys are fact names.", 7,
		"Provide such a hash, for example the output of 'puppet facts --render-as json'."},
	{"facts_missing", "A path or value uses a variable that no node has.", 7,
		"Add the variable to the files of the nodes, as a fact or under 'vars' next to the facts."},
	{"hiera", "A hiera.yaml has an unknown or repeated key, or a directory has more than one such file.", 4,
		"Correct the key; the message suggests or lists the valid ones. Remove the second file."},
	{"hiera_foreign", "Only Puppet can read a Hiera 5 hierarchy entry, or a value that depends on one; it is " +
		"not in the snapshot.", 13,
		"Move its data to YAML or JSON files in the hierarchy, or let Puppet keep the entry."},
	{"hiera_interpolation", "A Hiera interpolation, %{...}, has no effect here, or would have no effect in " +
		"Hiera either.", 7,
		"Write ${...} as the hint shows. In Hiera 5 data, correct the text in the braces."},
	{"hiera_key", "The data of a module binds a key that does not begin with the module's name; the key is " +
		"never used.", 13,
		"Begin the key with the module's name, or bind it in the site."},
	{"hiera_merge", "A value does not fit the merge strategy of its key, or a knockout removes something that " +
		"no level has.", 13,
		"Change the type of the value, choose another strategy in lookup_options, or remove the knockout."},
	{"hiera_options", "Invalid lookup_options in Hiera 5 data, lookup_options for a key that is not bound, or a value that " +
		"their convert_to does not accept.", 13,
		"Correct the key, pattern, strategy, type or value that the message names."},
	{"hiera_version", "A hiera.yaml for a different version of Hiera is ignored; its data is not in the " +
		"snapshot.", 4,
		"Include 'hiera:/' in a separate layer. If only Puppet should read its data, exclude it and " +
			"'confdir-hiera:/'. Pass a Hiera 3 file with --global-hiera, or write it as version 5."},
	{"hierarchy", "Malformed hierarchy, or a hierarchy in a different order than the categories.", 4,
		"Write each entry as [category, value, path], three strings, in the order of the categories."},
	{"ignored_code", "Lint: a 'bindc: ignore' comment has no effect.", 0,
		"Use a code from the table in docs/lint.md, for example '# bindc: ignore near_key'."},
	{"interpolation", "Invalid expression in an interpolated string.", 7,
		"Correct the expression in the braces, or write \\${ for a literal ${."},
	{"json_syntax", "Invalid JSON.", 10,
		"Correct the text that the caret points at."},
	{"key", "A key is empty or is not a string.", 4,
		"Write the key as a string, in quotes if it looks like another type."},
	{"key_unbound", "A binding looks up a key that is not bound, or an entry that no hash bound to that key " +
		"has.", 12,
		"Correct the name of the key, or bind it. If the key may be unbound, add 'optional: true' to the " +
			"reference. An interpolation in Hiera 5 data gets an empty string for an unbound key."},
	{"layer", "Malformed list of layers.", 2,
		"Write each layer as a hash with the keys name, include and exclude. Each name must be unique."},
	{"layout", "A file contains something that bindc fmt cannot format.", 0,
		"Write that part in a simpler form, or leave the file unformatted."},
	{"legacy_fact", "Lint: Hiera 5 data interpolates a legacy fact, which Puppet 8 agents do not send by " +
		"default.", 0,
		"Use the structured fact that the hint names, such as %{facts.os.family} for %{osfamily}."},
	{"lookup_options", "The key 'lookup_options' has no effect outside Hiera 5.", 13,
		"Remove it. To merge values, use a multibinding."},
	{"loop", "The value of a key depends on itself.", 7,
		"Break the cycle: give one of the keys a literal value."},
	{"map_required", "A target takes its parameters from another target, but nothing determines which parameters.", 14,
		"Bind a map between the two types, or name the parameters in the options of the binding."},
	{"merge_behavior", "A Hiera 3 file sets merge_behavior. The snapshot does not contain this setting: each " +
		"lookup chooses its own merge.", 13,
		"For the Ansible collection, copy the settings that the hint shows to the section [bindc] of ansible.cfg. " +
			"Without them, -h merges only the top level of hashes. In other programs, pass the merge strategy that " +
			"the hint shows. bindc does not read ansible.cfg, so the warning remains; do not list this code in " +
			"--strict."},
	{"migrate", "A key cannot be moved out of Hiera 5, or bindc migrate cannot read it.", 0,
		"Keep the key in Hiera 5, or rewrite what the message names and migrate again."},
	{"missing", "A URI names a module, directory or file that does not exist.", 3,
		"Correct the URI, add the missing files, or append ?optional to the URI."},
	{"missing_parameter", "Lint: a class that a manifest declares requires a parameter, and no data binds it for " +
		"some or all nodes.", 0,
		"Bind the key for all nodes, or give the parameter a default."},
	{"module_key", "Lint: a module binds a key that does not begin with the module's name.", 0,
		"Begin the key with the module's name, or bind it in the site."},
	{"modulepath", "A directory of the module path does not exist.", 3,
		"Correct --modulepath, or create the directory."},
	{"multibind", "Invalid declaration of a multibinding or of a contribution to one.", 8,
		"Correct the declaration as the message says. Section 8 describes all options."},
	{"multibind_hidden", "A binding hides a multibinding, so the contributions are never used.", 8,
		"Contribute with 'in' instead of binding the key. If you want to hide the multibinding, write " +
			"'override: true'."},
	{"multibind_id", "Two keys declare multibindings with the same id.", 8,
		"Give each multibinding its own id."},
	{"multibind_unknown", "A contribution names an unknown multibinding id, or a key instead of the id; it is " +
		"never used.", 8,
		"Correct the id after 'in', or bind a key with that multibind_id."},
	{"name", "Unknown function or type in an expression.", 7,
		"Use a function or type that docs/language.md lists."},
	{"near_key", "Lint: a key has nearly the same name as another bound key.", 0,
		"Correct the key. If both names are intended, ignore this lint."},
	{"near_value", "Lint: the value in a condition looks like a typo for another value of the category.", 5,
		"Correct the value or the file name."},
	{"never_wins", "Lint: a binding is hidden in every request.", 6,
		"Remove the binding, or bind the key in a higher layer."},
	{"no_node", "Data is for a category value that no node has; the data is never used.", 6,
		"Correct the value or the file name, or add the facts of the node."},
	{"not_found", "Nothing binds the key for this node.", 12,
		"Correct the key, bind it, or pass a default. 'bindq explain KEY' shows bindings that do not apply."},
	{"not_included", "No layer includes a bindings file or hiera.yaml; its data is never used.", 3,
		"Include it in a layer. To ignore it, add it to the layer's 'exclude'."},
	{"optional", "A binding is optional although its producer always has a value.", 14,
		"Remove 'optional', or use a producer whose value can be undef."},
	{"override", "A binding has 'override' but does not replace another binding.", 6,
		"Correct the key, or remove 'override'."},
	{"parameter_type", "A value for a class parameter does not have the type that the class declares.", 9,
		"Correct the value, or the type of the parameter. The note shows the parameter."},
	{"parameter_unchecked", "Data for a parameter of a class is not checked, because its type is not known or its " +
		"manifest cannot be read.", 0,
		"Put the module that defines the type on the module path."},
	{"path_extension", "The path of a Hiera 2 entry has an extension, or the path of a Hiera 5 entry has none.", 4,
		"In Hiera 2, remove the extension; each backend adds its own. In Hiera 5, add it."},
	{"policy", "A value breaks a policy of the site in some request, or a policy is malformed, not used, not proven, " +
		"or matches no key.", 0,
		"Correct the value, narrow the condition of its binding, or change the policy. The example in the message is a " +
			"request that breaks it. A file of policies needs the key 'policy_version'."},
	{"producer", "A producer fails, or the program has not registered it.", 11,
		"Correct the producer, or register it in the program that does the lookup."},
	{"protocol", "A client of bindq serve violates the protocol, or uses a different version of it.", 0,
		"Change the client so that it follows docs/serve.md of the server's version."},
	{"read", "A file or directory cannot be read: no permission, not a regular file, or a broken link.", 3,
		"Correct the permissions or the link, or remove the file."},
	{"rebind", "An alias, rename or rebind refers to a key that is not bound, or not bound at lower precedence.", 14,
		"Correct the name, or bind it at lower precedence."},
	{"regexp", "Invalid regular expression.", 7,
		"Correct the expression. It uses Ruby syntax, as in Puppet."},
	{"replaced", "The snapshot was replaced while a client used it for a node, and bindq no longer has the old " +
		"one.", 0,
		"Look the values of the node up again, from the beginning."},
	{"reserved", "The key is reserved: it begins with '/', or only a special statement can bind it.", 14,
		"Use the statement that the hint names, or a key that does not begin with '/'."},
	{"ruby", "Bindings written in Ruby, which bindc does not run.", 3,
		"Rewrite the bindings in YAML, in the directory 'bindings'."},
	{"same_value", "Lint: without this binding, every request would get the same value.", 6,
		"Remove the binding, unless it should keep its value when the other binding changes."},
	{"session", "A client of bindq serve uses a session that does not exist or has ended.", 0,
		"Start a session with 'node', and use the session number that it returns."},
	{"site", "The directory is not a site.", 2,
		"Give a directory that contains binder_config.yaml, hiera.yaml or bindings."},
	{"snapshot_damaged", "The snapshot is incomplete or corrupt.", 0,
		"Build or copy the snapshot again."},
	{"snapshot_format", "The file is not a snapshot.", 0,
		"Use a file written by 'bindc build'."},
	{"snapshot_missing", "The snapshot for bindq serve does not exist or cannot be read.", 0,
		"Build the snapshot at that path, or correct the path."},
	{"snapshot_refused", "The snapshot is not signed by an allowed signer.", 0,
		"Sign it with the key of an allowed signer, or correct the list of allowed signers."},
	{"snapshot_version", "A different version of bindc wrote the snapshot, and this program cannot read it.", 0,
		"Build the snapshot again with the version of bindc that this program has."},
	{"syntax", "Syntax error in a file in Puppet syntax.", 14,
		"Write what the message expects, or what it suggests."},
	{"too_large", "The answer of bindq serve would exceed the maximum size of a frame.", 0,
		"Request fewer keys at once."},
	{"twice", "Two files define the same thing, one in YAML and one in Puppet syntax.", 14,
		"Remove one of the two files."},
	{"type", "Syntax error in a type, or unknown type.", 9,
		"Correct the type. docs/language.md lists all types."},
	{"type_mismatch", "A value does not have the required type.", 9,
		"Correct the value, or quote it if it should be text."},
	{"unknown_class", "The class that a key names does not exist. A class with a similar name has the parameter, and " +
		"nothing else looks the key up.", 0,
		"Correct the name of the key, or remove it. Puppet looks up 'class::parameter' in lower case."},
	{"unknown_parameter", "A key has the name of a class, but the class has no such parameter, and nothing else looks " +
		"the key up.", 0,
		"Correct the name of the key, or remove it."},
	{"untyped", "Lint: a binding might not have the type that another binding of its key requires.", 9,
		"State the type in this binding too, or correct the value."},
	{"unused_key", "Lint: a key is bound but never looked up.", 0,
		"Remove the binding. If other programs look up the key, list it in the file for --used."},
	{"uri", "The URI of a layer is invalid.", 3,
		"Write the URI as section 3 shows for its scheme."},
	{"usage", "Invalid command line or query.", 0,
		"Run the command with --help."},
	{"version", "A file does not state the version of its format, or states an unsupported version.", 5,
		"Add the version that the message names."},
	{"when", "A condition can never hold, has no effect, is malformed, or has too many alternatives.", 5,
		"Give each category one value, or list several in brackets."},
	{"yaml_alias", "An alias has no anchor, refers to a value that contains it, or expands to more than the " +
		"limit.", 10,
		"Define the anchor before the alias. Quote text that begins with '*'."},
	{"yaml_colon", "A key and its value have no colon between them, in an indented line or in braces. YAML reads the " +
		"line as a part of the value above it, and the entry in braces as a key without a value.", 10,
		"Write the colon, and remove the indentation of the line. Otherwise put the whole text in quotes."},
	{"yaml_core", "Lint: YAML 1.2 reads a plain scalar differently than Puppet does.", 10,
		"Quote the value if it is text. Otherwise write the value that Puppet reads."},
	{"yaml_date", "An unquoted date or time. Data has no dates or times.", 10,
		"Quote the date or time."},
	{"yaml_depth", "Hashes and lists are nested more than 512 levels deep.", 10,
		"Move the deepest part to a separate key."},
	{"yaml_document", "A file contains more than one YAML document. Only the first is read.", 10,
		"Remove the line '---' between the documents, or remove the second document."},
	{"yaml_duplicate_key", "A key occurs twice in a hash. In data, the last value is used.", 10,
		"Remove one of the two."},
	{"yaml_integer", "An integer does not fit into 64 bits.", 10,
		"Quote it if it is text."},
	{"yaml_key", "A hash in Hiera 5 data has a key that is neither a string nor a number, such as no or null; Puppet " +
		"rejects the value.", 13,
		"Quote the key if it is text: YAML 1.1 reads yes, no, on and off as booleans."},
	{"yaml_merge", "A merge key (<<) merges something other than a hash, or replaces a key written before it.", 10,
		"Merge a hash by its alias, '<<: *name', before the keys that it must not replace."},
	{"yaml_symbol", "The value in Hiera 5 data is a Ruby symbol, such as :name, which Puppet rejects.", 13,
		"Quote it if it is text. Keys may be symbols; Hiera removes the colon."},
	{"yaml_syntax", "Invalid YAML.", 10,
		"Correct the text at the position in the message. The hint says how."},
	{"yaml_tag", "Unknown tag, or a tag that does not fit its value.", 10,
		"Remove the tag."},
	{"yaml_utf8", "A file is not valid UTF-8.", 10,
		"Save the file as UTF-8."},
	{"yml", "A file ends in .yml and is ignored. Only .yaml files are read.", 4,
		"Rename the file so that it ends in .yaml."},
}

//go:embed examples
var examples embed.FS

// Example returns the example for a code as a txtar archive, or "" if the code has no example. The comment of the
// archive contains commands, and the last command reports the code. The files are a site.
func (r Rule) Example() string {
	text, err := examples.ReadFile("examples/" + string(r.Code) + ".txtar")
	if err != nil {
		return ""
	}
	return string(text)
}

// Source refers to the section of docs/language.md with the rule. It returns "" if no section has the rule.
func (r Rule) Source() string {
	if r.Section == 0 {
		return ""
	}
	return fmt.Sprintf("docs/language.md, section %d (%s)", r.Section, sections[r.Section])
}

// Find returns the rule of a code. If there is no such code, the error suggests a similar one.
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
