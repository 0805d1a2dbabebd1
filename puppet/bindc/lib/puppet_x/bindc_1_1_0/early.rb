# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # The first questions of a session, sent before Puppet reads hiera.yaml, and their answers. The
  # server works while Puppet reads.
  class Early
    # Sends the questions that the last compilation of the environment asked first. Does nothing
    # without such a compilation, or if this one has asked a question already.
    def self.begin(invocation)
      scope = invocation.scope.compiler.topscope
      return if Compile.of?(scope)

      environment = scope.compiler.environment.name.to_s
      connection, entries = ::Puppet::Bindc_1_1_0.expected(environment)
      Compile.of(scope, connection, environment).begin_early(invocation.scope, entries) if connection
    rescue Ended, Problem
      nil # the function reports the same error, or uses another server
    end

    # The needs of the snapshot, as the server sent them before.
    attr_reader :needs

    def initialize(connection, needs)
      @connection = connection
      @opening = connection.opening
      @needs = needs
      @texts = []
    end

    # Stores the text of an answer.
    def receive(text)
      @texts << text
    end

    # Returns the answers, or nil if the connection was lost in the meantime. Only for use in the
    # block of Connection#open.
    def answers
      return unless @connection.opening == @opening

      @connection.collect { @texts.length == 2 }
      @texts.map { |text| @connection.parse(text) }
    end
  end
end
