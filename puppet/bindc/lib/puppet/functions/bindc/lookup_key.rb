# frozen_string_literal: true

require 'json'
require 'socket'

# Everything stands in this file, and in a module with the version in its name: a server keeps what it once required,
# and its environments may have different versions of this module.
module ::Puppet::Bindc_1_0_0
  # What a lookup ends with.
  class Problem < ::Puppet::DataBinding::LookupError
    def initialize(text)
      super("bindc: #{text}")
    end
  end

  @lock ||= Mutex.new
  @connections ||= {}

  # The connection is no good any more. Who asked may try again, once.
  class Ended < StandardError; end

  # The server does not know the session any more.
  class Forgotten < StandardError; end

  # The one connection of this process (in a server: of this JRuby) for these options.
  def self.connection(options, environment)
    settings = Settings.new(options, environment)
    @lock.synchronize do
      @connections[settings.key] ||= settings.socket ? Socket.new(settings) : Child.new(settings)
    end
  end

  # Ends the children of this process, but not those of one that it was forked from.
  def self.finish(owner)
    return unless Process.pid == owner

    @lock.synchronize { @connections.each_value { |connection| connection.send(:close) } }
  end

  # A server ends a JRuby and goes on itself: nobody else would wait for its child.
  @finishing ||= Process.pid.tap { |owner| at_exit { finish(owner) } }

  # The options of the hierarchy entry, checked.
  class Settings
    attr_reader :socket, :command, :timeout

    def initialize(options, environment)
      known = %w[snapshot socket command timeout compare entries]
      unknown = options.keys - known - ['uri']
      refuse "there is no option '#{unknown.first}'; there are #{known.join(', ')}" unless unknown.empty?
      @socket = text(options, 'socket')
      snapshot = text(options, 'snapshot')
      refuse "one of 'snapshot' and 'socket' must be given" if @socket.nil? == snapshot.nil?
      refuse "'command' starts a child; with 'socket' there is none" if @socket && options.key?('command')
      @timeout = seconds(options.fetch('timeout', 10))
      refuse "'compare' is true or false" unless [nil, true, false].include?(options['compare'])
      @command = serve(program(options.fetch('command', 'bindq')), snapshot, environment) if snapshot
    end

    # Entries of the same key share a connection.
    def key
      [@socket, @command, @timeout]
    end

    private

    def refuse(text)
      raise Problem, "hiera.yaml: #{text}"
    end

    def text(options, name)
      value = options[name]
      refuse "'#{name}' is a path, not #{value.inspect}" unless value.nil? || value.is_a?(String) && !value.empty?
      value
    end

    def program(value)
      words = [value].flatten
      fits = !words.empty? && words.all? { |word| word.is_a?(String) && !word.empty? }
      refuse "'command' is the path of bindq, or an array of that and arguments for serve" unless fits
      words
    end

    def seconds(value)
      refuse "'timeout' is a number of seconds above 0" unless value.is_a?(Numeric) && value.positive?
      value
    end

    # Files that are named after their environment are all answered by one child, which is given their directory.
    def serve(words, snapshot, environment)
      snapshot = File.dirname(snapshot) if File.basename(snapshot) == "#{environment}.snap"
      [words.first, 'serve', *words.drop(1), '--stdio', '-s', snapshot]
    end
  end

  # Frames to and from a server, one question at a time. What is known of its snapshots is kept with it.
  class Connection
    # How often it was opened. A session is of one opening.
    attr_reader :opening

    # What the snapshot of an environment needs to be told of a node, as the server said it last.
    attr_reader :needs

    def initialize(settings)
      @settings = settings
      @mutex = Mutex.new
      @opening = 0
      @sessions = 0
      @needs = {}
      @compared = @differing = 0
    end

    # Counts a comparison, and says how many there were, and how many answers differed.
    def count(different)
      @mutex.synchronize { [@compared += 1, @differing += different ? 1 : 0] }
    end

    # Has it for itself in the block, open.
    def open
      @mutex.synchronize do
        start unless @io
        yield self
      end
    end

    # The answer to a question. Only to be called in the block of open.
    def ask(question)
      answer = exchange(question)
      raise Forgotten if answer.dig('error', 'code') == 'session'

      answer
    rescue SystemCallError, IOError => e
      lost(e.message)
    rescue JSON::GeneratorError => e
      raise Problem, "a fact of this node cannot be sent: #{e.message}"
    end

    # A number for a session.
    def number
      @sessions += 1
    end

    private

    def start
      @io = connect
      @io.binmode
      @opening += 1
      error = exchange('ask' => 'hello', 'protocol' => 1)['error']
      refused(error) if error && %w[protocol busy].include?(error['code']) # what else is wrong, node says
    rescue SystemCallError, IOError => e
      lost(e.message)
    end

    def refused(error)
      close
      hint = '. This module speaks version 1: install a bindq that does' if error['code'] == 'protocol'
      raise Problem, "#{self}: #{error['message']} [#{error['code']}]#{hint}"
    end

    # Whatever interrupts it ends the connection: an answer that comes late would be taken for that to the next
    # question.
    def exchange(question)
      text = JSON.generate(question)
      complete = false
      deadline = now + @settings.timeout
      write([text.bytesize].pack('N') << text.b, deadline)
      answer = JSON.parse(frame(deadline), max_nesting: false)
      complete = true
      answer
    rescue JSON::ParserError
      lost('what it answers is no JSON')
    ensure
      close if complete == false
    end

    def frame(deadline)
      length = read(4, deadline).unpack1('N')
      lost('what it answers is no frame') if length > 64 << 20
      read(length, deadline).force_encoding('UTF-8')
    end

    def write(bytes, deadline)
      until bytes.empty?
        written = @io.write_nonblock(bytes, exception: false)
        written.is_a?(Integer) ? bytes = bytes.byteslice(written..-1) : wait(deadline, nil, [@io])
      end
    end

    def read(size, deadline)
      bytes = String.new(capacity: size)
      while bytes.bytesize < size
        case chunk = @io.read_nonblock(size - bytes.bytesize, exception: false)
        when nil then lost(nil)
        when :wait_readable then wait(deadline, [@io], nil)
        else bytes << chunk
        end
      end
      bytes
    end

    def wait(deadline, readers, writers)
      return if IO.select(readers, writers, nil, [deadline - now, 0].max)

      lost("no answer within #{@settings.timeout} seconds (option 'timeout')")
    end

    def lost(reason)
      reason = [reason, close].compact.join(', ')
      raise Ended, "#{self}: #{reason.empty? ? 'it closed the connection' : reason}; #{remedy}"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # A server of our own, on pipes. It ends with this process, as its input does.
  class Child < Connection
    def to_s
      @settings.command.join(' ')
    end

    private

    def connect
      IO.popen(@settings.command, 'r+b')
    rescue SystemCallError => e
      raise Problem, "cannot start #{self}: #{e.message}. Install bindq where the user of Puppet may run it, and " \
                     "give its path as 'command' in hiera.yaml"
    end

    # Ends the child, which may be stopped, and says what became of it if it had ended by itself.
    def close
      io, @io = @io, nil
      return unless io

      pid = io.pid
      _, status = Process.wait2(pid, Process::WNOHANG)
      Process.kill('KILL', pid) unless status
      io.close
      Process.wait(pid) unless status # MRI has done that, JRuby has not
      status && "it ended with #{status.signaled? ? "signal #{status.termsig}" : "status #{status.exitstatus}"}"
    rescue SystemCallError
      nil
    end

    def remedy
      'the next lookup starts another. If this happens again, run the command by hand as the user of Puppet to see why'
    end
  end

  # A server that others started.
  class Socket < Connection
    def to_s
      @settings.socket
    end

    private

    def connect
      UNIXSocket.new(@settings.socket)
    rescue SystemCallError => e
      raise Problem, "cannot connect to #{self}: #{e.message}. Start bindq serve --listen unix:#{self}, and let the " \
                     'user of Puppet read and write the socket'
    end

    def close
      @io&.close
      @io = nil
    end

    def remedy
      'is bindq serve still running? The next lookup connects again'
    end
  end

  # One compile, with the snapshot that answers it. Locations of one entry, and other entries with the same connection,
  # share it, as the scope has it.
  class Compile
    def self.of(scope, connection, environment)
      compiles = scope.instance_variable_get(:@bindc_compiles) || scope.instance_variable_set(:@bindc_compiles, {})
      compiles[connection] ||= new(scope, connection, environment)
    end

    attr_reader :connection, :environment, :needs

    def initialize(scope, connection, environment)
      @scope = scope
      @connection = connection
      @environment = environment
      @sessions = {}
      @compared = {}
    end

    # The session of who looks something up in some entries. Variables that are no facts are those the caller has.
    def session(caller, entries)
      return @sessions[[variables(caller), entries]] ||= Session.new(self, caller, entries) if @needs

      Session.new(self, caller, entries).tap { |first| @sessions[[variables(first.begin), entries]] = first }
    end

    # Keeps what the snapshot needs, which all sessions of the compile ask.
    def pin(needs)
      @needs = needs
      @facts = @scope['facts'] || {}
      @loose = needs['variables'].reject { |name| @facts.key?(name) }
    end

    # The variables of a caller that are not facts of the node, as far as the snapshot needs them.
    def variables(caller)
      seen(@loose, caller)
    end

    # What a node is told with the question.
    def told(needs, caller)
      facts = @scope['facts'] || {}
      names = needs['variables']
      of_facts, loose = names.partition { |name| facts.key?(name) }
      vars = seen(loose, caller)
      of_facts.each do |name|
        value = value(@scope, name)
        vars[name] = value unless value.nil? || facts[name] == value
      end
      told = { 'facts' => needs['all_facts'] ? facts : facts.slice(*names), 'vars' => vars }
      told['trusted'] = @scope['trusted'] if needs['trusted']
      told['strict_variables'] = true if strict?
      told
    end

    def first_comparison?(key)
      @compared[key] ? false : @compared[key] = true
    end

    # As if there were no such entry, in the block.
    def hide
      @hidden = true
      yield
    ensure
      @hidden = false
    end

    def hidden?
      @hidden
    end

    private

    # Whether Puppet fails where its own data interpolate a variable that is not set. This setting decides it;
    # strict_variables is about manifests. It is :error by default from Puppet 8 on.
    def strict?
      Puppet[:strict] == :error
    end

    # Variables as a caller sees them. Where top scope has another value, or none, '::name' has that.
    def seen(names, caller)
      names.each_with_object({}) do |name, all|
        local = value(caller, name)
        top = value(@scope, name)
        set = !local.nil? || undef?(caller, name)
        all[name] = local if set
        all["::#{name}"] = top unless top.eql?(local) && set == (!top.nil? || undef?(@scope, name))
      end
    end

    # Whether a variable without a value is set, to undef. Nobody needs to know unless others are errors.
    def undef?(scope, name)
      strict? && scope.exist?(name)
    end

    def value(scope, name)
      scope[name] if scope.include?(name)
    end
  end

  # The questions of one compile from where the variables are the same, all answered from one snapshot. What was fetched
  # is kept.
  class Session
    def initialize(compile, caller, entries)
      @compile = compile
      @connection = compile.connection
      @caller = caller
      @entries = entries
      @winners = {}
      @errors = {}
      @fetched = {}
      @candidates = {}
    end

    # Opens it, and tells whose it is.
    def begin
      within { nil }
      @caller
    end

    # What is bound to a key with the highest precedence, or :not_found. The first key of a module fetches all of them.
    def winner(key)
      @winners.fetch(key) do
        fetch(key)
        failed(key) if @errors.key?(key)
        @winners[key] = :not_found unless @winners.key?(key)
        @winners[key]
      end
    end

    # The value of the given number among those that are bound to a key, or :not_found.
    def candidate(key, number)
      return winner(key) if number.zero?
      return :not_found if winner(key).equal?(:not_found)

      kept = @candidates[key] ||= ask('ask' => 'candidates', 'key' => key)['candidates']
      return :not_found unless number < kept.length

      values, errors = read(kept[number])
      failed(key, errors[key]) if errors.key?(key)
      values.fetch(key)
    end

    # What the entries have of a key, merged, or :not_found. Puppet may change it, so it is not kept.
    def merged(key, strategy)
      values, errors = read(ask('ask' => 'keys', 'keys' => [key], 'merge' => strategy))
      failed(key, errors[key]) if errors.key?(key)
      values.fetch(key, :not_found)
    end

    # Why the key has its value, in lines: first as Puppet explains its own data, with places.
    def explain(key, strategy)
      question = { 'ask' => 'explain', 'key' => key, 'values' => true }
      question['merge'] = strategy if strategy
      ask(question)['lines']
    end

    def place(key)
      ask('ask' => 'explain', 'key' => key)['at']
    end

    private

    def fetch(key)
      prefix = key[0, (key.index('::') || -2) + 2]
      return if @fetched[prefix] == :all

      direct = prefix.empty? # else these were all keys
      answer = ask({ 'ask' => 'prefix', 'prefix' => prefix, 'direct' => direct }, 'too_large') unless @fetched[prefix]
      @fetched[prefix] = answer ? :all : :too_large
      values, errors = read(answer || ask('ask' => 'keys', 'keys' => [key]))
      @winners.update(values)
      @errors.update(errors)
    end

    def read(answer)
      values = answer.fetch('values', {})
      rich = answer['rich']
      rich&.each { |key, value| values[key] = Rich.read(value) }
      [values, answer.fetch('errors', {})]
    end

    def failed(key, error = @errors[key])
      at = place(key)
      raise Problem, "#{key}: #{error['message']} [#{error['code']}]#{" (#{at})" unless at.empty?}"
    end

    # Asks within the session. Answers nil where the server refuses with the code that is allowed.
    def ask(question, allowed = nil)
      question = question.merge('entries' => @entries)
      check(within { |connection| connection.ask(question.merge('session' => @number)) }, allowed)
    end

    # Has the connection in the block, where the session is opened if it is not. It may end once.
    def within
      again ||= false
      @connection.open do |connection|
        enter(connection) unless @opening == connection.opening
        yield connection
      end
    rescue Ended, Forgotten => e
      @opening = nil
      raise Problem, e.message if again
      again = true
      retry
    end

    def check(answer, allowed = nil)
      error = answer['error']
      return answer unless error

      raise Problem, "#{error['message']} [#{error['code']}]" unless error['code'] == allowed
    end

    # Opens the session. The first time in a compile any snapshot will do; after that it must be the same.
    def enter(connection)
      @number = connection.number
      8.times do
        needs = @compile.needs || connection.needs[@compile.environment]
        answer = check(connection.ask(node(needs)))
        if answer.key?('session')
          @compile.pin(needs) unless @compile.needs
          return @opening = connection.opening
        end
        replaced(answer['snapshot']) if @compile.needs
        connection.needs[@compile.environment] = answer['snapshot']
      end
      raise Problem, 'the snapshot is replaced faster than it can be asked; run Puppet again'
    end

    def replaced(snapshot)
      raise Problem, "the snapshot was replaced while this catalog was compiled (#{@compile.needs['digest']} by " \
                     "#{snapshot['digest']}), and bindq was started anew; run Puppet again"
    end

    def node(needs)
      question = { 'ask' => 'node', 'session' => @number, 'environment' => @compile.environment }
      return question unless needs

      question.merge('digest' => needs['digest']).merge(@compile.told(needs, @caller))
    end
  end

  # Values that JSON has not.
  module Rich
    def self.read(value)
      case value
      when Array then value.map { |item| read(item) }
      when Hash then value.key?('__ptype') ? special(*value.values_at('__ptype', '__pvalue')) : plain(value)
      else value
      end
    end

    def self.plain(hash)
      hash.transform_values { |item| read(item) }
    end

    def self.special(type, value)
      case type
      when 'Sensitive' then ::Puppet::Pops::Types::PSensitiveType::Sensitive.new(read(value))
      when 'Hash' then value.each_slice(2).to_h { |pair| read(pair) }
      when 'Regexp' then Regexp.new(value)
      when 'Type' then ::Puppet::Pops::Types::TypeParser.singleton.parse(value)
      when 'Default' then :default
      when 'Float' then value == 'NaN' ? Float::NAN : Float::INFINITY * (value.start_with?('-') ? -1 : 1)
      when 'Binary' then value.unpack1('m')
      else raise Problem, "bindq answers with a #{type}, which this module does not know; install a newer one"
      end
    end
  end

  # One location of one hierarchy entry in one compile.
  class Place
    attr_reader :session

    def initialize(options, context, scope)
      environment = context.environment_name.to_s
      @compile = Compile.of(scope, Puppet::Bindc_1_0_0.connection(options, environment), environment)
      @entries = entries(options.fetch('entries', '0-'))
      @alone = !options.key?('uri')
      @number = number(options['uri'])
      @comparison = Comparison.new(@compile) if options['compare']
      move(context.invocation.scope)
    end

    # Goes where a lookup comes from, and tells whether it is seen otherwise from there.
    def move(caller)
      before = @session
      @session = @compile.session(caller, @entries)
      !before.equal?(@session)
    end

    def hidden?
      @compile.hidden?
    end

    def answer(key, context)
      strategy = strategy(key, context)
      value = strategy ? @session.merged(key, strategy) : @session.candidate(key, @number)
      @comparison&.report(key, value, context.invocation.scope, @session)
      value
    end

    def explain(key, context)
      @session.explain(key, strategy(key, context))
    end

    private

    # What the answer has to be merged by, nil for the first.
    def strategy(key, context)
      Merging.asked(context.invocation) { @alone && key == 'lookup_options' }
    end

    def number(uri)
      return 0 if uri.nil?

      number = uri[/\Abindc:(\d+)\z/, 1]
      raise Problem, "hiera.yaml: the uri of location N is bindc:N, not #{uri}" unless number

      number.to_i
    end

    def entries(text)
      return text if text.is_a?(String) && text.match?(/\A\d+-\d*\z/)

      raise Problem, "hiera.yaml: 'entries' is FROM-TO or FROM-, as bindq hiera-config prints it, not #{text.inspect}"
    end
  end

  # Puppet tells a function neither how what it answers is merged nor that the variables have changed. An entry of one
  # location stands for many, which bindq merges as Puppet would.
  module Merging
    # Whether a data provider of Puppet is an entry that stands for many.
    def self.entry?(provider)
      provider.is_a?(Entry) && provider.function_name == 'bindc::lookup_key' && provider.locations == [nil]
    end

    # The strategy that the answer has to be merged by, nil for the first. Puppet loads this file in the middle of the
    # first lookup of a process, which is that of lookup_options, so nobody has told that one: it is merged as a hash.
    def self.asked(invocation)
      return invocation.instance_variable_get(:@bindc_merge) if invocation.instance_variable_defined?(:@bindc_merge)

      { 'strategy' => 'hash' } if yield
    end

    # The strategy as bindq takes it; nil where nothing is merged.
    def self.strategy(merge)
      return unless merge

      merge = ::Puppet::Pops::MergeStrategy.strategy(merge)
      name = merge.class.key.to_s
      { 'strategy' => name }.merge(merge.options || {}) unless %w[first default].include?(name)
    end

    # In the block the function is told the strategy.
    def self.tell(invocation, strategy)
      before = invocation.instance_variable_get(:@bindc_merge)
      invocation.instance_variable_set(:@bindc_merge, strategy)
      yield
    ensure
      invocation.instance_variable_set(:@bindc_merge, before)
    end

    # For the entries of a hierarchy: what the function answers is what the locations come to. Puppet keeps what it has
    # found, whatever it was merged by, and wherever it was seen from.
    module Entry
      def unchecked_key_lookup(key, invocation, merge)
        return super unless Merging.entry?(self)

        kept = function_context(invocation, nil)
        kept.data_hash&.clear if kept.cached_value('place')&.move(invocation.scope)
        strategy = Merging.strategy(merge)
        kept.data_hash&.delete(key.root_key) if strategy
        begin
          Merging.tell(invocation, strategy) { super(key, invocation, nil) }
        ensure
          kept.data_hash&.delete(key.root_key) if strategy
        end
      end
    end

    # For a hierarchy that is nothing but such an entry: it is not one entry, of which 'unique' makes another value.
    module Hierarchy
      def unchecked_key_lookup(key, invocation, merge)
        return super unless Merging.strategy(merge)

        entries = config(invocation).configured_data_providers(invocation, self)
        return super unless entries.length == 1 && Merging.entry?(entries.first)

        invocation.with(:data_provider, self) { entries.first.unchecked_key_lookup(key, invocation, merge) }
      end
    end

    ::Puppet::Pops::Lookup::LookupKeyFunctionProvider.prepend(Entry)
    ::Puppet::Pops::Lookup::ConfiguredDataProvider.prepend(Hierarchy)
  end

  # Looks keys up with and without the snapshot, beside the lookups of the catalog, and reports where that differs.
  class Comparison
    # Puppet keeps data providers, and what they have found, in an adapter per class: each of these has its own.
    class With < ::Puppet::Pops::Lookup::LookupAdapter; end
    class Without < ::Puppet::Pops::Lookup::LookupAdapter; end

    def initialize(compile)
      @compile = compile
    end

    # Each key once for a catalog. No values: they may be secret.
    def report(key, value, scope, session)
      return if key == 'lookup_options' || !@compile.first_comparison?(key)

      different = difference(key, value, scope)
      all, differing = @compile.connection.count(different)
      return unless different

      Puppet.warning("bindc: compare: #{key} for #{scope.compiler.node.name} #{different} " \
                     "(#{session.place(key)}); #{differing} of #{all} answers differ so far")
    end

    private

    # What is compared is what catalogs get with and without this entry, merges included.
    def difference(key, value, scope)
      theirs = @compile.hide { lookup(key, scope, Without) }
      if value.equal?(:not_found)
        theirs.equal?(:not_found) ? nil : 'is not in the snapshot, but in the levels below'
      elsif theirs.equal?(:not_found)
        'is in the snapshot, but not in the levels below'
      elsif !same?(lookup(key, scope, With), theirs)
        'is another value in the levels below'
      end
    rescue ::Puppet::DataBinding::LookupError => e
      "cannot be compared: #{e.message}"
    end

    def lookup(key, scope, adapter)
      invocation = ::Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil, adapter)
      ::Puppet::Pops::Lookup.lookup(key, nil, :not_found, true, nil, invocation)
    end

    # 1 and 1.0 are not the same, nor are a text and one that is Sensitive.
    def same?(one, other)
      sensitive = ::Puppet::Pops::Types::PSensitiveType::Sensitive
      return one.eql?(other) unless one.is_a?(sensitive) && other.is_a?(sensitive)

      same?(one.unwrap, other.unwrap)
    end
  end
