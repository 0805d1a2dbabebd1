# Prints tags.json: what Psych, as Puppet calls it, makes of values with tags. Executed with Ruby 3.1.2 and Psych 4.0.3.
require 'json'
require_relative 'psych'

SCALARS = ['12', "'12'", '"12"', 'x', "'x'", "''", 'yes', '~', '1.5', '0644', '1e3', ':x', 'aGFsbG8=', "'a b'", '08',
           '99999999999999999999', '2001-01-01', 'Symbol', '/x/', '1..2', '1_0.5', "|\n  12\n  3\n", '-0x1F', '12:30', '.inf', '<<'].freeze
TAGS = ['!', '!!int', '!int', '!!float', '!float', '!!bool', '!bool', '!!null', '!null', '!!str', '!str', '!ruby/string',
        '!str:X', '!str:', '!ruby/string:String', '!!binary', '!binary', '!ruby/sym', '!ruby/symbol', '!ruby/symbol:x', '!!timestamp',
        '!!merge', '!!value', '!!yaml', '!!omap', '!omap', '!!set', '!set', '!!map', '!map', '!!seq', '!seq', '!!foo', '!foo',
        '!foo/bar:baz', '!<tag:yaml.org,2002:int>', '!<tag:example.org,2026:x>', '!<!int>', '!!pairs',
        '!ruby/hash:X', '!ruby/hash', '!map:X', '!map:', '!ruby/hash-with-ivars', '!ruby/hash-with-ivars:X', '!ruby/object', '!ruby/object:X',
        '!ruby/object:Hash', '!ruby/object:Set', '!ruby/object:Symbol', '!ruby/object:BigDecimal', '!ruby/object:DateTime',
        '!ruby/object:Complex', '!ruby/object:Rational', '!ruby/objectX', '!ruby/struct', '!ruby/struct:X', '!ruby/structX',
        '!ruby/array:X', '!ruby/array', '!seq:X', '!ruby/range', '!ruby/regexp', '!ruby/exception', '!ruby/exception:X', '!ruby/exceptionX',
        '!ruby/class', '!ruby/module', '!ruby/encoding', '!ruby/marshalable:X', '!ruby/marshalable', '!ruby/symX', '!ruby/foo', '!rubyx',
        '!ruby', '!perl/hash:X', '!python/tuple', '!!python/object:x.Y', '!vault'].freeze
COLLECTIONS = ['{}', '{x: 1}', '{str: x}', '[]', '[a, b]', '[a: 1, b: 2]', '{a: {b: [c]}}'].freeze
OTHERS = [
  '!!omap [a: 1, a: 2]', '!!omap [{a: 1, b: 2}]', '!!omap [[a, 1], [b]]', '!!omap [[a, b, c]]', '!!omap [a]', '!!omap [{}]', '!!omap [[]]',
  "- &x {a: 1}\n- !!omap [*x]", "- !!omap [<<: {a: 1}]", "- &x !!omap [a: 1]\n- *x\n- <<: *x", "!!omap\n- a: 1\n- b:\n    c: 2\n",
  '!!omap [? [x] : y]', '!!omap [!foo {a: 1}]', '!!omap [a: !!int "3"]', '!!omap [{? &k a : &v 1}, {*k : *v}]',
  '!foo {a: !bar 1}', "a: !foo\n  b: c\n", "a: !foo\n- b\n", "!foo\na: 1\n", '!foo a: 1', "!int 12: x\n", '{!str 12: x}', '{!!float 1: x, 1.0: y}',
  '{!foo <<: {a: 1}}', '{!!str <<: {a: 1}}', '{!str <<: {a: 1}}', '{! "<<": {a: 1}}', '{!!binary PDw=: {a: 1}}', '{<<: !foo {a: 1}}',
  "- &m <<\n- {*m : {a: 1}}", '{!!merge <<: {a: 1}}',
  '!!binary "aGFs\n bG8="', '!!binary aGFsbG8', '!!binary aGF*sb G8', '!!binary "a=GFsbG8="', '!!binary aGFsbA==xx', '!!binary =', '!!binary a',
  '!!binary aA', '!!binary aGF', '!!binary /w==', "!!binary |\n  aGFs\n  bG8=\n", '!!binary aGFs====bG8=', '!!binary YQ=YQ==', '!!binary w6k=',
  '!!float " 1.5 "', '!!float 1e3', '!!float 1.5e3', '!!float .5e3', '!!float 1.e3', '!!float 1e', '!!float 0x1p3', '!!float 0x10', '!!float 1__0e3',
  '!!float 1_0e3', '!!float _1e3', '!!float 1e+1_0', '!!float -1E-3', '!!float +08', '!!float 1 2', '!!float "1\n"', '!!float Infinity', '!!float NaN',
  '!!float .nan', '!!float "x"', '!!float 1,000', '!!float 12:30:45.5', '!!float 0b11', '!!float "08 "', '!!float 1e400', '!!float 1,0e3',
  '!!float 123456789012345678901234567890', '!!float -0', '!!float 0644', '!!float 0o17', '!!float 1e3_', '!!float "1.5\t"', '!!float 1._5e3',
  '!!float 99999999999999999999_0', '!!float 0xffffffffffffffffffff', '!!float "1e3\n"', '!!float "0x"', '!!float 0x1.8', '!!float 0x_1p2',
  "! |\n  12\n", '! ~', '!', "!!str\n", "!foo\n", "!!null x\n", '! [a]', '! {a: b}', "%TAG ! tag:x,2026:\n---\n!str 12\n",
  "%TAG !! tag:x,2026:\n---\n!!str 12\n", "%TAG !y! tag:yaml.org,2002:\n---\n!y!str 12\n", '!x!y b', '&a !foo 12', '!foo &a [*a]', '- &a !foo 12' + "\n- *a\n",
  "--- !foo\na: 1\n", "a: 1\n--- !foo\nb: 2\n"
].freeze

def answer(yaml)
  v = loaded(yaml).dup.force_encoding('UTF-8')
  v.valid_encoding? ? v : 'error' # bytes that are no text
end

values = SCALARS + COLLECTIONS
rows = TAGS.map { |tag| JSON.generate([tag, values.map { |v| answer("#{tag} #{v}") }]) }
others = OTHERS.map { |yaml| JSON.generate([yaml, answer(yaml)]) }
puts "{\n\"values\": #{JSON.generate(values)},\n\"tags\": [\n#{rows.join(",\n")}\n],\n\"others\": [\n#{others.join(",\n")}\n]\n}"
