# Answers with real Puppet: one site per line of standard input, one line of answers each.
#
#   apt-get install puppet-agent    # Debian 12: Puppet 7.23 with Ruby 3.1
#   ruby oracle.rb [--compile]
#
# A line of input is {"dir": D, "nodes": [...], "questions": [{"node": N, "key": K, "merge": M}, ...]}. D has site/, which
# is every environment, and may have global/hiera.yaml. A line of output is an array with an answer for each question:
# {"found": true, "value": V}, {"found": false} or {"error": CLASS}, and "sensitive" where something in V is.
#
# A question may take MEMORY and SECONDS, for all of the process: beyond, its answer is the error 'exhausted'.
#
# Each question has a compiler of its own, because two things that Puppet caches depend on what was asked before.
# With --compile, each compiles a catalog, as an agent's request does; else it has just what a lookup needs of one,
# which is the same and much faster.
require 'fileutils'
require 'json'
require 'puppet'
require 'timeout'
require 'tmpdir'

MEMORY = 1 << 30
SECONDS = 60

# Classes of errors, by Puppet's messages. Any other error is named after its Ruby class: a bug of Puppet.
CLASSES = {
  'recursive' => /Recursive lookup detected/,
  'dig' => /Data Provider type mismatch|undefined method `include\?'/,
  'alias' => /'alias' interpolation is only permitted/,
  'method' => /Unknown interpolation method|Interpolation using method syntax is not allowed/,
  'convert' => /Invalid data type in lookup_options|The convert_to lookup_option/,
  'options' => /Unknown merge strategy|The merge options|must contain the name of a strategy|lookup_options|knockout_prefix cannot/,
  'merge' => /element of the merge|comparison of \w+ with|expects .*got/,
  'key' => /Syntax error/,
  'config' => /must be declared in hiera.yaml|undefined method `empty\?'/, # options; mapped_paths over a number
  'pattern' => /premature end of char-class|end pattern with/,
  'file' => /Is a directory/,
}.freeze

class Oracle
  def initialize(dir, whole)
    @dir = dir
    @whole = whole
    Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code",
                                '--environment_timeout', 'unlimited', '--log_level', 'crit'])
    Puppet.push_context(Puppet.base_context(Puppet.settings))
    Puppet[:code] = 'undef'
  end

  def answers(site)
    Puppet[:hiera_config] = File.join(site['dir'], 'global', 'hiera.yaml')
    environments = File.join(@dir, 'environments')
    FileUtils.rm_rf(environments)
    FileUtils.mkdir_p(environments)
    site['nodes'].map { |n| n['environment'] }.uniq.each do |name|
      File.symlink(File.join(site['dir'], 'site'), File.join(environments, name))
    end
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(environments), []))
    Puppet.override(environments: loader) do
      site['questions'].map { |q| bounded { answer(loader, site['nodes'][q['node']], q['key'], q['merge']) } }
    end
  end

  private

  def bounded(&block)
    Timeout.timeout(SECONDS, &block)
  rescue Timeout::Error, NoMemoryError
    { error: 'exhausted' }
  end

  def answer(loader, node, key, merge)
    with_compiler(loader.get!(node['environment']), node) do |compiler|
      invocation = Puppet::Pops::Lookup::Invocation.new(compiler.topscope, {}, {}, nil)
      value, found = nil, false
      catch(:no_such_key) do
        value = Puppet::Pops::Lookup.search_and_merge(key, invocation, merge, false)
        found = true
      end
      found ? found_answer(value) : { found: false }
    end
  rescue SystemExit, SignalException, NoMemoryError, Timeout::Error
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- SystemStackError is none of StandardError
    warn "#{key} #{merge}: #{e.class}: #{e.message.lines.first}" if ENV['VERBOSE']
    { error: CLASSES.keys.find { |c| e.message =~ CLASSES[c] } || e.class.name }
  end

  def with_compiler(environment, node)
    facts = Puppet::Node::Facts.new(node['trusted']['certname'], Marshal.load(Marshal.dump(node['facts'])))
    parameters = facts.values.merge(Marshal.load(Marshal.dump(node['vars'] || {})))
    asks = Puppet::Node.new(facts.name, environment: environment, facts: facts, parameters: parameters)
    asks.trusted_data = Marshal.load(Marshal.dump(node['trusted']))
    Puppet.override(current_environment: environment) do
      compiler = Puppet::Parser::Compiler.new(asks)
      next compile(compiler) { yield compiler } if @whole

      Puppet.override(compiler.context_overrides) do
        compiler.send(:set_node_parameters)
        yield compiler
      end
    end
  end

  def compile(compiler)
    result = nil
    compiler.compile do |catalog|
      result = yield
      catalog
    end
    result
  end

  def found_answer(value)
    @sensitive = false
    out = { found: true, value: plain(value) }
    out[:sensitive] = true if @sensitive
    out
  end

  # plain converts a value to the types of JSON. Sensitive values are shown.
  def plain(value)
    case value
    when nil, :undef, true, false, Integer, Float, String then value
    when Array then value.map { |v| plain(v) }
    when Hash then value.to_h { |k, v| [k.to_s, plain(v)] }
    when Puppet::Pops::Types::PSensitiveType::Sensitive
      @sensitive = true
      plain(value.unwrap)
    else raise TypeError, "#{value.class} is not of JSON"
    end
  end
end

Process.setrlimit(:AS, MEMORY)
Dir.mktmpdir('hiera5-') do |dir|
  oracle = Oracle.new(dir, ARGV.delete('--compile'))
  $stdin.each_line do |line|
    puts JSON.generate(oracle.answers(JSON.parse(line)))
    $stdout.flush
  end
end
