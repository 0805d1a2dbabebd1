# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'minitest/autorun'
require 'puppet'
require 'tmpdir'

# Checks compiled control repositories: through the module, Puppet finds the same values as in the
# original data, with every merge. The repositories are unchanged. They belong to others and are
# not part of this repository.
class Hiera5Test < Minitest::Test
  CORPORA = File.expand_path('../../../../shared/corpora/hiera5', __dir__)
  FLAGS = ENV['FUNCTION'] == 'lookup_key' ? ['--lookup-key'] : []
  EACH = 100 # lookups per merge strategy and site

  def self.dir
    @dir ||= Dir.mktmpdir('bindc-hiera5').tap do |dir|
      Minitest.after_run { FileUtils.rm_rf(dir) }
      Puppet.initialize_settings(['--confdir', dir, '--vardir', "#{dir}/var", '--codedir', "#{dir}/code",
                                  '--environment_timeout', 'unlimited', '--log_level', 'crit'])
      Puppet.push_context(Puppet.base_context(Puppet.settings))
    end
  end

  sites = Dir["#{CORPORA}/*/expect.jsonl"].map { |path| File.dirname(path) }
  sites.each do |site|
    define_method("test_#{File.basename(site)}") { compare(site) }
  end
  define_method(:test_no_sites) { skip "#{CORPORA} is missing: real sites are not part of this repository" } if sites.empty?

  # Entries that only Puppet reads are among those that bindq serves. Puppet merges all of them,
  # with the same results as from the files alone.
  def test_merging_with_puppets_entries_gives_same_values
    own, beside = %w[own beside].map { |name| "#{self.class.dir}/between/#{name}/production" }
    between(own)
    between(beside)
    beside!("#{self.class.dir}/between/site.snap", beside, [ENV.fetch('BINDQ')])
    assert_equal 3, File.read("#{beside}/hiera.yaml").scan(/(data_hash|lookup_key): bindc::/).length
    questions = %w[first_only list bag deep plain.a secret nothing of_role].product([nil, 'first', 'unique', 'hash', 'deep'])
    theirs, ours = [own, beside].map { |root| between_answers(File.dirname(root), questions) }
    theirs.each_index { |i| assert_equal theirs[i], ours[i], questions[i].inspect }
    assert_equal %w[db web], [theirs[-6], theirs[-3]].map { |answer| answer['value'] }
    assert_operator theirs.count { |answer| answer.key?('value') }, :>, 20
  end

  # A migrated site can also have Puppet's own levels. Data that depends on them has stayed in Hiera
  # 5, so the results are those of the files.
  def test_migrated_site_with_puppets_entries_has_same_values
    own, migrated = %w[own migrated].map { |name| "#{self.class.dir}/migrated/#{name}/production" }
    between(own)
    between(migrated)
    output = execute(ENV.fetch('BINDC'), 'migrate', own, '-o', "#{self.class.dir}/migrated/new")
    assert_match(/moved: 1 key; kept in Hiera 5: 5 \(5 depending on a level that only Puppet can read\)/, output)
    ask!("#{self.class.dir}/migrated/site.snap", "#{self.class.dir}/migrated/new", migrated,
         "#{self.class.dir}/migrated/new/hiera5/hiera.yaml", [ENV.fetch('BINDQ')])
    questions = %w[first_only list bag deep plain.a secret nothing of_role].product([nil, 'first', 'unique', 'hash', 'deep'])
    theirs, ours = [own, migrated].map { |root| between_answers(File.dirname(root), questions) }
    # Categories use variables of the top scope, also for lookups in another scope.
    questions.each_index { |i| assert_equal theirs[i], ours[i], questions[i].inspect }
  end

  # A name with '::' is a variable of the top scope, or of the class it names, also for lookups in another scope.
  def test_qualified_variables_have_same_values_as_in_puppet
    own, beside = %w[own beside].map { |name| "#{self.class.dir}/qualified/#{name}/production" }
    [own, beside].each { |root| write(QUALIFIED, root) }
    beside!("#{self.class.dir}/qualified/site.snap", beside, [ENV.fetch('BINDQ')])
    theirs, ours = lenient { [own, beside].map { |root| notified(File.dirname(root)) } }
    assert_equal theirs, ours
    assert_equal({ 'site' => 'web', 'role' => 'web db', 'zone' => '<>', 'mode' => 'fast fast slow' }, theirs['backup'])
  end

  # Puppet 8 fails if a value interpolates an unset variable. The module follows the same setting.
  def test_unset_variables_fail_as_in_puppet
    own, beside = %w[own beside].map { |name| "#{self.class.dir}/unset/#{name}/production" }
    [own, beside].each { |root| write(UNSET, root) }
    beside!("#{self.class.dir}/unset/site.snap", beside, [ENV.fetch('BINDQ')])
    before = Puppet[:strict]
    failing = %i[warning error].to_h do |strict|
      Puppet[:strict] = strict
      theirs, ours = [own, beside].map { |root| unset_answers(File.dirname(root)) }
      assert_equal theirs, ours, strict
      [strict, theirs.select { |_, answer| answer.key?('error') }.keys]
    end
    assert_equal({ warning: [], error: %w[bare keys local lookup qualified top] }, failing)
  ensure
    Puppet[:strict] = before
  end

  # The explanation of the module's entry contains Puppet's explanation of its own data, in the same
  # order. Unset variables are explained, without warnings.
  def test_explanation_contains_puppets_own_lines
    own, beside = %w[own beside].map { |name| "#{self.class.dir}/explained/#{name}/production" }
    [own, beside].each { |root| write(EXPLAINED, root) }
    beside!("#{self.class.dir}/explained/site.snap", beside, [ENV.fetch('BINDQ')])
    %w[bag list text nothing of_module absent].each do |key|
      theirs, ours = lenient { [own, beside].map { |root| explained(root, key) } }
      rest = ours.each
      missing = theirs.find { |line| !found_in?(rest, line) }
      assert_nil missing, "#{key}: not in order, or not there, in\n#{ours.join("\n")}"
      assert_operator theirs.length, :>, 10
    end
    assert_includes lenient { explained(beside, 'bag', plain: false) }, 'Found key: "bag" value: {} at data/roles/none.yaml:1:1'
  end

  # Edge cases: a snapshot merges, converts and rejects the same values as Puppet.
  def test_puppet_and_snapshot_agree_on_edge_cases
    own, beside = %w[own beside].map { |name| "#{self.class.dir}/edges/#{name}/production" }
    [own, beside].each { |root| write(EDGES, root) }
    beside!("#{self.class.dir}/edges/site.snap", beside, [ENV.fetch('BINDQ')])
    questions = [%w[list unique], %w[bag unique], ['asked'], ['bag'], ['symbol'], ['slashes'], ['listed'], ['time'], ['time.x']]
    theirs, ours = [own, beside].map { |root| between_answers(File.dirname(root), questions).first(questions.length) }
    theirs, ours = [theirs, ours].map { |all| all.map { |answer| answer.inspect.gsub(/:0x\h+/, '') } }
    theirs.each_index { |i| assert_equal theirs[i], ours[i], questions[i].inspect }
    assert_equal [1, 4, 8], theirs.each_index.select { |i| theirs[i].include?('error') }
  end

  private

  EDGES = {
    'hiera.yaml' => <<~YAML,
      version: 5
      hierarchy:
        - {name: JSON, path: a.json, data_hash: json_data}
        - name: Secrets
          glob: 'secrets/*.eyaml'
          lookup_key: eyaml_lookup_key
          options: {pkcs7_private_key: /nowhere, pkcs7_public_key: /nowhere}
        - {name: Common, path: common.yaml}
    YAML
    'data/a.json' => '{"list": [{"a": 1}], "bag": {"a": 1}, "asked": {"a": 1}}',
    'data/secrets/x.eyaml' => "list: [{b: 1}]\nbag: {b: 1}\nasked: {b: 1}\n",
    'data/secrets/y.eyaml' => "list: [{a: 1}, {c: 1}]\nbag: {c: 1}\n",
    'data/common.yaml' => <<~'YAML'
      symbol: :running
      slashes: '\\'
      listed: ['\\', "it's"]
      time: '2020-01-01T00:00:00.000 UTC'
      lookup_options:
        asked: {merge: unique}
        slashes: {convert_to: String}
        listed: {convert_to: String}
        time: {convert_to: Timestamp}
    YAML
  }.freeze

  EXPLAINED = {
    'hiera.yaml' => <<~YAML,
      version: 5
      hierarchy:
        - {name: Missing, path: 'missing/%{nobody}.yaml'}
        - {name: Roles, paths: ['roles/%{role}.yaml', roles/none.yaml, roles/absent.yaml]}
        - {name: Common, path: common.yaml}
    YAML
    'data/roles/web.yaml' => "bag: {r: 1, l: [x, y]}\nlist: [r]\n",
    'data/roles/none.yaml' => "bag: {}\nlist: [n]\n",
    'data/common.yaml' => <<~YAML,
      bag: {c: 3, l: []}
      list: [c, r]
      text: "of %{role} %{nobody}%{lookup('name')}"
      name: named
      nothing: ~
      of_module: 1.5
      lookup_options:
        bag: {merge: deep}
        list: {merge: unique}
    YAML
  }.freeze

  UNSET = {
    'hiera.yaml' => "version: 5\n",
    'data/common.yaml' => <<~YAML,
      bare: 'x%{osfamily}'
      keys: 'x%{osfamily.x}'
      local: 'x%{local}'
      lookup: "%{lookup('bare')}"
      qualified: 'x%{unset::nobody}'
      top: 'x%{::osfamily}'
      inside: 'x%{facts.osfamily}%{trusted.extensions.role}%{server_facts.nobody}'
      undef: 'x%{nothing}%{::nothing}%{nothing.x}'
      always: 'x%{module_name}%{caller_module_name}%{1}'
      given: 'x%{environment}%{kernel}%{::kernel}'
    YAML
    'modules/unset/manifests/init.pp' => "class unset { }\n"
  }.freeze

  QUALIFIED = {
    'hiera.yaml' => <<~YAML,
      version: 5
      hierarchy:
        - {name: Roles, path: 'role/%{::role}.yaml'}
        - {name: Common, path: common.yaml}
    YAML
    'data/role/web.yaml' => "site: web\n",
    'data/role/db.yaml' => "site: db\n",
    'data/common.yaml' => <<~YAML,
      role: '%{::role} %{role}'
      zone: '<%{::zone}>'
      mode: '%{backup::mode} %{::backup::mode} %{mode}'
    YAML
    'manifests/site.pp' => <<~'PUPPET',
      $role = 'web'
      $keys = ['site', 'role', 'zone', 'mode']
      include backup
      include backup::fast
      notify { 'top': message => Hash($keys.map |$key| { [$key, lookup($key)] }) }
    PUPPET
    'modules/backup/manifests/init.pp' => <<~'PUPPET',
      class backup {
        $role = 'db'
        $zone = 'inside'
        $mode = 'fast'
        include backup::slow
        notify { 'backup': message => $backup::slow::answers }
      }
    PUPPET
    'modules/backup/manifests/fast.pp' => <<~'PUPPET',
      class backup::fast {
        notify { 'fast': message => Hash($keys.map |$key| { [$key, lookup($key)] }) }
      }
    PUPPET
    'modules/backup/manifests/slow.pp' => <<~'PUPPET'
      class backup::slow {
        $role = 'db'
        $zone = 'inside'
        $mode = 'slow'
        $answers = Hash($keys.map |$key| { [$key, lookup($key)] })
      }
    PUPPET
  }.freeze

  BETWEEN = {
    'hiera.yaml' => <<~YAML,
      version: 5
      hierarchy:
        - {name: Roles, path: 'roles/%{role}.yaml'}
        - {name: First, lookup_key: between::data, options: {list: [f1, x], bag: {f: 1}}}
        - {name: Nodes, paths: ['a.yaml', 'b.yaml']}
        - {name: Second, lookup_key: between::data, options: {list: [s1], deep: {l: [s], k: {s: 1}}, first_only: 1}}
        - {name: Common, path: common.yaml}
    YAML
    'data/roles/web.yaml' => "of_role: web\nlist: [r, x, x]\ndeep: {l: ['--c', r]}\n",
    'data/roles/db.yaml' => "of_role: db\n",
    'data/a.yaml' => "list: [a]\nbag: {a: 1}\ndeep: {k: {a: 1}}\nlookup_options: {bag: {merge: hash}}\n",
    'data/b.yaml' => "list: [b, x]\nbag: {a: 2, b: 2}\ndeep: {l: [b]}\nplain: {a: 'of %{role}'}\n",
    'data/common.yaml' => <<~YAML,
      list: [c, x]
      bag: {c: 3}
      deep: {l: [c, d], k: {c: 1}}
      secret: hidden
      lookup_options:
        secret: {convert_to: Sensitive}
        list: {merge: unique}
        ^dee: {merge: {strategy: deep, knockout_prefix: '--'}}
    YAML
    'modules/between/lib/puppet/functions/between/data.rb' => <<~RUBY
      Puppet::Functions.create_function(:'between::data') do
        dispatch(:data) { param 'Any', :key; param 'Any', :options; param 'Any', :context }
        def data(key, options, context)
          options.key?(key) ? Marshal.load(Marshal.dump(options[key])) : context.not_found
        end
      end
    RUBY
  }.freeze

  def between(root)
    write(BETWEEN, root)
  end

  def write(files, root)
    files.each do |path, text|
      FileUtils.mkdir_p(File.dirname("#{root}/#{path}"))
      File.write("#{root}/#{path}", text)
    end
  end

  # Looks keys up at top scope, then in a scope where a variable has another value.
  def between_answers(environments, questions)
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(environments), []))
    node = { 'environment' => 'production', 'facts' => {}, 'trusted' => { 'certname' => 'a.example.org' },
             'vars' => { 'role' => 'web' } }
    Puppet.override(environments: loader) do
      with_scope(loader, node) do |scope|
        inner = scope.newscope(source: nil, resource: nil)
        inner['role'] = 'db'
        found = questions.map { |key, merge| shown(answer(scope, 'key' => key, 'merge' => merge)) }
        found + [inner, scope].flat_map { |from| %w[of_role plain list].map { |key| shown(answer(from, 'key' => key)) } }
      end
    end
  end

  # Unset variables are errors in Puppet 8. Within the block they are not.
  def lenient
    before = Puppet[:strict]
    Puppet[:strict] = :warning
    yield
  ensure
    Puppet[:strict] = before
  end

  # Reports whether a line is among the remaining ones, and skips to it.
  def found_in?(rest, line)
    loop { return true if rest.next == line }
    false
  end

  # Returns the explanation of a key as lines without indentation. plain omits positions and locations of
  # files.
  def explained(root, key, plain: true)
    explainer = Puppet::Pops::Lookup::Explainer.new
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(File.dirname(root)), []))
    node = { 'environment' => 'production', 'facts' => { 'role' => 'web' }, 'trusted' => { 'certname' => 'a' } }
    Puppet.override(environments: loader) do
      with_scope(loader, node) do |scope|
        invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, explainer)
        Puppet::Pops::Lookup.lookup(key, nil, :none, true, nil, invocation)
      end
    end
    lines = explainer.explain.lines.map(&:strip)
    # bindq does not know the data of Puppet's global layer.
    lines = lines.slice_when { |line, _| !line.start_with?('Global Data Provider') }.reject { |some| some.length > 1 }.flatten if plain
    lines = lines.reject { |line| line.start_with?('Using configuration', 'Environment Data Provider') } if plain
    plain ? lines.map { |line| line.gsub("#{root}/", '').sub(/ at \S+:\d+:\d+\z/, '') } : lines
  end

  # Returns the results at top scope, by key. A variable of a class that is not evaluated is not set.
  def unset_answers(environments)
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(environments), []))
    node = { 'environment' => 'production', 'facts' => { 'kernel' => 'Linux' },
             'trusted' => { 'certname' => 'a.example.org', 'extensions' => {} } }
    keys = UNSET['data/common.yaml'].scan(/^(\w+):/).flatten.sort
    Puppet.override(environments: loader) do
      with_scope(loader, node) do |scope|
        scope['nothing'] = nil
        keys.to_h { |key| [key, shown(answer(scope, 'key' => key))] }
      end
    end
  end

  # Returns the messages in a catalog, by title.
  def notified(environments)
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(environments), []))
    Puppet.override(environments: loader) do
      facts = Puppet::Node::Facts.new('a.example.org', {})
      node = Puppet::Node.new(facts.name, environment: loader.get!('production'), facts: facts)
      node.trusted_data = { 'certname' => facts.name }
      resources = Puppet::Parser::Compiler.compile(node).resources
      resources.select { |one| one.type == 'Notify' }.to_h { |one| [one.title, one[:message]] }
    end
  end

  # Error messages differ where they name files, so only the fact that there is an error is compared.
  def shown(answer)
    return { 'error' => true } if answer.key?('error')

    value = answer['value']
    sensitive = value.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
    sensitive ? { 'sensitive' => value.unwrap } : answer
  end

  def compare(site)
    nodes = JSON.parse(File.read("#{site}/facts.json"))
    environments = install(site)
    nodes.each_value { |node| FileUtils.ln_sf('production', "#{environments}/#{node['environment']}") unless node['environment'] == 'production' }
    differing = []
    asked = sample(site)
    loader = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new(Pathname(environments), []))
    Puppet.override(environments: loader) do
      asked.group_by { |question| question['node'] }.each do |node, questions|
        with_scope(loader, nodes[node]) do |scope|
          questions.each do |question|
            answer = answer(scope, question)
            differing << [question, answer] unless same?(question, answer)
          end
        end
      end
    end
    assert_operator asked.length, :>=, 4 * EACH
    assert_empty differing.first(10).map(&:inspect), "#{differing.length} of #{asked.length} answers differ"
  end

  # Installs as bindc adopt does: hiera.yaml is renamed and replaced by the output of bindq.
  def install(site)
    dir = "#{self.class.dir}/#{File.basename(site)}"
    root = "#{dir}/environments/production"
    FileUtils.mkdir_p("#{dir}/environments")
    FileUtils.cp_r("#{site}/site", root)
    beside!("#{dir}/site.snap", root, command(site))
    "#{dir}/environments"
  end

  def beside!(snapshot, root, command)
    FileUtils.mv("#{root}/hiera.yaml", "#{root}/hiera5.yaml")
    ask!(snapshot, root, root, "#{root}/hiera5.yaml", command)
  end

  # Builds a site, and makes an environment query it together with the entries of Puppet in a
  # configuration.
  def ask!(snapshot, site, root, from, command)
    execute(ENV.fetch('BINDC'), 'build', site, '-o', snapshot)
    config = execute(ENV.fetch('BINDQ'), 'hiera-config', '-s', snapshot, '--from', from,
                     '--option', "command=#{JSON.generate(command)}", *FLAGS)
    File.write("#{root}/hiera.yaml", config)
    FileUtils.mkdir_p("#{root}/modules")
    FileUtils.ln_s(File.expand_path('..', __dir__), "#{root}/modules/bindc")
  end

  def command(site)
    key = "#{site}/keys/private_key.pkcs7.pem"
    [ENV.fetch('BINDQ')] + (File.exist?(key) ? ['--eyaml-key', key] : [])
  end

  def execute(*command)
    IO.popen(command, err: %i[child out], &:read).tap { |text| assert_predicate $?, :success?, text }
  end

  # Returns a sample of the questions, with the same number of each kind.
  def sample(site)
    all = File.readlines("#{site}/expect.jsonl").map { |line| JSON.parse(line) }
    all.group_by { |question| [question['merge'], question.key?('error')] }.values.flat_map do |some|
      some.each_slice([some.length / EACH, 1].max).map(&:first)
    end
  end

  def with_scope(loader, node)
    environment = loader.get!(node['environment'])
    facts = Puppet::Node::Facts.new(node['trusted']['certname'], node['facts'].dup)
    asks = Puppet::Node.new(facts.name, environment: environment, facts: facts,
                                        parameters: facts.values.merge(node['vars'] || {}))
    asks.trusted_data = node['trusted'].dup
    Puppet.override(current_environment: environment) do
      compiler = Puppet::Parser::Compiler.new(asks)
      Puppet.override(compiler.context_overrides) do
        compiler.send(:set_node_parameters)
        yield compiler.topscope
      end
    end
  end

  def answer(scope, question)
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
    value = Puppet::Pops::Lookup.lookup(question['key'], nil, :none, true, question['merge'], invocation)
    value.equal?(:none) ? { 'found' => false } : { 'found' => true, 'value' => value }
  rescue Puppet::Error, ArgumentError => e
    { 'error' => e.message }
  end

  def same?(expected, answer)
    return answer.key?('error') if expected.key?('error')
    return expected['found'] == answer['found'] unless expected['found'] && answer['found']

    value = answer['value']
    sensitive = value.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
    value = value.unwrap if sensitive
    sensitive == (expected['sensitive'] == true) && JSON.generate(value) == JSON.generate(expected['value'])
  end
end
