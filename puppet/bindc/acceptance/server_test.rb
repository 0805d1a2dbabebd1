# frozen_string_literal: true

require_relative 'puppetserver'
require_relative 'scenarios'

# Puppetserver, which is JRuby, asked for catalogs over HTTP.
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

  # Whatever a test does to children, none stays behind as <defunct>, though nobody asks.
  def teardown
    eventually { assert_empty Processes.defunct(puppet.pid) }
  end

  # Those that are asked again: other tests have other directories, or none.
  def children
    super.select { |pid| Processes.command(pid).last == "#{world.dir}/snapshots" }
  end

  def logged(pattern)
    puppet.log[@logged..].scan(pattern)
  end

  def reload(environment)
    puppet.delete("/puppet-admin-api/v1/environment-cache?environment=#{environment}")
  end

  # One for each JRuby, however many threads and environments there are, and however often JRubies are replaced.
  def test_children_are_as_many_as_jrubies
    numbered_environment
    eventually { assert_equal [1] * 4, numbers('numbered') } # a watcher notices the file
    4.times { four_at_once }
    eventually { assert_operator children.length, :<=, JRUBIES } # those that another test replaced end
    puppet.delete('/puppet-admin-api/v1/jruby-pool')
    four_at_once
    eventually { assert_operator children.length, :<=, JRUBIES }
  end

  # Each JRuby that ends ends its child, and waits for it.
  def test_flushed_jrubies_leave_no_defunct_children
    numbered_environment
    eventually { four_at_once } # the child of each JRuby notices the snapshot at its own time
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

  # As where the environments that a child answered for are not asked for any more.
  def test_children_that_are_killed_while_idle_leave_no_defunct_processes
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
