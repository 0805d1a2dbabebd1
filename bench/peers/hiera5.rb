# Puppet's lookup, which is Hiera 5, in a process: ruby hiera5.rb DIR
#
# As `puppet lookup` does it, without a catalog, and as a server is best set up: environments are loaded once.
require 'puppet'
require_relative 'serve'

Request = Struct.new(:invocation) do
  def lookup(key)
    Puppet::Pops::Lookup.lookup(key, nil, nil, false, nil, invocation)
  end
end

Puppet.initialize_settings(['--confdir', ARGV[0], '--vardir', "#{ARGV[0]}/var", '--codedir', "#{ARGV[0]}/code",
                            '--environment_timeout', 'unlimited', '--log_level', 'err'])
Puppet.push_context(Puppet.base_context(Puppet.settings))
Puppet[:code] = 'undef'

def with_request(facts)
  environment = Puppet.lookup(:environments).get!(facts['environment'])
  node = Puppet::Node.new(facts['fqdn'], environment: environment, facts: Puppet::Node::Facts.new(facts['fqdn'], facts.dup))
  node.merge(facts.reject { |name, _| name == 'environment' })
  result = nil
  Puppet.override(current_environment: environment) do
    compiler = Puppet::Parser::Compiler.new(node)
    compiler.compile do |catalog|
      result = yield Request.new(Puppet::Pops::Lookup::Invocation.new(compiler.topscope, {}, {}, nil))
      catalog
    end
  end
  result
end

serve(ARGV[0])
