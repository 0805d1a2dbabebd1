# Generates the tables in this folder, with Puppet's results of merging values, parsing keys,
# digging, reading lookup_options and converting.
#
#   apt-get install puppet-agent    # Debian 12: Puppet 7.23 with Ruby 3.1
#   ruby generate.rb
#
# All random cases come from one seed. A table has one case per line. It is in YAML, because JSON
# has no hashes with numeric keys. A result is {value: V}, {missing: true} or {error: CLASS}.
require 'json'
require 'puppet'
require 'puppet_pal'

Lookup = Puppet::Pops::Lookup
Merge = Puppet::Pops::MergeStrategy

# The methods of an invocation that Puppet calls if nothing is explained.
class Invocation
  attr_reader :scope

  def initialize(scope = nil)
    @scope = scope
  end

  def with(*)
    yield
  end

  def report_result(value)
    value
  end

  def report_found(_, value)
    value
  end

  def report_not_found(_) end
  def report_text; end
  alias invocation itself
end

# Returns v as one line of YAML. Integers are clamped to 64 bits.
def plain(v)
  case v
  when Hash then "{#{v.map { |k, e| "#{plain(k)}: #{plain(e)}" }.join(', ')}}"
  when Array then "[#{v.map { |e| plain(e) }.join(', ')}]"
  when String then JSON.generate(v)
  when nil then '~'
  when Integer then v.clamp(-2**63, 2**63 - 1).to_s
  else v.to_s
  end
end

# Calls the block and returns its result.
def answer(error)
  found = false
  value = catch(:no_such_key) { yield.tap { found = true } }
  found ? { 'value' => value } : { 'missing' => true }
rescue StandardError => e
  warn "#{error}: #{e.class}: #{e.message.lines.first}" if ENV['VERBOSE']
  { 'error' => error }
end

def write(name, cases)
  File.write(File.join(__dir__, "#{name}.yaml"), cases.map { |c| "- #{plain(c)}\n" }.join)
end

# Returns a deep copy of v, because Puppet modifies the values that it merges.
def copy(v)
  Marshal.load(Marshal.dump(v))
end

RANDOM = Random.new(5)

def pick(*list)
  list[RANDOM.rand(list.size)]
end

def chance(percent)
  RANDOM.rand(100) < percent
end

WORDS = %w[a b c d].freeze
PREFIXES = ['--', '~', '-'].freeze

def random_scalar
  case RANDOM.rand(16)
  when 0..5 then pick(*WORDS)
  when 6, 7 then pick(*PREFIXES) + pick(*WORDS)
  when 8 then pick(*PREFIXES, '', "a\n--b", '----a', '--a b', 'a,b', 'a,,')
  when 9, 10 then RANDOM.rand(3)
  when 11 then RANDOM.rand(3).to_f
  when 12 then true
  when 13 then false
  when 14 then nil
  else pick('A', 'é', '10', '9')
  end
end

def random_key
  chance(3) ? RANDOM.rand(3) : pick(*WORDS, 'x', 'y')
end

def random_list(depth)
  case RANDOM.rand(4)
  when 0 then Array.new(RANDOM.rand(4)) { random_hash(depth - 1) }
  when 1 then Array.new(RANDOM.rand(5)) { pick(*WORDS, *WORDS.map { |w| "--#{w}" }, '--') }
  else Array.new(RANDOM.rand(5)) { random_value(depth - 1) }
  end
end

def random_hash(depth)
  Array.new(RANDOM.rand(5)) { [random_key, random_value(depth - 1)] }.to_h
end

def random_value(depth)
  return random_scalar if depth <= 0

  case RANDOM.rand(10)
  when 0..2 then random_scalar
  when 3..5 then random_list(depth)
  else random_hash(depth)
  end
end

# Candidates of one key tend to have the same kind.
def candidate(kind)
  return random_value(3) if chance(4)

  case kind
  when :hash then random_hash(4)
  when :list then random_list(3)
  when :scalar then random_scalar
  else random_value(3)
  end
end

def deep_options
  options = {}
  options['knockout_prefix'] = pick(*PREFIXES, '--', '--', '[-~]', '') if chance(60)
  options['sort_merged_arrays'] = chance(80) if chance(25)
  options['merge_hash_arrays'] = chance(80) if chance(40)
  options
