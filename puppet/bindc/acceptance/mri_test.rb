# frozen_string_literal: true

require 'open3'
require_relative 'scenarios'

# Tests the module with Puppet in an MRI process, and with the commands puppet apply and puppet lookup.
class MriTest < Minitest::Test
  include Scenarios

  def self.world
    @world ||= World.new.tap { |world| Minitest.after_run { world.close } }
  end

  # Returns a new Puppet process for each test, because a process loads an environment only once.
  def puppet
    @puppet ||= Mri.new("#{world.dir}/mri", repository.compiled)
  end

  def teardown
    pids = @puppet ? children : []
    assert_empty Processes.defunct(puppet.pid) if @puppet
    @puppet&.stop
    eventually { pids.each { |pid| refute_path_exists "/proc/#{pid}" } } # they end with the process that started them
  end

  def reload(_environment)
    puppet.stop
    @puppet = nil
  end

  def logged(pattern)
    puppet.log.scan(pattern)
  end

  def command(*args)
    FileUtils.mkdir_p("#{world.dir}/cli/var/state") # OpenVox does not create it without a user 'puppet'
    dirs = ['--confdir', "#{world.dir}/cli", '--vardir', "#{world.dir}/cli/var", '--codedir', repository.compiled]
    output, status = Open3.capture2e('puppet', *args, *dirs)
    assert_equal 0, status.exitstatus, output
    output
  end

  def test_puppet_apply_uses_snapshot
    kinds
    output = command('apply', '--environment', 'kinds', '-e', "notice(lookup('kinds::float'), lookup('kinds::users'))")
    assert_match(/Notice: .*: 1.0 \[root\]/, output)
  end

  def test_puppet_lookup_explains
    kinds
    facts = "#{world.dir}/facts.json"
    File.write(facts, JSON.generate(role: "web"))
    output = command('lookup', 'kinds::float', '--explain', '--environment', 'kinds', '--node', 'node01.example.org', '--facts', facts)
    assert_match(/Found key: "kinds::float" value: 1.0/, output)
    assert_match(%r{bindings/default.yaml:\d+:\d+}, output)
    assert_match(/\h{64}/, output, 'the digest')
    assert_match(/secret/, command('lookup', 'kinds::secret', '--explain', '--environment', 'kinds', '--node', 'x', '--facts', facts))
  end
end
