# Definitions that Puppet's own parser finds: the path of a manifest per line of standard input, a line of JSON each.
#
#   apt-get install puppet-agent    # Debian 12: Puppet 7.23 with Ruby 3.1
#
# A line of output is null if Puppet refuses the manifest. Otherwise it is a list of [name, parameters] for the classes,
# and of [name, nil, tree] for type aliases. A parameter is [name, source of its type, has a default].
require 'json'
require 'puppet'

DUMPER = Puppet::Pops::Model::ModelTreeDumper.new

def text(node)
  node && node.locator.extract_text(node.offset, node.length)
end

def definitions(program)
  program.definitions.filter_map do |d|
    case d
    when Puppet::Pops::Model::HostClassDefinition
      [d.name, d.parameters.map { |p| [p.name, text(p.type_expr), !p.value.nil?] }]
    when Puppet::Pops::Model::TypeAlias
      [d.name, nil, DUMPER.dump(d.type_expr)] # its place in the source is not recorded
    end
  end
end

Puppet.initialize_settings(['--log_level', 'crit'])
parser = Puppet::Pops::Parser::Parser.new
$stdin.each_line(chomp: true) do |path|
  begin
    source = File.read(path, encoding: 'UTF-8')
    puts JSON.generate(definitions(parser.parse_string(source, path).model))
  rescue StandardError
    puts 'null'
  end
  $stdout.flush
end
