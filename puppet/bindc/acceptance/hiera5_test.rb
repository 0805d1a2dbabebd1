# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'minitest/autorun'
require 'puppet'
require 'tmpdir'

# Control repositories as they stand, compiled: through the module Puppet answers what it answered from the data itself,
# whoever merges. They are other people's, and beside this repository where they are at all.
class Hiera5Test < Minitest::Test
  CORPORA = File.expand_path('../../../../shared/corpora/hiera5', __dir__)
  EACH = 100 # questions of each merge strategy of a site

  def self.dir
    @dir ||= Dir.mktmpdir('bindc-hiera5').tap do |dir|
      Minitest.after_run { FileUtils.rm_rf(dir) }
      Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code",
                                  '--environment_timeout', 'unlimited', '--log_level', 'crit'])
      Puppet.push_context(Puppet.base_context(Puppet.settings))
    end
  end

  sites = Dir["#{CORPORA}/*/expect.jsonl"].map { |path| File.dirname(path) }
  sites.each do |site|
    define_method("test_#{File.basename(site)}") { compare(site) }
  end
  define_method(:test_no_sites) { skip "#{CORPORA} is not here: real sites are data of others" } if sites.empty?

  private

  def compare(site)
    nodes = JSON.parse(File.read("#{site}/facts.json"))
    environments = install(site)
    nodes.each_value { |node| FileUtils.ln_sf('production', "#{environments}/#{node['environment']}") unless node['environment'] == 'production' }
    differing = []
    asked = sample(site)
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(environments), []))
    Puppet.override(environments: loader) do
      asked.group_by { |question| question['node'] }.each do |node, questions|
        with_scope(loader, nodes[node]) do |scope|
          questions.each do |question|
            answer = answer(scope, question)
            differing << [question, answer] unless same?(question, answer)
          end
        end
      end
    end
    assert_operator asked.length, :>=, 4 * EACH
    assert_empty differing.first(10).map(&:inspect), "#{differing.length} of #{asked.length} answers differ"
  end

  # As docs/hiera.md has it: hiera.yaml is renamed, and what bindq prints takes its place.
  def install(site)
    dir = "#{self.class.dir}/#{File.basename(site)}"
    root = "#{dir}/environments/production"
    FileUtils.mkdir_p("#{dir}/environments")
    FileUtils.cp_r("#{site}/site", root)
    FileUtils.mv("#{root}/hiera.yaml", "#{root}/hiera5.yaml")
    execute(ENV.fetch('BINDC'), 'build', root, '-o', "#{dir}/site.snap")
    config = execute(ENV.fetch('BINDQ'), 'hiera-config', '-s', "#{dir}/site.snap", '--from', "#{root}/hiera5.yaml")
    File.write("#{root}/hiera.yaml", config.sub(/^( *)options:\n/) { "#{$&}#{$1}  command: #{JSON.generate(command(site))}\n" })
    link_modules(root)
    "#{dir}/environments"
  end

  def link_modules(root)
    FileUtils.mkdir_p("#{root}/modules")
    FileUtils.ln_s(File.expand_path('..', __dir__), "#{root}/modules/bindc")
  end

  def command(site)
    key = "#{site}/keys/private_key.pkcs7.pem"
    [ENV.fetch('BINDQ')] + (File.exist?(key) ? ['--eyaml-key', key] : [])
  end

  def execute(*command)
    IO.popen(command, err: %i[child out], &:read).tap { |text| assert_predicate $?, :success?, text }
  end

  # Questions from all over the file, as many of each kind.
  def sample(site)
    all = File.readlines("#{site}/expect.jsonl").map { |line| JSON.parse(line) }
    all.group_by { |question| [question['merge'], question.key?('error')] }.values.flat_map do |some|
      some.each_slice([some.length / EACH, 1].max).map(&:first)
    end
  end

  def with_scope(loader, node)
    environment = loader.get!(node['environment'])
    facts = Puppet::Node::Facts.new(node['trusted']['certname'], node['facts'].dup)
    asks = Puppet::Node.new(facts.name, environment: environment, facts: facts,
                                        parameters: facts.values.merge(node['vars'] || {}))
    asks.trusted_data = node['trusted'].dup
    Puppet.override(current_environment: environment) do
      compiler = Puppet::Parser::Compiler.new(asks)
      Puppet.override(compiler.context_overrides) do
        compiler.send(:set_node_parameters)
        yield compiler.topscope
      end
    end
  end

  def answer(scope, question)
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
    value = Puppet::Pops::Lookup.lookup(question['key'], nil, :none, true, question['merge'], invocation)
    value.equal?(:none) ? { 'found' => false } : { 'found' => true, 'value' => value }
  rescue Puppet::Error => e
    { 'error' => e.message }
  end

  def same?(expected, answer)
    return answer.key?('error') if expected.key?('error')
    return expected['found'] == answer['found'] unless expected['found'] && answer['found']

    value = answer['value']
    sensitive = value.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
    value = value.unwrap if sensitive
    sensitive == (expected['sensitive'] == true) && JSON.generate(value) == JSON.generate(expected['value'])
  end
end
