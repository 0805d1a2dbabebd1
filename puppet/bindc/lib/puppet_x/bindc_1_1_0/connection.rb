# frozen_string_literal: true

require 'json'

# The name of the module includes its version, and so do the names of the files. A server never
# unloads required files, and its environments may have different versions of this Puppet module.
module ::Puppet::Bindc_1_1_0
  # An error of a lookup.
  class Problem < ::Puppet::DataBinding::LookupError
    def initialize(text)
      super("bindc: #{text}")
    end
  end

  @lock ||= Mutex.new

  # The error that the connection was lost. The caller may try again a few times.
  class Ended < StandardError; end

  # The error that the server has ended the session.
  class Forgotten < StandardError; end

  # Returns the connection of this process (in a server: of this JRuby) for the options. There is one for each command
  # or socket.
  def self.connection(options, environment)
    @lock.synchronize do
      connections.each_value(&:reap)
      @found[[options, environment]] ||= begin
        settings = Settings.new(options, environment)
        connections[settings.key] ||= settings.socket ? Socket.new(settings) : Child.new(settings)
      end
    end
  end

  # Records which connection the first function of a compilation uses, and for which entries.
  def self.expect(environment, connection, entries)
    @lock.synchronize { @expected[environment] = [connection, entries] }
  end

  # Returns the connection and the entries of an environment's last compilation, or nil if this
  # process had none.
  def self.expected(environment)
    @lock.synchronize { connections && @expected[environment] }
  end

  # Returns the place of a function call. There is one for each location of each compilation. A
  # child starts while Ruby reads the other files.
  def self.place(options, context, scope)
    context.cached_value('place') || begin
      environment = context.environment_name.to_s
      connection = connection(options, environment)
      connection.launch(environment)
      require_relative 'place'
      context.cache('place', Place.new(options, connection, context, scope))
    end
  end

  # Returns the connections of this process. A forked process does not use those of its parent.
  def self.connections
    @connections, @found, @expected = {}, {}, {} unless @owner == Process.pid
    @owner = Process.pid
    @connections
  end
  private_class_method :connections

  # Ends the children of this process.
  def self.finish
    @lock.synchronize { connections.each_value { |connection| connection.send(:close) } }
  end

  # A server can end a JRuby and continue to run, so each JRuby has to end its children.
  @finishing ||= at_exit { finish }

  # Checks the options of the hierarchy entry.
  class Settings
    KNOWN = %w[snapshot socket command timeout compare entries].freeze unless const_defined?(:KNOWN, false)

    attr_reader :socket, :command, :timeout

    def initialize(options, environment)
      unknown = options.keys - KNOWN - ['uri']
      refuse "there is no option '#{unknown.first}'; there are #{KNOWN.join(', ')}" unless unknown.empty?
      @socket = text(options, 'socket')
      snapshot = text(options, 'snapshot')
      refuse "one of 'snapshot' and 'socket' must be given" if @socket.nil? == snapshot.nil?
      refuse "'command' starts a child; with 'socket' there is none" if @socket && options.key?('command')
      @timeout = seconds(options.fetch('timeout', 10))
      refuse "'compare' is true or false" unless [nil, true, false].include?(options['compare'])
      @command = serve(program(options.fetch('command', 'bindq')), snapshot, environment) if snapshot
    end

    # Entries with the same key share a connection.
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

    # One child serves all files of a directory that are named after their environment.
    def serve(words, snapshot, environment)
      snapshot = File.dirname(snapshot) if File.basename(snapshot) == "#{environment}.snap"
      [words.first, 'serve', *words.drop(1), '--stdio', '-s', snapshot]
    end
  end

  # Sends frames to a server and reads the answers. It keeps the needs of the server's snapshots.
  class Connection
    # The number of times that the connection was opened. A session is valid only for one opening.
    attr_reader :opening

    # The needs of each environment's snapshot, as the server last sent them.
    attr_reader :needs

    def initialize(settings)
      @settings = settings
      @mutex = Mutex.new
      @opening = 0
      @sessions = 0
      @needs = {}
      @unreported = {}.compare_by_identity # by thread: a compilation and its sessions
      @receivers = []
      @compared = @differing = 0
    end

    # Counts a comparison. Returns the numbers of comparisons and of differences so far.
    def count(different)
      @mutex.synchronize { [@compared += 1, @differing += different ? 1 : 0] }
    end

    # Closes the connection if its server has ended and no other thread uses it. Otherwise, the next
    # lookup would lose a question before it opened the connection again.
    def reap
      return unless @mutex.try_lock

      begin
        close if @io && ended?
      ensure
        @mutex.unlock
      end
    end

    # Describes why a lookup gives up after several tries, and what to do.
    def given_up(reason, tries)
      "#{self}: #{reason}; this lookup has tried #{tries} times; #{remedy}"
    end

    # Opens the connection if needed, without waiting for the server.
    def launch(environment)
      @mutex.synchronize { start(environment) unless @io }
    rescue Ended
      nil # open tries again
    end

    # Yields the connection if the server has already answered on it.
    def if_open
      @mutex.synchronize { yield self if @io && @greeted }
    end

    # Yields the open connection. Only one thread can use it at a time.
    def open(environment)
      @mutex.synchronize do
        start(environment) unless @io
        greeted(environment) unless @greeted
        yield self
      end
    end

    # Returns the answer to a question. Only for use in the block of open.
    def ask(question)
      answer = ask_all([question]).first
      raise Forgotten, 'it has ended the session' if answer.dig('error', 'code') == 'session'

      answer
    end

    # Returns the answers to questions that are sent together. Further questions with receivers may
    # be sent along. A receiver gets the text of its answer when the next question is asked, or by
    # collect. Only for use in the block of open.
    def ask_all(questions, further = [])
      exchange(questions, further)
    rescue SystemCallError, IOError => e
      lost(e.message)
    rescue JSON::GeneratorError => e
      raise Problem, "a fact of this node cannot be sent: #{e.message}"
    end

    # Passes on the answers to further questions until the block returns true. Only for use in the
    # block of open.
    def collect(&enough)
      complete = false
      hand_out(now + @settings.timeout, &enough)
      complete = true
    rescue SystemCallError, IOError => e
      lost(e.message)
    ensure
      close if complete == false
    end

    # Returns the object of an answer.
    def parse(text)
      JSON.parse(text, max_nesting: false)
    rescue JSON::ParserError
      raise Problem, "#{self}: its answer is not JSON"
    end

    # Returns the number of a new session, and the keys that the sessions of the last compilation of
    # this thread requested, which is finished by now. Only for use in the block of open.
    def begin_session(compile, session)
      mine = @unreported[Thread.current]
      reports = mine && !mine.first.equal?(compile) ? mine.last.flat_map(&:report) : []
      @unreported[Thread.current] = mine = [compile, []] unless mine && mine.first.equal?(compile)
      @unreported.select! { |thread, _| thread.alive? }
      mine.last << session
      [@sessions += 1, reports]
    end

    private

    def start(environment)
      @io = connect
      @io.binmode
      @opening += 1
      @unreported.clear
      @receivers.clear
      @greeted = false
      exchange([], [[{ 'ask' => 'hello', 'protocol' => 1, 'environment' => environment }, nil]])
    rescue SystemCallError, IOError => e
      lost(e.message)
    end

    # Reads the answer to the first question, with the needs of the snapshot. An error is ignored
    # here, because the question 'node' returns it again.
    def greeted(environment)
      answer = exchange([nil]).first
      error = answer['error']
      refused(error) if error && %w[protocol busy].include?(error['code'])
      @needs[environment] = answer['snapshot'] unless error
      @greeted = true
    rescue SystemCallError, IOError => e
      lost(e.message)
    end

    def refused(error)
      close
      hint = '. This module speaks version 1: install a bindq that does' if error['code'] == 'protocol'
      raise Problem, "#{self}: #{error['message']} [#{error['code']}]#{hint}"
    end

    # Any interruption closes the connection. Otherwise a late answer would be read as the answer to
    # the next question.
    #
    # A nil in questions means that the question was already sent.
    def exchange(questions, further = [])
      texts = [*questions, *further.map(&:first)].compact.map { |question| JSON.generate(question) }
      complete = false
      deadline = now + @settings.timeout
      hand_out(deadline)
      write(texts.map { |text| [text.bytesize].pack('N') << text.b }.join, deadline)
      answers = questions.map { JSON.parse(frame(deadline), max_nesting: false) }
      @receivers.concat(further.map(&:last).compact)
      complete = true
      answers
    rescue JSON::ParserError
      lost('its answer is not JSON')
    ensure
      close if complete == false
    end

    def hand_out(deadline)
      until @receivers.empty? || block_given? && yield
        @receivers.first.receive(frame(deadline))
        @receivers.shift
      end
    end

    def frame(deadline)
      length = read(4, deadline).unpack1('N')
      lost('its answer is not a frame') if length > 64 << 20
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
      raise Ended, reason.empty? ? 'it closed the connection' : reason
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # A server started by this process, connected by pipes. It exits when its input is closed, and therefore never
  # outlives this process.
  class Child < Connection
    def to_s
      @settings.command.join(' ')
    end

    private

    # A thread waits for the child, so that it does not become a zombie. The thread also provides
    # the process number, because that of the pipes is not available while another thread closes
    # them.
    def connect
      IO.popen(@settings.command, 'r+b').tap { |io| @waiter = Process.detach(io.pid) }
    rescue SystemCallError => e
      raise Problem, "cannot start #{self}: #{e.message}. Install bindq where Puppet's user may run it, and " \
                     "give its path as 'command' in hiera.yaml"
    end

    # Ends the child, which may be stopped. Returns its exit status if it ended by itself. Every
    # step is tried even if others fail, because a skipped step would leave a process behind.
    def close
      io, @io = @io, nil
      return unless io

      killed = @waiter.alive? && try { end_child }
      try { io.close }
      status = try { @waiter.join(@settings.timeout)&.value }
      outcome(status) if status && !(killed && status.termsig == Signal.list['KILL'])
    end

    # The thread must have waited before the pipes are closed, because MRI waits for the child when
    # it closes them.
    def end_child
      Process.kill('KILL', @waiter.pid)
      @waiter.join(@settings.timeout)
    end

    # Returns nil if the step failed.
    def try
      yield
    rescue SystemCallError, IOError, ThreadError
      nil
    end

    def outcome(status)
      "it ended with #{status.signaled? ? "signal #{status.termsig}" : "status #{status.exitstatus}"}"
    end

    # Reports whether the child has ended.
    def ended?
      !@waiter.alive?
    end

    def remedy
      'the next lookup starts another. If this happens again, run the command by hand as the user of Puppet to see why'
    end
  end

  # A server that already listens on a socket.
  class Socket < Connection
    def to_s
      @settings.socket
    end

    private

    def connect
      require 'socket'
      UNIXSocket.new(@settings.socket)
    rescue SystemCallError => e
      raise Problem, "cannot connect to #{self}: #{e.message}. Start bindq serve --listen unix:#{self}, and let the " \
                     'user of Puppet read and write the socket'
    end

    def close
      io, @io = @io, nil
      io&.close
    rescue SystemCallError, IOError
      nil
    end

    def ended?
      false
    end

    def remedy
      'is bindq serve still running? The next lookup connects again'
    end
  end
end
