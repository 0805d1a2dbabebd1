# Answers with real Puppet: one site per line of standard input, one line of answers each.
#
#   apt-get install puppet-agent    # Debian 12: Puppet 7.23 with Ruby 3.1
#
# A line of input is {"dir": D, "roles": [...], "classes": [...]}; D is an environment. A line of output has, for each
# class and each role, what happens when a node with this role declares this class: "" or the message of the error.
# Each declaration has a compiler of its own.
require 'json'
require 'pathname'
require 'puppet'
require 'tmpdir'

class Oracle
  def initialize(dir)
    @dir = dir
    Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code",
                                '--environment_timeout', 'unlimited', '--log_level', 'crit'])
    Puppet.push_context(Puppet.base_context(Puppet.settings))
    @environments = Pathname(dir) + 'environments'
    @environments.mkpath
  end

  def answers(site)
    link = @environments + 'production'
    link.delete if link.symlink?
    link.make_symlink(site['dir'])
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(@environments, []))
    Puppet.override(environments: loader) do
      environment = loader.get!('production')
      site['classes'].map { |c| site['roles'].map { |r| answer(environment, c, r) } }
    end
  end

  private

  def answer(environment, name, role)
    facts = Puppet::Node::Facts.new('n', role.empty? ? {} : { 'role' => role })
    node = Puppet::Node.new('n', environment: environment, facts: facts, parameters: facts.values, classes: [name])
    node.trusted_data = { 'certname' => 'n' }
    Puppet.override(current_environment: environment) { Puppet::Parser::Compiler.new(node).compile }
    ''
  rescue SystemExit, SignalException
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- SystemStackError is none of StandardError
    e.message
  end
end

Dir.mktmpdir('classes-') do |dir|
  oracle = Oracle.new(dir)
  $stdin.each_line do |line|
    puts JSON.generate(oracle.answers(JSON.parse(line)))
    $stdout.flush
  end
end
