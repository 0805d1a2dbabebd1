# frozen_string_literal: true

require 'minitest/autorun'
require 'timeout'
require 'tmpdir'
require_relative 'mri'
require_relative 'repository'

# Shared by the acceptance tests: a control repository whose environments query snapshots, and the
# same repository as Puppet's own data. The variables BINDC and BINDQ name the programs.
class World
  attr_reader :dir, :repository

  def initialize
    @dir = Dir.mktmpdir('bindc-acceptance')
    @repository = Repository.new(@dir).write
    FileUtils.mkdir_p("#{@dir}/snapshots")
    compile(@repository.site, *Repository::ENVIRONMENTS)
  end

  # Builds a site as the snapshot of some environments.
  def compile(site, *environments)
    environments.each { |name| build(site, @repository.snapshot(name)) }
  end

  def build(site, file)
    system(ENV.fetch('BINDC'), 'build', site, '-o', file, out: "#{@dir}/build", err: %i[child out]) ||
      raise("bindc build #{site}:\n#{File.read("#{@dir}/build")}")
  end

  # Writes a site of structured bindings. Returns its directory.
  def site(name, bindings)
    root = "#{@dir}/sites/#{name}"
    FileUtils.mkdir_p("#{root}/bindings")
    File.write("#{root}/binder_config.yaml", <<~'YAML')
      version: 1
      layers: [{name: site, include: 'confdir:/default'}]
      categories: [[node, '${fqdn}'], [environment, '${environment}'], [common, 'true']]
    YAML
    File.write("#{root}/bindings/default.yaml", "bindings_version: 1\nname: default\nbind:\n#{bindings}")
    root
  end

  # Builds a site that binds number to four keys of different classes.
  def numbered(number)
    site("number#{number}", %w[a b c d].map { |name| "  - ['#{name}::number', #{number}]\n" }.join)
  end

  # Puppet's results from its own data, as a list for each node.
  def own_answers(questions, environment)
    own = Mri.new("#{@dir}/mri-own", @repository.own)
    @repository.nodes.map { |facts| answers(own, facts, questions, environment) }
  ensure
    own&.stop
  end

  # Returns the results of a Puppet for questions of the form [KEY] or [KEY, MERGE].
  def answers(puppet, facts, questions, environment)
    catalog = puppet.catalog(facts['fqdn'], facts.merge('ask' => questions), environment: environment)
    notify = catalog['resources'].find { |resource| resource['title'] == 'answers' }
    JSON.parse(notify['parameters']['message'], max_nesting: false)
  end

  def close
    FileUtils.rm_rf(@dir)
  end
end
