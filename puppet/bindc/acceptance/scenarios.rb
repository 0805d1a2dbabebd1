# frozen_string_literal: true

require_relative 'processes'
require_relative 'world'

# Tests that run against every kind of Puppet. An including class defines the method puppet.
module Scenarios
  FACTS = { 'fqdn' => 'node01.example.org' }.freeze

  def world
    self.class.world
  end

  def repository
    world.repository
  end

  # Returns the result for one key, or the error of the catalog.
  def answer(key, environment, facts = FACTS)
    world.answers(puppet, facts, [[key]], environment).first
  rescue Mri::Refused, refused => e
    { 'error' => e.message }
  end

  def refused
    puppet.class::Refused
  end

  def eventually(seconds = 30)
    deadline = Time.now + seconds
    begin
      yield
    rescue Minitest::Assertion
      raise if Time.now > deadline

      sleep 0.1
      retry
    end
  end

  # Creates an environment with these options in hiera.yaml.
  def environment(name, options, below = '')
    entry = repository.entry({ 'timeout' => 5 }.merge(options))
    repository.configure_compiled(name, "#{entry}#{below}")
  end

  def children
    Processes.children(puppet.pid)
  end

  def questions
    keys = repository.keys.map { |key| [key] }
    merges = repository.keys.flat_map { |key| repository.merges(key).map { |merge| [key, merge] } }
    keys + merges + [['key_0.none'], ['no::such'], ['nothing'], ['apache::none', 'unique']]
  end

  def test_values_agree_with_puppets_own_data
    compared = 0
    Repository::ENVIRONMENTS.each do |environment|
      expected = world.own_answers(questions, environment)
      repository.nodes.zip(expected) do |facts, own|
        questions.zip(own, world.answers(puppet, facts, questions, environment)) do |question, mine, theirs|
          assert_equal mine, theirs, "#{question} for #{facts['fqdn']}"
          compared += 1
        end
      end
    end
    assert_operator compared, :>=, 18_000
    puts "\n#{self.class}: #{compared} answers compared"
  end

  KINDS = <<~'YAML'.gsub(/^/, '  ')
    - {name: 'kinds::regexp', to_expression: '/a.*b/'}
    - {name: 'kinds::type', to_expression: 'Array[Integer[1, 2]]'}
    - {name: 'kinds::choice', to_expression: 'default'}
    - {name: 'kinds::nothing', to: null}
    - {name: 'kinds::secret', sensitive: true, to: {password: x}}
    - {name: 'kinds::hash', to: {1: one, a: yes it is}}
    - {name: 'kinds::float', to: 1.0}
    - {name: 'kinds::integer', to: 9223372036854775807}
    - {name: 'kinds::text', to: '%{fqdn} \${x}'}
    - {name: 'kinds::wrong', type: Integer, to_expression: '$fqdn'}
    - {name: 'kinds::users', type: 'Array[String]', multibind_id: users}
    - {in: users, to: root}
    - {in: users, to: operator, when: {node: node01.example.org}}
    - when: {node: node01.example.org}
      bind: [{in: users, to: first}]
  YAML

  def rich(type, *value)
    { 'value' => { '__ptype' => type }.merge(value.empty? ? {} : { '__pvalue' => value.first }) }
  end

  def kinds
    @kinds ||= begin
      world.compile(world.site('kinds', KINDS.lines.grep_v(/operator/).join), 'kinds')
      environment('kinds', { 'snapshot' => "#{world.dir}/snapshots/%{environment}.snap" })
    end
  end

  def test_values_keep_their_types
    kinds
    { 'regexp' => rich('Regexp', 'a.*b'), 'choice' => rich('Default'), 'secret' => rich('Sensitive', { 'password' => 'x' }),
      'hash' => rich('Hash', [1, 'one', 'a', 'yes it is']), 'nothing' => { 'value' => nil }, 'float' => { 'value' => 1.0 },
      'integer' => { 'value' => 9_223_372_036_854_775_807 }, 'text' => { 'value' => '%{fqdn} ${x}' }, 'none' => { 'none' => true },
      'users' => { 'value' => %w[first root] } }.each do |name, value|
      assert_equal value, answer("kinds::#{name}", 'kinds'), name
    end
    assert_equal 'Pcore::ArrayType', answer('kinds::type', 'kinds')['value']['__ptype']
  end

  def test_lookup_error_is_a_puppet_error
    kinds
    error = answer('kinds::wrong', 'kinds')['error']
    assert_match(/\Abindc: kinds::wrong: .*\[type_mismatch\] \(bindings\/default.yaml:\d+:\d+\)\z/, error)
  end

  # Parameters of the class have defaults, which replace undef, also within Sensitive.
  def test_class_parameters_get_values
    root = kinds
    FileUtils.mkdir_p("#{root}/modules/kinds/manifests")
    File.write("#{root}/modules/kinds/manifests/init.pp", <<~'PUPPET')
      class kinds(Sensitive[Hash] $secret, Regexp $regexp, String $nothing = 'its default', Array[String] $users = []) {
        notify { 'parameters': message => "${secret.unwrap['password']} ${'xaxbx' =~ $regexp} ${nothing} ${users}" }
      }
    PUPPET
    File.write("#{root}/manifests/site.pp", "include kinds\n", mode: 'a')
    reload('kinds')
    catalog = puppet.catalog('node01.example.org', FACTS.merge('ask' => []), environment: 'kinds')
    message = catalog['resources'].find { |resource| resource['title'] == 'parameters' }['parameters']['message']
    assert_equal 'x true its default [first, root]', message
  end

  # A value that bindc has merged is not merged again with lower levels, even if their lookup_options ask for a
  # merge.
  def test_multibinding_is_not_merged_again
    root = kinds
    FileUtils.mkdir_p("#{root}/data")
    File.write("#{root}/data/common.yaml", "kinds::users: [below]\nlookup_options: {'^kinds::.*': {merge: unique}}\n")
    entry = repository.entry({ 'snapshot' => "#{world.dir}/snapshots/kinds.snap" })
    below = "  - {name: below, path: common.yaml, data_hash: yaml_data}\n"
    FileUtils.cp_r(root, root.sub('kinds', 'merged'))
    repository.configure_compiled('merged', entry + below)
    assert_equal({ 'value' => %w[first root] }, answer('kinds::users', 'merged'))
  end

  def numbers(environment)
    world.answers(puppet, FACTS, %w[a b c d].map { |name| ["#{name}::number"] }, environment).map { |answer| answer['value'] }
  end

  def test_recovers_from_missing_and_damaged_snapshot
    file = "#{world.dir}/later/site"
    FileUtils.mkdir_p(File.dirname(file))
    environment('later', { 'snapshot' => file })
    assert_match(/\Abindc: .*#{file}.*\[snapshot_missing\]/, answer('a::number', 'later')['error'])
    world.build(world.numbered(1), "#{file}.good")
    bytes = File.binread("#{file}.good")
    { bytes[0, 300] => /snapshot_(damaged|format)/, 'a letter to my mother' => /snapshot_format/,
      bytes.dup.tap { |all| all.setbyte(8, 77) } => /snapshot_version/ }.each do |bad, code|
      File.binwrite("#{file}.new", bad)
      File.rename("#{file}.new", file)
      eventually { assert_match(/\Abindc: .*#{file}.*#{code}/, answer('a::number', 'later')['error']) }
    end
    File.rename("#{file}.good", file)
    eventually { assert_equal({ 'value' => 1 }, answer('a::number', 'later')) }
    # A damaged replacement is not used.
    File.binwrite("#{file}.new", 'no snapshot')
    File.rename("#{file}.new", file)
    assert_equal [1] * 4, numbers('later')
    world.build(world.numbered(2), file)
    eventually { assert_equal [2] * 4, numbers('later') }
  end

  def test_recovers_from_missing_program
    program = "#{world.dir}/bindq-later"
    environment('programless', { 'snapshot' => repository.snapshot('production'), 'command' => program })
    message = answer('nothing', 'programless')['error']
    assert_match(/\Abindc: cannot start #{program} serve .*: No such file.*Install bindq where Puppet's user may run it/, message)
    FileUtils.ln_s('/bin/false', program)
    message = answer('nothing', 'programless')['error']
    assert_match(/\Abindc: #{program} serve .*the next lookup starts another.*run the command by hand/, message)
    FileUtils.ln_sf(ENV.fetch('BINDQ'), program)
    assert_equal({ 'none' => true }, answer('nothing', 'programless'))
  end

  def numbered_environment
    world.compile(world.numbered(1), 'numbered')
    environment('numbered', { 'snapshot' => "#{world.dir}/snapshots/%{environment}.snap" })
  end

  def test_killed_or_stopped_child_is_replaced
    numbered_environment
    eventually { assert_equal [1] * 4, numbers('numbered') }
    %w[KILL STOP TERM].each do |signal|
      children.each { |child| Process.kill(signal, child) }
      2.times { assert_equal [1] * 4, numbers('numbered'), signal }
    end
  end

  def test_lookup_over_socket
    socket = "#{world.dir}/bindq.sock"
    world.compile(world.numbered(1), 'socketed')
    environment('socketed', { 'socket' => socket })
    message = answer('a::number', 'socketed')['error']
    assert_match(/\Abindc: cannot connect to #{socket}: .*Start bindq serve --listen unix:/, message)
    2.times do
      server = Process.spawn(ENV.fetch('BINDQ'), 'serve', '--listen', "unix:#{socket}", '-s', "#{world.dir}/snapshots")
      eventually { assert_path_exists socket }
      assert_equal [1] * 4, numbers('socketed')
      Process.kill('TERM', server)
      Process.wait(server)
      assert_match(/\Abindc: cannot connect to #{socket}/, answer('a::number', 'socketed')['error'])
    end
  end

  # Returns the values of consecutive catalogs. The pause gives other threads a turn if there is only one
  # process.
  def numbers_while(all = [])
    while yield
      all << numbers('numbered')
      sleep 0.01
    end
    all
  end

  # Every catalog uses one snapshot and succeeds. The last snapshot is used in the end.
  def test_catalogs_succeed_while_snapshot_is_replaced
    numbered_environment
    (1..6).each { |i| world.build(world.numbered(i), "#{world.dir}/numbered#{i}") }
    swapping = true
    seen = Array.new(2) { Thread.new { numbers_while { swapping } } }
    (1..6).each do |i|
      File.rename("#{world.dir}/numbered#{i}", repository.snapshot('numbered'))
      eventually { assert_equal [i] * 4, numbers('numbered') }
    end
    swapping = false
    all = seen.flat_map(&:value)
    assert_equal [], all.reject { |four| four.uniq.length == 1 }
    assert_operator all.length, :>, 6
  end

  # A lookup can be hit by at most two kills, fewer than its number of tries: one while its child
  # was idle, one during the question. A whole catalog is compiled before the next kill.
  def test_catalogs_succeed_while_children_are_killed
    numbered_environment
    eventually { assert_equal [1] * 4, numbers('numbered') }
    killing = true
    seen = []
    asking = Thread.new { numbers_while(seen) { killing } }
    5.times do
      children.each { |child| Process.kill('KILL', child) }
      enough = seen.length + 2
      eventually do
        asking.join unless asking.alive? # raises its exception
        assert_operator seen.length, :>=, enough
      end
    end
    killing = false
    asking.join
    assert_equal [[1] * 4], seen.uniq
  end

  # Differences are logged and counted. The result comes from the snapshot.
  def test_compare_logs_differences_and_uses_snapshot
    world.compile(world.numbered(1), 'shadow')
    options = { 'snapshot' => "#{world.dir}/snapshots/%{environment}.snap", 'compare' => true }
    root = environment('shadow', options, "  - {name: below, path: common.yaml, data_hash: yaml_data}\n")
    FileUtils.mkdir_p("#{root}/data")
    File.write("#{root}/data/common.yaml", "a::number: 1\nb::number: 1.0\nd::number: 4\nbelow: secret\n")
    asked = [['a::number'], ['b::number'], ['c::number'], ['d::number', 'first'], ['below'], ['nowhere']]
    values = world.answers(puppet, FACTS, asked, 'shadow').map { |answer| answer['value'] }
    assert_equal [1, 1, 1, 1, 'secret', nil], values
    lines = eventually { logged(/bindc: compare: .*/).tap { |all| assert_equal 4, all.length, all } }
    assert_match(/b::number for node01.example.org is another value .*\(bindings.*yaml:\d+:\d+\); 1 of 2 answers differ/, lines[0])
    assert_match(/c::number for .* is in the snapshot, but not in the levels below/, lines[1])
    assert_match(/d::number for .* is another value/, lines[2])
    assert_match(/below for .* is not in the snapshot, but in the levels below .*; 4 of 5 answers differ so far/, lines[3])
    refute_match(/secret/, lines.join)
  end
end
