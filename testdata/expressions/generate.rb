# Generates expressions.json with Puppet's results for the lines of expressions.txt.
#
#   apt-get install puppet-agent    # Debian 12: Puppet 7.23 with Ruby 3.1
#   ruby generate.rb
#
# All expressions are evaluated in one process, each with a separate compiler, with the facts below.
require 'json'
require 'puppet'
require 'puppet_pal'

FACTS = {
  'fqdn' => 'kermit.example.com', 'hostname' => 'kermit', 'osfamily' => 'Debian', 'num' => 5, 'flt' => 2.5, 't' => true, 'f' => false,
  's' => 'Hello World', 'arr' => %w[x y z], 'nums' => [3, 1, 2], 'empty' => '', 'mixed' => ['a', 1, true],
  'os' => { 'family' => 'Debian', 'name' => 'Debian', 'release' => { 'major' => '12', 'minor' => '5', 'full' => '12.5' } },
  'h' => { 'k' => 'v', 'n' => { 'm' => 1 } }, 'processors' => { 'count' => 4 }, 'memory_mb' => 7972,
  'path' => '/usr/bin:/bin', 'version' => '1.10.2',
  'networking' => { 'fqdn' => 'kermit.example.com', 'hostname' => 'kermit' },
}.freeze

# Returns a value as JSON. A value without a JSON form becomes text, and default becomes
# {"__default__": 1}.
def plain(value)
  case value
  when :default then { '__default__' => 1 }
  when nil, :undef then nil
  when true, false, Integer, Float, String then value
  when Puppet::Pops::Types::Iterable then plain(value.to_a)
  when Array then value.map { |v| plain(v) }
  when Hash then value.to_h { |k, v| [key(k), plain(v)] }
  when Regexp then Puppet::Pops::Types::PRegexpType.regexp_to_s_with_delimiters(value)
  else value.to_s
  end
end

def key(k)
  case k
  when String then k
  when Array then "[#{k.map { |v| key(v) }.join(', ')}]"
  when nil then ''
  else k.is_a?(Regexp) ? plain(k) : k.to_s
  end
end

def answer(source)
  Puppet::Pal.in_tmp_environment('table', modulepath: [], facts: Marshal.load(Marshal.dump(FACTS))) do |pal|
    pal.with_catalog_compiler do |compiler|
      Puppet[:strict] = :off # Pal is stricter than puppet apply
      Puppet[:strict_variables] = false
      return { expr: source, value: plain(compiler.evaluate_string(source)) }
    end
  end
rescue StandardError => e
  warn "#{source}: #{e.message.lines.first}" if ENV['VERBOSE']
  { expr: source, error: true }
end

Puppet.initialize_settings(['--vardir', '/tmp/puppet-table', '--confdir', '/tmp/puppet-table'])
Puppet::Util::Log.level = :crit

sources = File.readlines(File.join(__dir__, 'expressions.txt'), chomp: true).reject { |l| l.empty? || l.start_with?('#') }
cases = sources.uniq.map { |s| JSON.generate(answer(s)) }
File.write(File.join(__dir__, 'expressions.json'),
           "{\"facts\": #{JSON.generate(FACTS)},\n\"cases\": [\n#{cases.join(",\n")}\n]}\n")