end

def legacy_options
  options = deep_options
  options['preserve_unmergeables'] = true if chance(20)
  options['overwrite_arrays'] = true if chance(10)
  options['extend_existing_arrays'] = true if chance(20)
  options['unpack_arrays'] = pick(',', ' ', 'a') if chance(20)
  options
end

def random_strategy
  case RANDOM.rand(12)
  when 0 then 'first'
  when 1, 2 then pick('unique', { 'strategy' => 'unique' })
  when 3, 4 then 'hash'
  when 5 then 'deep'
  when 6 then { 'strategy' => pick('unconstrained_deep', 'reverse_deep') }.merge(legacy_options)
  else { 'strategy' => 'deep' }.merge(deep_options)
  end
end

# Three layers, each a list of entries. An entry is a list of paths, and [v] is a path with the
# value v.
def random_layers
  kind = pick(:hash, :hash, :hash, :list, :list, :scalar, :any)
  one_path = chance(40)
  Array.new(3) do
    Array.new(pick(0, 1, 1, 2, 3)) do
      Array.new(one_path ? 1 : RANDOM.rand(1..3)) { chance(70) ? [candidate(kind)] : [] }
    end
  end
end

def merged(strategy, variants, depth)
  strategy.lookup(variants, Invocation.new) do |variant|
    if depth > 1
      merged(strategy, variant, depth - 1)
    else
      variant.empty? ? throw(:no_such_key) : variant[0]
    end
  end
end

def merge_case(merge, layers, defaults)
  of = copy(layers)
  found = answer('merge') do
    defaults ? merged(Merge.strategy(merge), of[0], 2) : merged(Merge.strategy(merge), of, 3)
  end
  { 'merge' => merge, 'layers' => layers, 'defaults' => defaults }.merge(found)
end

# Long lists of similar elements.
def long_list
  Array.new(RANDOM.rand(4..20)) do
    pick(RANDOM.rand(9), RANDOM.rand(9).to_f, -0.0, RANDOM.rand(9).to_s, { 'a' => 1, 'b' => [1] }, { 'b' => [1], 'a' => 1 }, { 'a' => 1.0, 'b' => [1] },
         [1, 'a'], [1.0, 'a'], true, nil, '')
  end
end

