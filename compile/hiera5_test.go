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

// twoLevels is a hierarchy with one level for each node and one for all nodes.
const twoLevels = `
-- hiera.yaml --
version: 5
hierarchy:
- {name: Nodes, path: "nodes/%{trusted.certname}.yaml"}
- {name: Common, path: common.yaml}
`

// hieraReports lists data of Hiera 5 and the expected diagnostics: file, line, code, message and hint. Data without a
// file name belongs to the common level.
var hieraReports = []struct{ name, data, want string }{
	{"mergeable values", "-- data/nodes/n1.yaml --\na: {x: 1}\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}", ""},
	{"strategy hash, one value is a string", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and this " +
			"is of the kind String; with two values, every lookup fails, as in Puppet"},
	{"strategy hash, one value is a hash with numeric keys", "-- data/nodes/n1.yaml --\na: {1: 2}\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and this " +
			"has a key of the kind Integer: write the key in quotes; with two values, every lookup fails, as in " +
			"Puppet"},
	{"two values that cannot be merged", "-- data/nodes/n1.yaml --\na: {x: 1}\n-- data/common.yaml --\nb: 1\na: ~\n" +
		"lookup_options: {a: {merge: unique}}",
		"data/common.yaml:2 hiera_merge 'a': the merge strategy 'unique' needs scalars and Arrays of Data, and this is " +
			"of the kind Undef; with two values, every lookup fails, as in Puppet\n" +
			"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'unique' needs scalars and Arrays of Data, and this is " +
			"of the kind Hash; with two values, every lookup fails, as in Puppet"},
	{"strategy unique, a hash or text among lists", "-- data/nodes/n1.yaml --\na: x\n-- data/common.yaml --\na: [y]\n" +
		"lookup_options: {a: {merge: unique}}", ""},
	{"single value is not merged", "a: text\nlookup_options: {a: {merge: hash}}", ""},
	{"computed value is not checked", "-- data/nodes/n1.yaml --\na: \"%{facts.os}\"\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}", ""},
	{"strategy deep accepts values of all kinds", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: deep}}", ""},
	{"strategy first merges nothing", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: first}}", ""},
	{"another key has a value that cannot be merged", "-- data/nodes/n1.yaml --\nb: text\n-- data/common.yaml --\na: {y: 2}\nb: 1\n" +
		"lookup_options: {a: {merge: hash}}", ""},
	{"options that depend on the request are not checked", "-- data/nodes/n1.yaml --\na: text\nlookup_options: {a: {merge: hash}}\n" +
		"-- data/common.yaml --\na: {y: 2}", ""},
	{"values of a module and of the site", "-- data/common.yaml --\nm::a: text\n" + module + "-- modules/m/data/common.yaml --\n" +
		"m::a: {x: 1}\nlookup_options: {'m::a': {merge: hash}}",
		"data/common.yaml:1 hiera_merge 'm::a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and " +
			"this is of the kind String; with two values, every lookup fails, as in Puppet"},
	{"default value is not merged", "-- data/x --\n-- modules/m/hiera.yaml --\nversion: 5\n" +
		"default_hierarchy: [{name: D, path: defaults.yaml}]\n-- modules/m/data/common.yaml --\nm::a: {x: 1}\n" +
		"lookup_options: {'m::a': {merge: hash}}\n-- modules/m/data/defaults.yaml --\nm::a: text", ""},
	{"values that cannot be merged, below a layer of bindings", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\na: {y: 2}\n" +
		"lookup_options: {a: {merge: hash}}\n" + bindings,
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, and " +
			"this is of the kind String; with two values, every lookup fails, as in Puppet"},
	{"values that cannot be merged, unknown option of the strategy", "-- data/nodes/n1.yaml --\na: text\n-- data/common.yaml --\n" +
		"a: {y: 2}\nlookup_options: {a: {merge: {strategy: hash, knockout_prefix: --}}}",
		"data/common.yaml:2 hiera_options the merge strategy 'hash' has no option 'knockout_prefix', it has none; every lookup that uses this fails, as in Puppet; only the strategy 'deep' has options: use it, or remove 'knockout_prefix'"},
	{"misspelt option of the strategy", "-- data/nodes/n1.yaml --\na: {x: 1}\n-- data/common.yaml --\n" +
		"a: {y: 2}\nlookup_options: {a: {merge: {strategy: deep, knock_out_prefix: --}}}",
		"data/common.yaml:2 hiera_options the merge strategy 'deep' has no option 'knock_out_prefix', expected " +
			"knockout_prefix, merge_hash_arrays or sort_merged_arrays; every lookup that uses this fails, as in Puppet; " +
			"did you mean 'knockout_prefix'?"},
	{"key is bound in a higher layer", "-- data/common.yaml --\na: {y: 2}\nlookup_options: {a: {merge: hash}}\n" +
		"-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[a, text]]}", ""},

	{"a string where hashes are merged, and null options of another node", "" +
		"-- data/nodes/n1.yaml --\na: text\n-- data/nodes/n2.yaml --\nlookup_options: ~\n-- data/common.yaml --\n" +
		"a: {y: 2}\nlookup_options: {a: {merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge 'a': the merge strategy 'hash' needs Hashes of Data with Strings as keys, " +
			"and this is of the kind String; with two values, every lookup fails, as in Puppet"},

	{"knock-out of an existing value", "-- data/nodes/n1.yaml --\na: [--one, two]\n-- data/common.yaml --\na: [one]\n" + knockout, ""},
	{"knock-out of a value that no level has", "-- data/nodes/n1.yaml --\na: [--one, two]\n-- data/common.yaml --\na: [three]\n" +
		knockout, "data/nodes/n1.yaml:1 hiera_merge '--one' knocks out 'one', which no level of 'a' has"},
	{"knock-outs in hash keys and nested values", "-- data/nodes/n1.yaml --\na: {x: {--one: 1}, y: [[--two]], z: --three}\n" +
		"-- data/common.yaml --\na: {x: {other: two}}\n" + knockout,
		"data/nodes/n1.yaml:1 hiera_merge '--one' is a hash key, so the knockout prefix has no effect; it removes only strings and list elements\n" +
			"data/nodes/n1.yaml:1 hiera_merge '--three' knocks out 'three', which no level of 'a' has"},
	{"a hash key, and a computed value", "-- data/nodes/n1.yaml --\na: {'--one': ~}\n" +
		"-- data/common.yaml --\na: {one: \"%{facts.x}\"}\n" + knockout,
		"data/nodes/n1.yaml:1 hiera_merge '--one' is a hash key, so the knockout prefix has no effect; it removes only strings and list elements"},
	{"prefix alone knocks out all values", "-- data/nodes/n1.yaml --\na: [--]\n-- data/common.yaml --\na: [one]\n" + knockout, ""},
	{"computed value may be the one knocked out", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\n" +
		"a: [\"%{facts.x}\"]\n" + knockout, ""},
	{"a computed value in a higher level may be knocked out", "-- data/nodes/n1.yaml --\na: [\"%{facts.x}\"]\n" +
		"-- data/common.yaml --\na: [--one]\n" + knockout, ""},
	{"the prefix is a regular expression", "-- data/nodes/n1.yaml --\na: [not-one, nottwo]\n-- data/common.yaml --\na: [two]\n" +
		"lookup_options: {a: {merge: {strategy: deep, knockout_prefix: 'not-?'}}}",
		"data/nodes/n1.yaml:1 hiera_merge 'not-one' knocks out 'one', which no level of 'a' has"},
	{"dashes without a knockout_prefix", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\na: [two]\n" +
		"lookup_options: {a: {merge: {strategy: deep}}}", ""},
	{"dashes without a knockout_prefix, before an existing value", "-- data/nodes/n1.yaml --\na: [--one, --verbose]\n" +
		"-- data/common.yaml --\na: [one]\nlookup_options: {a: {merge: unique}}",
		"data/nodes/n1.yaml:1 hiera_merge '--one' knocks nothing out: 'a' is merged without a knockout_prefix"},
	{"dashes in a key that is not merged", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\na: [one]\n" +
		"lookup_options: {a: {merge: first}}", ""},
	{"dashes in a key that is only converted", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\n" +
		"a: [one]\nlookup_options: {a: {convert_to: Array}}", ""},
	{"dashes without text, and a hash with numeric keys", "-- data/nodes/n1.yaml --\na: [--]\n-- data/common.yaml --\n" +
		"a: [{1: x}]\nlookup_options: {a: {merge: deep}}", ""},
	{"a sensitive value is not quoted", "-- data/nodes/n1.yaml --\na: [--one]\n-- data/common.yaml --\na: [two]\n" +
		"lookup_options: {a: {convert_to: Sensitive, merge: {strategy: deep, knockout_prefix: --}}}", ""},
	{"a sensitive value of the wrong kind", "-- data/nodes/n1.yaml --\na: hunter\n-- data/common.yaml --\na: {x: 1}\n" +
		"lookup_options: {a: {convert_to: Sensitive, merge: hash}}",
		"data/nodes/n1.yaml:1 hiera_merge this is invalid; it may be sensitive and is not shown"},

	{"an unknown strategy", "a: 1\nlookup_options: {a: {merge: uniq}}",
		"data/common.yaml:2 hiera_options unknown merge strategy 'uniq', expected first, unique, hash or deep; " +
			"every lookup that uses this fails, as in Puppet; did you mean 'unique'?"},
	{"an unknown strategy on a line of its own", "a: 1\nlookup_options:\n  b: {merge: hash}\n  a: {merge: uniq}",
		"data/common.yaml:4 hiera_options unknown merge strategy 'uniq', expected first, unique, hash or deep; " +
			"every lookup that uses this fails, as in Puppet; did you mean 'unique'?"},
	{"an unknown strategy and an unknown option", "a: 1\nlookup_options: {a: {merge: uniq, other: 1}}",
		"data/common.yaml:2 hiera_options unknown merge strategy 'uniq', expected first, unique, hash or deep; " +
			"every lookup that uses this fails, as in Puppet; did you mean 'unique'?"},
	{"convert_to a type that only Puppet supports", "a: 1\nlookup_options: {a: {convert_to: SemVerRange}}",
		"data/common.yaml:2 hiera_options convert_to of 'a': the type 'SemVerRange' is not supported in bindings; " +
			"Puppet supports this conversion, but every lookup that uses it fails in bindc"},
	{"lookup_options that are not a hash", "a: 1\nlookup_options: [a]",
		"data/common.yaml:2 hiera_options lookup_options must be a Hash, found a value of type Array; every lookup fails where this file applies, as in Puppet"},
	{"lookup_options that are not a hash, above others", "-- data/nodes/n1.yaml --\nlookup_options: [a]\n" +
		"-- data/common.yaml --\na: 1\nlookup_options: {'^ntp::': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options contain the pattern '^ntp::', but no bound key matches it\n" +
			"data/nodes/n1.yaml:1 hiera_options lookup_options must be a Hash, found a value of type Array; every lookup fails where this file applies, as in Puppet"},
	{"two invalid patterns", "a: 1\nlookup_options: {'^a(': {merge: hash}, '^b(': {merge: hash}}",
		"data/common.yaml:2 hiera_options the pattern '^a(' in lookup_options does not compile: unmatched ( in /^a(/; " +
			"every lookup fails where this file applies, as in Puppet\n" +
			"data/common.yaml:2 hiera_options the pattern '^b(' in lookup_options does not compile: unmatched ( in /^b(/; " +
			"every lookup fails where this file applies, as in Puppet"},
	{"invalid patterns, each on a line of its own", "a: 1\nlookup_options:\n  '^a(': {merge: hash}\n  '^a': {merge: hash}\n" +
		"  '^b(': {merge: hash}",
		"data/common.yaml:3 hiera_options the pattern '^a(' in lookup_options does not compile: unmatched ( in /^a(/; " +
			"every lookup fails where this file applies, as in Puppet\n" +
			"data/common.yaml:5 hiera_options the pattern '^b(' in lookup_options does not compile: unmatched ( in /^b(/; " +
			"every lookup fails where this file applies, as in Puppet"},
	{"options of a misspelt key", "contact: 1\nlookup_options: {contcat: {merge: hash}}",
		"data/common.yaml:2 hiera_options lookup_options contain 'contcat', but no binding has this key; did you " +
			"mean 'contact'?"},
	{"options of a key without a similar one, same prefix", "profile::base::users: 1\n" +
		"lookup_options: {profile::base::sysctl: {merge: hash}}", ""},
	{"options of a key that structured bindings bind", "-- data/common.yaml --\ncontact: 1\n" +
		"lookup_options: {contacts: {merge: hash}, '^cont.*ts$': {merge: hash}}\n-- bindings/default.yaml --\n" +
		"{bindings_version: 1, name: default, bind: [[contacts, text]]}", ""},
	{"an unknown option", "a: 1\nlookup_options: {a: {merg: hash}}",
		"data/common.yaml:2 hiera_options unknown lookup_options 'merg' of 'a'; expected 'merge' and " +
			"'convert_to'; did you mean 'merge'?"},
	{"options of merge outside of merge", "a: {}\nlookup_options: {a: {merge: deep, merge_hash_arrays: true, knockout_prefix: --}}",
		"data/common.yaml:2 hiera_options unknown lookup_options 'merge_hash_arrays' and 'knockout_prefix' of 'a'; " +
			"expected 'merge' and 'convert_to'; write merge options inside 'merge': merge: {strategy: …, " +
			"merge_hash_arrays: …}"},
	{"name of a strategy instead of a hash", "a: 1\nlookup_options: {a: deep}",
		"data/common.yaml:2 hiera_options the lookup_options of 'a' have no effect because they are a String; expected a " +
			"Hash; write {merge: deep}"},
	{"text instead of a hash", "a: 1\nlookup_options: {a: text}",
		"data/common.yaml:2 hiera_options the lookup_options of 'a' have no effect because they are a String; " +
			"expected a Hash"},
	{"null instead of a hash", "a: 1\nlookup_options: {a: ~}", ""},
	{"pattern without ^", "a: 1\nlookup_options: {'ntp::.*': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options contain 'ntp::.*', but no binding has this key; a pattern " +
			"begins with '^'"},
	{"lookup_options misspelt", "a: 1\nlookup_option: {a: {merge: unique}}\nlookup-options: text",
		"data/common.yaml:2 hiera_options 'lookup_option' is an ordinary key and has no effect on lookups of " +
			"other keys; did you mean 'lookup_options'?"},
	{"lookup_options misspelt, with a computed option", "a: 1\nlookup_option: {a: {merge: '%{x}'}}",
		"data/common.yaml:2 hiera_options 'lookup_option' is an ordinary key and has no effect on lookups of " +
			"other keys; did you mean 'lookup_options'?"},
	{"options of a key without a similar one", "a: 1\nlookup_options: {ntp::servers: {merge: unique}}", ""},
	{"a pattern that no key matches", "a: 1\nlookup_options: {'^ntp::': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options contain the pattern '^ntp::', but no bound key matches it"},
	{"a pattern that no letter matches", "a: 1\nlookup_options: {'^\\W': {merge: unique}}",
		"data/common.yaml:2 hiera_options lookup_options contain the pattern '^\\W', but no bound key matches it"},
	{"a pattern that the second key matches", "a: 1\nntp::servers: 2\nlookup_options: {'^ntp::': {merge: unique}}", ""},
	{"a pattern of a module that no key matches", "-- data/common.yaml --\na: 1\n" + module +
		"-- modules/m/data/common.yaml --\nm::a: 1\nlookup_options: {'^m::b': {merge: unique}}", ""},
	{"options of a module for a misspelt key", "-- data/common.yaml --\na: 1\n" + module +
		"-- modules/m/data/common.yaml --\nm::contact: 1\nlookup_options: {'m::contcat': {merge: unique}}",
		"modules/m/data/common.yaml:2 hiera_options lookup_options contain 'm::contcat', but no binding has this key; did you mean 'm::contact'?"},
	{"options of a dotted key", "app: {users: {x: 1}}\nlookup_options: {app.users: {merge: hash}, other.x: {merge: hash}}",
		"data/common.yaml:2 hiera_options lookup_options for 'app.users' have no effect: Puppet uses those of 'app'; " +
			"set the options for 'app', the key without its subkeys"},
	{"options of a quoted key", "'\"a.b\"': 1\nlookup_options: {a.b: {merge: unique}}", ""},

	{"lookup of a misspelt key", "contact: 1\na: \"%{lookup('contact')} %{lookup('contcat')}\"\nb: [{c: \"%{hiera('contact')}\"}]\n" +
		"c: \"%{alias('contcat')}\"\nd: \"%{alias('contact')}\"\ne: [{c: \"%{hiera('contcat')}\"}]",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?\n" +
			"data/common.yaml:4 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?\n" +
			"data/common.yaml:6 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"lookups of a bound and a misspelt key",
		"contact: 1\na: \"%{lookup('contact.x')} %{lookup('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"lookups of an unbound key without a similar one and of a misspelt key",
		ofNode + "contact: 1\na: \"%{lookup('other::key')} %{lookup('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?\n" +
			"data/common.yaml:2 key_unbound this looks up 'other::key', which nothing binds; it gets an empty string; " + bindIt},
	{"an invalid pattern next to other mistakes", "lookup_options:\n  '^h[': {merge: unique}\n  b: {merge: uniq}\nb: 1",
		"data/common.yaml:2 hiera_options the pattern '^h[' in lookup_options does not compile: premature end of char-class " +
			"in /^h[/; every lookup fails where this file applies, as in Puppet\n" +
			"data/common.yaml:3 hiera_options unknown merge strategy 'uniq', expected first, unique, hash or deep; " +
			"every lookup that uses this fails, as in Puppet; did you mean 'unique'?"},
	{"constants that convert_to does not accept", "lookup_options:\n  a: {convert_to: Integer}\n  ^b: {convert_to: Integer}\n" +
		"  c: {convert_to: [Array, true]}\n  d: {convert_to: Integer, merge: unique}\n  e: {convert_to: 'Sensitive[Integer]'}\n" +
		"a: abc\nb2: [x]\nb1: x\nc: 1\nd: [x]\ne: secret\nf: \"%{lookup('a')}\"",
		"data/common.yaml:7 hiera_options 'a': convert_to of 'a' to Integer: Integer(): the String is not an Integer; " + findsFails + "\n" +
			"data/common.yaml:9 hiera_options 'b1': convert_to of '^b' to Integer: Integer(): the String is not an Integer; " +
			findsFails + "\n" +
			"data/common.yaml:12 hiera_options 'e': convert_to of 'e' does not accept this value; " + findsFails},
	{"lookups of unbound keys, and a path without a file", "a: \"%{lookup('w')} %{lookup('x')}\"\nb: \"%{lookup('y')} %{lookup('z')}\"",
		"data/common.yaml:1 key_unbound nothing binds 'w', 'x', 'y' and 1 other; values look them up, first here, and get empty " +
			"strings; " + serversOnly},
	{"lookup of one unbound key, and a path without a file", "a: \"%{lookup('w')}\"",
		"data/common.yaml:1 key_unbound nothing binds 'w'; values look it up, first here, and get an empty string; " + serversOnly},
	{"lookups of two unbound keys, and a path without a file", "z: \"%{lookup('w')}\"\na: \"%{lookup('v')}\"",
		"data/common.yaml:1 key_unbound nothing binds 'v' and 'w'; values look them up, first here, and get empty strings; " +
			serversOnly},
	{"lookups of keys of modules, one of which has an entry for Puppet", ofNode + "a: \"%{lookup('vault::a')}\"\nb: \"%{lookup('m::a')}\"\n" +
		"-- modules/vault/hiera.yaml --\nversion: 5\nhierarchy:\n  - {name: vault, lookup_key: vault}\n",
		"data/common.yaml:1 hiera_foreign this looks up 'vault::a', which only Puppet's own entries may bind: the snapshot does " +
			"not contain them; let Puppet read this level: run 'bindc adopt', or 'bindq hiera-config --keep LEVEL'\n" +
			"data/common.yaml:2 key_unbound this looks up 'm::a', which nothing binds; it gets an empty string; " + bindIt + "\n" +
			"modules/vault/hiera.yaml:3 hiera_foreign 'vault' is not compiled: only Puppet can read this entry; " +
			"'bindq hiera-config' prints a hiera.yaml that leaves this entry to Puppet"},
	{"lookup of a part of an unbound key", ofNode + "a: \"%{lookup('x.y')}\"\nb: \"%{lookup('x.y')}\"",
		"data/common.yaml:1 key_unbound this and 1 other value look up 'x', the first part of 'x.y', which nothing binds; they get " +
			"an empty string; " + bindIt},
	{"lookup of a key with dots that is bound", ofNode + "'a.b': 1\nc: \"%{lookup('a.b')}\"",
		"data/common.yaml:2 key_unbound this looks up 'a', the first part of 'a.b', which nothing binds; it gets an empty string; " +
			"'a.b' is bound: quote a key with dots, as in lookup(\"'a.b'\")"},
	{"lookup of an unbound key with dots in quotes", ofNode + "c: \"%{lookup('\\\"a.b\\\"')}\"",
		"data/common.yaml:1 key_unbound this looks up '\"a.b\"', which nothing binds; it gets an empty string; " + bindIt},
	{"lookups of one unbound key in several values", ofNode + "a: \"%{lookup('x.y')}\"\nb: \"%{alias('x')}\"\nc: \"%{lookup('x')}\"",
		"data/common.yaml:1 key_unbound this and 2 other values look up 'x', which nothing binds; they get an empty string; " +
			bindIt},
	{"lookup of a key that a level of Puppet may bind", "-- hiera.yaml --\nversion: 5\nhierarchy:\n" +
		"  - {name: vault, lookup_key: vault}\n  - {name: common, path: common.yaml}\n" +
		"-- data/common.yaml --\na: \"%{lookup('x')}\"",
		"data/common.yaml:1 hiera_foreign this looks up 'x', which only Puppet's own entries may bind: the snapshot does not " +
			"contain them; let Puppet read this level: run 'bindc adopt', or 'bindq hiera-config --keep LEVEL'\n" +
			"hiera.yaml:3 hiera_foreign 'vault' is not compiled: only Puppet can read this entry; " +
			"'bindq hiera-config' prints a hiera.yaml that leaves this entry to Puppet"},
	{"lookup of an unbound key in a module", "-- data/common.yaml --\n{a: 1}\n" +
		"-- modules/m/hiera.yaml --\nversion: 5\nhierarchy:\n" +
		"  - {name: common, path: common.yaml}\n-- modules/m/data/common.yaml --\nm::a: \"%{lookup('x')}\"", ""},
	{"lookup of a part of a misspelt key", "contact: {x: 1}\na: \"%{lookup('contcat.x')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', the first part of 'contcat.x', which nothing binds; did you mean 'contact'?"},
	{"more values look up the unbound key than bind the similar one", "-- data/nodes/n1.yaml --\na: \"%{lookup('contcat')}\"\n" +
		"-- data/common.yaml --\ncontact: 1\nb: \"%{lookup('contcat')}\"",
		"data/common.yaml:2 key_unbound this looks up 'contcat', which nothing binds; 'contact' is bound: correct one of the two names\n" +
			"data/nodes/n1.yaml:1 key_unbound this looks up 'contcat', which nothing binds; 'contact' is bound: correct one of the two names"},
	{"lookup of a bound key that resembles another", "contact: 1\ncontacts: 2\na: \"%{lookup('contact')}\"",
		""},
	{"lookup of a misspelt key after many bound ones",
		"contact: 1\n" + often(1100, "contact") + "z: \"%{lookup('contcat')}\"",
		"data/common.yaml:1102 key_unbound this looks up 'contcat', which nothing binds; did you mean 'contact'?"},
	{"lookups of invalid keys", "contact: 1\na: \"%{lookup('contcat..x')}\"\nb: \"%{lookup('contcat\\\"x')}\"", ""},
	{"literal text is not a lookup", "contact: 1\na: \"%{literal('contcat')} %{contcat}\"", ""},

	{"alias of a part of a value", "a: {b: 1}\n" + alias("a.b"), ""},
	{"alias of a part of an unbound key", "a: {b: 1}\n" + alias("c.b"),
		"bindings/default.yaml:1 rebind 'new' is an alias of 'c.b', which nothing binds"},
	{"alias of an internal key", "a: [1]\nlookup_options: {a: {merge: unique}}\n" +
		alias("lookup_option"), "bindings/default.yaml:1 rebind 'new' is an alias of 'lookup_option', which nothing binds"},
	{"no loop: earlier key is an optional alias of a part of a hash", "b: {c: 1}\n" + tries("b.c"), ""},
	{"loop: earlier key is an optional lookup of an unbound key", "b: 1\n" + tries("c"),
		"bindings/default.yaml:1 loop 'a' depends on itself: a -> z -> a"},
	{"no loop: earlier key is an optional lookup of data", "b: 1\n" + tries("b"), ""},
	{"loop: earlier key is an optional lookup of undef", "b: ~\n" + tries("b"),
		"bindings/default.yaml:1 loop 'a' depends on itself: a -> z -> a"},
	{"no loop: earlier key is an optional lookup of converted data", "b: ~\nlookup_options: {b: {convert_to: [Array, true]}}\n" +
		tries("b"), ""},
	{"no loop: earlier key is converted data", "b: ~\nlookup_options: {b: {convert_to: [Array, true]}}\n" +
		"-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [{name: a, to_first_found: [b, z]}, " +
		"{name: z, to_lookup_of: a}]}", ""},
	{"loop: key looks itself up", "a: \"x%{lookup('a')}\"",
		"data/common.yaml:1 loop 'a' depends on itself: a -> a; every lookup of it fails, as in Puppet"},
	{"loop: two keys look each other up, a third one looks them up", "c: \"%{lookup('a')}\"\na: \"%{lookup('b.x')}\"\nb: [\"%{alias('a')}\"]",
		"data/common.yaml:2 loop 'a' depends on itself: a -> b -> a; every lookup of it fails, as in Puppet"},
	{"loop: reached from another key", "a: \"%{lookup('b')}\"\nb: \"%{lookup('b')}\"",
		"data/common.yaml:2 loop 'b' depends on itself: b -> b; every lookup of it fails, as in Puppet"},
	{"no loop: key looks up another one twice", "a: \"%{lookup('b')}%{lookup('b')}%{lookup('c')}\"\nb: \"%{lookup('c')}\"\nc: 1", ""},
	{"loop: after another lookup", "a: \"%{lookup('b')}%{lookup('a')}\"\nb: 1",
		"data/common.yaml:1 loop 'a' depends on itself: a -> a; every lookup of it fails, as in Puppet"},
	{"no report: data of a node hides the loop", "-- data/nodes/n1.yaml --\na: 1\n-- data/common.yaml --\na: \"%{lookup('a')}\"", ""},
	{"no report: loop exists on one node only", "-- data/nodes/n1.yaml --\na: \"%{lookup('a')}\"\n-- data/common.yaml --\na: 1", ""},
	{"no report: data of the site hides the loop in a module", "-- data/common.yaml --\nm::a: 1\n" + module +
		"-- modules/m/data/common.yaml --\nm::a: \"%{lookup('m::a')}\"", ""},
	{"no report: a bindings file hides the loop", "-- data/common.yaml --\na: \"%{lookup('a')}\"\n" +
		"-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[a, text]]}", ""},
	{"loop: below a layer of bindings", "-- data/common.yaml --\na: \"%{lookup('a')}\"\n" + bindings,
		"data/common.yaml:1 loop 'a' depends on itself: a -> a; every lookup of it fails, as in Puppet"},
	{"loop: through many keys", ring(21), "data/common.yaml:1 loop 'k00' depends on itself: k00 -> k01 -> k02 -> " +
		"k03 -> k04 -> k05 -> k06 -> k07 -> k08 -> k09 -> k10 -> k11 -> k12 -> k13 -> k14 -> k15 -> k16 -> k17 -> k18 -> " +
		"k19 -> (1 others) -> k00; every lookup of it fails, as in Puppet"},
	{"loop: next to options that depend on the request", "-- data/common.yaml --\n" +
		"a: \"%{lookup('a')}\"\n" + module + "-- modules/m/data/common.yaml --\nm::b: 1\n" +
		"lookup_options: {m::b: {merge: '%{x}'}}",
		"data/common.yaml:1 loop 'a' depends on itself: a -> a; every lookup of it fails, as in Puppet"},
	{"no report: key is merged", "a: \"%{lookup('a')}\"\nlookup_options: {a: {merge: unique}}", ""},
}

