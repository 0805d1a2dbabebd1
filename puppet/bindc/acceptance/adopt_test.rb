# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'minitest/autorun'
require 'open3'
require 'tmpdir'
require_relative 'mri'

# bindc adopt switches an environment to a snapshot while a server compiles catalogs. Whatever
# happens during the switch, each catalog keeps its values.
class AdoptTest < Minitest::Test
  FILES = {
    'hiera.yaml' => <<~YAML,
      # only Puppet reads this level
      version: 5
      hierarchy:
        - {name: Nodes, path: 'nodes/%{trusted.certname}.yaml'}
        - {name: Own, lookup_key: own::data, options: {foreign: theirs, users: {own: 1}}}
        - {name: Common, path: common.yaml}
    YAML
    'data/nodes/a.example.org.yaml' => "motd: 'of %{trusted.certname}'\nusers: {a: 1}\n",
    'data/common.yaml' => <<~YAML,
      motd: common
      users: {root: 0}
      secret: hidden
      lookup_options: {users: {merge: hash}, secret: {convert_to: Sensitive}}
    YAML
    'manifests/site.pp' => <<~'PUPPET',
      notify { 'answers': message => String([lookup('motd'), lookup('users'), lookup('secret').unwrap, lookup('foreign')]) }
    PUPPET
    'modules/own/lib/puppet/functions/own/data.rb' => <<~RUBY
      Puppet::Functions.create_function(:'own::data') do
        dispatch(:data) { param 'Any', :key; param 'Any', :options; param 'Any', :context }
        def data(key, options, context)
          options.key?(key) ? Marshal.load(Marshal.dump(options[key])) : context.not_found
        end
      end
    RUBY
  }.freeze

  def setup
    @dir = Dir.mktmpdir('bindc-adopt')
    @root = "#{@dir}/code/environments/production"
    FILES.each { |path, text| put(path, text) }
    FileUtils.ln_s(File.expand_path('..', __dir__), "#{@root}/modules/bindc")
    FileUtils.mkdir_p("#{@dir}/facts")
    File.write("#{@dir}/facts/a.example.org.json", JSON.generate('role' => 'web'))
    @server = Mri.new("#{@dir}/mri", "#{@dir}/code")
  end

  def teardown
    @server.stop
    FileUtils.rm_rf(@dir)
  end

  def put(path, text)
    FileUtils.mkdir_p(File.dirname("#{@root}/#{path}"))
    File.write("#{@root}/#{path}", text)
  end

  def hiera
    File.read("#{@root}/hiera.yaml")
  end

  def adopt(*args, tracing: [])
    path = "#{File.dirname(ENV.fetch('BINDQ'))}:#{ENV.fetch('PATH')}"
    Open3.capture2e({ 'PATH' => path }, *tracing, ENV.fetch('BINDC'), 'adopt', @root, '-o', "#{@dir}/production.snap", *args)
  end

  def compare(*args)
    adopt('--facts-dir', "#{@dir}/facts", '--option', "command=#{ENV.fetch('BINDQ')}", *args)
  end

  # Returns the values in a catalog of the server that runs during the whole test.
  def answers
    resources = @server.catalog('a.example.org', {})['resources']
    resources.find { |resource| resource['title'] == 'answers' }['parameters']['message'].tr('"', "'")
  end

  def assert_native
    assert_equal FILES['hiera.yaml'], hiera
    refute_path_exists "#{@root}/hiera5.yaml"
  end

  def test_running_server_survives_switch_and_revert
    before = answers
    output, status = compare
    assert_equal 0, status.exitstatus, output
    assert_match(/compared with Puppet \S+: 3 keys for 1 node .*: 15 answers, 13 with a value.*, 0 different/, output)
    assert_match(/data_hash: bindc::data_hash/, hiera)
    assert_equal before, answers
    put('data/nodes/a.example.org.yaml', "motd: changed\n")
    assert_equal before, answers, 'the data files must not be read any more'
    output, status = adopt('--undo')
    assert_equal 0, status.exitstatus, output
    assert_native
    assert_match(/changed/, answers)
  end

  # Puppet loads the module's function during its first lookup, which is of lookup_options. Two
  # levels have that key here.
  def test_first_catalog_of_a_process_has_its_values
    put('hiera.yaml', FILES['hiera.yaml'].lines.grep_v(/Own/).join)
    put('data/nodes/a.example.org.yaml', "#{FILES['data/nodes/a.example.org.yaml']}lookup_options: {motd: {merge: first}}\n")
    put('manifests/site.pp', "notify { 'answers': message => String(lookup('users')) }\n")
    before = answers
    assert_match(/root/, before)
    output, status = compare
    assert_equal 0, status.exitstatus, output
    @server.stop
    @server = Mri.new("#{@dir}/mri", "#{@dir}/code")
    assert_equal before, answers
  end

  # With the output of migrate, Puppet queries the new snapshot next to a level with a lookup that
  # only Puppet can make.
  def test_migrated_site_has_same_values
    put('data/common.yaml', "#{FILES['data/common.yaml']}asks: \"of %{lookup('foreign')}\"\n")
    put('modules/ntp/hiera.yaml', "version: 5\n")
    put('modules/ntp/data/common.yaml', "ntp::port: 123\n")
    put('manifests/site.pp', "notify { 'answers': message => String([lookup('asks'), lookup('motd'), lookup('users'), " \
                             "lookup('ntp::port', {merge => 'hash'})]) }\n")
    before = answers
    assert_match(/of theirs.*123/, before)
    output, status = Open3.capture2e(ENV.fetch('BINDC'), 'migrate', @root, '-o', "#{@dir}/new")
    assert_equal 0, status.exitstatus, output
    assert_match(%r{^modules: 1 module moved; .*: modules/ntp$}, output)
    command = output[/^puppet: bindq (.*) prints the hiera.yaml for Puppet$/, 1].sub('FILE', "#{@dir}/new.snap")
    system(ENV.fetch('BINDC'), 'build', "#{@dir}/new", '-o', "#{@dir}/new.snap", %i[out err] => File::NULL)
    put('hiera.yaml', `#{ENV.fetch('BINDQ')} #{command} --option command=#{ENV.fetch('BINDQ')}`)
    assert_match(/bindc::data_hash/, hiera)
    assert_raises(Mri::Refused) { answers }
    FileUtils.rm("#{@root}/modules/ntp/hiera.yaml")
    assert_equal before, answers
  end

  # This level has a lookup that only Puppet can do, so adopt leaves the level to Puppet.
  def test_level_with_lookup_only_puppet_can_do_is_left_to_puppet
    put('data/common.yaml', "#{FILES['data/common.yaml']}asks: \"of %{lookup('foreign')}\"\n")
    put('manifests/site.pp', "notify { 'answers': message => String([lookup('asks'), lookup('motd'), lookup('users')]) }\n")
    before = answers
    assert_match(/of theirs/, before)
    output, status = compare
    assert_equal 0, status.exitstatus, output
    assert_match(/Puppet keeps the level 'Common': only Puppet knows 'foreign'/, output)
    assert_match(/, 0 different/, output)
    assert_equal before, answers
  end

  # bindq does not see the data of Puppet's own entry.
  def test_difference_refuses_switch
    put('data/common.yaml', "#{FILES['data/common.yaml']}foreign: ours\nasks: \"of %{lookup('foreign')}\"\n")
    output, status = compare
    assert_equal 1, status.exitstatus, output
    assert_match(/  asks for a.example.org: has another value/, output)
    assert_match(/Puppet would answer differently/, output)
    refute_match(/of theirs/, output, 'values may be secret and must not be printed')
    assert_native
    refute_path_exists "#{@dir}/production.snap"
  end

  # hiera-eyaml raises LoadError for an encryption method whose plugin is not installed. Only
  # lookups of such values fail.
  def test_missing_eyaml_plugin_fails_only_its_lookups
    [%w[LoadError library], ['SystemStackError', 'stack level']].each do |error, message|
      put('modules/own/lib/puppet/functions/own/data.rb', FILES['modules/own/lib/puppet/functions/own/data.rb']
        .sub('options.key?', "raise #{error}, '#{message}' if key == 'motd'\n    options.key?"))
      put('hiera.yaml', FILES['hiera.yaml'].sub('hierarchy:', "hierarchy:\n  - {name: First, lookup_key: own::data}"))
      output, status = compare('--dry-run')
      assert_equal 0, status.exitstatus, output
      assert_match(/, 6 that fail either way, 0 different/, output)
    end
  end

  # Only Puppet reads a path that a fact makes absolute.
  def test_key_missing_in_snapshot_refuses_switch
    File.write("#{@dir}/far.yaml", "far: 1\n")
    put('hiera.yaml', "#{FILES['hiera.yaml']}  - {name: Far, path: '%{far}'}\n")
    File.write("#{@dir}/facts/a.example.org.json", JSON.generate('far' => "#{@dir}/far.yaml"))
    output, status = compare
    assert_equal 1, status.exitstatus, output
    assert_match(/  far for a.example.org: is not in the snapshot/, output)
  end

  def test_missing_module_refuses_switch
    FileUtils.rm("#{@root}/modules/bindc")
    output, status = compare
    assert_equal 1, status.exitstatus, output
    assert_match(%r{the module bindc is not installed for production: looked in #{@root}/modules}, output)
    assert_native
  end

  # The switch is killed at each call that changes a file. Every catalog keeps its values, and the
  # next run completes the switch.
  def test_kill_at_each_step_keeps_values
    skip 'there is no strace to kill by' unless system('strace', '-V', out: File::NULL, err: File::NULL)

    before = answers
    states = %w[fsync renameat].flat_map do |call|
      (1..3).map do |number|
        adopt('--no-compare', '--option', "command=#{ENV.fetch('BINDQ')}",
              tracing: ['strace', '-f', '-qqq', '-o', File::NULL, '-e', "inject=#{call}:signal=KILL:when=#{number}"])
        assert_equal before, answers, "killed at #{call} #{number}"
        state = hiera == FILES['hiera.yaml']
        output, status = adopt('--no-compare', '--option', "command=#{ENV.fetch('BINDQ')}")
        assert_equal 0, status.exitstatus, output
        assert_equal before, answers
        adopt('--undo')
        assert_native
        assert_equal before, answers
        state
      end
    end
    assert_includes states, true
  end
end