# With another path in each entry, a value is never the only one.
MERGES = Array.new(2500) { [random_strategy, random_layers, chance(10)] } +
         Array.new(60) { [pick('unique', 'deep'), [[], [[[long_list], [long_list]]], []], false] } + [
  ['unique', [[], [[[%w[a a]]]], []], false],
  ['unique', [[], [[[%w[a a]], []]], []], false],
  ['unique', [[], [[[[['a'], ['a']]]]], []], false],
  ['unique', [[], [[['a']]], []], false],
  ['unique', [[[['a']]], [], []], true],
  ['unique', [[], [[[{ 'a' => 1 }], ['b']]], []], false],
  ['unique', [[], [[['b'], [{ 'a' => 1 }]]], []], false],
  ['unique', [[], [[[nil], ['b']]], []], false],
  ['hash', [[], [[['text']]], []], false],
  ['hash', [[], [[['text']], [[{ 'a' => 1 }]]], []], false],
  ['hash', [[], [[[{ 'a' => { 1 => 2 } }], [{ 'b' => 1 }]]], []], false],
  [{ 'strategy' => 'deep', 'knockout_prefix' => '--' }, [[], [[['--x'], ['b'], ['x', 'c']]].map { |e| e.map { |v| [v] } }, []], false],
  [{ 'strategy' => 'deep', 'knockout_prefix' => '--' }, [[], [[[['--x']]], [[['b']], [['x', 'c']]]], []], false],
  [{ 'strategy' => 'deep', 'knockout_prefix' => '--' }, [[], [[[{ 'x' => { 'y' => ['--a', 'a', 'b'] } }], [{ 'z' => 1 }]]], []], false],
  [{ 'strategy' => 'deep', 'sort_merged_arrays' => true }, [[], [[[[{}, 1]], [[2]]]], []], false],
  *[
    # Merging an array of hashes with itself merges the hashes.
    [{ 'merge_hash_arrays' => true }, { 'k' => [{ 'x' => [1, 1] }] }, { 'z' => 1 }],
    [{ 'merge_hash_arrays' => true, 'sort_merged_arrays' => true }, [{ 'k' => [1] }], [{ 'k' => ['x'] }]],
    # A prefix is a string for a single value, and otherwise a regular expression, which may not match
    # the text.
    [{ 'knockout_prefix' => '[-~]' }, ['[-~]', 'a'], ['b']],
    [{ 'knockout_prefix' => '[-~]' }, ['-'], [1, '', nil, 'b']],
    [{ 'knockout_prefix' => '[-~]' }, { 'k' => { 'x' => ['-', 1, '', nil, 'b'] } }, { 'z' => 1 }],
    [{ 'knockout_prefix' => '-*' }, ['a', '-b'], %w[b c a]],
    [{ 'knockout_prefix' => '-*' }, [1, 'a', '-b', nil], 'text'],
    [{ 'knockout_prefix' => '(' }, ['a'], ['b']],
    # Elements before Ruby's current position are removed too, even more than there are left.
    [{ 'knockout_prefix' => '--' }, { 'k' => { 'x' => %w[a a a --a] } }, { 'z' => 1 }],
    [{ 'knockout_prefix' => '--' }, { 'k' => { 'x' => %w[a a a --a b c] } }, { 'z' => 1 }],
    [{ 'knockout_prefix' => '--' }, { 'k' => { 'x' => %w[a --b --a c b d] } }, { 'z' => 1 }],
    [{ 'knockout_prefix' => '--' }, { 'k' => { 'x' => %w[a -- --a b] } }, { 'z' => 1 }]
  ].map { |options, high, low| [{ 'strategy' => 'deep' }.merge(options), [[], [[[high], [low]]], []], false] },
  *[false, nil].map do |low|
    [{ 'strategy' => 'unconstrained_deep', 'preserve_unmergeables' => true }, [[], [[['a'], [low]]], []], false]
  end
].freeze

STRATEGIES = ['first', 'default', 'unique', 'hash', 'deep', 'unconstrained_deep', 'reverse_deep', 'Deep', '', 'merge', 1, true, false, nil, [],
              ['deep'], {}, { 'strategy' => nil }, { 'strategy' => 'deep' }, { 'strategy' => 'none' }, { 'strategy' => 1 },
              { 'merge' => 'deep' }, { 'strategy' => 'first', 'x' => 1 }, { 'strategy' => 'hash', 'knockout_prefix' => '--' },
              { 'strategy' => 'unique', 'sort_merged_arrays' => true }, { 'strategy' => 'deep', 'knockout_prefix' => '--' },
              { 'strategy' => 'deep', 'knockout_prefix' => nil }, { 'strategy' => 'deep', 'knockout_prefix' => 1 },
              { 'strategy' => 'deep', 'knockout_prefix' => false }, { 'strategy' => 'deep', 'knockout_prefix' => '' },
              { 'strategy' => 'deep', 'sort_merged_arrays' => 'yes' }, { 'strategy' => 'deep', 'merge_hash_arrays' => nil },
              { 'strategy' => 'deep', 'merge_debug' => false }, { 'strategy' => 'deep', 'unpack_arrays' => ',' },
              { 'strategy' => 'deep', 'preserve_unmergeables' => true }, { 'strategy' => 'deep', 'knockout' => '--' },
              { 'strategy' => 'deep', 1 => '--' }, { 'strategy' => 'unconstrained_deep', 'anything' => 1 },
              { 'strategy' => 'unconstrained_deep', '' => 1 }, { 'strategy' => 'reverse_deep', 'knockout_prefix' => false },
              { 'strategy' => 'unconstrained_deep', 1 => 1 }, { 'strategy' => 'unconstrained_deep', 'unpack_arrays' => false },
              { 'strategy' => 'unconstrained_deep', 'sort_merged_arrays' => 'yes' }].freeze

def strategy_case(merge)
  { 'merge' => merge }.merge(answer('options') { configuration(copy(merge)) })
end

