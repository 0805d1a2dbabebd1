# frozen_string_literal: true

require 'etc'
require_relative 'puppetserver'
require_relative 'scenarios'

# Puppetserver with non-default settings: JRubies that end after some requests, one JRuby with
# several threads, and a user with restricted permissions.
class ServerSettingsTest < Minitest::Test
  include Scenarios
  # Each test starts a server, so the shared tests only run in server_test.
  Scenarios.instance_methods.grep(/^test_/).each { |name| undef_method(name) }

  THREADS = 4

  def self.world
    @world ||= World.new.tap { |world| Minitest.after_run { world.close } }
  end

  attr_reader :puppet

  def teardown
    return unless puppet

    left = Processes.children(puppet.pid)
    puppet.stop
    eventually { left.each { |child| refute_path_exists "/proc/#{child}" } }
  end

  def reload(environment)
    puppet.delete("/puppet-admin-api/v1/environment-cache?environment=#{environment}")
  end

  def serve(name, **options)
    @puppet = Puppetserver.new("#{world.dir}/#{name}", repository.compiled, **options)
    puppet.start
  end

  # Returns the values of four keys, or the errors of those that fail.
  def numbers(environment)
    keys = %w[a b c d].map { |name| ["#{name}::number"] }
    world.answers(puppet, FACTS, keys, environment).map { |answer| answer.fetch('error') { answer['value'] } }
  end

  # Returns the values of many catalogs, compiled in several threads.
  def many(count, environment)
    Array.new(THREADS) { Thread.new { Array.new(count / THREADS) { numbers(environment) } } }.flat_map(&:value)
  end

  def assert_children(most)
    eventually do
      assert_operator children.length, :<=, most
      assert_empty Processes.defunct(puppet.pid)
    end
  end

  # The child of a JRuby ends with the JRuby. No catalog fails, and a new snapshot is used.
  def test_child_ends_with_its_jruby
    world.compile(world.numbered(1), 'ending')
    environment('ending', { 'snapshot' => "#{world.dir}/snapshots/%{environment}.snap" })
    serve('ending', instances: 2, jruby: { 'max-requests-per-instance' => 5 })
    seen = []
    4.times do
      assert_equal [[1] * 4], many(THREADS * 2, 'ending').uniq
      seen |= children
    end
    assert_operator seen.length, :>, 2, 'JRubies were replaced, and their children'
    assert_children(2)
    world.build(world.numbered(2), repository.snapshot('ending'))
    eventually { assert_equal [[2] * 4], many(THREADS, 'ending').uniq }
    assert_children(2)
    # All services restart in the same process. A JRuby that was idle since the replacement may still answer once from
    # the previous snapshot.
    before = children
    puppet.reload
    assert_empty many(THREADS, 'ending').uniq - [[1] * 4, [2] * 4]
    eventually { assert_equal [[2] * 4], many(THREADS, 'ending').uniq }
    eventually { before.each { |child| refute_includes children, child } }
    assert_children(2)
  end

  # All threads share a child.
  def test_threads_of_a_jruby_share_a_child
    world.compile(world.numbered(1), 'threaded')
    environment('threaded', { 'snapshot' => "#{world.dir}/snapshots/%{environment}.snap" })
    serve('threaded', instances: THREADS, jruby: { 'multithreaded' => true })
    # Puppet::Pops::Loaders#private_loader_for_module is not safe for threads: when several threads compile the first
    # catalogs of an environment at once, one can fail with "Attempt to redefine loader". So one thread begins.
    assert_equal [1] * 4, numbers('threaded')
    3.times { assert_equal [[1] * 4], many(THREADS * 3, 'threaded').uniq }
    assert_children(1)
    2.times do
      children.each { |child| Process.kill('KILL', child) }
      assert_equal [[1] * 4], many(THREADS, 'threaded').uniq
    end
    puppet.delete('/puppet-admin-api/v1/jruby-pool')
    eventually { assert_equal [[1] * 4], many(THREADS, 'threaded').uniq }
    world.build(world.numbered(2), repository.snapshot('threaded'))
    eventually { assert_equal [[2] * 4], many(THREADS, 'threaded').uniq }
    assert_children(1)
  end

  # Files that the server's user may not read or run give an error that says so. Nothing needs to be
  # restarted afterwards.
  def test_missing_permission_is_reported
    skip 'only root can start a server as another user' unless Process.uid.zero?
    user = Etc.getpwnam('puppet').name
    readable = system('setpriv', "--reuid=#{user}", "--regid=#{user}", '--clear-groups', 'test', '-r', __FILE__)
    skip "the user #{user} cannot read #{__dir__}" unless readable

    File.chmod(0o755, world.dir)
    snapshots, program = "#{world.dir}/locked", "#{world.dir}/bindq-guarded"
    FileUtils.mkdir_p(snapshots)
    FileUtils.cp(ENV.fetch('BINDQ'), program)
    world.build(world.numbered(1), "#{snapshots}/guarded.snap")
    environment('guarded', { 'snapshot' => "#{snapshots}/%{environment}.snap", 'command' => program })
    serve('guarded', instances: 1, user: user)
    denied(program, 0o700, 0o755, /cannot start #{program} serve .*Permission denied.*Install bindq where Puppet's user may run it/)
    needed = /permission denied; let the user '#{user}' read the file and enter its directories \[snapshot_missing\]/
    denied("#{snapshots}/guarded.snap", 0o600, 0o644, needed)
    denied(snapshots, 0o700, 0o755, needed)
    assert_equal 0, File.stat("#{snapshots}/guarded.snap").uid
  end

  # A lookup fails with a message while a file has one mode, and succeeds with the other. The child
  # is ended first, because it keeps files open.
  def denied(path, mode, good, message)
    File.chmod(mode, path)
    children.each { |child| Process.kill('KILL', child) }
    eventually { assert_match(/\Abindc: .*#{message}/, answer('a::number', 'guarded')['error'].to_s) }
    File.chmod(good, path)
    eventually { assert_equal [1] * 4, numbers('guarded') }
  end
end