end

# Answers lookups of Hiera from a snapshot that `bindc build` made. For the `lookup_key` of an entry in a hiera.yaml of
# version 5.
#
# Starts `bindq serve` as a child, one for each process (in a puppetserver: for each JRuby), or asks one that listens.
#
# @example hiera.yaml of an environment
#   version: 5
#   hierarchy:
#     - name: bindc
#       lookup_key: bindc::lookup_key
#       uris: ['bindc:0', 'bindc:1']
#       options:
#         snapshot: /var/lib/bindc/%{environment}.snap
Puppet::Functions.create_function(:'bindc::lookup_key') do
  # @param key
  #   The key that is looked up.
  # @param options
  #   `snapshot`, a file or a directory of files ENVIRONMENT.snap, or `socket`, the path of a socket; `command`, the
  #   path of bindq, or an array of that and arguments for serve; `timeout`, seconds that an answer may take; `compare`,
  #   whether answers are compared with the levels below; `entries`, of the hierarchy of Hiera 5 that is compiled, where
  #   others are Puppet's. `uri` is `bindc:N` in location N.
  # @param context
  #   Of Puppet.
  # @return
  #   What is bound to the key for this node.
  #
  # Any, as checking the types at each lookup takes longer than the lookup.
  dispatch :lookup_key do
    param 'Any', :key
    param 'Any', :options
    param 'Any', :context
    return_type 'RichData'
  end

  def lookup_key(key, options, context)
    place = context.cached_value('place') ||
            context.cache('place', Puppet::Bindc_1_0_0::Place.new(options, context, closure_scope))
    return context.not_found if place.hidden?

    value = place.answer(key, context)
    explain(context) { place.explain(key, context) }
    value.equal?(:not_found) ? context.not_found : value
  end

  private

  # Puppet indents the first line of a text, so each is one.
  def explain(context)
    lines = []
    context.explain { (lines = yield).first }
    lines.drop(1).each { |line| context.explain { line } }
  end
end
