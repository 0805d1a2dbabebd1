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

  # Whatever a test does to children, none stays behind as <defunct>. One that is killed while nobody asks it is waited
  # for by the next lookup of its JRuby, or when that ends: a JRuby that was replaced may take minutes.
  def teardown
    eventually(300) do
      Array.new(4) { Thread.new { answer('a::number', 'numbered') } }.each(&:join)
      assert_empty Processes.defunct(puppet.pid)
    end
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
    eventually(300) { assert_operator children.length, :<=, JRUBIES } # those that another test replaced end
    puppet.delete('/puppet-admin-api/v1/jruby-pool')
    four_at_once
    eventually(300) { assert_operator children.length, :<=, JRUBIES }
  end

  # Each JRuby that ends waits for its child.
  def test_flushed_jrubies_leave_no_defunct_children
    numbered_environment
    eventually { assert_equal [1] * 4, numbers('numbered') }
    3.times do
      four_at_once
      puppet.delete('/puppet-admin-api/v1/jruby-pool')
    end
    four_at_once
    eventually(300) do
      assert_operator children.length, :<=, JRUBIES
      assert_empty Processes.defunct(puppet.pid)
    end
  end

  def four_at_once
    Array.new(4) { Thread.new { numbers('numbered') } }.each { |thread| assert_equal [1] * 4, thread.value }
  end
end
