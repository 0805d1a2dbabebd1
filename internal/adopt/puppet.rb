# frozen_string_literal: true

# The part of bindc adopt that runs inside Puppet, in one process. Usage: puppet.rb ORDER ANSWER,
# both JSON files. ORDER has the action ("probe" or "compare"), the name of the environment, and
# the directories that contain it.
require 'json'
begin
  require 'puppet'
rescue LoadError => e
  abort e.message
end

class Adoption
  MERGES = [nil, 'first', 'unique', 'hash', 'deep'].freeze
  SLICE = 200 # keys between two looks at the clock
  LISTED = 500 # differences that are listed; all are counted
  # Errors that a backend may raise, including a missing library and an endless recursion.
  FAILURES = [StandardError, ScriptError, SystemStackError].freeze

  def initialize(order)
    @order = order
    @name = order['environment']
    Puppet.settings.preferred_run_mode = :server
    keeping = order['do'] == 'compare' ? ['--environment_timeout', 'unlimited'] : []
    Puppet.initialize_settings(['--log_level', 'crit', *keeping])
    Puppet.push_context(Puppet.base_context(Puppet.settings))
  end

  # Describes the installation of Puppet for a comparison.
  def probe
    environments = loader(@order['own'])
    environment = Puppet.override(environments: environments) { environments.get!(@name) }
    { 'version' => Puppet.version, 'modulepath' => environment.modulepath, 'facts' => "#{Puppet[:yamldir]}/facts", 'group' => Puppet[:group], 'timeout' => Puppet[:environment_timeout].to_s,
      'eyaml' => Puppet.features.hiera_eyaml? ? true : false }
  end

  # Looks every key up with and without the snapshot, for each node: first as a class does, then with each merge. Ends
  # after so many seconds.
  def compare
    @counts = Hash.new(0)
    @differences = []
    @failing = []
    @deadline = now + @order['seconds']
    loaders = %w[own asking].map { |one| loader(@order[one]) }
    @order['keys'] |= nodes.flat_map { |node| with_scope(loaders.first, node) { |scope| keys_of_files(scope) } }
    complete = steps { |node, merge, keys| compare_some(loaders, node, merge, keys) }
    { 'version' => Puppet.version, 'complete' => complete, 'keys' => @order['keys'].length, 'answers' => @counts[:answers], 'found' => @counts[:found],
      'plain' => @counts[nil], 'failing' => @counts[:failing], 'failing_keys' => @failing,
      'nodes' => nodes.map { |node| node['name'] }, 'different' => @counts[:different], 'differences' => @differences }
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def steps
    MERGES.each do |merge|
      nodes.each do |node|
        @order['keys'].each_slice(SLICE) do |keys|
          return false if now > @deadline

          yield node, merge, keys
        end
      end
    end
    true
  end

  def loader(dir)
    modules = Puppet[:basemodulepath].split(File::PATH_SEPARATOR)
    Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname.new(dir), modules))
  end

  # The nodes of the order, or this machine.
  def nodes
    @nodes ||= @order['nodes'].empty? ? [this_machine] : @order['nodes']
  end

  def this_machine
    require 'facter'
    { 'name' => Puppet[:certname], 'facts' => JSON.parse(JSON.generate(Facter.to_hash)) }
  end

  def compare_some(loaders, node, merge, keys)
    own, asking = loaders.map { |loader| with_scope(loader, node) { |scope| keys.map { |key| answer(scope, key, merge) } } }
    keys.each_index { |i| count(node, keys[i], merge, own[i], asking[i]) }
  end

  # The keys in the files that Puppet itself reads for a node, which the snapshot may lack.
  def keys_of_files(scope)
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
    own = invocation.lookup_adapter.send(:env_provider, invocation)
    files = own.send(:data_providers, invocation).grep(Puppet::Pops::Lookup::DataHashFunctionProvider)
    files.flat_map { |provider| keys_of(provider, invocation) } - ['lookup_options']
  rescue *FAILURES
    [] # lookups fail too, which is compared
  end

  def keys_of(provider, invocation)
    return [] unless %w[yaml_data json_data].include?(provider.function_name)

    provider.locations.compact.select(&:exist?).flat_map { |file| provider.send(:data_hash, invocation, file).keys }
            .grep(String)
  end

  def count(node, key, merge, own, asking)
    @counts[:answers] += 1
    @counts[merge] += 1
    @counts[:found] += 1 if own.key?(:value)
    fails(key, merge) if own.key?(:error) && asking.key?(:error)
    how = difference(own, asking)
    return unless how

    @counts[:different] += 1
    return if @differences.length >= LISTED

    @differences << { 'key' => key, 'node' => node['name'], 'merge' => merge.to_s, 'how' => how }
  end

  # Counts a lookup that fails with and without the snapshot. Lists the key if it fails without a merge, because then
  # it fails in catalogs, too.
  def fails(key, merge)
    @counts[:failing] += 1
    @failing |= [key] if merge.nil?
  end

  # Describes the difference of two answers, or returns nil. It omits the values, which may be secret.
  def difference(own, asking)
    return if own.key?(:error) && asking.key?(:error)
    return "fails in Puppet's own data only" if own.key?(:error)
    return "fails with the snapshot only#{said(asking[:error])}" if asking.key?(:error)
    return if own.eql?(asking)
    return 'is not in the snapshot' if asking.empty?

    own.empty? ? "is not in Puppet's own data" : 'has another value'
  end

  # Returns Puppet's own message, which may contain values.
  def said(error)
    error.start_with?('bindc: ') ? ": #{error}" : ''
  end

  def with_scope(loader, node)
    Puppet.override(environments: loader) do
      environment = loader.get!(@name)
      compiler = Puppet::Parser::Compiler.new(described(node, environment))
      Puppet.override(compiler.context_overrides.merge(current_environment: environment)) do
        compiler.send(:set_node_parameters)
        yield compiler.topscope
      end
    end
  end

  def described(node, environment)
    facts = Puppet::Node::Facts.new(node['name'], node['facts'].dup)
    asking = Puppet::Node.new(facts.name, environment: environment, facts: facts,
                                          parameters: facts.values.merge(node['vars'] || {}))
    given = node['trusted'] || {}
    trusted = Puppet::Context::TrustedInformation.new(given['authenticated'] || 'remote', given['certname'] || facts.name,
                                                      given['extensions'] || {})
    asking.trusted_data = trusted.to_h.merge(given)
    asking
  end

  # A key with dots is quoted, so that Puppet does not dig into values.
  def answer(scope, key, merge)
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
    value = Puppet::Pops::Lookup.lookup(key.include?('.') ? "'#{key}'" : key, nil, :none, true, merge, invocation)
    value.equal?(:none) ? {} : { value: plain(value) }
  rescue *FAILURES => e
    { error: e.message.lines.first.to_s.strip }
  end

  # A Sensitive value is compared by its content.
  def plain(value)
    case value
    when Puppet::Pops::Types::PSensitiveType::Sensitive then [:sensitive, plain(value.unwrap)]
    when Array then value.map { |item| plain(item) }
    when Hash then value.transform_values { |item| plain(item) }
    else value
    end
  end
end

begin
  order = JSON.parse(File.read(ARGV[0]), max_nesting: false)
  adoption = Adoption.new(order)
  answer = order['do'] == 'probe' ? adoption.probe : adoption.compare
  File.write(ARGV[1], JSON.generate(answer))
rescue *Adoption::FAILURES => e
  abort "#{e.class}: #{e.message.lines.first.to_s.strip}"
end
