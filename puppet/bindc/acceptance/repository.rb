# frozen_string_literal: true

require 'fileutils'
require 'json'

# A generated control repository, the same at each run, in two forms: as Puppet's own data (YAML,
# hiera.yaml of version 5), and as a site of bindc with environments that query its snapshot.
# Modules bind keys, and the site overrides them at four levels.
class Repository
  MODULES = %w[apache ntp mysql sudo profile_base profile_web].freeze
  ENVIRONMENTS = %w[production staging].freeze
  FAMILIES = %w[Debian RedHat Suse].freeze
  ROLES = %w[web db mail build].freeze
  KINDS = %i[string string string string interpolated integer float boolean list list hash hash undef big].freeze

  # The module's function under test: data_hash or lookup_key.
  FUNCTION = ENV.fetch('FUNCTION', 'data_hash')

  attr_reader :dir, :nodes, :keys

  def initialize(dir, nodes: 12, keys: 600)
    @dir = dir
    @random = Random.new(11)
    @nodes = (1..nodes).map { |i| facts(i) }
    @keys = (0...keys).map { |i| name(i) }
    @kinds = @keys.to_h { |key| [key, KINDS.sample(random: @random)] }
  end

  # Returns the codedir with Puppet's own data.
  def own
    "#{@dir}/own"
  end

  # Returns the codedir whose data is in snapshots.
  def compiled
    "#{@dir}/compiled"
  end

  def site
    "#{@dir}/site"
  end

  # Returns the path of the snapshot of an environment.
  def snapshot(environment)
    "#{@dir}/snapshots/#{environment}.snap"
  end

  # Returns the merge strategies that fit the value of a key.
  def merges(key)
    { list: %w[unique], hash: %w[hash deep] }.fetch(@kinds[key], [])
  end

  def write
    data.each do |path, bindings|
      put("#{own}/environments/production/#{path}", document(bindings) { |text| text })
      put("#{site}/#{path}", document(bindings) { |text| text.gsub('%{', '${').gsub('facts.os.family', "facts['os']['family']") })
    end
    configure_own
    configure_site
    ENVIRONMENTS.each { |environment| configure_compiled(environment) }
    self
  end

  # Writes an environment of the compiled codedir, with the given hierarchy and a manifest.
  def configure_compiled(environment, hierarchy = entry({ 'snapshot' => "#{@dir}/snapshots/%{environment}.snap" }))
    root = "#{compiled}/environments/#{environment}"
    put("#{root}/hiera.yaml", "version: 5\nhierarchy:\n#{hierarchy}")
    common(root)
    link(File.expand_path('..', __dir__), "#{root}/modules/bindc")
    root
  end

  # Returns the hierarchy entry that queries bindc.
  def entry(options, locations: 6)
    uris = (0...locations).map { |i| "bindc:#{i}" }
    options = { 'command' => ENV.fetch('BINDQ') }.merge(options) unless options.key?('socket')
    "  - {name: bindc, #{FUNCTION}: 'bindc::#{FUNCTION}', uris: #{JSON.generate(uris)}, options: #{JSON.generate(options)}}\n"
  end

  private

  def facts(number)
    fqdn = format('node%<number>02d.example.org', number: number)
    family = FAMILIES[number % FAMILIES.length]
    { 'fqdn' => fqdn, 'role' => ROLES[number / 2 % ROLES.length], 'osfamily' => family, 'os' => { 'family' => family },
      'networking' => { 'fqdn' => fqdn } }
  end

  # Every twelfth key belongs to no module. Of the others, every third belongs to a class inside its
  # module.
  def name(number)
    return "key_#{number}" if (number % 12).zero?

    "#{MODULES[number % MODULES.length]}::#{"#{%w[server client][number % 2]}::" if (number % 3).zero?}p#{number}"
  end

  # Maps paths to bindings. Each key is bound by its module, or by the site if it has none; further
  # levels bind it at random.
  def data
    files = Hash.new { |all, path| all[path] = {} }
    @keys.each do |key|
      files[home(key)][key] = value(@kinds[key])
      levels.each { |path, chance| files[path][key] = value(@kinds[key]) if @random.rand < chance }
    end
    files['data/common.yaml']['lookup_options'] = lookup_options
    files
  end

  def home(key)
    owner = key[/\A(.*?)::/, 1]
    owner ? "modules/#{owner}/data/common.yaml" : 'data/common.yaml'
  end

  def levels
    ROLES.map { |role| ["data/role/#{role}.yaml", 0.1] } + ENVIRONMENTS.map { |name| ["data/environment/#{name}.yaml", 0.1] } +
      FAMILIES.map { |family| ["data/osfamily/#{family}.yaml", 0.1] } +
      @nodes.map { |facts| ["data/node/#{facts['fqdn']}.yaml", 0.04] }
  end

  # Some keys are merged in all lookups.
  def lookup_options
    lists, hashes = %i[list hash].map { |kind| @keys.select { |key| @kinds[key] == kind }.sort.first(8) }
    lists.to_h { |key| [key, { 'merge' => 'unique' }] }.merge(hashes.to_h { |key| [key, { 'merge' => 'deep' }] })
  end

  WORDS = ['present', 'latest', 'v1.2', '10.0.3.4', '/var/lib/x', 'true', '017', 'a: b', "it's", "Größe\n", '50 %', 'back\\slash', '', ' ',
           'cost 5 $', '#', '~', '1e3', '日本'].freeze

  def value(kind)
    case kind
    when :string then word
    when :interpolated then "#{@random.rand(9)}-%{#{%w[fqdn role facts.os.family environment].sample(random: @random)}}.x"
    when :integer then @random.rand(-70_000..70_000)
    when :big then 2**53 + @random.rand(2**60)
    when :float then [1.0, -0.5, 1e20, 2.5e-7, 3.0].sample(random: @random)
    when :boolean then @random.rand < 0.5
    when :list then Array.new(@random.rand(4)) { word }
    when :hash then hash(2)
    end
  end

  def word
    WORDS.sample(random: @random)
  end

  def hash(depth)
    Array.new(1 + @random.rand(4)) { |i| ["k#{@random.rand(6)}#{i}", inside(depth)] }.to_h
  end

  def inside(depth)
    kind = %i[string integer float boolean list interpolated undef hash].sample(random: @random)
    kind == :hash && depth.positive? ? hash(depth - 1) : value(kind == :hash ? :string : kind)
  end

  # JSON is valid YAML. The block spells the variables.
  def document(bindings)
    bindings.map { |key, value| "#{JSON.generate(key)}: #{yield JSON.generate(value)}\n" }.join
  end

  def put(path, text)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  # If a link exists already, ln would create the new one in the directory that it refers to.
  def link(target, path)
    FileUtils.rm_f(path)
    FileUtils.ln_s(target, path)
  end

  def common(root)
    put("#{root}/manifests/site.pp", "notify { 'answers': message => ask::answers($facts['ask']) }\n")
    FileUtils.mkdir_p("#{root}/modules")
    link(File.expand_path('ask', __dir__), "#{root}/modules/ask")
  end

  def configure_own
    root = "#{own}/environments/production"
    put("#{root}/hiera.yaml", <<~YAML)
      version: 5
      defaults: {datadir: data, data_hash: yaml_data}
      hierarchy:
        - {name: node, path: 'node/%{fqdn}.yaml'}
        - {name: role, path: 'role/%{role}.yaml'}
        - {name: osfamily, path: 'osfamily/%{facts.os.family}.yaml'}
        - {name: environment, path: 'environment/%{environment}.yaml'}
        - {name: common, path: common.yaml}
    YAML
    MODULES.each do |name|
      put("#{root}/modules/#{name}/hiera.yaml", "version: 5\nhierarchy:\n  - {name: common, path: common.yaml, data_hash: yaml_data}\n")
    end
    common(root)
    FileUtils.ln_s('production', "#{own}/environments/staging")
  end

  def configure_site
    put("#{site}/binder_config.yaml", <<~'YAML')
      version: 1
      layers:
        - {name: site, include: 'confdir-hiera:/'}
        - {name: modules, include: 'module-hiera:/*/'}
      categories:
        - [node, '${fqdn}']
        - [role, '${role}']
        - [osfamily, '${osfamily}']
        - [environment, '${environment}']
        - [common, 'true']
    YAML
    put("#{site}/hiera.yaml", <<~'YAML')
      version: 2
      hierarchy:
        - [node, '${fqdn}', 'data/node/${fqdn}']
        - [role, '${role}', 'data/role/${role}']
        - [osfamily, '${osfamily}', 'data/osfamily/${osfamily}']
        - [environment, '${environment}', 'data/environment/${environment}']
        - [common, 'true', 'data/common']
    YAML
    MODULES.each { |name| put("#{site}/modules/#{name}/hiera.yaml", "version: 2\nhierarchy:\n  - [common, 'true', 'data/common']\n") }
  end
end
