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
	Section  int // of docs/language.md, which the rule comes from; 0: it is none of the language
}

// sections are the headings of the language.
var sections = [...]string{1: "Words", "The site", "Schemes", "Hiera-2 directories", "Structured bindings",
	"Which binding wins", "Strings and expressions", "Multibindings", "Types", "YAML", "Extensions", "Lookup",
	"Hiera 5"}

// Catalogue is all codes, by name.
func Catalogue() []Rule { return slices.Clone(catalogue) }

var catalogue = []Rule{
	{"abstract", "Nothing beats an abstract binding, for every request or for some.", 6},
	{"attribute", "An attribute of a binding is unknown, missing, or not what is expected there.", 5},
	{"backend", "A backend of a Hiera-2 configuration is none that there is.", 4},
	{"bare_variable", "Advice: a variable without braces in data is no fact one knows of; it may be meant as text.", 7},
	{"bindings", "A file of structured bindings is not laid out as one.", 5},
	{"braces", "Without braces the keys behind a variable are text: the whole variable is interpolated.", 7},
	{"busy", "A socket of bindq serve has all the connections it takes.", 0},
	{"category", "A category is unknown, or the list of categories is not what it has to be.", 2},
	{"config", "The configuration of the site has a key that it cannot have, or is there twice.", 2},
	{"conflict", "Two bindings of one key have equal precedence, and one request can have both effective.", 6},
	{"data", "A data file is no hash of keys to values.", 4},
	{"data_directory", "The directory in which the data of a hierarchy's entry would be is not there.", 4},
	{"data_path", "The path of a hierarchy's entry, or of a file it finds, is none that data can be read from.", 4},
	{"data_unreached", "A data file is there that no entry of a hierarchy reaches: nobody gets what it says.", 4},
	{"duplicate", "Two contributions to a multibinding have one name, and neither has precedence.", 8},
	{"effort", "Finding the conflicts and loops of this site takes more comparisons than are allowed.", 6},
	{"empty", "The site, or a data file, binds nothing. A snapshot that holds bindings is not replaced by that of such a site.", 2},
	{"encrypted", "Reserved for values that are encrypted.", 0},
	{"environment", "There is no snapshot of the environment that a client of bindq serve asks for.", 0},
	{"evaluation", "An expression fails for the facts of this request.", 7},
	{"expression", "The text of an expression or a lambda is none.", 7},
	{"extension", "An extension is declared in a wrong way, is not allowed to run, or fails.", 11},
	{"eyaml", "A value is encrypted for hiera-eyaml. It is looked up as it stands there: nothing decrypts it.", 7},
	{"fact", "A variable is called nearly, but not quite, as a well-known fact.", 7},
	{"facts", "What was given as facts is not what facts are: a hash of names to values.", 7},
	{"hiera", "A Hiera-2 configuration has a key that it cannot have, or is there twice.", 4},
	{"hiera_foreign", "An entry of a hierarchy of Hiera 5 is not compiled: only Puppet knows what it says.", 13},
	{"hiera_interpolation", "A text has an interpolation as Hiera has them, %{...}, which means nothing here.", 7},
	{"hiera_key", "The data of a module binds a key that does not begin with the module's name. Nobody gets it.", 13},
	{"hiera_version", "A hiera.yaml of another version of Hiera is passed over: its data is not in the snapshot.", 4},
	{"hierarchy", "A hierarchy is no list of [category, value, path], or is in another order than the categories.", 4},
	{"interpolation", "What is interpolated in a string is no expression, or cannot stand there.", 7},
	{"json_syntax", "A file of JSON is not written as JSON is.", 10},
	{"key", "A key is not a string, or is empty.", 4},
	{"key_unbound", "A binding looks up a key that nothing binds, and one is bound that is nearly the same.", 12},
	{"layer", "The list of layers is not what it has to be.", 2},
	{"layout", "A file is written in a way that fmt does not lay out.", 0},
	{"lookup_options", "The key by which Hiera 5 says how values are merged is a key as any other.", 8},
	{"loop", "A key needs itself to have a value.", 7},
	{"missing", "What a URI names is not there: a module, a directory or a file.", 3},
	{"module_key", "Advice: a module binds a key that does not begin with its name.", 1},
	{"modulepath", "A directory of the module path is not there.", 3},
	{"multibind", "A multibinding, or a contribution to one, is declared in a wrong way.", 8},
	{"multibind_id", "One id is declared by the multibindings of two keys.", 8},
	{"multibind_unknown", "A contribution goes to an id that no multibinding has: nobody sees it.", 8},
	{"name", "An expression uses a function or a type that there is not.", 7},
	{"near_value", "Advice: a category is asked for a value that is nearly, but not quite, one there is.", 5},
	{"never_wins", "Advice: a binding is hidden in every request there can be.", 6},
	{"not_included", "Bindings, or a hiera.yaml, are there that no layer includes: nobody gets what they say.", 3},
	{"override", "A binding is said to override something, and nothing is there that it beats.", 6},
	{"path_extension", "The path of a hierarchy's entry is written with an extension, which each backend adds.", 4},
	{"producer", "A producer fails, or the program that looks up has not registered it.", 11},
	{"protocol", "A client of bindq serve does not keep to its protocol, or speaks another version of it.", 0},
	{"read", "Something is there that cannot be read: no permission, no plain file, a link that leads nowhere.", 2},
	{"regexp", "A regular expression does not compile.", 7},
	{"ruby", "Bindings are written in Ruby, which cannot be run.", 3},
	{"same_value", "Advice: a binding has the value that each of its requests would get without it.", 6},
	{"session", "A client of bindq serve asks in a session that is none, or none any longer.", 0},
	{"site", "The directory is no site.", 2},
	{"snapshot_damaged", "The file is a snapshot of which a part is missing or changed.", 0},
	{"snapshot_format", "The file is no snapshot.", 0},
	{"snapshot_missing", "The snapshot that bindq serve is to answer from is not there, or cannot be read.", 0},
	{"snapshot_refused", "A snapshot has to be signed by one of certain signers, and is not.", 0},
	{"snapshot_version", "The snapshot was written by a bindc of another version, which this program cannot read.", 0},
	{"too_large", "An answer of bindq serve would be longer than a frame may be.", 0},
	{"type", "The text of a type is none.", 9},
	{"type_mismatch", "A value is not of the type that it is held to.", 9},
	{"untyped", "Advice: a binding may not be of the type that another binding of its key states.", 9},
	{"unused_key", "Advice: a key is bound, and nobody looks it up.", 12},
	{"uri", "A URI of a layer is not written as those of its scheme are.", 3},
	{"usage", "The command line, or a query, is not what the program expects.", 0},
	{"version", "A file does not say that it is written as this version of the language has it.", 5},
	{"when", "A condition can never hold, is none, or has too many alternatives.", 5},
	{"yaml_alias", "An alias refers to nothing, to what it stands in, or to more than is allowed.", 10},
	{"yaml_core", "Advice: a plain scalar means something else to readers of YAML 1.2 than to Puppet.", 10},
	{"yaml_date", "There are no values that are dates or times: a text that looks like one has to be quoted.", 10},
	{"yaml_depth", "Hashes and lists stand in one another more than 512 deep.", 10},
	{"yaml_document", "A file has a second document, which is passed over.", 10},
	{"yaml_duplicate_key", "A key stands twice in one hash. In data the last one counts.", 10},
	{"yaml_integer", "An integer does not fit in 64 bits.", 10},
	{"yaml_merge", "A merge key merges what is no hash, or replaces a key that is written before it.", 10},
	{"yaml_syntax", "A file of YAML is not written as YAML is.", 10},
	{"yaml_tag", "A tag is unknown, or does not fit the value behind it.", 10},
	{"yaml_utf8", "A file is not text in UTF-8.", 10},
	{"yml", "A file ends in .yml, and is not read: only those that end in .yaml are.", 4},
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
		hint = "'bindc explain' lists them"
	}
	return Rule{}, fmt.Errorf("there is no code '%s'; %s", code, hint)
}
