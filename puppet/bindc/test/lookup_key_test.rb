# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'minitest/autorun'
require 'puppet'
require 'tmpdir'

# bindc::lookup_key with fake_bindq as its child.
class LookupKeyTest < Minitest::Test
  FUNCTION = File.expand_path('../lib/puppet/functions/bindc/lookup_key.rb', __dir__)
  FAKE = File.expand_path('fake_bindq', __dir__)

  def self.function
    @function ||= eval(File.read(FUNCTION), TOPLEVEL_BINDING, FUNCTION)
  end

  # A stand-in for the Puppet::LookupContext that Puppet creates for each location in each compilation.
  class Context
    attr_accessor :explaining
    attr_reader :explained

    Invocation = Struct.new(:scope, :adapter_class, :explainer)

    attr_reader :invocation

    def initialize(environment, scope)
      @environment = environment
      @cache = {}
      @invocation = Invocation.new(scope)
    end

    def environment_name
      @environment.to_sym
    end

    def cached_value(key)
      @cache[key]
    end

    def cache(key, value)
      @cache[key] = value
    end

    def not_found
      throw :no_such_key, :not_found
    end

    def explain
      (@explained ||= []) << yield if explaining
    end
  end

  # Puppet without configuration files.
  def self.puppet
    @puppet ||= Dir.mktmpdir('bindc-lookup-key').tap do |dir|
      Minitest.after_run { FileUtils.rm_rf(dir) }
      Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code"])
      Puppet.push_context(Puppet.base_context(Puppet.settings))
    end
  end

  # The top scope of a compilation.
  def self.scope(variables)
    puppet
    node = Puppet::Node.new('a.example.org', environment: Puppet::Node::Environment.create(:production, []))
    scope = Puppet::Parser::Compiler.new(node).topscope
    variables.each { |name, value| scope.setvar(name, value, privileged: true) }
    scope
  end

  # A compilation of a catalog: locations by number, all with one scope.
  class Compile
    attr_reader :contexts

    def initialize(variables, options, environment)
      scope = LookupKeyTest.scope(variables)
      @function = LookupKeyTest.function.new(scope, nil)
      @options = options
      @contexts = Hash.new { |all, location| all[location] = Context.new(environment, scope) }
    end

    def lookup(key, location = nil)
      options = location ? @options.merge('uri' => "bindc:#{location}") : @options
      catch(:no_such_key) { @function.lookup_key(key, options, @contexts[location]) }
    end
  end

  def setup
    LookupKeyTest.function
    @dir = Dir.mktmpdir
    @file = "#{@dir}/site.json"
    snapshot('keys' => {})
  end

  def teardown
    disconnect
    FileUtils.rm_rf(@dir)
  end

  def disconnect
    connections.each { |connection| connection.send(:close) }
    Puppet::Bindc_1_1_0.instance_variable_get(:@connections)&.clear
    Puppet::Bindc_1_1_0.instance_variable_set(:@owner, nil) # drops all connections
  end

  def connections
    Puppet::Bindc_1_1_0.instance_variable_get(:@connections).to_h.values # nil before the first connection
  end

  def child_pids
    connections.map { |connection| connection.instance_variable_get(:@io).pid }
  end

  # A defunct process does not count as gone.
  def gone?(pid)
    !File.exist?("/proc/#{pid}")
  end

  def within(seconds, message)
    deadline = Time.now + seconds
    sleep 0.01 until yield || Time.now > deadline
    assert yield, message
  end

  def snapshot(data)
    File.write("#{@file}.new", JSON.generate({ 'digest' => 'd1', 'variables' => [] }.merge(data)))
    File.rename("#{@file}.new", @file)
  end

  def keys(values)
    snapshot('keys' => values.transform_values { |value| [{ 'value' => value }] })
  end

  # A word, or a word and the number of times.
  def fault(what)
    words = what.is_a?(Hash) ? what.flat_map { |word, times| [word] * times } : [what]
    File.write("#{@file}.fault", words.join("\n"))
  end

  def asked
    File.readlines("#{@file}.asked").map { |line| JSON.parse(line) }
  end

  # The questions, without those for answers to send ahead.
  def asks
    asked.map { |question| question['ask'] } - ['ahead']
  end

  def compile(variables: {}, environment: 'production', **options)
    options = { command: FAKE, snapshot: @file, timeout: 20 }.merge(options).compact.transform_keys(&:to_s)
    Compile.new({ 'facts' => {} }.merge(variables), options, environment)
  end

  def refused(&block)
    assert_raises(Puppet::DataBinding::LookupError, &block).message
  end

  def test_found_and_undef_and_not_found
    keys('a::one' => 'x', 'a::nothing' => nil)
    catalog = compile
    assert_equal 'x', catalog.lookup('a::one')
    assert_nil catalog.lookup('a::nothing')
    assert_equal :not_found, catalog.lookup('a::other')
  end

  def test_keys_of_a_module_need_one_question
    keys('a::one' => 1, 'a::two' => 2, 'a::b::three' => 3, 'plain' => 4)
    catalog = compile
    assert_equal [1, 2, :not_found], %w[a::one a::two a::none].map { |key| catalog.lookup(key) }
    assert_equal 3, catalog.lookup('a::b::three')
    assert_equal %w[hello node prefix], asks
    assert_equal [4, :not_found], %w[plain other].map { |key| catalog.lookup(key) }
    assert_equal %w[hello node prefix prefix], asks
  end

  def test_keys_of_large_module_are_requested_one_by_one
    snapshot('large' => true, 'keys' => { 'a::one' => [{ 'value' => 1 }], 'a::two' => [{ 'value' => 2 }] })
    catalog = compile
    assert_equal [1, 2, :not_found, 1], %w[a::one a::two a::none a::one].map { |key| catalog.lookup(key) }
    assert_equal %w[prefix keys keys keys], asks.drop(2)
  end

  def test_values_keep_their_kind
    values = { 'i' => 1, 'f' => 1.0, 'big' => 2**62 + 1, 't' => true, 'l' => [1, [nil]], 'h' => { 'b' => 1, 'a' => 2.5 } }
    keys(values)
    catalog = compile
    values.each { |key, value| assert value.eql?(catalog.lookup(key)), key }
    assert_equal %w[b a], catalog.lookup('h').keys
  end

  def test_values_without_json_form
    rich = {
      'regexp' => [{ '__ptype' => 'Regexp', '__pvalue' => 'a.b' }, /a.b/],
      'type' => [{ '__ptype' => 'Type', '__pvalue' => 'Array[String]' },
                 Puppet::Pops::Types::TypeFactory.array_of(Puppet::Pops::Types::TypeFactory.string)],
      'default' => [[{ '__ptype' => 'Default' }], [:default]],
      'hash' => [{ '__ptype' => 'Hash', '__pvalue' => [1, 'a', '__ptype', { 'x' => { '__ptype' => 'Default' } }] },
                 { 1 => 'a', '__ptype' => { 'x' => :default } }],
      'float' => [{ '__ptype' => 'Float', '__pvalue' => '-Infinity' }, -Float::INFINITY],
      'binary' => [{ '__ptype' => 'Binary', '__pvalue' => '/w==' }, "\xff".b]
    }
    snapshot('keys' => rich.transform_values { |wire, _| [{ 'rich' => wire }] })
    catalog = compile
    rich.each { |key, (_, value)| assert_equal value, catalog.lookup(key), key }
  end

  def test_sensitive_value_is_wrapped
    snapshot('keys' => { 'a' => [{ 'rich' => { '__ptype' => 'Sensitive', '__pvalue' => 'x' } }] })
    value = compile.lookup('a')
    assert_instance_of Puppet::Pops::Types::PSensitiveType::Sensitive, value
    assert_equal 'x', value.unwrap
  end

  def test_unknown_type_of_newer_bindq_is_an_error
    snapshot('keys' => { 'a' => [{ 'rich' => { '__ptype' => 'Moon' } }] })
    assert_match(/answers with a Moon, .* install a newer one/, refused { compile.lookup('a') })
  end

  def test_server_gets_facts_variables_and_trusted
    snapshot('variables' => %w[fqdn os role absent], 'trusted' => true, 'keys' => {})
    compile(environment: 'staging', variables: {
              'fqdn' => 'a.example', 'os' => { 'family' => 'Debian' }, 'role' => 'web', 'trusted' => { 'certname' => 'a' },
              'facts' => { 'fqdn' => 'a.example', 'os' => { 'family' => 'Debian' }, 'kernel' => 'Linux', 'role' => 'db' }
            }).lookup('x')
    node = asked.select { |question| question['ask'] == 'node' }.last
    assert_equal({ 'fqdn' => 'a.example', 'os' => { 'family' => 'Debian' }, 'role' => 'db' }, node['facts'])
    assert_equal({ 'role' => 'web' }, node['vars'])
    assert_equal({ 'certname' => 'a' }, node['trusted'])
    assert_equal 'staging', node['environment']
  end

  # Lookups that fail in Puppet's own data. The server is told which variables are set to undef.
  def test_strict_question_lists_undef_variables
    snapshot('variables' => %w[role zone absent], 'keys' => {})
    before = Puppet[:strict]
    variables = { 'facts' => {}, 'role' => 'web', 'zone' => nil }
    told = { warning: { 'role' => 'web' }, error: { 'role' => 'web', 'zone' => nil } }.map do |strict, vars|
      Puppet[:strict] = strict
      compile(variables: variables).lookup('x')
      node = asked.select { |question| question['ask'] == 'node' }.last
      assert_equal vars, node['vars']
      node['strict_variables']
    end
    assert_equal [nil, true], told
  ensure
    Puppet[:strict] = before
  end

  def test_second_catalog_sends_needed_facts
    keys('a' => 1)
    2.times { assert_equal 1, compile.lookup('a') }
    assert_equal %w[hello node prefix node prefix], asks
  end

  def test_each_candidate_is_at_its_location
    snapshot('keys' => { 'a' => [{ 'value' => ['x'] }, { 'value' => ['y'] }], 'b' => [{ 'value' => 1 }] })
    catalog = compile
    assert_equal [['x'], ['y'], :not_found], [0, 1, 2].map { |location| catalog.lookup('a', location) }
    assert_equal [1, :not_found], [0, 1].map { |location| catalog.lookup('b', location) }
    assert_equal [:not_found] * 2, [0, 1].map { |location| catalog.lookup('c', location) }
    assert_equal %w[hello node prefix candidates candidates], asks
    assert_match(/the uri of location N is bindc:N, not bindc:x/, refused { catalog.lookup('a', 'x') })
  end

  def test_error_has_code_and_position
    error = { 'code' => 'type_mismatch', 'message' => 'expected Integer, found String' }
    snapshot('keys' => { 'a::x' => [{ 'error' => error }], 'a::y' => [{ 'value' => 1 }] })
    catalog = compile
    assert_equal 1, catalog.lookup('a::y')
    assert_equal 'bindc: a::x: expected Integer, found String [type_mismatch] (data/x.yaml:1:2)',
                 refused { catalog.lookup('a::x') }
  end

  def test_explain_passes_each_line_separately
    catalog = compile
    catalog.contexts[nil].explaining = true
    catalog.lookup('a')
    assert_equal ['why a', 'because'], catalog.contexts[nil].explained
  end

  def test_environments_share_the_child_of_their_directory
    FileUtils.cp(@file, "#{@dir}/staging.snap")
    questions = Puppet::Bindc_1_1_0::Settings.new({ 'snapshot' => "#{@dir}/staging.snap" }, 'staging')
    assert_equal ['bindq', 'serve', '--stdio', '-s', @dir], questions.command
    other = Puppet::Bindc_1_1_0::Settings.new({ 'snapshot' => "#{@dir}/production.snap" }, 'production')
    assert_equal questions.key, other.key
    fixed = Puppet::Bindc_1_1_0::Settings.new({ 'snapshot' => "#{@dir}/staging.snap" }, 'production')
    assert_equal "#{@dir}/staging.snap", fixed.command.last
  end

  def test_command_arguments_are_passed_on
    settings = Puppet::Bindc_1_1_0::Settings.new({ 'snapshot' => '/x', 'command' => %w[/opt/bindq --identity /key] }, 'p')
    assert_equal %w[/opt/bindq serve --identity /key --stdio -s /x], settings.command
  end

  def test_invalid_options_are_rejected
    { { snapshot: nil } => /one of 'snapshot' and 'socket' must be given/,
      { socket: '/x' } => /one of 'snapshot' and 'socket' must be given/,
      { snapshot: nil, socket: '/x' } => /'command' starts a child; with 'socket' there is none/,
      { command: [] } => /'command' is the path of bindq/, { timeout: 0 } => /'timeout' is a number of seconds above 0/,
      { compare: 'yes' } => /'compare' is true or false/,
      { snapshot: 1 } => /'snapshot' is a path, not 1/, { entries: '2' } => /'entries' is FROM-TO or FROM-, .* not "2"/,
      { path: '/x' } => /there is no option 'path'; there are snapshot,/
    }.each { |options, message| assert_match message, refused { compile(**options).lookup('a') }, options.to_s }
  end

  def test_missing_program_is_reported
    message = refused { compile(command: "#{@dir}/bindq").lookup('a') }
    assert_match %r{cannot start #{@dir}/bindq serve .*: No such file.*Install bindq where Puppet's user may run it}, message
    FileUtils.ln_s(FAKE, "#{@dir}/bindq")
    assert_equal :not_found, compile(command: "#{@dir}/bindq").lookup('a')
  end

  def test_child_that_exits_immediately_is_reported
    message = refused { compile(command: '/bin/false').lookup('a') }
    assert_match %r{/bin/false serve --stdio -s .*; the next lookup starts another. If this happens again, run}, message
  end

  def test_dead_child_is_restarted
    keys('a::x' => 1, 'b::x' => 2)
    catalog = compile
    assert_equal 1, catalog.lookup('a::x')
    fault('exit')
    assert_equal 2, catalog.lookup('b::x')
    assert_equal %w[hello node prefix prefix hello node prefix], asks
  end

  def test_restarted_child_with_other_snapshot_fails_the_catalog
    keys('a::x' => 1, 'b::x' => 2)
    catalog = compile
    assert_equal 1, catalog.lookup('a::x')
    fault('exit')
    snapshot('digest' => 'd2', 'keys' => { 'b::x' => [{ 'value' => 3 }] })
    assert_match(/the snapshot was replaced while .* \(d1 by d2\).* run Puppet again/, refused { catalog.lookup('b::x') })
    assert_equal 3, compile.lookup('b::x')
  end

  def test_session_keeps_its_snapshot
    keys('a::x' => 1, 'b::x' => 2)
    catalog = compile
    assert_equal 1, catalog.lookup('a::x')
    snapshot('digest' => 'd2', 'keys' => { 'b::x' => [{ 'value' => 3 }] })
    assert_equal 2, catalog.lookup('b::x')
    assert_equal 3, compile.lookup('b::x')
  end

  def test_forgotten_session_is_reopened
    keys('a::x' => 1, 'b::x' => 2)
    catalog = compile
    assert_equal 1, catalog.lookup('a::x')
    fault('forget')
    assert_equal 2, catalog.lookup('b::x')
  end

  def test_stopped_child_is_replaced_after_timeout
    keys('a::x' => 1)
    assert_equal 1, compile(timeout: 5).lookup('a::x')
    fault('stop')
    assert_equal 1, compile(timeout: 5).lookup('a::x')
    assert_equal 2, asks.count('hello')
  end

  # The first lookup of a process has no merge strategy yet. Puppet merges locations.
  def test_first_lookup_merges_lookup_options
    keys('lookup_options' => {})
    compile.lookup('lookup_options')
    assert_equal({ 'strategy' => 'hash' }, asked.last['merge'])
    compile.lookup('lookup_options', 0)
    refute asked.last.key?('merge')
    compile.lookup('other')
    refute asked.last.key?('merge')
  end

  # A process ends its own children and waits for them. A forked process does not touch those of its
  # parent.
  def test_children_end_with_the_process_that_started_them
    keys('a::x' => 1)
    assert_equal 1, compile.lookup('a::x')
    pid = child_pids.last
    Process.wait(fork do
      Puppet::Bindc_1_1_0.finish
      exit!
    end)
    refute gone?(pid), 'the forked process has ended it'
    Puppet::Bindc_1_1_0.finish
    assert gone?(pid), 'it is still running'
    assert_equal 1, compile.lookup('a::x')
    assert_equal 2, asks.count('hello')
  end

  # No further question is needed, because the child's environment may no longer be used.
  def test_child_killed_while_idle_is_not_defunct
    keys('a::x' => 1)
    assert_equal 1, compile.lookup('a::x')
    pid = child_pids.last
    Process.kill('KILL', pid)
    within(10, 'it is still defunct') { gone?(pid) }
    assert_equal 1, compile.lookup('a::x')
    assert_equal 2, asks.count('hello')
  end

  # A failure while ending one child affects neither the rest of the cleanup nor other children.
  def test_all_children_end_even_if_closing_fails
    [[:close, IOError.new('stream closed in another thread')], [:close, Errno::EBADF.new], [:pid, ThreadError.new('no')]].each do |name, error|
      keys('a::x' => 1)
      [20, 21, 22].each { |timeout| assert_equal 1, compile(timeout: timeout).lookup('a::x') }
      pids = child_pids
      ios = connections.map { |connection| connection.instance_variable_get(:@io) }
      ios.first(2).each { |io| io.define_singleton_method(name) { raise error } }
      Puppet::Bindc_1_1_0.finish
      within(10, "#{name}: #{error.message}: a child is left") { pids.all? { |pid| gone?(pid) } }
      ios.first(2).each { |io| io.singleton_class.send(:remove_method, name) }
      disconnect
    end
  end

  # The child of the parent process only serves the parent.
  def test_forked_process_starts_its_own_child
    keys('a::x' => 1)
    assert_equal 1, compile.lookup('a::x')
    forked = fork do
      found = compile.lookup('a::x')
      disconnect
      exit!(found == 1 ? 0 : 1)
    end
    _, status = Process.wait2(forked)
    assert_equal 0, status.exitstatus
    refute gone?(child_pids.last), 'the child of the parent process was ended'
    assert_equal 1, compile.lookup('a::x')
    assert_equal 2, asks.count('hello')
  end

  def test_child_dying_twice_in_a_lookup_is_restarted
    keys('a::x' => 1)
    fault('exit' => 2)
    assert_equal 1, compile.lookup('a::x')
    assert_equal 3, asks.count('hello')
  end

  def test_lookup_gives_up_after_three_dead_children
    keys('a::x' => 1)
    fault('exit' => 3)
    message = refused { compile.lookup('a::x') }
    assert_match(/serve --stdio .*: .*it ended with status 3; this lookup has tried 3 times; the next lookup/, message)
    assert_equal 1, compile.lookup('a::x')
  end

  def test_invalid_answer_is_reported
    keys('a::x' => 1)
    fault('noise')
    assert_equal 1, compile.lookup('a::x')
  end

  def test_other_protocol_version_is_reported
    snapshot('refuses' => 'protocol')
    assert_match(/this is the message of protocol \[protocol\]. This module speaks version 1: install/, refused { compile.lookup('a') })
    keys('a' => 1)
    assert_equal 1, compile.lookup('a')
  end

  # The server greets with the environment production, which need not exist.
  def test_unknown_environment_in_greeting_is_ignored
    snapshot('refuses' => 'environment', 'keys' => { 'a' => [{ 'value' => 1 }] })
    assert_equal 1, compile(environment: 'staging').lookup('a')
  end

  def test_unreadable_snapshot_is_reported
    snapshot('broken' => 'snapshot_damaged')
    assert_equal 'bindc: this is the message of snapshot_damaged [snapshot_damaged]', refused { compile.lookup('a') }
    keys('a' => 1)
    assert_equal 1, compile.lookup('a')
  end

  def test_invalid_fact_encoding_is_reported
    snapshot('variables' => ['motd'], 'keys' => {})
    message = refused { compile(variables: { 'facts' => { 'motd' => "\xff" } }).lookup('a') }
    assert_match(/a fact of this node cannot be sent/, message)
    assert_equal :not_found, compile.lookup('a')
  end

  def test_socket_without_server_is_reported
    message = refused { compile(command: nil, snapshot: nil, socket: "#{@dir}/s").lookup('a') }
    assert_match %r{cannot connect to #{@dir}/s: .*Start bindq serve --listen unix:#{@dir}/s}, message
  end

  def test_lookup_over_socket
    keys('a' => 1)
    server = UNIXServer.new("#{@dir}/s")
    answering = Thread.new do
      2.times do
        io = server.accept
        pid = Process.spawn(FAKE, 'serve', '-s', @file, in: io, out: io)
        io.close
        Process.wait(pid)
      end
    end
    socket = { command: nil, snapshot: nil, socket: "#{@dir}/s" }
    assert_equal 1, compile(**socket).lookup('a')
    fault('exit')
    assert_equal 1, compile(**socket).lookup('a')
  ensure
    disconnect
    answering.join
    server.close
  end

  def test_module_name_has_metadata_version
    metadata = JSON.parse(File.read(File.expand_path('../metadata.json', __dir__)))
    assert Puppet.const_defined?("Bindc_#{metadata['version'].tr('.', '_')}")
  end
end
