# frozen_string_literal: true

require_relative 'puppetserver'
require_relative 'scenarios'

# Puppetserver, which runs JRuby. Catalogs are requested over HTTP.
class ServerTest < Minitest::Test
  include Scenarios

  JRUBIES = 2

  def self.world
    @world ||= World.new
  end

  def self.puppet
    @puppet ||= Puppetserver.new("#{world.dir}/server", world.repository.compiled, instances: JRUBIES).tap do |server|
      server.start
      Minitest.after_run { ending(server) }
    end
  end

  # Children end with the server.
  def self.ending(server)
    left = Processes.children(server.pid)
    server.stop
    deadline = Time.now + 20
    sleep 0.1 while Time.now < deadline && left.any? { |pid| File.exist?("/proc/#{pid}") }
    abort "children are left: #{left}" if left.any? { |pid| File.exist?("/proc/#{pid}") }
  ensure
    world.close
  end

  def puppet
    self.class.puppet
  end

  def setup
    @logged = puppet.log.length
  end

  # After each test, no child stays defunct, even without further requests.
  def teardown
    eventually { assert_empty Processes.defunct(puppet.pid) }
  end

  # Returns the children of this test. Other tests use other directories.
  def children
    super.select { |pid| Processes.command(pid).last == "#{world.dir}/snapshots" }
  end

  def logged(pattern)
    puppet.log[@logged..].scan(pattern)
  end

  def reload(environment)
    puppet.delete("/puppet-admin-api/v1/environment-cache?environment=#{environment}")
  end

  # Each JRuby has one child for all its threads and environments, even after JRubies were replaced.
  def test_each_jruby_has_one_child
    numbered_environment
    puppet.delete('/puppet-admin-api/v1/jruby-pool') # environments of other tests have options, so children, of their own
    eventually { assert_equal [1] * 4, numbers('numbered') } # a watcher has to notice the file
    4.times { four_at_once }
    eventually { assert_operator children.length, :<=, JRUBIES } # the children of the old JRubies end
    puppet.delete('/puppet-admin-api/v1/jruby-pool')
    four_at_once
    eventually { assert_operator children.length, :<=, JRUBIES }
  end

  # Each JRuby that ends also ends its child and waits for it.
  def test_flushed_jrubies_leave_no_defunct_children
    numbered_environment
    eventually { four_at_once } # each JRuby's child notices the snapshot at its own time
    3.times do
      four_at_once
      puppet.delete('/puppet-admin-api/v1/jruby-pool')
    end
    eventually { four_at_once }
    eventually do
      assert_operator children.length, :<=, JRUBIES
      assert_empty Processes.defunct(puppet.pid)
    end
  end

  # This happens if the environments of a child are no longer used.
  def test_children_killed_while_idle_are_not_defunct
    numbered_environment
    eventually { assert_equal [1] * 4, numbers('numbered') }
    killed = children.each { |child| Process.kill('KILL', child) }
    refute_empty killed
    eventually { killed.each { |child| refute_path_exists "/proc/#{child}" } }
    assert_equal [1] * 4, numbers('numbered')
  end

  def four_at_once
    Array.new(4) { Thread.new { numbers('numbered') } }.each { |thread| assert_equal [1] * 4, thread.value }
  end
end