# Keys are built from the significant parts.
PIECES = ['a', 'b', '.', '.', "'", '"', '0', '1', '-1', '+2', ' ', '::', ':3', "\n", '07', 'é', '99999999999999999999'].freeze
KEYS = (['', 'a', 'a.b', 'a..b', '.', 'a.', '.a', "'a.b'", '"a.b"', "'a.b'.c", 'a."b.c".0', "''", '""', "a.''", "'a'b", "a'b'", "'a''b'",
         'a.0', 'a.-1', 'a.+1', 'a.01', 'a.1x', '0', '0.a', "'0'.a", 'a."0"', ' a', 'a ', ' a . b ', ' "a" . "b" ', "'a", '"a\'', '"a\'b".c',
         'a::b', 'a::b.c', '::a', '::a.b', 'a::b::c', "'a::b.c'", 'lookup_options', 'lookup_options.a', "'lookup_options'", 'a.:1', "a.x\n1",
         "a.1\nx", "a.b\0", 'a.1_0', 'a.99999999999999999999', 'a.-99999999999999999999', 'a. ', "a.\t\"b\"\v"] +
        Array.new(600) { Array.new(RANDOM.rand(1..6)) { pick(*PIECES) }.join }).uniq.freeze

def key_case(text)
  found = answer('key') do
    key = Lookup::LookupKey.new(text)
    { 'root' => key.root_key, 'module' => key.module_name, 'path' => key.segments || [] }
  end
  { 'key' => text }.merge(found)
end

DUG = [{ 'a' => { 'b' => [1, { 'c' => nil, 'd.e' => 'x' }, [[7]]], 0 => 'zero', '0' => 'text', -1 => 'minus', 'f' => false }, 'n' => nil },
       ['x', ['y', { 'a' => 1 }], nil], 'text', 5, 1.5, true, nil, {}, []].freeze
STEPS = ['a', 'b', 'c', '"d.e"', '0', '1', '2', '-1', '"0"', 'f', 'n', '3'].freeze
DIGS = (['k'] + Array.new(400) { (['k'] + Array.new(RANDOM.rand(1..5)) { pick(*STEPS) }).join('.') } +
        %w[k.a.b.1.c k.a.b.1."d.e" k.a.b.2.0.0 k.a.b.2.0.0.0 k.a.0 k.a."0" k.a.-1 k.n.x k.a.f k.a.f.x k.1.1.a k.1.0.0 k.0.0]).uniq.freeze

def dig_cases
  DUG.each_with_index.flat_map do |value, i|
    DIGS.filter_map do |text|
      found = answer('dig') { Lookup::LookupKey.new(text).dig(Invocation.new, copy(value)) }
      { 'key' => text, 'in' => i }.merge(found) unless found['missing'] && chance(70)
    end
  end
end

NAMES = %w[m::a m::b m::ab m::b::c n::a a b ab].freeze
PATTERNS = ['^m::a', '^m::.*', '^m::(a|b)$', '^m::b', '^n::', '^a', '^.', '^m::b::', '^ab$', '^m::[[:alpha:]]+$', '^m::\w$'].freeze

def random_option
  case RANDOM.rand(12)
  when 0 then nil
  when 1 then pick('deep', 'merge', 'a convert_to', false, true, 1, [], ['merge'], {}, '')
  when 2 then { 'convert_to' => pick('Sensitive', 'Integer') }
  when 3 then { 'merge' => pick(nil, false, 'none', { 'strategy' => 'deep', 'x' => 1 }) }
  else { 'merge' => pick('first', 'unique', 'hash', 'deep', { 'strategy' => 'deep', 'knockout_prefix' => '--' }) }
  end
end

def options_level(names)
  return pick([], 'text', 1, nil, nil, nil) if chance(5)

  keys = Array.new(RANDOM.rand(1..4)) { chance(2) ? 5 : pick(*names) }
  keys.to_h { |k| [k, random_option] }
end

# Levels of the global layer, the environment and the module m, highest first.
def random_levels
  names = NAMES + PATTERNS + (chance(3) ? ['^('] : [])
  own = (NAMES + PATTERNS).select { |n| n =~ /\A\^?m::/ }
  own += NAMES if chance(10)
  levels = [pick(0, 0, 1, 2), pick(0, 1, 2, 3), pick(0, 1, 2)].zip([names, names, own])
  levels.map { |count, of| Array.new(count) { options_level(of) } }
end

