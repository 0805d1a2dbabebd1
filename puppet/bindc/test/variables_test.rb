# frozen_string_literal: true

require 'fileutils'
require 'minitest/autorun'
require 'puppet'
require 'tmpdir'

# Compares the variables that lookups send with those that Puppet itself sees at the same place of a
# manifest.
class VariablesTest < Minitest::Test
  NAMES = %w[role ::role zone ::zone late ::late own::role own::late base::role child::role param::role absent::role
             ::absent module_name].freeze

  MANIFEST = <<~'PUPPET'
    $role = 'top'
    see('top')
    $late = undef
    see('a variable of top scope is set')
    class own($role = 'own') { see('class') $late = 'own' see('class, a variable is set') }
    class base { $role = 'base' }
    class child inherits base { see('inherits') }
    class param($role = 'p', $b = see('parameter', $role)) { see('parameters') }
    define thing($role = 'thing') { see('define') $zone = $role see('define, a variable is set') }
    function of($role) { see('function of Puppet') $role }
    node default {
      see('node')
      $zone = 'of the node'
      see('node, a variable is set')
      include own
      include child
      include param
      thing { 'x': }
      ['one', 'two'].each |$role| { see("lambda ${role}") $zone = $role see('lambda, a variable is set') }
      ['three'].each |$zone| { include late }
      see('after the lambdas')
      of('argument')
      if 'abc' =~ /b/ { see('match') }
    }
    class late { see('class below a lambda') }
  PUPPET

  # This function gets the scope that a lookup would have at the same place.
  FUNCTION = <<~'RUBY'
    Puppet::Functions.create_function(:see, Puppet::Functions::InternalFunction) do
      dispatch :see do
        scope_param
        param 'String', :at
        optional_param 'Any', :value
      end

      def see(scope, at, value = nil)
        VariablesTest.report.call(scope, at)
        value
      end
    end
  RUBY

  class << self
    attr_accessor :report
  end

  def setup
    @dir = Dir.mktmpdir('bindc-variables')
    root = "#{@dir}/environments/production"
    FileUtils.mkdir_p(%w[manifests modules lib/puppet/functions].map { |sub| "#{root}/#{sub}" })
    File.write("#{root}/lib/puppet/functions/see.rb", FUNCTION)
    return if defined?(Puppet::Bindc_1_1_0::Variables)

    Puppet.initialize_settings(['--confdir', @dir, '--vardir', "#{@dir}/var", '--codedir', "#{@dir}/code",
                                '--log_level', 'crit'])
    Puppet.push_context(Puppet.base_context(Puppet.settings))
    require_relative '../lib/puppet_x/bindc_1_1_0/variables'
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def test_values_agree_with_puppet_in_all_scopes
    all = compile(NAMES)
    all.each { |at, ours, theirs, searched| assert_equal [theirs, []], [ours, searched - ['::base']], at }
    assert_equal 19, all.length
    assert_equal ['parameter'], all.reject(&:last).map(&:first), 'computed again although nothing can have changed'
    values = all.to_h { |at, ours,| [at, ours.first] }
    assert_equal %w[own thing one argument], values.values_at('class', 'define', 'lambda one', 'function of Puppet')
  end

  # Match variables change without being set, because each match has its own table.
  def test_changed_match_variables_are_seen
    all = compile(%w[1], <<~'PUPPET')
      [ 'abc' =~ /(b)/, see('first'), 'abc' =~ /(c)/, see('second') ].each |$x| { see('below') }
    PUPPET
    assert_equal [%w[b], %w[c]], all.first(2).map { |_, ours,| ours }
    all.each { |at, ours, theirs| assert_equal theirs, ours, at }
  end

  private

  # Returns each place in the manifest that calls see, with our values, Puppet's values, and the
  # classes that our code searched for.
  def compile(names, manifest = MANIFEST)
    File.write("#{@dir}/environments/production/manifests/site.pp", manifest)
    loader = Puppet::Environments::Directories.new(Pathname("#{@dir}/environments"), [])
    Puppet.override(environments: loader) do
      node = Puppet::Node.new('a.example.org', environment: loader.get!('production'), parameters: { 'zone' => 'z' })
      Puppet.override(current_environment: node.environment) { observe(names) { Puppet::Parser::Compiler.compile(node) } }
    end
  end

  def observe(names)
    seen, Searches.names, variables = [], [], nil
    VariablesTest.report = lambda do |scope, at|
      variables ||= Puppet::Bindc_1_1_0::Variables.new(scope).tap { |all| all.watch(names) }
      before = Searches.names.length
      ours = variables.position(scope)
      searched = Searches.names.drop(before)
      seen << [at, ours.map { |value| value unless value == Puppet::Bindc_1_1_0::Variables::UNSET },
               names.map { |name| native(scope, name) }, searched,
               variables.position(scope).equal?(variables.position(scope))]
    end
    yield
    seen
  end

  # Puppet throws if a variable is not set.
  def native(scope, name)
    value = nil
    catch(:undefined_variable) { value = scope[name] }
    value
  end

  # Records which classes Puppet searches for in the modules.
  module Searches
    class << self
      attr_accessor :names
    end

    def find_hostclass(name)
      Searches.names&.push(name)
      super
    end
  end

  Puppet::Parser::Scope.prepend(Searches)
end