// alias returns a bindings file in which a key is an alias of another one.
func alias(of string) string {
	return "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [{name: new, to_alias_of: " + of + "}]}\n"
}

// tries returns a bindings file with a key that tries another key and then itself.
func tries(of string) string {
	return "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [{name: a, to_first_found: [b1, z]}, " +
		"{name: b1, to_expression: \"lookup('" + of + "')\", optional: true}, {name: z, to_lookup_of: a}]}\n"
}

// ring returns n keys, each of which looks up the next one. The last one looks up the first.
func ring(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%02d: \"%%{lookup('k%02d')}\"\n", i, (i+1)%n)
	}
	return b.String()
}

// often returns n keys, all of which look up key.
func often(n int, key string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%04d: \"%%{lookup('%s')}\"\n", i, key)
	}
	return b.String()
}

// bindings begins a bindings file in a layer above the hierarchy.
const bindings = "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[other, text]]}"

// module begins the data of a module in common.yaml.
const module = "-- modules/m/hiera.yaml --\nversion: 5\n"

// serversOnly is the hint for unbound keys if no data file of a node exists.
const serversOnly = "the path 'nodes/%{trusted.certname}.yaml' has no file here: if it is only on Puppet's servers, build there"

// ofNode begins the data of common.yaml after that of a node.
const ofNode = "-- data/nodes/n.yaml --\nz: 1\n-- data/common.yaml --\n"

