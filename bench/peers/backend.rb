# frozen_string_literal: true

# Compares Puppet's own data with snapshots that Puppet queries, in MRI, in puppetserver and with
# puppet apply: ruby backend.rb DIR TURNS WARM PART... backend.go has written the environments to
# DIR. They are measured in turn. WARM is the number of catalogs that puppetserver compiles in each
# environment before first lookups are measured. The parts are mri, apply, jruby and http. Prints a
# table.
require 'fileutils'
require 'json'
require 'open3'
require_relative '../../puppet/bindc/acceptance/mri'
require_relative '../../puppet/bindc/acceptance/processes'
require_relative '../../puppet/bindc/acceptance/puppetserver'

class Backend
  LOOKUPS = 1000 # of a catalog over HTTP
  TIMED = 600    # of a catalog in which each lookup is timed
  APPLIED = 100  # of puppet apply
  BRIEF = 100    # of a catalog whose first lookup counts
  TEXTS = { 'found' => 'lookup that finds', 'absent' => 'lookup that finds nothing', 'merge' => "lookup with merge 'unique'" }.freeze

  def initialize(dir, turns, warm, parts)
    @dir = dir
    @turns = turns
    @warm = warm
    @parts = parts
    @cases = JSON.parse(File.read("#{dir}/cases.json")).sort_by { |one| [targeted?(one) ? 0 : 1, one['name'][/\d+/].to_i] }
    @cases.each { |one| environments(one).each { |name| furnish(name, one['keys'] - (one['failing'] || [])) } }
  end

  def run
    started = Time.now
    puts loads, ''
    puts '| what | bindc | Puppet\'s YAML | ratio | target | floors: lookup_key, data_hash |', '|---|---|---|---|---|---|'
    mri = Mri.new("#{@dir}/mri", "#{@dir}/code")
    measure('MRI', mri) if part?('mri')
    apply if part?('apply')
    server = serve if part?('jruby') || part?('http')
    memory({ 'MRI' => mri, 'puppetserver' => server }.compact)
    summary
    puts '', "#{loads}, after #{(Time.now - started).round} s with #{@turns} turns"
  ensure
    mri&.stop
    server&.stop
  end

  private

  def part?(name)
    @parts.include?(name)
  end

  # Measures puppetserver. Returns the running server.
  def serve
    server = Puppetserver.new("#{@dir}/server", "#{@dir}/code", instances: 1, java: [])
    server.start
    measure('JRuby', server) if part?('jruby')
    if part?('http')
      @cases.each { |one| catalogs(server, one) }
      large
    end
    server
  end

  def loads
    "load #{File.read('/proc/loadavg').split.first(3).join(' ')}"
  end

  def targeted?(one)
    one['targets']['found'].positive?
  end

  def environments(one)
    [one['own'], one['ours'], *one['others']]
  end

  # Writes the modules and the manifest. A fact selects the part of the manifest to compile.
  def furnish(name, keys)
    root = "#{@dir}/code/environments/#{name}"
    FileUtils.mkdir_p(["#{root}/modules", "#{root}/manifests"])
    FileUtils.ln_s(File.expand_path('module', __dir__), "#{root}/modules/peers")
    FileUtils.ln_s(File.expand_path('../../puppet/bindc', __dir__), "#{root}/modules/bindc")
    asked = keys.cycle.first(LOOKUPS).each_with_index.map { |key, i| "$x#{i} = lookup('#{key}', {'default_value' => undef})" }
    File.write("#{root}/manifests/site.pp", <<~PUPPET)
      if $facts['do'] == 'times' { notify { 'times': message => peers::times($facts['keys'], $facts['merge']) } }
      if $facts['do'] == 'catalog' { #{asked.join("\n")} }
    PUPPET
  end

  def compile(puppet, one, environment, turn, facts)
    node = one['nodes'][turn % one['nodes'].length]
    puppet.catalog(node['fqdn'], node.merge(facts), environment: environment)
  end

  # Returns the time and the value of each lookup.
  def times(puppet, one, environment, turn, keys, merge = nil)
    facts = { 'do' => 'times', 'keys' => keys, 'merge' => merge }.compact
    catalog = compile(puppet, one, environment, turn, facts)
    notify = catalog['resources'].find { |resource| resource['title'] == 'times' }
    JSON.parse(notify['parameters']['message'], max_nesting: false).values_at('took', 'values')
  end

  # Yields each environment in turn. The first turns, as many as there are nodes, are not counted.
  # Returns the results of the block by environment.
  def turns(one, environments, count = @turns, least = 0)
    warm = [[one['nodes'].length, 3 * count].min, least].max
    measured = Hash.new { |all, environment| all[environment] = [] }
    (warm + count).times do |turn|
      environments.each do |environment|
        result = yield environment, turn
        measured[environment] << result if turn >= warm
      end
    end
    measured
  end

  def measure(puppet_name, puppet)
    @cases.each do |one|
      name = "#{puppet_name}, #{one['name']}"
      asked(name, puppet, one)
      first(name, puppet, one)
      absent(name, puppet, one)
      merged(name, puppet, one)
      wrong_guess(name, puppet, one)
    end
  end

  # The first lookup of a catalog is measured separately.
  def asked(name, puppet, one)
    keys = one['keys'].shuffle(random: Random.new(1)).first(targeted?(one) ? TIMED : 4000)
    found = turns(one, environments(one)) { |environment, turn| times(puppet, one, environment, turn, keys) }
    took = found.transform_values { |all| all.map(&:first) }
    row("#{name}, lookup that finds", one, took.transform_values { |all| all.flat_map { |times| times.drop(1) } }, 'found')
    row("#{name}, all #{keys.length} of a catalog, each", one, means(took))
    differing(name, *found.values_at(one['ours'], one['own']))
  end

  # A catalog has only one first lookup, so there are ten times as many catalogs with fewer lookups.
  # The code of a first lookup runs once per catalog, and a JVM compiles code only after some
  # hundred runs.
  def first(name, puppet, one)
    keys = one['keys'].shuffle(random: Random.new(1)).first(BRIEF)
    least = puppet.is_a?(Puppetserver) ? @warm : 0
    took = turns(one, environments(one), 10 * @turns, least) do |environment, turn|
      times(puppet, one, environment, turn, keys).first.first(1)
    end
    row("#{name}, first lookup of a catalog", one, took.transform_values(&:flatten), 'first')
  end

  def absent(name, puppet, one)
    keys = one['keys'].shuffle(random: Random.new(1)).first(TIMED)
    keys = [keys[0], *keys.map { |key| "#{key}_absent" }]
    took = turns(one, environments(one)) { |environment, turn| times(puppet, one, environment, turn, keys).first.drop(1) }
    row("#{name}, lookup that finds nothing", one, took.transform_values(&:flatten), 'absent')
  end

  # Explicit merges: each lookup, including the data that the first ones fetch.
  def merged(name, puppet, one)
    keys = one['merged']
    return unless keys

    found = turns(one, [one['own'], one['ours']]) { |environment, turn| times(puppet, one, environment, turn, keys, 'unique') }
    took = found.transform_values { |all| all.map { |times, _| times.sum / times.length } }
    row("#{name}, lookup with merge 'unique', each of #{keys.length}", one, took, 'merge')
    differing("#{name}, merged", *found.values_at(one['ours'], one['own']))
  end

  # Each catalog of a node looks up other keys than the previous one.
  def wrong_guess(name, puppet, one)
    halves = one['keys'].first(TIMED).each_slice(TIMED / 2).to_a
    took = turns(one, [one['own'], one['ours']]) do |environment, turn|
      times(puppet, one, environment, turn / 2 % 4, halves[turn % 2]).first
    end
    row("#{name}, #{halves[0].length} keys, none of them sent ahead, each", one, means(took))
  end

  def means(took)
    took.transform_values { |all| all.map { |times| times.sum / times.length } }
  end

  def differing(name, ours, own)
    pairs = ours.zip(own).flat_map { |(_, one), (_, other)| one.zip(other) }
    differ = pairs.count { |one, other| !one.eql?(other) }
    puts "| #{name}, answers that differ | #{differ} | of #{pairs.length} | | 0, #{verdict(name, differ.zero?)} | |"
  end

  # Measures the whole process, and the lookups alone: with a child, and with a running server.
  def apply
    @cases.select { |one| targeted?(one) }.each do |one|
      script = "#{@dir}/apply.pp"
      File.write(script, "notice(peers::times(#{JSON.generate(one['keys'].first(APPLIED))}))\n")
      served = on_socket(one)
      environments = [one['own'], one['ours'], served]
      all = turns(one.merge('nodes' => [nil]), environments, [@turns, 3].max) { |environment, _| applied(script, environment, one) }
      applied_rows("puppet apply, #{one['name']}", one, all)
      applied_rows("puppet apply, a socket, #{one['name']}", one.merge('ours' => served), all)
    end
  ensure
    Process.kill('TERM', @server) if @server
  end

  def applied_rows(name, one, all)
    row("#{name}, #{APPLIED} lookups, start to end", one, all.transform_values { |runs| runs.map(&:first) }, 'apply')
    row("#{name}, the #{APPLIED} lookups alone", one, all.transform_values { |runs| runs.map { |_, times| times.sum } }, 'apply')
    row("#{name}, the first lookup", one, all.transform_values { |runs| runs.map { |_, times| times.first } }, 'first')
  end

  # Creates an environment that queries a server on a socket for the same snapshot. Returns its
  # name.
  def on_socket(one)
    name = "#{one['ours']}socket"
    socket = "#{@dir}/bindq.sock"
    @server ||= Process.spawn("#{@dir}/bindq", 'serve', '--listen', "unix:#{socket}", '-s', "#{@dir}/snapshots")
    sleep 0.1 until File.socket?(socket)
    FileUtils.cp("#{@dir}/snapshots/#{one['ours']}.snap", "#{@dir}/snapshots/#{name}.snap")
    config = File.read("#{@dir}/code/environments/#{one['ours']}/hiera.yaml")
    furnish(name, one['keys'])
    File.write("#{@dir}/code/environments/#{name}/hiera.yaml",
               config.sub(/snapshot:.*/, "socket: #{socket}").sub(/^ *command:.*\n?/, ''))
    name
  end

  def applied(script, environment, one)
    node = one['nodes'].first
    keep_facts(node)
    command = ['puppet', 'apply', script, '--environment', environment, '--confdir', "#{@dir}/apply", '--vardir', "#{@dir}/apply/var",
               '--codedir', "#{@dir}/code", '--certname', node['fqdn'], '--facts_terminus', 'yaml']
    text = nil
    took = clock { text, = Open3.capture2e(*command) } * 1e6
    [took, JSON.parse(text[/\{"took".*\}/])['took']]
  end

  # Facts come from a file, because Facter would query the network and take most of the time.
  def keep_facts(node)
    FileUtils.mkdir_p(["#{@dir}/apply/var/state", "#{@dir}/apply/var/yaml/facts"])
    times = { 'timestamp' => '2026-01-01 00:00:00.000000000 +00:00', 'expiration' => '2100-01-01 00:00:00.000000000 +00:00' }
    File.write("#{@dir}/apply/var/yaml/facts/#{node['fqdn']}.yaml",
               "--- !ruby/object:Puppet::Node::Facts\nname: #{node['fqdn']}\nvalues: #{JSON.generate(node)}\n" +
               times.map { |name, time| "#{name}: #{time}\n" }.join)
  end

  # Subtracts the time of a catalog without lookups.
  def catalogs(server, one)
    names = environments(one)
    took = turns(one, names, [@turns, 3].max) do |environment, turn|
      %w[nothing catalog].map { |what| clock { compile(server, one, environment, turn, 'do' => what) } * 1e6 }
    end
    empty = median(took.values.flatten(1).map(&:first))
    @net = (@net || {}).merge(took.transform_values { |all| all.map { |_, time| time - empty } })
    row("catalog of #{LOOKUPS} lookups over HTTP, #{one['name']}, less the empty one (#{text(empty)})", one, @net, 'catalog')
  end

  def large
    return unless @net.key?('ours50000')

    %w[ours own].zip([1.1, nil]) do |name, target|
      line("#{name}: 50 000 nodes, against 500", median(@net["#{name}50000"]), median(@net["#{name}500"]), target)
    end
  end

  def clock
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end

  def memory(puppets)
    puppets.each do |name, puppet|
      Processes.children(puppet.pid).each do |child|
        anonymous = File.read("/proc/#{child}/status")[/^RssAnon:\s*(\d+)/, 1].to_i / 1024.0
        what = "memory of the child of #{name}, anonymous"
        puts "| #{what} | #{anonymous.round(1)} MB | | | <= 8 MB, #{verdict(what, anonymous <= 8)} | |"
      end
    end
  end

  def row(name, one, measured, target = nil)
    ours, own = measured.values_at(one['ours'], one['own']).map { |all| median(all) }
    floors = (one['others'] || []).filter_map { |other| measured[other] && text(median(measured[other])) } if measured.is_a?(Hash)
    line(name, ours, own, target && one['targets'][target], floors&.join(', '))
  end

  def line(name, ours, own, target, rest = '')
    ratio = ours / own
    goal = "<= #{target}, #{verdict(name, ratio.round(2) <= target)}" if target&.positive?
    puts "| #{name} | #{text(ours)} | #{text(own)} | #{ratio.round(2)} | #{goal} | #{rest} |"
    $stdout.flush
  end

  # Records whether a target is reached, and returns the verdict.
  def verdict(name, reached)
    (@verdicts ||= []) << [name, reached]
    reached ? 'reached' : 'missed'
  end

  def summary
    missed = @verdicts.reject(&:last).map(&:first)
    puts '', "#{@verdicts.length} targets, #{missed.length} missed#{":\n" unless missed.empty?}", missed.map { |name| "* #{name}" }
  end

  # Formats a time in microseconds.
  def text(time)
    time < 1000 ? "#{time.round(1)} us" : "#{(time / 1000).round(1)} ms"
  end

  def median(all)
    all.sort[all.length / 2]
  end
end

Backend.new(ARGV[0], ARGV[1].to_i, ARGV[2].to_i, ARGV.drop(3)).run
