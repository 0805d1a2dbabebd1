# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'minitest/autorun'
require 'puppet'
require 'tmpdir'

# bindc::data_hash in environments of a real Puppet, with fake_bindq.
class DataHashTest < Minitest::Test
  MODULE = File.expand_path('..', __dir__)
  FAKE = File.expand_path('fake_bindq', __dir__)

  def self.dir
    @dir ||= Dir.mktmpdir('bindc-data-hash').tap do |dir|
      Minitest.after_run { FileUtils.rm_rf(dir) }
      Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code",
                                  '--environment_timeout', 'unlimited', '--log_level', 'crit'])
      Puppet.push_context(Puppet.base_context(Puppet.settings))
    end
  end

  def setup
    @dir = Dir.mktmpdir(nil, DataHashTest.dir)
    @file = "#{@dir}/site.json"
    configure
    snapshot('keys' => {})
  end

  def teardown
    return unless defined?(Puppet::Bindc_1_1_0)

    connections = Puppet::Bindc_1_1_0.instance_variable_get(:@connections) || {} # nil before the first connection
    connections.each_value { |connection| connection.send(:close) }
    connections.clear
    Puppet::Bindc_1_1_0.instance_variable_set(:@owner, nil) # drops all connections
  end

  # Creates an environment with an entry that uses the function, and levels below it.
  def configure(entry = {}, below: '', **options)
    @root = "#{@dir}/environments/production"
    options = { 'snapshot' => @file, 'command' => FAKE, 'timeout' => 20 }.merge(options.transform_keys(&:to_s))
    entry = { 'name' => 'bindc', 'data_hash' => 'bindc::data_hash', 'options' => options }.merge(entry)
    FileUtils.mkdir_p(["#{@root}/modules", "#{@root}/data"])
    FileUtils.ln_sf(MODULE, "#{@root}/modules/bindc") unless File.exist?("#{@root}/modules/bindc")
    File.write("#{@root}/hiera.yaml", "version: 5\nhierarchy:\n  - #{JSON.generate(entry)}\n#{below}")
  end

  def snapshot(data)
    File.write("#{@file}.new", JSON.generate({ 'digest' => 'd1', 'variables' => [], 'hiera' => true }.merge(data)))
    File.rename("#{@file}.new", @file)
  end

  def keys(values)
    snapshot('keys' => values.transform_values { |value| [{ 'value' => value }] })
  end

  # The questions since the last call.
  def asked
    lines = File.exist?("#{@file}.asked") ? File.readlines("#{@file}.asked").map { |line| JSON.parse(line) } : []
    lines.drop(@read.to_i).tap { @read = lines.length }
  end

  def asks
    asked.map { |question| question['ask'] }
  end

  # Yields the top scope of a compilation.
  def compile(variables = {})
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname("#{@dir}/environments"), []))
    environment = Puppet.override(environments: loader) { loader.get!('production') }
    facts = Puppet::Node::Facts.new('a.example.org', {})
    node = Puppet::Node.new(facts.name, environment: environment, facts: facts, parameters: variables)
    node.trusted_data = { 'certname' => facts.name }
    Puppet.override(environments: loader, current_environment: environment) do
      compiler = Puppet::Parser::Compiler.new(node)
      Puppet.override(compiler.context_overrides) do
        compiler.send(:set_node_parameters)
        yield compiler.topscope
      end
    end
  end

  def lookup(scope, key, merge = nil)
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
    Puppet::Pops::Lookup.lookup(key, nil, :none, true, merge, invocation)
  end

  # The values that one compilation looks up.
  def lookups(*keys)
    compile { |scope| keys.map { |key| lookup(scope, key) } }
  end

  def scope_with(scope, variables)
    scope.newscope(source: nil, resource: nil).tap { |inner| variables.each { |name, value| inner[name] = value } }
  end

  def test_found_and_undef_and_not_found
    keys('a::one' => 'x', 'a::nothing' => nil, 'a::deep' => { 'b' => [1, 2.0] })
    assert_equal ['x', nil, :none, 2.0], lookups('a::one', 'a::nothing', 'a::other', 'a::deep.b.1')
  end

  # Puppet would interpolate the values of a data_hash. When it loads the function, it only uses the
  # interface.
  def test_percent_signs_are_not_interpolated
    values = { 'a' => '%{facts.fqdn} 100% %{', 'b' => ['%{x}', { '%{y}' => "%{literal('%')}" }], 'c' => ['plain'] }
    keys(values)
    assert_equal values.values, lookups(*values.keys)
    compile do |scope|
      context = Struct.new(:environment_name, :invocation, :kept) do
        def cached_value(_) end

        def cache(_, value) value end
      end
      loaded = scope.compiler.loaders.private_environment_loader.load(:function, 'bindc::data_hash')
      invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
      options = { 'snapshot' => @file, 'command' => FAKE, 'timeout' => 20 }
      hash = loaded.call(scope, options, context.new('production', invocation))
      assert_instance_of Hash, hash
      assert_empty hash
      raw = values.keys.map { |key| hash[key] }
      assert_equal "%{literal('%')}{facts.fqdn} 100% %{literal('%')}{", raw[0]
      interpolating = Object.new.extend(Puppet::Pops::Lookup::Interpolation)
      assert_equal values.values, interpolating.interpolate(raw, invocation, true)
      assert_equal [nil, %w[a b c]], [hash['absent'], hash.keys]
    end
  end

  def test_sensitive_value_is_wrapped
    snapshot('keys' => { 'a' => [{ 'rich' => { '__ptype' => 'Sensitive', '__pvalue' => '%{x}' } }] })
    value = lookups('a').first
    assert_instance_of Puppet::Pops::Types::PSensitiveType::Sensitive, value
    assert_equal '%{x}', value.unwrap
  end

  def test_error_has_key_code_and_position
    error = { 'code' => 'type_mismatch', 'message' => 'expected Integer, found String' }
    snapshot('keys' => { 'a::x' => [{ 'error' => error }], 'a::y' => [{ 'value' => 1 }] })
    compile do |scope|
      2.times do
        message = assert_raises(Puppet::DataBinding::LookupError) { lookup(scope, 'a::x') }.message
        assert_equal 'bindc: a::x: expected Integer, found String [type_mismatch] (data/x.yaml:1:2)', message
      end
      assert_equal 1, lookup(scope, 'a::y')
    end
  end

  # bindq merges for an entry that represents several, so questions include the strategy. Puppet may
  # modify the value.
  def test_bindq_merges_and_values_are_copies
    keys('m::list' => %w[a b], 'm::other' => %w[c], 'x' => 1)
    compile do |scope|
      assert_equal 1, lookup(scope, 'x')
      asked
      2.times do
        list = lookup(scope, 'm::list', 'unique')
        assert_equal %w[a b], list
        list.clear
      end
      assert_equal [['keys', { 'strategy' => 'unique' }]], asked.map { |question| question.values_at('ask', 'merge') }
      assert_equal %w[c], lookup(scope, 'm::other', 'unique')
      assert_equal %w[c], lookup(scope, 'm::other', 'unique')
      assert_equal :none, lookup(scope, 'm::absent', 'unique')
      assert_equal ['prefix'], asks, 'the second question of a module is for all its keys'
      assert_equal %w[a b], lookup(scope, 'm::list')
    end
  end

  def test_puppet_merges_locations
    snapshot('hiera' => false, 'keys' => { 'a' => [{ 'value' => ['x'] }, { 'value' => ['y'] }], 'b' => [{ 'value' => ['z'] }] })
    configure({ 'uris' => %w[bindc:0 bindc:1 bindc:2] })
    compile do |scope|
      assert_equal [['x'], ['z'], :none], %w[a b c].map { |key| lookup(scope, key) }
      refute_includes asks, 'candidates'
      assert_equal [%w[x y], ['z'], :none], %w[a b c].map { |key| lookup(scope, key, 'unique') }
    end
  end

  # Within a class, its variable takes precedence over one of the top scope. ::role always means the
  # top scope.
  def test_variables_come_from_the_scope_of_the_lookup
    snapshot('variables' => %w[role zone], 'scoped' => %w[role ::zone], 'keys' => { 'a' => [{ 'value' => 1 }] })
    compile('role' => 'web', 'zone' => 'x') do |scope|
      inner = scope_with(scope, 'role' => 'db')
      same = scope_with(scope, 'zone' => 'y', 'other' => 1)
      [scope, inner, same, scope, inner].each { |from| assert_equal 1, lookup(from, 'a') }
    end
    told = asked.select { |question| question['ask'] == 'node' }.map { |question| question['vars'] }
    assert_equal [{ 'role' => 'web', 'zone' => 'x' }, { 'role' => 'db', '::role' => 'web', 'zone' => 'x' }], told
  end

  def test_explanations_have_the_lines_of_the_server
    keys('a' => 1)
    explainer = Puppet::Pops::Lookup::Explainer.new
    compile do |scope|
      invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, explainer)
      %w[a absent].each { |key| Puppet::Pops::Lookup.lookup(key, nil, :none, true, nil, invocation) }
    end
    text = explainer.explain
    ['why a', 'because', 'Found key: "a" value: 1', 'why absent', 'No such key: "absent"', 'Hierarchy entry "bindc"'].each do |line|
      assert_includes text, line
    end
  end

  def test_compare_reports_differences_without_values
    keys('a' => 'secret', 'b' => 2)
    configure(below: "  - {name: below, path: common.yaml, data_hash: yaml_data}\n", compare: true)
    File.write("#{@root}/data/common.yaml", "a: other\nb: 2\nc: 3\n")
    logged = []
    Puppet.singleton_class.send(:alias_method, :warning_before, :warning)
    Puppet.define_singleton_method(:warning) { |text| logged << text }
    assert_equal ['secret', 2, 3, 'secret'], lookups('a', 'b', 'c', 'a')
    assert_equal 2, logged.length, logged
    assert_match(/compare: a for a.example.org is another value .*1 of 1 answers differ/, logged[0])
    assert_match(/compare: c for a.example.org is not in the snapshot, .*2 of 3 answers differ/, logged[1])
    refute_match(/secret/, logged.join)
  ensure
    Puppet.singleton_class.send(:alias_method, :warning, :warning_before)
  end

  AHEAD = {
    'first' => [{ 'values' => {}, 'absent' => ['lookup_options'], 'merge' => { 'strategy' => 'hash' } },
                { 'values' => { 'a::x' => 1 }, 'absent' => ['a::gone'] }],
    'rest' => [{ 'values' => { 'b::x' => 2 }, 'rich' => { 'b::type' => { '__ptype' => 'Default' } },
                 'errors' => { 'b::bad' => { 'code' => 'loop', 'message' => 'round' } }, 'held' => ['b::secret'] },
               { 'values' => { 'm::list' => ['x'] }, 'merge' => { 'strategy' => 'unique' } }]
  }.freeze

  # The session requests the first keys and then the others at once. No further questions are
  # needed.
  def test_keys_sent_ahead_need_no_question
    snapshot('ahead' => AHEAD, 'keys' => { 'b::secret' => [{ 'value' => 's' }] })
    compile do |scope|
      assert_equal [1, :none, 2, :default], %w[a::x a::gone b::x b::type].map { |key| lookup(scope, key) }
      questions = asked
      assert_equal %w[hello node ahead ahead], questions.map { |question| question['ask'] }
      assert_equal [[nil, 32], [32, nil]], questions.last(2).map { |question| question.values_at('from', 'to') }
      assert_equal ['x'], lookup(scope, 'm::list', 'unique')
      assert_match(/round \[loop\]/, assert_raises(Puppet::DataBinding::LookupError) { lookup(scope, 'b::bad') }.message)
      assert_equal ['explain'], asks
      assert_equal 's', lookup(scope, 'b::secret')
      assert_equal [['keys', ['b::secret']]], asked.map { |question| question.values_at('ask', 'keys') }
    end
    lookups('a::x')
    assert_nil asked.find { |question| question['asked'] }, 'the server sent exactly the needed keys'
  end

  # The server is told of keys that it did not send, and forgets those that were not needed if they
  # are the majority.
  def test_server_is_told_which_keys_to_send_ahead
    snapshot('ahead' => AHEAD, 'keys' => { 'c::new' => [{ 'value' => 3 }] })
    lookups('a::x', 'a::gone', 'c::new')
    assert_equal %w[hello node ahead ahead prefix], asks
    lookups('a::x', 'a::gone', 'b::x', 'c::new')
    lists = asked.find { |question| question['ask'] == 'node' }['asked']
    assert_equal [[nil, %w[a::x a::gone c::new]], [{ 'strategy' => 'hash' }, ['lookup_options']]],
                 lists.map { |list| list.values_at('merge', 'keys') }
    assert_equal [[1, '0-']], lists.map { |list| list.values_at('session', 'entries') }.uniq
    lookups('a::x')
    lists = asked.find { |question| question['ask'] == 'node' }['asked']
    assert_equal %w[a::x a::gone b::x c::new b::type b::bad b::secret], lists.first['keys'], 'most keys were needed'
  end

  def test_keys_missing_from_complete_answer_are_not_found
    snapshot('ahead' => { 'rest' => [{ 'values' => { 'a::x' => 1 }, 'held' => ['a::held'], 'complete' => true }] },
             'keys' => { 'a::held' => [{ 'value' => 2 }], 'a::other' => [{ 'value' => 'must not be requested' }] })
    assert_equal [1, :none, 2], lookups('a::x', 'a::other', 'a::held')
    assert_equal %w[hello node ahead ahead keys keys], asks
    lookups('a::x')
    assert_includes asked.find { |question| question['asked'] }['asked'].flat_map { |list| list['keys'] }, 'a::other'
  end

  def test_child_dies_before_the_rest_is_read
    snapshot('ahead' => AHEAD, 'keys' => { 'b::x' => [{ 'value' => 2 }] })
    compile do |scope|
      assert_equal 1, lookup(scope, 'a::x')
      connection = Puppet::Bindc_1_1_0.instance_variable_get(:@connections).values.last
      connection.send(:close)
      assert_equal 2, lookup(scope, 'b::x')
    end
    assert_equal %w[hello node hello node prefix], asks - ['ahead']
  end

  # The module first looks up the keys that the environment's last compilation asked for
  # first. In this test, hiera.yaml no longer uses the snapshot.
  def test_first_questions_precede_reading_hiera_yaml
    keys('a' => 1)
    assert_equal [1], lookups('a')
    asked
    File.write("#{@root}/hiera.yaml", "version: 5\nhierarchy: [{name: own, path: own.yaml}]\n")
    File.write("#{@root}/data/own.yaml", 'a: 7')
    assert_equal [7], lookups('a')
    assert_equal %w[node ahead ahead], asks
    configure
    assert_equal [1], lookups('a')
    assert_equal 1, asks.count('node')
  end

  def test_early_questions_about_replaced_snapshot_are_repeated
    keys('a' => 1)
    assert_equal [1], lookups('a')
    asked
    snapshot('digest' => 'd2', 'variables' => ['role'], 'keys' => { 'a' => [{ 'value' => 2 }] })
    compile('role' => 'web') { |scope| assert_equal 2, lookup(scope, 'a') }
    questions = asked
    assert_equal %w[node node], questions.map { |question| question['ask'] } - %w[ahead keys prefix]
    assert_equal [nil, 'web'], questions.filter_map { |question| question['vars'] }.map { |vars| vars['role'] }
  end

  def test_child_dies_during_early_questions
    keys('a' => 1)
    assert_equal [1], lookups('a')
    asked
    File.write("#{@file}.fault", 'exit')
    assert_equal [1], lookups('a')
    assert_equal %w[node hello node], asks.first(3) - ['ahead']
  end

  # The session belongs to the caller of the first lookup.
  def test_early_questions_use_the_scope_of_the_lookup
    snapshot('variables' => ['role'], 'scoped' => ['role'], 'keys' => { 'a' => [{ 'value' => 1 }] })
    lookups('a')
    asked
    compile('zone' => 'x') { |scope| assert_equal 1, lookup(scope_with(scope, 'role' => 'db'), 'a') }
    assert_equal ['db'], asked.filter_map { |question| question['vars'] }.map { |vars| vars['role'] }
  end

  def test_each_catalog_has_its_own_values
    keys('a' => 1)
    assert_equal [1], lookups('a')
    keys('a' => 2)
    assert_equal [2], lookups('a')
  end

  def test_module_data_only_answers_its_own_keys
    keys('own::x' => 1, 'a' => 2)
    root = "#{@root}/modules/own"
    FileUtils.mkdir_p(root)
    FileUtils.mv("#{@root}/hiera.yaml", "#{root}/hiera.yaml")
    assert_equal [1, :none, :none], lookups('own::x', 'own::y', 'a')
  end
end