// findsFails is the consequence of a value that convert_to does not accept.
const findsFails = "every lookup that finds this value fails"

// bindIt is the hint for an interpolated lookup of a key that nothing binds and that resembles no other key.
const bindIt = "bind it, or remove the lookup; if its data is only on Puppet's servers, build there"

const knockout = "lookup_options: {a: {merge: {strategy: deep, knockout_prefix: --}}}\n"

func TestReportsMistakesInHiera5(t *testing.T) {
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

// hieraSite creates a site with the hierarchy twoLevels and the given data.
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

// In Hiera 5, the values of a merged key have an internal key, level by level. The key itself has a recipe that merges
// them.
func TestContentFilesMergedHiera5Values(t *testing.T) {
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

// valueOf describes a stored value.
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

// A snapshot counts as sensitive if options that depend on the request may make a value sensitive.
func TestOptionsThatMayBeSensitiveMarkSnapshot(t *testing.T) {
	for options, sensitive := range map[string]bool{`{a: {merge: "%{x}"}}`: false, `{a: {convert_to: "%{x}"}}`: true,
		"{a: {merge: unique}}": false, "{a: {convert_to: String}}": false, "{a: {convert_to: Sensitive}}": true,
		"{'^$': {convert_to: Sensitive}}\na..b: 1": false, // 'a..b' is not a valid key, so it has no root
		"{b: {convert_to: Sensitive}}":             false,
		// The options are for a key that default_hierarchy does not have.
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

// If the options of a key are the same in every request, its recipe contains the merged options. If they cannot be
// merged, it contains none, and every lookup fails.
func TestOptionsOfSeveralLevelsAreMergedIfConstant(t *testing.T) {
	const own, none = `<merged {"a":{"merge":"unique"}}>`, "<merged null>"
	for _, c := range []struct{ name, node, high, low, want string }{
		{"options of the lower level apply", "{b: {merge: hash}}", "{c: {merge: hash}}", "{a: {merge: unique}}", own},
		{"options of the higher level win", "{}", "{a: {merge: unique}}", "{a: {merge: hash}}", own},
		{"null options of a node have no effect", "~", "{a: {merge: unique}}", "{}", own},
		{"null options of another level make lookups fail", "{}", "{a: {merge: unique}}", "~", none},
		{"options differ on one node", "{a: {merge: hash}}", "{a: {merge: unique}}", "{}", none},
		{"options of another key do not apply", "{}", "{b: {merge: unique}}", "{}", "1"},
		{"null options of the key do not apply", "{}", "{a: ~}", "{}", "1"},
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

// Each key is compared only with the patterns that begin with the same text. A pattern without such text is compared
// with every key, and the effort for this is limited.
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

// A loop in interpolated lookups is reported however long it is, and however many keys lead to it.
func TestReportsHiera5LoopOfAnyLength(t *testing.T) {
	lookups := func(name string, n int, last string) string {
		var b strings.Builder
		for i := range n {
			next := fmt.Sprintf("%s%03d", name, i+1)
			if i == n-1 {
				next = last
			}
			fmt.Fprintf(&b, "%s%03d: \"%%{lookup('%s')}\"\n", name, i, next)
		}
		return b.String()
	}
	for _, c := range []struct{ data, want string }{
		{lookups("z", 3, "z000"), "'z000' depends on itself: z000 -> z001 -> z002 -> z000; "},
		{lookups("a", 15, "z000") + lookups("z", 10, "z000"), "'z000' depends on itself: z000 -> z001 -> z002 -> "},
		{lookups("z", 100, "z000"), "-> z018 -> z019 -> (80 others) -> z000; "},
		{lookups("a", 100, "nothing"), "nothing binds 'nothing'; "},
	} {
		var diags diag.List
		compile.Compile(loader.Load(hieraSite(t, c.data), loader.Options{}, &diags), compile.Options{}, &diags)
		got := ""
		for _, d := range diags.Sorted() {
			got += d.Message + "\n"
		}
		if !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 || (got == "") != (c.want == "") {
			t.Errorf("reported is %q, want %q", got, c.want)
		}
	}
}
