# frozen_string_literal: true

require 'json'
require 'puppet'
require 'tmpdir'

# Runs the steps of testdata/protocol with the client of this module: one JSON object per line, one answer per line.
class Conformance
  FUNCTION = File.expand_path('../lib/puppet/functions/bindc/lookup_key.rb', __dir__)
  SENSITIVE = Puppet::Pops::Types::PSensitiveType::Sensitive

  # The context that Puppet passes to the function, one for each compilation.
  class Context
    Invocation = Struct.new(:scope, :adapter_class, :explainer)

    attr_reader :invocation

    def initialize(scope)
      @cache = {}
      @invocation = Invocation.new(scope)
    end

    def environment_name
      :production
    end

    def cached_value(key)
      @cache[key]
    end

    def cache(key, value)
      @cache[key] = value
    end

    def not_found
      throw :not_found, :not_found
    end

    def explain; end
  end

  def initialize(socket, dir)
    @options = { 'socket' => socket, 'timeout' => 1 }
    @nodes = {}
    Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code"])
    Puppet.push_context(Puppet.base_context(Puppet.settings))
    @function = eval(File.read(FUNCTION), TOPLEVEL_BINDING, FUNCTION)
  end

  def step(step)
    return node(step) if step['do'] == 'node'

    function, context = @nodes.fetch(step['node'])
    value = catch(:not_found) { function.lookup_key(step['key'], @options, context) }
    value.equal?(:not_found) ? { 'absent' => true } : { 'value' => rich(value) }
  rescue Puppet::DataBinding::LookupError => e
    { 'error' => code(e.message) }
  end

  private

  # Every node is the compilation of a catalog.
  def node(step)
    node = Puppet::Node.new('a.example.org', environment: Puppet::Node::Environment.create(:production, []))
    scope = Puppet::Parser::Compiler.new(node).topscope
    facts = step.fetch('facts', {})
    facts.merge(step.fetch('vars', {}), 'facts' => facts).each do |name, value|
      scope.setvar(name, value, privileged: true)
    end
    @nodes[step['node']] = [@function.new(scope, nil), Context.new(scope)]
    {}
  end

  def code(message)
    return 'replaced' if message.include?('was replaced while')
    return 'protocol' if message.include?('which this module does not know') || message.include?('is not JSON')

    message[/\[(\w+)\]/, 1] || 'connection'
  end

  # Returns a value in the form of the protocol.
  def rich(value)
    case value
    when Array then value.map { |item| rich(item) }
    when Hash then hash(value)
    when SENSITIVE then special('Sensitive', rich(value.unwrap))
    when Regexp then special('Regexp', value.source)
    when Puppet::Pops::Types::PAnyType then special('Type', value.to_s)
    when :default then { '__ptype' => 'Default' }
    when Float then value.finite? ? value : special('Float', value.to_s)
    when String then value.valid_encoding? && value.encoding == Encoding::UTF_8 ? value : binary(value)
    else value
    end
  end

  def binary(value)
    special('Binary', [value].pack('m0'))
  end

  def hash(value)
    plain = value.keys.all? { |key| key.is_a?(String) && key != '__ptype' }
    return value.transform_values { |item| rich(item) } if plain

    special('Hash', value.flat_map { |pair| rich(pair) })
  end

  def special(type, value)
    { '__ptype' => type, '__pvalue' => value }
  end
end

$stdout.sync = true
Dir.mktmpdir('bindc-conformance') do |dir|
  client = Conformance.new(ARGV.first, dir)
  $stdin.each_line { |line| puts JSON.generate(client.step(JSON.parse(line))) }
end