# A hash with a numeric key cannot be merged, but is valid alone.
NUMBERED = { 'a' => { 'merge' => 'deep', 'x' => { 1 => 2 } } }.freeze
LEVELS = [[[NUMBERED], [], []], [[NUMBERED, { 'b' => nil }], [], []], [[{ 'b' => nil }, NUMBERED], [], []]].freeze

def options_case(levels)
  adapter = Lookup::LookupAdapter.allocate
  compiled = answer('options') { compiled_options(adapter, copy(levels)) }
  result = { 'layers' => levels }
  return result.merge(compiled) if compiled['error']

  result.merge('value' => NAMES.to_h { |name| [name, chosen(adapter, name, compiled['value'])] })
end

def compiled_options(adapter, layers)
  hash = Merge.strategy('hash')
  all = layers.zip([nil, nil, 'm']).map do |levels, mod|
    adapter.send(:validate_lookup_options, levels.empty? ? nil : hash.lookup(levels, Invocation.new) { |l| l }, mod)
  end
  adapter.send(:compile_patterns, all.compact.reduce { |high, low| hash.merge(high, low) })
end

# Returns the strategy and the convert_to of a key.
def chosen(adapter, name, options)
  found = adapter.extract_lookup_options_for_key(Lookup::LookupKey.new(name), options) || {}
  { 'merge' => answer('options') { configuration(found['merge']) }, 'convert_to' => answer('options') { found['convert_to'] } }
end

def configuration(merge)
  strategy = Merge.strategy(merge)
  strategy.class.key == :default ? 'first' : strategy.class.key.to_s
end

VALUES = [1, -1, 0, 1.5, '1', '0x1f', '1.5', 'x', '', 'yes', 'true', true, false, nil, [], [1, 'a'], [['a', 1]], { 'a' => 1 }, {}].freeze
TYPES = ['Integer', 'Float', 'Numeric', 'String', 'Boolean', 'Array', 'Hash', 'Sensitive', 'Sensitive[Integer]', 'Sensitive[String[5]]',
         ' Sensitive ', 'Integer[0, 5]', 'String[1]', 'Array[Integer]', 'Optional[Integer]', 'Tuple', 'Struct[{a => Integer}]', 'Regexp', 'Type',
         'Enum[a]', 'Nope', 'nope', 'Integer[', '', ['Integer', 16], ['Integer', 10, true], ['Integer', 7], ['String', '%x'], ['String', '%#s'],
         ['Array', true], ['Array', false], ['Sensitive', 1], ['Sensitive'], ['Boolean', 1], ['Hash', 'tree'], [], [1], {}, 1, true, false,
         ['Float', true], ['Numeric', true], ['Sensitive[Sensitive]'], 'Sensitive[]'].freeze

def convert_cases
  Puppet::Pal.in_tmp_environment('table', modulepath: [], facts: {}) do |pal|
    pal.with_catalog_compiler do |compiler|
      adapter = Lookup::LookupAdapter.allocate
      invocation = Invocation.new(compiler.send(:internal_compiler).topscope)
      return TYPES.product(VALUES).map do |to, value|
        { 'convert_to' => to, 'of' => value }.merge(answer('convert') { converted(adapter, invocation, to, value) })
      end
    end
  end
end

def converted(adapter, invocation, to, value)
  result = adapter.convert_result('k', { 'convert_to' => copy(to) }, invocation, -> { copy(value) })
  case result
  when Puppet::Pops::Types::PSensitiveType::Sensitive then { 'sensitive' => result.unwrap }
  when Regexp, Puppet::Pops::Types::PAnyType then { 'text' => result.is_a?(Regexp) ? result.source : result.to_s }
  else result
  end
end

Puppet.initialize_settings(['--vardir', '/tmp/puppet-table', '--confdir', '/tmp/puppet-table'])
Puppet::Util::Log.level = :crit

write('merges', MERGES.map { |m| merge_case(*m) })
write('strategies', STRATEGIES.map { |s| strategy_case(s) })
write('keys', KEYS.map { |k| key_case(k) })
write('dug', DUG.map { |v| { 'value' => v } })
write('digs', dig_cases)
write('options', (Array.new(300) { random_levels } + LEVELS).map { |levels| options_case(levels) })
write('conversions', convert_cases)
