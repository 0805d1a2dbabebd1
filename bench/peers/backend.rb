# frozen_string_literal: true

# Measures Puppet's own data beside snapshots that Puppet asks, in MRI and in puppetserver: ruby backend.rb DIR, where
# backend.go has laid out environments. They take turns. Prints a table.
require 'fileutils'
require 'json'
require_relative '../../puppet/bindc/acceptance/mri'
require_relative '../../puppet/bindc/acceptance/processes'
require_relative '../../puppet/bindc/acceptance/puppetserver'

class Backend
  LOOKUPS = 1000 # of a catalog
  WARM = 10      # turns before anything is measured

  def initialize(dir)
    @dir = dir
    @nodes, keys = JSON.parse(File.read("#{dir}/peers.json")).values_at('nodes', 'keys')
    @keys = keys.shuffle(random: Random.new(1))
    Dir["#{dir}/code/environments/*"].each { |root| furnish(root) }
  end

  def run
    mri = Mri.new("#{@dir}/mri", "#{@dir}/code")
    server = Puppetserver.new("#{@dir}/server", "#{@dir}/code", instances: 1, java: [])
    server.start
    puts '| what | bindc | Puppet\'s YAML | ratio | target | three locations |', '|---|---|---|---|---|---|'
    lookups('MRI', mri, 0.7, 1.0, 0.8)
    lookups('JRuby', server, 0.5, 0.85, nil)
    catalogs(server)
    memory(mri.pid, server.pid)
  ensure
    mri&.stop
    server&.stop
  end

  private

  # Modules and the manifest. Which of its parts is compiled a fact says.
  def furnish(root)
    FileUtils.mkdir_p(["#{root}/modules", "#{root}/manifests"])
    FileUtils.ln_s(File.expand_path('module', __dir__), "#{root}/modules/peers")
    FileUtils.ln_s(File.expand_path('../../puppet/bindc', __dir__), "#{root}/modules/bindc")
    asked = @keys.first(LOOKUPS).each_with_index.map { |key, i| "$x#{i} = lookup('#{key}')" }
    File.write("#{root}/manifests/site.pp", <<~PUPPET)
      if $facts['do'] == 'times' { notify { 'times': message => peers::times($facts['keys']) } }
      if $facts['do'] == 'catalog' { #{asked.join("\n")} }
    PUPPET
  end

  def compile(puppet, environment, turn, facts)
    node = @nodes[turn % @nodes.length]
    puppet.catalog(node['fqdn'], node.merge(facts), environment: environment)
  end

  # What each lookup took, and what it found.
  def times(puppet, environment, turn, keys)
    catalog = compile(puppet, environment, turn, 'do' => 'times', 'keys' => keys)
    notify = catalog['resources'].find { |resource| resource['title'] == 'times' }
    JSON.parse(notify['parameters']['message']).values_at('took', 'values')
  end

  # Turns of each environment, after some that warm it up: what the block measures, by environment.
  def turns(environments, count = @nodes.length)
    measured = Hash.new { |all, environment| all[environment] = [] }
    (WARM + count).times do |turn|
      environments.each do |environment|
        result = yield environment, turn
        measured[environment] << result if turn >= WARM
      end
    end
    measured
  end

  # The first lookup of a catalog is not counted among those that find, nor is one that is put before those that do not.
  def lookups(name, puppet, found_target, missed_target, first_target)
    keys = @keys.first(600)
    names = %w[compiled500 own500 located500]
    found = turns(names) { |environment, turn| times(puppet, environment, turn, keys) }
    missed = turns(names) { |environment, turn| times(puppet, environment, turn, [keys[0], *absent(keys)]).first.drop(1) }
    took = found.transform_values { |all| all.map(&:first) }
    row("#{name}, lookup that finds", took.transform_values { |all| all.flat_map { |times| times.drop(1) } }, found_target)
    row("#{name}, lookup that finds nothing", missed.transform_values(&:flatten), missed_target)
    row("#{name}, first lookup of a catalog", took.transform_values { |all| all.map(&:first) }, first_target)
    row("#{name}, all 600 of a catalog, each", took.transform_values { |all| all.map { |times| times.sum / times.length } })
    row("#{name}, 600 that find nothing, each", missed.transform_values { |all| all.map { |times| times.sum / times.length } })
    differing(name, *found.values_at('compiled500', 'own500'))
  end

  def absent(keys)
    keys.map { |key| "#{key}_absent" }
  end

  def differing(name, ours, own)
    pairs = ours.zip(own).flat_map { |(_, one), (_, other)| one.zip(other) }
    differ = pairs.count { |one, other| !one.eql?(other) }
    puts "| #{name}, answers that differ | #{differ} | of #{pairs.length} | | 0 | |"
  end

  # Milliseconds, without what a catalog takes that looks nothing up.
  def catalogs(server)
    names = %w[compiled500 own500 located500 compiled50000 own50000]
    took = turns(names, 15) do |environment, turn|
      %w[nothing catalog].map { |what| clock { compile(server, environment, turn, 'do' => what) } * 1e6 }
    end
    empty = median(took.values.flatten(1).map(&:first))
    net = took.transform_values { |all| all.map { |_, time| time - empty } }
    row("catalog of #{LOOKUPS} lookups over HTTP, less the empty one (#{text(empty)})", net, 0.6)
    row('the same of 50 000 nodes', { 'compiled500' => net['compiled50000'], 'own500' => net['own50000'] })
    %w[compiled own].zip([1.1, nil]) do |name, target|
      line("#{name}: 50 000 nodes, against 500", median(net["#{name}50000"]), median(net["#{name}500"]), target)
    end
  end

  def clock
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end

  def memory(*pids)
    pids.flat_map { |pid| Processes.children(pid) }.each do |child|
      anonymous = File.read("/proc/#{child}/status")[/^RssAnon:\s*(\d+)/, 1].to_i / 1024.0
      puts "| memory of a child, anonymous | #{anonymous.round(1)} MB | | | <= 6 | |"
    end
  end

  def row(name, measured, target = nil)
    ours, own, located = measured.values_at('compiled500', 'own500', 'located500').map { |all| all && median(all) }
    line(name, ours, own, target, located && "#{text(located)}, #{(located / own).round(2)}")
  end

  def line(name, ours, own, target, rest = '')
    ratio = ours / own
    missed = ', missed' if target && ratio > target
    puts "| #{name} | #{text(ours)} | #{text(own)} | #{ratio.round(2)} | #{"<= #{target}#{missed}" if target} | #{rest} |"
    $stdout.flush
  end

  # Of a time in microseconds.
  def text(time)
    time < 1000 ? "#{time.round(1)} us" : "#{(time / 1000).round(1)} ms"
  end

  def median(all)
    all.sort[all.length / 2]
  end
end

Backend.new(ARGV[0]).run
