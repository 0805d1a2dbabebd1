package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// A hierarchy of two levels, one for each node, the other for all.
const twoLevels = `
-- hiera.yaml --
version: 5
hierarchy:
- {name: Nodes, path: "nodes/%{trusted.certname}.yaml"}
- {name: Common, path: common.yaml}
`

// Sites of Hiera 5, and what is reported of them: file, line, code, and the message with its hint. The data is that of
// the level that counts for all, if it does not begin with the name of a file.
var hieraReports = []struct{ name, data, want string }{
	{"values that a merge can take", "-- data/nodes/n1.yaml --\na: {x: 1}\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}", ""},
	{"a text where hashes are merged", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and this " +
			"is of the kind String; where there are two values, every lookup is an error, as in Puppet"},
	{"a hash of numbers where hashes are merged", "-- data/nodes/n1.yaml --\na: {1: 2}\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and this " +
			"is of the kind Hash; where there are two values, every lookup is an error, as in Puppet"},
	{"two misfits", "-- data/nodes/n1.yaml --\na: {x: 1}\n-- data/common.yaml --\nb: 1\na: ~\n" +
		"lookup_options: {a: {merge: unique}}",
		"data/common.yaml:2 hiera_merge 'a': the merge strategy 'unique' needs scalars and Arrays of Data, and this is " +
			"of the kind Undef; where there are two values, every lookup is an error, as in Puppet\n" +
			"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'unique' needs scalars and Arrays of Data, and this is " +
			"of the kind Hash; where there are two values, every lookup is an error, as in Puppet"},
	{"a text among lists", "-- data/nodes/n1.yaml --\na: x\n-- data/common.yaml --\na: [y]\n" +
		"lookup_options: {a: {merge: unique}}", ""},
	{"a misfit that is alone", "a: text\nlookup_options: {a: {merge: hash}}", ""},
	{"a value that is computed", "-- data/nodes/n1.yaml --\na: \"%{facts.os}\"\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}", ""},
	{"kinds that 'deep' takes", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: deep}}", ""},
	{"a misfit where the first value is taken", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: first}}", ""},
	{"a misfit in data of another key", "-- data/nodes/n1.yaml --\nb: text\n-- data/common.yaml --\na: {y: 2}\nb: 1\n" +
		"lookup_options: {a: {merge: hash}}", ""},
	{"options that depend on the request", "-- data/nodes/n1.yaml --\na: text\nlookup_options: {a: {merge: hash}}\n" +
		"-- data/common.yaml --\na: {y: 2}", ""},
	{"what a module has beside the site", "-- data/common.yaml --\nm::a: text\n" + module + "-- modules/m/data/common.yaml --\n" +
		"m::a: {x: 1}\nlookup_options: {'m::a': {merge: hash}}",
		"data/common.yaml:1 hiera_merge 'm::a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and " +
			"this is of the kind String; where there are two values, every lookup is an error, as in Puppet"},
	{"a default that nothing is merged with", "-- data/x --\n-- modules/m/hiera.yaml --\nversion: 5\n" +
		"default_hierarchy: [{name: D, path: defaults.yaml}]\n-- modules/m/data/common.yaml --\nm::a: {x: 1}\n" +
		"lookup_options: {'m::a': {merge: hash}}\n-- modules/m/data/defaults.yaml --\nm::a: text", ""},
	{"misfits below a layer of bindings", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}\n" + bindings,
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and " +
			"this is of the kind String; where there are two values, every lookup is an error, as in Puppet"},
	{"misfits of a strategy with options that it has not", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\n" +
		"a: {y: 2}\nlookup_options: {a: {merge: {strategy: hash, knockout_prefix: --}}}",
		"data/common.yaml:2 hiera_options the merge strategy 'hash' has no option 'knockout_prefix', it has none; every " +
			"lookup of a key this is for is an error, as in Puppet"},
	{"what is bound in a layer above", "-- data/common.yaml --\na: {y: 2}\nlookup_options: {a: {merge: hash}}\n" +
		"-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[a, text]]}", ""},

	{"a text where hashes are merged, and options of another node that are nothing", "" +
		"-- data/nodes/n1.yaml --\na: text\n-- data/nodes/n2.yaml --\nlookup_options: ~\n-- data/common.yaml --\n" +
		"a: {y: 2}\nlookup_options: {a: {merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, " +
			"and this is of the kind String; where there are two values, every lookup is an error, as in Puppet"},

	{"what is knocked out", "-- data/nodes/n1.yaml --\na: [--one, two]\n-- data/common.yaml --\na: [one]\n" + knockout, ""},
	{"what is knocked out, and is not there", "-- data/nodes/n1.yaml --\na: [--one, two]\n-- data/common.yaml --\na: [three]\n" +
		knockout, "data/nodes/n1.yaml:1 hiera_merge '--one' knocks out 'one', which no level of 'a' has"},
	{"keys of hashes, and what is deep in them", "-- data/nodes/n1.yaml --\na: {x: {--one: 1}, y: [[--two]], z: --three}\n" +
		"-- data/common.yaml --\na: {x: {other: two}}\n" + knockout,
		"data/nodes/n1.yaml:1 hiera_merge '--one' is the key of a hash, and stays: only what is in lists, and texts, are " +
			"knocked out\n" +
			"data/nodes/n1.yaml:1 hiera_merge '--three' knocks out 'three', which no level of 'a' has"},
	{"the key of a hash, which is there, beside something computed", "-- data/nodes/n1.yaml --\na: {'--one': ~}\n" +
		"-- data/common.yaml --\na: {one: \"%{facts.x}\"}\n" + knockout,
		"data/nodes/n1.yaml:1 hiera_merge '--one' is the key of a hash, and stays: only what is in lists, and texts, are " +
			"knocked out"},
	{"the prefix alone knocks out all", "-- data/nodes/n1.yaml --\na: [--]\n-- data/common.yaml --\na: [one]\n" + knockout, ""},
	{"something computed may be what is knocked out", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\n" +
		"a: [\"%{facts.x}\"]\n" + knockout, ""},
	{"something computed may be what is knocked out, below it too", "-- data/nodes/n1.yaml --\na: [\"%{facts.x}\"]\n" +
		"-- data/common.yaml --\na: [--one]\n" + knockout, ""},
	{"the prefix is a regular expression", "-- data/nodes/n1.yaml --\na: [not-one, nottwo]\n-- data/common.yaml --\na: [two]\n" +
		"lookup_options: {a: {merge: {strategy: deep, knockout_prefix: 'not-?'}}}",
		"data/nodes/n1.yaml:1 hiera_merge 'not-one' knocks out 'one', which no level of 'a' has"},
	{"dashes without a prefix", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\na: [two]\n" +
		"lookup_options: {a: {merge: {strategy: deep}}}", ""},
	{"dashes without a prefix, before what is there", "-- data/nodes/n1.yaml --\na: [--one, --verbose]\n" +
		"-- data/common.yaml --\na: [one]\nlookup_options: {a: {merge: unique}}",
		"data/nodes/n1.yaml:1 hiera_merge '--one' knocks nothing out: 'a' is merged without a knockout_prefix"},
	{"dashes where nothing is merged", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\na: [one]\n" +
		"lookup_options: {a: {merge: first}}", ""},
	{"dashes where what is found first is converted", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\n" +
		"a: [one]\nlookup_options: {a: {convert_to: Array}}", ""},
	{"dashes alone, beside a hash of numbers", "-- data/nodes/n1.yaml --\na: [--]\n-- data/common.yaml --\n" +
		"a: [{1: x}]\nlookup_options: {a: {merge: deep}}", ""},
	{"what is sensitive is not quoted", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\na: [two]\n" +
		"lookup_options: {a: {convert_to: Sensitive, merge: {strategy: deep, knockout_prefix: --}}}", ""},
	{"what is sensitive, of the wrong kind", "-- data/nodes/n1.yaml --\na: hunter\n-- data/common.yaml --\na: {x: 1}\n" +
		"lookup_options: {a: {convert_to: Sensitive, merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge this is invalid; it may be sensitive and is not shown"},

	{"a strategy that there is not", "a: 1\nlookup_options: {a: {merge: uniq}}",
		"data/common.yaml:2 hiera_options there is no merge strategy 'uniq', expected first, unique, hash or deep; every " +
			"lookup of a key this is for is an error, as in Puppet; did you mean 'unique'?"},
	{"a strategy that there is not, in its line", "a: 1\nlookup_options:\n  b: {merge: hash}\n  a: {merge: uniq}",
		"data/common.yaml:4 hiera_options there is no merge strategy 'uniq', expected first, unique, hash or deep; " +
			"every lookup of a key this is for is an error, as in Puppet; did you mean 'unique'?"},
	{"a strategy that there is not, beside what nobody reads", "a: 1\nlookup_options: {a: {merge: uniq, other: 1}}",
		"data/common.yaml:2 hiera_options there is no merge strategy 'uniq', expected first, unique, hash or deep; " +
			"every lookup of a key this is for is an error, as in Puppet; did you mean 'unique'?"},
	{"a conversion that only Puppet does", "a: 1\nlookup_options: {a: {convert_to: SemVerRange}}",
		"data/common.yaml:2 hiera_options convert_to of 'a': the type 'SemVerRange' is not supported in bindings, and " +
			"Puppet converts to it; every lookup of a key this is for is an error here"},
	{"options that are no hash", "a: 1\nlookup_options: [a]",
		"data/common.yaml:2 hiera_options lookup_options must be a Hash, found the kind Array; every lookup they are for " +
			"is an error, as in Puppet"},
	{"options that are no hash, and others below them", "-- data/nodes/n1.yaml --\nlookup_options: [a]\n" +
		"-- data/common.yaml --\na: 1\nlookup_options: {'^ntp::': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options have the pattern '^ntp::', and no key that is bound matches it\n" +
			"data/nodes/n1.yaml:1 hiera_options lookup_options must be a Hash, found the kind Array; every lookup they are " +
			"for is an error, as in Puppet"},
	{"two patterns that do not compile", "a: 1\nlookup_options: {'^a(': {merge: hash}, '^b(': {merge: hash}}",
		"data/common.yaml:2 hiera_options the pattern '^a(' in lookup_options does not compile: unmatched ( in /^a(/; " +
			"every lookup they are for is an error, as in Puppet\n" +
			"data/common.yaml:2 hiera_options the pattern '^b(' in lookup_options does not compile: unmatched ( in /^b(/; " +
			"every lookup they are for is an error, as in Puppet"},
	{"patterns that do not compile, each in its line", "a: 1\nlookup_options:\n  '^a(': {merge: hash}\n  '^a': {merge: hash}\n" +
		"  '^b(': {merge: hash}",
		"data/common.yaml:3 hiera_options the pattern '^a(' in lookup_options does not compile: unmatched ( in /^a(/; " +
			"every lookup they are for is an error, as in Puppet\n" +
			"data/common.yaml:5 hiera_options the pattern '^b(' in lookup_options does not compile: unmatched ( in /^b(/; " +
			"every lookup they are for is an error, as in Puppet"},
	{"options of a key with nearly the name", "contact: 1\nlookup_options: {contcat: {merge: hash}}",
		"data/common.yaml:2 hiera_options lookup_options have 'contcat', and nothing binds a key of that name; did you " +
			"mean 'contact'?"},
	{"options of a key whose name only begins like another", "profile::base::users: 1\n" +
		"lookup_options: {profile::base::sysctl: {merge: hash}}", ""},
	{"options of a key that structured bindings bind", "-- data/common.yaml --\ncontact: 1\n" +
		"lookup_options: {contacts: {merge: hash}, '^cont.*ts$': {merge: hash}}\n-- bindings/default.yaml --\n" +
		"{bindings_version: 1, name: default, bind: [[contacts, text]]}", ""},
	{"an option that there is not", "a: 1\nlookup_options: {a: {merg: hash}}",
		"data/common.yaml:2 hiera_options lookup_options say 'merg' of 'a', which nobody reads; expected 'merge' and " +
			"'convert_to'; did you mean 'merge'?"},
	{"options of a merge beside it", "a: {}\nlookup_options: {a: {merge: deep, merge_hash_arrays: true, knockout_prefix: --}}",
		"data/common.yaml:2 hiera_options lookup_options say 'merge_hash_arrays' and 'knockout_prefix' of 'a', which nobody " +
			"reads; expected 'merge' and 'convert_to'; put it into 'merge': merge: {strategy: …, " +
			"merge_hash_arrays: …}"},
	{"the name of a strategy in place of a hash", "a: 1\nlookup_options: {a: deep}",
		"data/common.yaml:2 hiera_options what lookup_options say of 'a' is a text, of which nothing comes: expected a " +
			"Hash; write {merge: deep}"},
	{"a text that names no strategy in place of a hash", "a: 1\nlookup_options: {a: text}",
		"data/common.yaml:2 hiera_options what lookup_options say of 'a' is a text, of which nothing comes: " +
			"expected a Hash"},
	{"nothing in place of a hash", "a: 1\nlookup_options: {a: ~}", ""},
	{"a pattern that does not begin as one", "a: 1\nlookup_options: {'ntp::.*': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options have 'ntp::.*', and nothing binds a key of that name; a pattern " +
			"begins with '^'"},
	{"lookup_options by nearly their name", "a: 1\nlookup_option: {a: {merge: unique}}\nlookup-options: text",
		"data/common.yaml:2 hiera_options 'lookup_option' is a key as any other, and says nothing of how others are " +
			"looked up; did you mean 'lookup_options'?"},
	{"lookup_options by nearly their name, of which one is computed", "a: 1\nlookup_option: {a: {merge: '%{x}'}}",
		"data/common.yaml:2 hiera_options 'lookup_option' is a key as any other, and says nothing of how others are " +
			"looked up; did you mean 'lookup_options'?"},
	{"options of a key that nothing is like", "a: 1\nlookup_options: {ntp::servers: {merge: unique}}", ""},
	{"a pattern that no key matches", "a: 1\nlookup_options: {'^ntp::': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options have the pattern '^ntp::', and no key that is bound matches it"},
	{"a pattern that no letter matches", "a: 1\nlookup_options: {'^\\W': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options have the pattern '^\\W', and no key that is bound matches it"},
	{"a pattern that the second key matches", "a: 1\nntp::servers: 2\nlookup_options: {'^ntp::': {merge: unique}}", ""},
	{"a pattern of a module that no key matches", "-- data/common.yaml --\na: 1\n" + module +
		"-- modules/m/data/common.yaml --\nm::a: 1\nlookup_options: {'^m::b': {merge: unique}}", ""},
	{"options of a module, of a key with nearly the name", "-- data/common.yaml --\na: 1\n" + module +
		"-- modules/m/data/common.yaml --\nm::contact: 1\nlookup_options: {'m::contcat': {merge: unique}}",
		"modules/m/data/common.yaml:2 hiera_options lookup_options have 'm::contcat', and nothing binds a key of that " +
			"name; did you mean 'm::contact'?"},
	{"options of a dotted key", "app: {users: {x: 1}}\nlookup_options: {app.users: {merge: hash}, other.x: {merge: hash}}",
		"data/common.yaml:2 hiera_options lookup_options for 'app.users' have no effect: Puppet uses those of 'app'; " +
			"set the options for 'app', the key without what it digs into"},
	{"options of a key that is written in quotes", "'\"a.b\"': 1\nlookup_options: {a.b: {merge: unique}}", ""},

	{"looks up what is nearly bound", "contact: 1\na: \"ask %{lookup('contcat')}\"\nb: [{c: \"%{hiera('contcat')}\"}]\n" +
		"c: \"%{alias('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?\n" +
			"data/common.yaml:3 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?\n" +
			"data/common.yaml:4 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"looks up first what is bound, then what is nearly bound",
		"contact: 1\na: \"%{lookup('contact.x')} %{lookup('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"looks up what nothing is like, then what is nearly bound",
		"contact: 1\na: \"%{lookup('other::key')} %{lookup('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"digs in what is nearly bound", "contact: {x: 1}\na: \"%{lookup('contcat.x')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"two values that look up the same", "-- data/nodes/n1.yaml --\na: \"%{lookup('contcat')}\"\n-- data/common.yaml --\n" +
		"contact: 1\nb: \"%{lookup('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?\n" +
			"data/nodes/n1.yaml:1 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"looks up what is bound, beside another of nearly the name", "contact: 1\ncontacts: 2\na: \"%{lookup('contact')}\"",
		""},
	{"looks up what is bound, so often that more names are compared than hints may, then what is nearly bound",
		"contact: 1\n" + often(1100, "contact") + "z: \"%{lookup('contcat')}\"",
		"data/common.yaml:1102 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"looks up what is no key", "contact: 1\na: \"%{lookup('contcat..x')}\"\nb: \"%{lookup('contcat\\\"x')}\"", ""},
	{"literal text", "contact: 1\na: \"%{literal('contcat')} %{contcat}\"", ""},

	{"an alias of what is in a value", "a: {b: 1}\n" + alias("a.b"), ""},
	{"an alias of what is in no value", "a: {b: 1}\n" + alias("c.b"),
		"bindings/default.yaml:1 rebind 'new' is an alias of 'c.b', which nothing binds"},
	{"an alias of what would be an internal key", "a: [1]\nlookup_options: {a: {merge: unique}}\n" +
		alias("lookup_option"), "bindings/default.yaml:1 rebind 'new' is an alias of 'lookup_option', which nothing binds"},
	{"tries what is optional and in a value, and then itself", "b: {c: 1}\n" + tries("b.c"), ""},
	{"tries what is optional and not bound, and then itself", "b: 1\n" + tries("c"),
		"bindings/default.yaml:1 loop 'a' needs itself: a -> z -> a"},
	{"tries what is optional and in data, and then itself", "b: 1\n" + tries("b"), ""},
	{"tries what is optional and undef in data, and then itself", "b: ~\n" + tries("b"),
		"bindings/default.yaml:1 loop 'a' needs itself: a -> z -> a"},
	{"tries what is optional and converted, and then itself", "b: ~\nlookup_options: {b: {convert_to: [Array, true]}}\n" +
		tries("b"), ""},
	{"tries what is converted, and then itself", "b: ~\nlookup_options: {b: {convert_to: [Array, true]}}\n" +
		"-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [{name: a, to_first_found: [b, z]}, " +
		"{name: z, to_lookup_of: a}]}", ""},
	{"needs itself", "a: \"x%{lookup('a')}\"",
		"data/common.yaml:1 loop 'a' needs itself: a -> a; every lookup of it is an error, as in Puppet"},
	{"two need one another, and a third needs them", "c: \"%{lookup('a')}\"\na: \"%{lookup('b.x')}\"\nb: [\"%{alias('a')}\"]",
		"data/common.yaml:2 loop 'a' needs itself: a -> b -> a; every lookup of it is an error, as in Puppet"},
	{"needs one that needs itself", "a: \"%{lookup('b')}\"\nb: \"%{lookup('b')}\"",
		"data/common.yaml:2 loop 'b' needs itself: b -> b; every lookup of it is an error, as in Puppet"},
	{"needs one twice", "a: \"%{lookup('b')}%{lookup('b')}%{lookup('c')}\"\nb: \"%{lookup('c')}\"\nc: 1", ""},
	{"needs itself behind what is fine", "a: \"%{lookup('b')}%{lookup('a')}\"\nb: 1",
		"data/common.yaml:1 loop 'a' needs itself: a -> a; every lookup of it is an error, as in Puppet"},
	{"needs itself where no node hides it", "-- data/nodes/n1.yaml --\na: 1\n-- data/common.yaml --\na: \"%{lookup('a')}\"", ""},
	{"needs itself for one node", "-- data/nodes/n1.yaml --\na: \"%{lookup('a')}\"\n-- data/common.yaml --\na: 1", ""},
	{"needs itself where the site hides it", "-- data/common.yaml --\nm::a: 1\n" + module +
		"-- modules/m/data/common.yaml --\nm::a: \"%{lookup('m::a')}\"", ""},
	{"needs itself, hidden by what is written above", "-- data/common.yaml --\na: \"%{lookup('a')}\"\n" +
		"-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[a, text]]}", ""},
	{"needs itself below a layer of bindings", "-- data/common.yaml --\na: \"%{lookup('a')}\"\n" + bindings,
		"data/common.yaml:1 loop 'a' needs itself: a -> a; every lookup of it is an error, as in Puppet"},
	{"needs itself a long way round", ring(21), "data/common.yaml:1 loop 'k00' needs itself: k00 -> k01 -> k02 -> " +
		"k03 -> k04 -> k05 -> k06 -> k07 -> k08 -> k09 -> k10 -> k11 -> k12 -> k13 -> k14 -> k15 -> k16 -> k17 -> k18 -> " +
		"k19 -> k20 -> k00; every lookup of it is an error, as in Puppet"},
	{"needs itself a longer way round, which lookups find", ring(22), ""},
	{"needs itself, beside a module whose options depend on the request", "-- data/common.yaml --\n" +
		"a: \"%{lookup('a')}\"\n" + module + "-- modules/m/data/common.yaml --\nm::b: 1\n" +
		"lookup_options: {m::b: {merge: '%{x}'}}",
		"data/common.yaml:1 loop 'a' needs itself: a -> a; every lookup of it is an error, as in Puppet"},
	{"needs itself where it is merged", "a: \"%{lookup('a')}\"\nlookup_options: {a: {merge: unique}}", ""},
}

