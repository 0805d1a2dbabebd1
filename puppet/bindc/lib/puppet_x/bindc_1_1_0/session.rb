# frozen_string_literal: true

require_relative 'connection'
require_relative 'answers'
require_relative 'early'
require_relative 'variables'

module ::Puppet::Bindc_1_1_0
  # One compilation and its snapshot. All locations and entries with the same connection share it.
  class Compile
    def self.of(scope, connection, environment)
      compiles = scope.instance_variable_get(:@bindc_compiles) || scope.instance_variable_set(:@bindc_compiles, {})
      compiles[connection] ||= new(scope, connection, environment)
    end

    # Reports whether a compilation has asked a question.
    def self.of?(scope)
      scope.instance_variable_defined?(:@bindc_compiles)
    end

    attr_reader :connection, :environment, :needs

    def initialize(scope, connection, environment)
      @scope = scope
      @variables = Variables.new(scope)
      @connection = connection
      @environment = environment
      @sessions = {}
      @compared = {}
    end

    # Sends the questions of the first session before the function is called.
    def begin_early(caller, entries)
      @first = [caller, entries, Session.new(self, caller, entries).tap(&:send_early)]
    end

    # Returns the session for a caller and some entries. Callers in the same position share it.
    def session(caller, entries)
      return @sessions[[position(caller), entries]] ||= Session.new(self, caller, entries) if @needs

      session = @first.last if @first && @first[0].equal?(caller) && @first[1] == entries
      session ||= Session.new(self, caller, entries)
      ::Puppet::Bindc_1_1_0.expect(@environment, @connection, entries)
      session.tap { |first| @sessions[[position(first.begin), entries]] = first }
    end

    # Sets the needs of the snapshot for all sessions of the compilation.
    def pin(needs)
      @needs = needs
      facts = @scope['facts'] || {}
      scoped = needs['scoped'] || needs['variables']
      @variables.watch(scoped.reject { |name| facts.key?(name.delete_prefix('::')) || @variables.fixed?(name) })
    end

    # Returns the values of the caller-dependent variables: those that the snapshot reads and that
    # are not facts.
    def position(caller)
      @variables.position(caller)
    end

    # Returns the information about the node that the server needs.
    def told(needs, caller)
      facts = @scope['facts'] || {}
      names = needs['variables']
      of_facts, loose = names.partition { |name| facts.key?(name) }
      vars = seen(loose, caller)
      of_facts.each do |name|
        value = @variables.qualified(name)
        vars[name] = value unless value.equal?(Variables::UNSET) || value.nil? || facts[name] == value
      end
      told = { 'facts' => needs['all_facts'] ? facts : facts.slice(*names), 'vars' => vars }
      told['trusted'] = @scope['trusted'] if needs['trusted']
      told['strict_variables'] = true if strict?
      told
    end

    def first_comparison?(key)
      @compared[key] ? false : @compared[key] = true
    end

    private

    # Reports whether Puppet fails if its own data interpolates an unset variable. The setting
    # strict decides this, with :error as the default since Puppet 8. strict_variables only applies
    # to manifests.
    def strict?
      Puppet[:strict] == :error
    end

    # Returns variables as a caller sees them. '::name' is included if the top scope has another
    # value or none.
    def seen(names, caller)
      names.each_with_object({}) do |name, all|
        local = set(@variables.find(caller, name))
        top = set(@variables.qualified(name.delete_prefix('::')))
        all[name] = local unless local.equal?(Variables::UNSET)
        all["::#{name}"] = (top unless top.equal?(Variables::UNSET)) unless top.eql?(local)
      end
    end

    # A variable that is set to undef only differs from an unset one if unset variables are errors.
    def set(value)
      value.nil? && !strict? ? Variables::UNSET : value
    end
  end

  # The questions of one compilation for one set of variables and entries. All answers are cached.
  class Session
    # Number of keys per strategy that are answered before the others.
    SOON = 32 unless const_defined?(:SOON, false)

    # Number of times that a lookup tries, because a server may end in the meantime.
    TRIES = 3 unless const_defined?(:TRIES, false)

    def initialize(compile, caller, entries)
      @compile = compile
      @connection = compile.connection
      @caller = caller
      @entries = entries
      @answers = {}
      @winners = answers(nil)
      @candidates = {}
      @awaited = false
    end

    # Stores the text of an answer that was sent ahead.
    def receive(text)
      @late = text
    end

    # Reads the remaining answers that were sent ahead. Returns nil if there are none.
    def read_ahead
      return unless @awaited

      @awaited = false
      within { |connection| connection.collect }
      return unless @late

      text, @late = @late, nil
      take_ahead(@connection.parse(text))
    end

    # Sends the first questions without waiting for the answers, if the needs of the snapshot are
    # known.
    def send_early
      @connection.if_open do |connection|
        needs = connection.needs[@compile.environment]
        next unless needs

        @number, reports = connection.begin_session(@compile, self)
        @early = Early.new(connection, needs)
        soon, later = questions_ahead
        connection.ask_all([], [[node(needs, reports), @early], [soon, @early], [later, self]])
      end
    end

    # Opens the session and returns its caller.
    def begin
      within { nil }
      @caller
    end

    # Returns the value with the highest precedence that is bound to a key, or :not_found.
    def winner(key)
      @winners[key]
    end

    # Returns number N of the values that are bound to a key, or :not_found.
    def candidate(key, number)
      return winner(key) if number.zero?
      return :not_found if winner(key).equal?(:not_found)

      kept = @candidates[key] ||= ask('ask' => 'candidates', 'key' => key)['candidates']
      return :not_found unless number < kept.length

      errors = kept[number]['errors']
      failed(key, errors[key]) if errors
      Rich.values(kept[number]).fetch(key)
    end

    # Returns a copy of the merged value of a key in the entries, because Puppet may modify it, or
    # :not_found.
    def merged(key, strategy)
      Rich.copy(answers(strategy)[key])
    end

    # Returns lines that explain the value of a key. The first ones have the form of Puppet's
    # explanations of its own data.
    def explain(key, strategy)
      question = { 'ask' => 'explain', 'key' => key, 'values' => true }
      question['merge'] = strategy if strategy
      ask(question)['lines']
    end

    def place(key)
      ask('ask' => 'explain', 'key' => key)['at']
    end

    # Asks within the session. Returns nil if the server returns the allowed error code.
    def ask(question, allowed = nil)
      question = question.merge('entries' => @entries)
      check(within { |connection| connection.ask(question.merge('session' => @number)) }, allowed)
    end

    def failed(key, error)
      at = place(key)
      raise Problem, "#{key}: #{error['message']} [#{error['code']}]#{" (#{at})" unless at.empty?}"
    end

    # Returns the keys that the session requested, for the server to remember, or none if the server
    # has sent exactly those.
    def report
      return [] unless @number && @answers.any? { |_, answers| answers.news? }

      lists = @answers.map do |strategy, answers|
        list = { 'session' => @number, 'entries' => @entries, 'keys' => answers.wanted }
        list['merge'] = strategy if strategy
        list
      end
      lists.reject { |list| list['keys'].empty? }
    end

    private

    def answers(strategy)
      @answers[strategy] ||= Answers.new(self, strategy)
    end

    # Yields the connection with an open session. If the connection is lost, it tries again.
    def within
      tries ||= 0
      @connection.open(@compile.environment) do |connection|
        enter(connection) unless @opening == connection.opening
        yield connection
      end
    rescue Ended, Forgotten => e
      @opening = nil
      raise Problem, @connection.given_up(e.message, tries) if (tries += 1) == TRIES

      retry
    end

    def check(answer, allowed = nil)
      error = answer['error']
      return answer unless error

      raise Problem, "#{error['message']} [#{error['code']}]" unless error['code'] == allowed
    end

    # Opens the session. The first session of a compilation accepts any snapshot, the others only
    # the same one.
    def enter(connection)
      first = @number.nil? || @early
      needs, answer, ahead = early
      @number, reports = connection.begin_session(@compile, self) unless answer
      8.times do
        needs ||= @compile.needs || connection.needs[@compile.environment]
        answer, ahead = open_with(connection, node(needs, reports || []), first && needs) unless answer
        if check(answer).key?('session')
          entered(connection, needs)
          return ahead && take_ahead(ahead)
        end

        replaced(answer['snapshot']) if @compile.needs
        connection.needs[@compile.environment] = answer['snapshot']
        needs = answer = reports = nil
      end
      raise Problem, 'the snapshot is replaced faster than it can be asked; run Puppet again'
    end

    # Returns the needs of the snapshot and the answers to the early questions, or nil.
    def early
      early, @early = @early, nil
      answers = early&.answers
      return unless answers

      @awaited = true
      [early.needs, *answers]
    end

    # Opens a new session. With the first one it also requests the answers that will be needed
    # first, and then the others without waiting for them.
    def open_with(connection, question, ahead)
      return [connection.ask(question)] unless ahead

      @awaited = true
      soon, later = questions_ahead
      connection.ask_all([question, soon], [[later, self]])
    end

    def questions_ahead
      asks = { 'ask' => 'ahead', 'session' => @number, 'entries' => @entries }
      [asks.merge('to' => SOON), asks.merge('from' => SOON)]
    end

    def entered(connection, needs)
      @compile.pin(needs) unless @compile.needs
      @opening = connection.opening
    end

    # A server that does not know this question returns an error.
    def take_ahead(answer)
      answer['ahead']&.each { |group| answers(group['merge']).ahead(group) }
    end

    def replaced(snapshot)
      raise Problem, "the snapshot was replaced while this catalog was compiled (#{@compile.needs['digest']} by " \
                     "#{snapshot['digest']}), and bindq was started anew; run Puppet again"
    end

    def node(needs, reports)
      question = { 'ask' => 'node', 'session' => @number, 'environment' => @compile.environment }
      question['asked'] = reports unless reports.empty?
      return question unless needs

      question.merge!('digest' => needs['digest']).merge!(@compile.told(needs, @caller))
    end
  end
end
