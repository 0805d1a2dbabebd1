# frozen_string_literal: true

require 'minitest/autorun'
require 'timeout'
require 'tmpdir'
require_relative 'mri'
require_relative 'repository'

# What the acceptance tests share: a control repository whose environments ask snapshots, and its copy in Puppet's own
# data. The programs are named by the variables BINDC and BINDQ.
class World
  attr_reader :dir, :repository

  def initialize
    @dir = Dir.mktmpdir('bindc-acceptance')
    @repository = Repository.new(@dir).write
    FileUtils.mkdir_p("#{@dir}/snapshots")
    compile(@repository.site, *Repository::ENVIRONMENTS)
  end

  # Builds a site, as the snapshot of some environments.
  def compile(site, *environments)
    environments.each { |name| build(site, @repository.snapshot(name)) }
  end

  def build(site, file)
    system(ENV.fetch('BINDC'), 'build', site, '-o', file, out: "#{@dir}/build", err: %i[child out]) ||
      raise("bindc build #{site}:\n#{File.read("#{@dir}/build")}")
  end

  # A site of structured bindings alone, as text. Returns its directory.
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

  # A site that binds number to four keys of different classes.
  def numbered(number)
    site("number#{number}", %w[a b c d].map { |name| "  - ['#{name}::number', #{number}]\n" }.join)
  end

  # What Puppet answers from its own data: one list for each node.
  def own_answers(questions, environment)
    own = Mri.new("#{@dir}/mri-own", @repository.own)
    @repository.nodes.map { |facts| answers(own, facts, questions, environment) }
  ensure
    own&.stop
  end

  # What a Puppet answers to questions, [KEY] or [KEY, MERGE] each.
  def answers(puppet, facts, questions, environment)
    catalog = puppet.catalog(facts['fqdn'], facts.merge('ask' => questions), environment: environment)
    notify = catalog['resources'].find { |resource| resource['title'] == 'answers' }
    JSON.parse(notify['parameters']['message'], max_nesting: false)
  end

  def close
    FileUtils.rm_rf(@dir)
  end
end
