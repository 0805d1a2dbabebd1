# frozen_string_literal: true

require 'fileutils'
require 'json'

# Runs Puppet in a separate process, which compiles catalogs like a server and loads environments once.
class Mri
  class Refused < StandardError; end

  def initialize(dir, codedir)
    FileUtils.mkdir_p(dir)
    @mutex = Mutex.new
    @log = "#{dir}/log"
    @io = IO.popen(['ruby', __FILE__, dir, codedir], 'r+', err: [@log, 'w'])
  end

  # Returns the log of Puppet.
  def log
    File.read(@log)
  end

  def pid
    @io.pid
  end

  # Returns the catalog of a node as parsed JSON.
  def catalog(node, facts, environment: 'production')
    answer = @mutex.synchronize do
      @io.puts(JSON.generate([node, facts, environment]))
      JSON.parse(@io.gets, max_nesting: false)
    end
    raise Refused, answer['error'] if answer['error']

    answer
  end

  def stop
    @io.close
  end

  # The Ruby code that the separate process runs.
  class Compiler
    def initialize(dir, codedir)
      Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', codedir,
                                  '--environment_timeout', 'unlimited', '--log_level', 'warning'])
      Puppet.push_context(Puppet.base_context(Puppet.settings))
      Puppet::Util::Log.newdestination(:console)
    end

    def serve
      while (line = $stdin.gets)
        puts JSON.generate(answer(*JSON.parse(line)))
        $stdout.flush
      end
    end

    private

    def answer(name, facts, environment)
      JSON.parse(compile(name, facts, Puppet.lookup(:environments).get!(environment)).to_json, max_nesting: false)
    rescue Puppet::Error => e
      { 'error' => e.message }
    end

    def compile(name, facts, environment)
      node = Puppet::Node.new(name, environment: environment, facts: Puppet::Node::Facts.new(name, facts.dup))
      node.add_server_facts({})
      node.merge(facts)
      node.trusted_data = { 'certname' => name, 'authenticated' => 'remote', 'extensions' => {} }
      Puppet::Parser::Compiler.compile(node)
    end
  end
end

if $PROGRAM_NAME == __FILE__
  require 'puppet'
  Mri::Compiler.new(*ARGV).serve
end