// alias is a file of bindings with an alias of a key.
func alias(of string) string {
	return "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [{name: new, to_alias_of: " + of + "}]}\n"
}

// tries is a file of bindings with a key that is what of is, or else itself.
func tries(of string) string {
	return "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [{name: a, to_first_found: [b1, z]}, " +
		"{name: b1, to_expression: \"lookup('" + of + "')\", optional: true}, {name: z, to_lookup_of: a}]}\n"
}

// ring is n keys, each of which needs the next, and the last the first.
func ring(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%02d: \"%%{lookup('k%02d')}\"\n", i, (i+1)%n)
	}
	return b.String()
}

// often is n keys that look up one.
func often(n int, key string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%04d: \"%%{lookup('%s')}\"\n", i, key)
	}
	return b.String()
}

// A file of bindings, which are above the hierarchy.
const bindings = "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[other, text]]}"

// A module that has data in common.yaml.
const module = "-- modules/m/hiera.yaml --\nversion: 5\n"

const knockout = "lookup_options: {a: {merge: {strategy: deep, knockout_prefix: --}}}\n"

func TestWhatIsReportedOfHiera5(t *testing.T) {
	for _, c := range hieraReports {
		t.Run(c.name, func(t *testing.T) {
			dir := hieraSite(t, c.data)
			var diags diag.List
			compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
			var got []string
			for _, d := range diags.Sorted() {
				rel, _ := filepath.Rel(dir, d.Pos.File)
				line := filepath.ToSlash(rel) + ":" + strconv.Itoa(d.Pos.Line) + " " + string(d.Code) + " " + d.Message
				if d.Hint != "" {
					line += "; " + d.Hint
				}
				got = append(got, line)
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("reported is\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

// hieraSite is a site of twoLevels with data.
func hieraSite(t *testing.T, data string) (dir string) {
	t.Helper()
	if !strings.HasPrefix(data, "-- ") {
		data = "-- data/common.yaml --\n" + data
	}
	dir = t.TempDir()
	for _, f := range txtar.Parse([]byte(twoLevels + data)).Files {
		write(t, dir, f.Name, string(f.Data))
	}
	return dir
}

// What a site of Hiera 5 is made of: what is merged stands under keys of its own, level by level, and the keys
// themselves are bound to recipes that merge.
func TestContentOfHiera5(t *testing.T) {
	text, err := os.ReadFile("testdata/hiera5.txt")
	if err != nil {
		t.Fatal(err)
	}
	site, want, _ := strings.Cut(string(text), "-- content --\n")
	dir := hieraSite(t, site)
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	bound := make([]string, len(content.Keys))
	for i, l := range content.Levels {
		for _, s := range l.Scopes {
			for _, e := range s.Entries {
				v := valueOf(t, content.Values[e.Value])
				bound[e.Key] += fmt.Sprintf(" %s%d:%s", strings.Join(s.Values, ","), i, v)
			}
		}
	}
	var got []string
	for i, k := range content.Keys {
		line := strings.ReplaceAll(k.Name, "\x00", "~") + bound[i]
		if k.Default >= 0 {
			line += " else:" + valueOf(t, content.Values[k.Default])
		}
		for _, c := range k.Cold {
			line += fmt.Sprintf(" (below %d, of %d:%s)", c.Above, c.Layer, valueOf(t, content.Values[c.Value]))
		}
		got = append(got, line)
	}
	for i, h := range content.Hiera {
		got = append(got, fmt.Sprint(content.Layers[i], ":", h.Part, h.Entry, h.OnlyPath, h.OnlyEntry))
	}
	if got := asWritten.ReplaceAllString(strings.Join(got, "\n"), "}") + "\n"; got != want {
		t.Errorf("the content is\n%s\nexpected\n%s", got, want)
	}
}

// valueOf is a value in words.
func valueOf(t *testing.T, s snapshot.Stored) string {
	t.Helper()
	if !s.Computed {
		v, _, err := value.View(s.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return string(value.AppendJSON(nil, v))
	}
	r, err := recipe.Decode(s.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	names := map[recipe.Kind]string{recipe.Constant: "constant", recipe.Expression: "expression",
		recipe.Merged: "merged"}
	out := names[r.Kind]
	if r.Sensitive {
		out = "secret " + out
	}
	return "<" + out + " " + r.Name + string(value.AppendJSON(nil, r.Value)) + ">"
}

// Options that depend on the request make a snapshot sensitive where they may make a value so.
func TestOptionsThatMayMakeSensitive(t *testing.T) {
	for options, sensitive := range map[string]bool{`{a: {merge: "%{x}"}}`: false, `{a: {convert_to: "%{x}"}}`: true,
		"{a: {merge: unique}}": false, "{a: {convert_to: String}}": false, "{a: {convert_to: Sensitive}}": true,
		"{'^$': {convert_to: Sensitive}}\na..b: 1": false, // of the other key there is no root
		"{b: {convert_to: Sensitive}}":             false,
		// said of what the defaults do not have
		"{}\n" + module + "default_hierarchy: [{name: D, path: d.yaml}]\n-- modules/m/data/common.yaml --\n" +
			"m::a: 1\n-- modules/m/data/d.yaml --\nm::b: 1\nlookup_options: {m::a: {convert_to: Sensitive}}": false,
	} {
		var diags diag.List
		site := loader.Load(hieraSite(t, "a: [1]\nlookup_options: "+options), loader.Options{}, &diags)
		if c := compile.Compile(site, compile.Options{}, &diags); diags.Failed() || c.Sensitive != sensitive {
			t.Errorf("%s: sensitive is %t", options, c.Sensitive)
		}
	}
}

// What a key is bound to where several levels have options: its own, if these are the same in every request, and none
// where they cannot be merged, as then every lookup is an error.
func TestOptionsOfSeveralLevels(t *testing.T) {
	const own, none = `<merged {"a":{"merge":"unique"}}>`, "<merged null>"
	for _, c := range []struct{ name, node, high, low, want string }{
		{"of the lower level", "{b: {merge: hash}}", "{c: {merge: hash}}", "{a: {merge: unique}}", own},
		{"of the higher of two levels", "{}", "{a: {merge: unique}}", "{a: {merge: hash}}", own},
		{"beside nothing of a node", "~", "{a: {merge: unique}}", "{}", own},
		{"beside nothing on another level", "{}", "{a: {merge: unique}}", "~", none},
		{"of a node too", "{a: {merge: hash}}", "{a: {merge: unique}}", "{}", none},
		{"of another key", "{}", "{b: {merge: unique}}", "{}", "1"},
		{"of the key, that say nothing", "{}", "{a: ~}", "{}", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := hieraSite(t, "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: Nodes, "+
				"path: 'nodes/%{trusted.certname}.yaml'}, {name: High, path: high.yaml}, "+
				"{name: Low, path: low.yaml}]\n-- data/nodes/n1.yaml --\nlookup_options: "+c.node+
				"\n-- data/high.yaml --\na: 1\nlookup_options: "+
				c.high+"\n-- data/low.yaml --\nlookup_options: "+c.low+"\n")
			var diags diag.List
			content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
			i := slices.IndexFunc(content.Keys, func(k snapshot.Key) bool { return k.Name == "a" })
			if got := valueOf(t, content.Values[content.Keys[i].Default]); diags.Failed() || got != c.want {
				t.Errorf("it is bound to %s, expected %s; reported is %v", got, c.want, diags.Sorted())
			}
		})
	}
}

// Patterns are indexed by the text that they begin with. A pattern without such text is compared with every key, and
// the effort for that is limited.
func TestPatternsOfManyKeysTakeBoundedEffort(t *testing.T) {
	const n, limit = 300, 5_000
	errorsOf := func(pattern string) []diag.Diagnostic {
		var b strings.Builder
		b.WriteString("lookup_options:\n")
		for i := range n {
			fmt.Fprintf(&b, "  '"+pattern+"': {merge: unique}\n", i)
		}
		for i := range n {
			fmt.Fprintf(&b, "m%dx::key: [1]\n", i)
		}
		var diags diag.List
		site := loader.Load(hieraSite(t, b.String()), loader.Options{}, &diags)
		compile.Compile(site, compile.Options{Effort: limit}, &diags)
		return slices.DeleteFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	}
	if errors := errorsOf("^m%dx::"); len(errors) > 0 {
		t.Errorf("patterns that begin with text: %v", errors)
	}
	errors := errorsOf("^.*%d::")
	const message = "patterns of lookup_options"
	if len(errors) != 1 || errors[0].Code != "effort" || !strings.Contains(errors[0].Message, message) {
		t.Errorf("patterns that begin with no text: %v", errors)
	}
}
